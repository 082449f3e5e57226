internal import CameraModel
internal import ControlAPI
internal import ErrorCatalog

// Of cameras on the network.
extension DocumentSample {
    static var network: [DocumentSample] {
        [
            Self(discovery), Self(search), Self(found), Self(test, isShown: false),
            Self(CameraTestDocument(id: "5yc1z7ep3v0k")), Self(report),
            Self(CameraProfileListDocument(camera: "front", used: "Profile_1", profiles: [profile])),
            Self(PTZCommand.continuous(pan: 0.5, tilt: 0, zoom: -0.5, seconds: 1)),
            Self(PTZPresetListDocument(presets: [PTZPreset(token: "1", name: "Gate")])),
            Self(CameraEncoderListDocument(encoders: [encoder])),
            Self(
                CameraEncoder.Change(
                    token: "Encoder_1", codec: "h264", size: .init(width: 1280, height: 720), rate: 15,
                    bitrate: 1_000_000, gop: 15)),
            Self(
                AnnouncedRequest(
                    address: "192.0.2.7", url: "http://192.0.2.7/onvif/device_service", evidence: .serial,
                    isKeyShared: true)),
        ]
    }

    static let endpoint = "urn:uuid:5f5a69c2-e0ae-504f-829b-000000000042"

    static var networkStatistics: NetworkStatistics {
        var network = NetworkStatistics()
        network.state = .waiting
        network.url = "rtsp://192.0.2.7:554/stream1"
        network.address = "192.0.2.7"
        network.port = 554
        network.transport = "tcp"
        network.authentication = "Digest SHA-256"
        network.pin = pin
        network.server = "Example/1.0"
        network.videoCodec = "h264"
        network.audioCodec = "aac"
        network.profile = "Profile_1"
        network.firstKeyFrameMilliseconds = 140.5
        network.playToKeyFrameMilliseconds = 35.5
        network.videoTiming = .init(basis: .corrected, speed: 0.8125)
        network.audioTiming = .init(basis: .corrected, speed: 1.25)
        network.driftPartsPerMillion = -187_500
        network.clockAheadMilliseconds = 2100.5
        network.jitterMilliseconds = 1.5
        network.nextAttemptSeconds = 4.5
        network.servicePin = "sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
        network.moves = [
            .init(address: "192.0.2.77", source: "onvif://192.0.2.77", evidence: .serial, lacksKey: true)
        ]
        network.device = device
        network.events = [
            .init(
                number: 1, kind: "motion", topic: "tns1:RuleEngine/CellMotionDetector/Motion", isActive: true,
                source: "VideoSource_1", realtimeMicroseconds: 1_790_000_000_000_000)
        ]
        network.eventCount = 1
        return network
    }

    private static let pin = "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

    private static var device: NetworkStatistics.Device {
        var device = NetworkStatistics.Device()
        device.manufacturer = "Example"
        device.model = "IPC-1"
        device.firmware = "1.2"
        device.serial = "0042"
        device.mac = "00:00:5e:00:53:01"
        device.endpoint = endpoint
        device.profiles = [profile]
        device.hasPTZ = true
        device.hasEvents = true
        return device
    }

    private static var profile: NetworkStatistics.Profile {
        NetworkStatistics.Profile(
            token: "Profile_1", name: "Main Stream", service: "media2", url: "rtsp://192.0.2.7:554/stream1",
            snapshotURL: "http://192.0.2.7/snapshot", codec: "h264", width: 1920, height: 1080, rate: 25.5,
            bitrate: 4_000_000, gop: 25, hasPTZ: true)
    }

    private static var discovery: DiscoveryRequest {
        DiscoveryRequest(
            timeoutSeconds: 5.5, multicast: true, interfaces: ["eth0"], ranges: ["192.0.2.0/24"], ports: [554, 8554],
            allowsLarge: false)
    }

    private static var found: FoundCameraDocument {
        FoundCameraDocument(
            kind: .onvif, mark: .added, camera: "front", endpoint: endpoint, address: "192.0.2.7", port: 80,
            name: "Example", manufacturer: "Example", hardware: "IPC-1", location: "door",
            firmware: "1.2", serial: "0042", rtspPorts: [554],
            urls: ["http://192.0.2.7/onvif/device_service"], source: "onvif://192.0.2.7", networks: ["eth0"])
    }

    private static var search: NetworkSearchDocument {
        NetworkSearchDocument(
            number: 3, state: .failed, request: discovery, elapsedSeconds: 2.5, probed: 310, total: 1270,
            found: [found], remarks: ["eth1 is down"],
            problem: Problem(
                status: 422, title: "The network to search is too large", detail: "10.0.0.0/8 has 16777214 addresses",
                code: .scanTooLarge, hint: "Name a smaller network such as 192.168.1.0/24", object: "10.0.0.0/8"))
    }

    private static var test: CameraTestRequest {
        CameraTestRequest(
            source: "onvif://192.0.2.7", user: "admin", password: "…", transport: .tcp, allowsBasic: false, pin: pin,
            profile: "main", rtspHost: "192.0.2.8", rtspPort: 10554)
    }

    private static var report: StreamTestReport {
        var report = StreamTestReport(url: "onvif://192.0.2.7")
        report.lines = [
            .init(
                step: .login, outcome: .failed, milliseconds: 41.5, text: "the camera refuses user or password",
                code: .loginRefused, hint: "Check user and password")
        ]
        report.isDone = true
        report.streamURL = "rtsp://192.0.2.7:554/stream1"
        report.address = "192.0.2.7"
        report.port = 554
        report.authentication = "Digest SHA-256"
        report.pin = pin
        report.server = "Example/1.0"
        report.videoCodec = "h264"
        report.audioCodec = "aac"
        report.width = 1920
        report.height = 1080
        report.rate = 25.5
        report.device = device
        return report
    }

    private static var encoder: CameraEncoder {
        CameraEncoder(
            token: "Encoder_1", name: "main", profiles: ["Profile_1"], codec: "h264",
            size: .init(width: 1920, height: 1080), rate: 25.5, bitrate: 4_000_000, gop: 25, codecs: ["h264", "hevc"],
            sizes: [.init(width: 1280, height: 720)], rates: 1.5...30.5, bitrates: 64_000...8_000_000, gops: 1...100)
    }
}
