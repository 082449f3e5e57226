import CameraModel
import Foundation
import ONVIFClient
import Synchronization
import Testing
import VideoCodec

@testable import ONVIF
@testable import RTSPIngest

/// What a camera says of itself, however much that is, fits into the status.
@Suite struct NetworkBoundsTests {
    private static let texts = [
        String(repeating: "\"", count: 9000), String(repeating: "/", count: 9000),
        String(repeating: "\u{1}", count: 9000), String(repeating: "\u{1F468}\u{200D}", count: 9000),
        String(repeating: "x", count: 512), String(repeating: "\"", count: 64), String(repeating: "\"", count: 256),
    ]

    private func largest(_ name: String, _ url: String) -> CaptureStatistics {
        var network = NetworkStatistics()
        network.url = url
        network.address = name
        network.port = .max
        network.transport = name
        network.authentication = name
        network.pin = name
        network.server = name
        network.videoCodec = name
        network.audioCodec = name
        network.profile = name
        for path: WritableKeyPath<NetworkStatistics, UInt64> in [
            \.attempts, \.connections, \.stalls, \.packets, \.lost, \.reordered, \.discarded, \.damaged, \.timelines,
            \.eventCount,
        ] {
            network[keyPath: path] = .max
        }
        network.firstKeyFrameMilliseconds = -.leastNonzeroMagnitude
        network.playToKeyFrameMilliseconds = .infinity
        network.videoTiming = .init(basis: .corrected, speed: .infinity)
        network.audioTiming = .init(basis: .corrected, speed: -1.0 / 3)
        network.driftPartsPerMillion = .nan
        network.clockAheadMilliseconds = -.greatestFiniteMagnitude
        network.jitterMilliseconds = 1.0 / 3
        network.nextAttemptSeconds = -1.0 / 3
        var device = NetworkStatistics.Device()
        device.manufacturer = name
        device.model = name
        device.firmware = name
        device.serial = name
        device.mac = name
        device.endpoint = name
        device.profiles = (0..<100).map { _ in
            .init(
                token: name, name: name, service: name, url: url, snapshotURL: url, codec: name, width: .min,
                height: .min, rate: -1.0 / 3, bitrate: .min, gop: .min)
        }
        network.device = device
        network.events = (0..<1000).map { _ in
            .init(number: .max, kind: name, topic: name, isActive: false, realtimeMicroseconds: .min)
        }
        var capture = CaptureStatistics(path: "onvif://192.0.2.7")
        capture.reason = name
        capture.limit = name
        capture.audioReason = name
        capture.card = name
        capture.device = name
        capture.network = network
        return capture
    }

    @Test(arguments: texts, texts)
    func `the largest status is below 48 KiB`(name: String, url: String) throws {
        let shown = largest(name, url).boundedForNetwork
        let data = try JSONEncoder().encode(shown)
        #expect(data.count < 48 << 10)
        let network = try #require(shown.network)
        #expect(network.events.count == 32)
        #expect(network.driftPartsPerMillion == nil && network.videoTiming?.speed == nil)
        // Once more changes nothing.
        #expect(shown.boundedForNetwork == shown)
        var report = StreamTestReport(url: "onvif://192.0.2.7")
        report.streamURL = url
        report.server = name
        report.device = largest(name, url).network?.device
        report.lines = StreamTestReport.Step.allCases.map {
            .init(step: $0, outcome: .failed, milliseconds: 1, text: name, hint: "x")
        }
        #expect(try JSONEncoder().encode(report.bounded).count < 48 << 10)
    }

    @Test func `a usual camera is reported as it is, and of many profiles the one in use is among them`() throws {
        var device = NetworkStatistics.Device()
        device.serial = "SN1"
        device.profiles = (0..<40).map { number in
            .init(
                token: "Profile_\(number)", name: "Profil \u{fc} \(number)", service: "media",
                url: "rtsp://192.168.1.7:554/Streaming/Channels/\(number)?transportmode=unicast")
        }
        let bounded = device.bounded(keeping: "Profile_30")
        #expect(bounded.profiles.count == 16)
        #expect(bounded.profiles.dropLast().map(\.token) == (0..<15).map { "Profile_\($0)" })
        #expect(bounded.profiles.last == device.profiles[30])
        #expect(bounded.serial == "SN1")
    }

    @Test(arguments: [
        "rtsp://192.168.1.7/user=admin_password=tlJwpbo6_channel=1_stream=0.sdp?real_stream",
        "rtsp://192.168.1.7/11?user=admin&password=tlJwpbo6", "rtsp://admin:tlJwpbo6@192.168.1.7/",
    ])
    func `a password that the camera wrote into its own address is not reported`(url: String) throws {
        var device = NetworkStatistics.Device()
        device.profiles = [
            .init(token: "a", name: "a", service: "media", url: url, snapshotURL: url.replacing("rtsp:", with: "http:"))
        ]
        let reported = CameraDevice.shown(device)
        #expect(reported.profiles[0].url?.hasPrefix("rtsp://192.168.1.7/") == true)
        let state = SharedState(.init(url: "onvif://192.168.1.7"))
        state.change { _, network in
            network.url = url
            network.device = reported
        }
        let text = String(decoding: try JSONEncoder().encode(state.shown), as: UTF8.self)
        #expect(!text.contains("tlJwpbo6"))
        #expect(text.contains("192.168.1.7"))
        device.profiles[0].url = "rtsp://h/" + String(repeating: "x", count: 600)
        #expect(CameraDevice.shown(device).profiles[0].url == nil)
    }

    @Test func `who records hears of what a camera senses, and at first of what moves already and what is over`() {
        let state = SharedState(.init(url: "onvif://192.168.1.7"))
        let heard = Watched<[SensorEvent]>([])
        func report(_ kind: String, _ isActive: Bool?, _ operation: EventNotification.Operation?) {
            state.heard(
                EventNotification(
                    topic: "tns1:X/\(kind)", kind: kind, isActive: isActive, operation: operation,
                    source: ["Rule": String(repeating: "r", count: 1000)]))
        }
        report("motion", true, .changed)
        state.sensors.withLock { $0 = { event in heard.change { $0.append(event) } } }
        report("motion", true, .initialized)
        report("motion", false, .initialized)
        report("digitalInput", true, .initialized)
        report("Visitor", true, .changed)
        report("motion", false, .changed)
        report("digitalInput", nil, nil)
        // As after a pause, in which the input was closed and what was there went.
        report("digitalInput", false, .initialized)
        report("tamper", true, .deleted)
        #expect(heard.value.map(\.kind) == [.motion, .motion, .motion, .digitalInput, .digitalInput, .tamper])
        #expect(heard.value.map(\.isActive) == [true, false, false, nil, false, false])
        #expect(heard.value.allSatisfy { $0.source?.count == 256 })
        #expect(state.shown.network?.events.map(\.kind) == ["motion", "Visitor", "motion", "digitalInput", "tamper"])
        #expect(state.shown.network?.events.last?.isActive == false)
    }

    @Test func `a frame is measured by its header, and nothing decodes it`() throws {
        // FF D8, a comment, a frame of 640 by 360 with three components, and then nothing that a decoder could take.
        let bytes: [UInt8] =
            [0xFF, 0xD8, 0xFF, 0xFE, 0, 4, 1, 2, 0xFF, 0xC0, 0, 17, 8, 1, 104, 2, 128, 3]
            + [UInt8](repeating: 0xFF, count: 600)
        let header = try #require(StreamTestRun.header(bytes))
        #expect(header.width == 640)
        #expect(header.height == 360)
        for length in 0..<18 { #expect(StreamTestRun.header(Array(bytes.prefix(length))) == nil) }
    }
}
