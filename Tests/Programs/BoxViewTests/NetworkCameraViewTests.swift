import CameraModel
import ControlAPI
import ErrorCatalog
import Testing

@testable import BoxView

/// Letter by letter, as `GoldenTests`.
struct NetworkCameraViewTests {
    private func golden(_ lines: [String], _ expected: String, at location: SourceLocation = #_sourceLocation) {
        #expect(text(lines) == expected, sourceLocation: location)
    }

    private static let found = [
        FoundCameraDocument(
            kind: .onvif, mark: .added, camera: "front", endpoint: "urn:uuid:1", address: "192.0.2.50", port: 80,
            name: "Gate", manufacturer: "HIKVISION", hardware: "DS-2CD2042", source: "onvif://192.0.2.50",
            networks: ["eth0"]),
        FoundCameraDocument(
            kind: .onvif, mark: .needsLogin, address: "192.0.2.61", port: 8000, hardware: "IPC-K42",
            source: "onvif://192.0.2.61:8000"),
        FoundCameraDocument(kind: .rtsp, address: "2001:db8::7", port: 8554, source: "rtsp://[2001:db8::7]:8554/"),
    ]

    private static func search(
        _ state: NetworkSearchDocument.State, _ found: [FoundCameraDocument] = found
    ) -> NetworkSearchDocument {
        NetworkSearchDocument(
            number: 1, state: state, request: DiscoveryRequest(), elapsedSeconds: 5, probed: 0, total: 0, found: found)
    }

    private static func webcam(_ camera: String? = nil) -> VideoNodeDocument {
        VideoNodeDocument(
            device: "/dev/video0", name: "HD Pro Webcam C920", kind: .camera, bus: "usb", index: 0,
            stableID: "/dev/v4l/by-id/usb-046d-video-index0", camera: camera)
    }

    @Test func `all cameras in one list, with numbers to choose by`() {
        let document = DiscoveryDocument(nodes: [Self.webcam("desk")], network: Self.search(.done), limits: [])
        golden(
            NetworkSearchView.lines(document, style: Style(width: 100)),
            #"""
            #  KIND   ADDRESS             MAKER/MODEL           NAME  STATE
            1  onvif  192.0.2.50          HIKVISION DS-2CD2042  Gate  ● added: front
            2  onvif  192.0.2.61:8000     IPC-K42                     ○ new, needs a login
            3  rtsp   [2001:db8::7]:8554  -                           ○ new
            4  v4l2   /dev/video0         HD Pro Webcam C920          ● added: desk
            4 cameras, 2 new
            Add one: watchboxctl camera add NAME --source onvif://192.0.2.61:8000 --user USER
            """#)
        let rows = NetworkSearchView.rows(document)
        #expect(rows.map(\.source).last == "v4l2:/dev/v4l/by-id/usb-046d-video-index0")
        // The details of this machine's devices follow.
        let lines = DiscoveryView.lines(document, style: Style(width: 100))
        #expect(lines.first?.hasPrefix("#  KIND") == true)
        #expect(lines.contains("1 video device, 1 camera"))
    }

    @Test func `what a device calls its address is not a code of a shell`() throws {
        let hostile = FoundCameraDocument(
            kind: .onvif, address: "192.0.2.66", port: 80, source: "onvif://192.0.2.66/;touch$IFS/tmp/x'`id`")
        let lines = NetworkSearchView.lines(
            DiscoveryDocument(nodes: [], network: Self.search(.done, [hostile]), limits: []), style: Style(width: 100))
        #expect(
            lines.last
                == #"Add one: watchboxctl camera add NAME --source 'onvif://192.0.2.66/;touch$IFS/tmp/x'\''`id`'"#)
        var node = Self.webcam()
        node.stableID = "/dev/v4l/by-id/usb-$(id)"
        let local = DiscoveryView.lines(DiscoveryDocument(nodes: [node], limits: []), style: Style(width: 100))
        #expect(local.contains { $0.hasSuffix("--source 'v4l2:/dev/v4l/by-id/usb-$(id)'") })
    }

    @Test func `a camera is named by its address, or by its address and port`() {
        let found = [
            FoundCameraDocument(
                kind: .onvif, address: "192.0.2.61", port: 2020, source: "onvif://192.0.2.61:2020"),
            FoundCameraDocument(kind: .onvif, address: "192.0.2.62", port: 80, source: "onvif://192.0.2.62"),
            FoundCameraDocument(kind: .rtsp, address: "192.0.2.62", port: 8554, source: "rtsp://192.0.2.62:8554/"),
            FoundCameraDocument(kind: .rtsp, address: "192.0.2.63", port: 8554, source: "rtsp://192.0.2.63:8554/"),
            FoundCameraDocument(kind: .rtsp, address: "192.0.2.63", port: 88, source: "rtsp://192.0.2.63:88/"),
        ]
        let rows = NetworkSearchView.rows(
            DiscoveryDocument(nodes: [], network: Self.search(.done, found), limits: []))
        func sources(_ address: String) -> [String] {
            NetworkSearchView.rows(at: address, in: rows).map(\.source)
        }
        #expect(sources("192.0.2.61") == ["onvif://192.0.2.61:2020"])
        #expect(sources("192.0.2.61:2020") == ["onvif://192.0.2.61:2020"])
        #expect(sources("192.0.2.62") == ["onvif://192.0.2.62"])
        #expect(sources("rtsp://192.0.2.62:8554/") == ["rtsp://192.0.2.62:8554/"])
        #expect(sources("192.0.2.63").count == 2)
        #expect(sources("192.0.2.6").isEmpty)
    }

    @Test func `a login that fails names what the command lacks`() {
        func next(_ code: ErrorCode, user: String?, hasPassword: Bool) -> String? {
            var report = StreamTestReport(url: "rtsp://192.0.2.7/")
            report.lines = [
                .init(step: .login, outcome: .failed, milliseconds: 1, text: "x", code: code, hint: "Run: edit ID")
            ]
            return StreamTestHints.ofAddress(report, user: user, hasPassword: hasPassword).lines.first?.hint
        }
        #expect(next(.loginNeeded, user: nil, hasPassword: false)?.contains("--user") == true)
        #expect(next(.loginNeeded, user: "viewer", hasPassword: false)?.contains("--password-file FILE") == true)
        #expect(next(.loginRefused, user: "viewer", hasPassword: false)?.contains("--password-file FILE") == true)
        #expect(next(.loginRefused, user: "viewer", hasPassword: true) == "check --user and the password")
        #expect(next(.noKeyFrame, user: "viewer", hasPassword: true) == "Run: edit ID")
        var report = StreamTestReport(url: "onvif://192.0.2.7")
        report.lines = [.init(step: .login, outcome: .failed, milliseconds: 1, text: "x", hint: "Run: edit ID")]
        #expect(StreamTestHints.ofCamera("yard", report).lines.first?.hint == "Run: edit yard")
    }

    @Test func `a search that ended early or failed says so`() {
        func lines(_ search: NetworkSearchDocument) -> [String] {
            NetworkSearchView.lines(
                DiscoveryDocument(nodes: [], network: search, limits: []), style: Style(width: 100))
        }
        golden(
            lines(Self.search(.cancelled, [])),
            """
            No camera was found.
            The search was ended early; there may be more.
            """)
        var failed = Self.search(.failed, [])
        failed.problem = Problem(
            status: 500, title: "", detail: "no network interface is up", code: .internalFault, hint: "Connect one")
        golden(
            lines(failed),
            """
            No camera was found.
            The search of the network failed: WB-8008 no network interface is up
              Next: Connect one
            """)
    }

    private static var device: NetworkStatistics.Device {
        var device = NetworkStatistics.Device()
        device.manufacturer = "Example"
        device.model = "IPC-1"
        device.serial = "0042"
        device.hasPTZ = true
        device.profiles = [
            .init(
                token: "Profile_1", name: "Main", service: "media2", url: "rtsp://192.0.2.7/1", codec: "hevc",
                width: 1920, height: 1080, rate: 25, bitrate: 4_000_000, gop: 50, hasPTZ: true),
            .init(token: "Profile_2", name: "Sub", service: "media2"),
        ]
        return device
    }

    private static var report: StreamTestReport {
        var report = StreamTestReport(url: "onvif://192.0.2.7")
        report.lines = [
            .init(step: .reach, outcome: .ok, milliseconds: 2.1, text: "192.0.2.7:554 answers"),
            .init(
                step: .clock, outcome: .warning, milliseconds: 12, text: "the camera's clock is 2.1 s ahead",
                hint: "Let it ask a time server"),
            .init(
                step: .login, outcome: .failed, milliseconds: 41.5, text: "the camera refuses user or password",
                code: .loginRefused, hint: "Check user and password"),
            .init(step: .describe, outcome: .skipped, milliseconds: 0, text: "for want of a login"),
        ]
        report.address = "192.0.2.7"
        report.port = 554
        report.isDone = true
        return report
    }

    @Test func `a test that failed names the step and what to do`() {
        golden(
            StreamTestView.lines(Self.report, style: Style(width: 100)),
            #"""
              ✓ reachable        192.0.2.7:554 answers  2.1 ms
              ! clock            the camera's clock is 2.1 s ahead  12.0 ms
                  Next: Let it ask a time server
              ✗ login            WB-2107 the camera refuses user or password  41.5 ms
                  Next: Check user and password
              ○ stream           for want of a login
            Not usable: login
            """#)
        #expect(StreamTestView.waiting(Self.report) == nil)
        var running = Self.report
        running.isDone = false
        #expect(StreamTestView.waiting(running) == "first key frame")
    }

    @Test func `a test that passed names the stream`() {
        var report = Self.report
        report.lines = [.init(step: .keyFrame, outcome: .ok, milliseconds: 840, text: "GOP 2.0 s")]
        report.isUsable = true
        (report.videoCodec, report.audioCodec, report.width, report.height) = ("h264", "pcma", 1920, 1080)
        report.rate = 12.5
        report.streamURL = "rtsp://192.0.2.7/1"
        golden(
            StreamTestView.lines(report, style: Style(width: 100)),
            #"""
              ✓ first key frame  GOP 2.0 s  840.0 ms
            Usable  H.264 1920x1080 12.5 fps with G.711 A-law  rtsp://192.0.2.7/1
            """#)
    }

    @Test func `what a device is and offers`() {
        var report = Self.report
        report.device = Self.device
        report.isUsable = true
        report.lines = []
        golden(
            ProbeView.lines(report, style: Style(width: 100)),
            #"""
            onvif://192.0.2.7  ● usable
              Maker          Example
              Model          IPC-1
              Serial number  0042
              Address        192.0.2.7:554
              Has            motors (PTZ)

            PROFILE    NAME  VIDEO                            GOP  PTZ  STREAM
            Profile_1  Main  H.265 1920x1080 25 fps 4.0 Mb/s   50  yes  rtsp://192.0.2.7/1
            Profile_2  Sub   -                                  -  -    -
            2 profiles
            """#)
        report.device = nil
        report.lines = Self.report.lines
        #expect(ProbeView.lines(report, style: Style()).count == 7)
    }

    @Test func `profiles with what the encoders may be set to`() {
        let document = CameraProfileListDocument(
            camera: "front", used: "Profile_1", profiles: Self.device.profiles)
        let encoders = CameraEncoderListDocument(encoders: [
            CameraEncoder(
                token: "Encoder_1", name: "main", profiles: ["Profile_1"], codec: "h264",
                size: .init(width: 1920, height: 1080), rate: 25, bitrate: 4_000_000, gop: 50,
                codecs: ["h264", "hevc"], sizes: [.init(width: 1280, height: 720), .init(width: 1920, height: 1080)],
                rates: 1...30, bitrates: 64_000...8_000_000, gops: 1...100)
        ])
        golden(
            CameraProfilesView.lines(document, encoders: encoders, style: Style(width: 100)),
            #"""
            PROFILE    NAME  VIDEO                            GOP  PTZ  STREAM
            Profile_1  Main  H.265 1920x1080 25 fps 4.0 Mb/s   50  yes  rtsp://192.0.2.7/1  ● used
            Profile_2  Sub   -                                  -  -    -
            2 profiles

            ENCODER    NAME  VIDEO                            GOP  PROFILES
            Encoder_1  main  H.264 1920x1080 25 fps 4.0 Mb/s   50  Profile_1
            1 encoder
              Encoder_1  H.264, H.265; 1280x720 1920x1080; 1 to 30 fps; 64 kb/s to 8.0 Mb/s; GOP 1 to 100
            """#)
        let none = CameraProfileListDocument(camera: "front", used: nil, profiles: [])
        #expect(
            CameraProfilesView.lines(none, encoders: nil, style: Style()) == ["front has reported no profiles."])
        golden(
            PTZPresetView.table(PTZPresetListDocument(presets: [PTZPreset(token: "1", name: "Gate")])).lines(Style()),
            """
            PRESET  NAME
            1       Gate
            1 preset
            """)
    }

    @Test func `a network camera's card shows how it is pulled`() {
        var network = NetworkStatistics()
        network.state = .waiting
        network.url = "rtsp://192.0.2.7/1"
        (network.address, network.port, network.transport) = ("192.0.2.7", 554, "tcp")
        network.authentication = "Digest SHA-256"
        (network.attempts, network.connections, network.stalls) = (5, 3, 1)
        (network.packets, network.lost, network.timelines) = (100_000, 7, 1)
        network.firstKeyFrameMilliseconds = 140
        network.clockAheadMilliseconds = -2100
        network.driftPartsPerMillion = -12.5
        network.nextAttemptSeconds = 4
        var capture = CaptureStatistics(path: "rtsp://192.0.2.7/1")
        capture.state = .waiting
        capture.reason = "nobody answers at 192.0.2.7:554"
        (capture.captured, capture.lost) = (1000, 7)
        capture.network = network
        var camera = Samples.camera("front")
        (camera.firmware, camera.serial, camera.address, camera.port) = ("1.2", "0042", "2001:db8::7", 554)
        camera.stream.statistics = CameraStatistics(camera: "front", stream: "front")
        camera.stream.statistics?.capture = capture
        golden(
            CameraView.lines(camera, style: Style(width: 100)),
            #"""
            front  ● live
              Sends            25.0 fps, 2.1 Mb/s, acknowledged by the relay 0.4 s ago
              Relay            main

              Camera
              Name             front
              Source           test:
              Active           yes
              Defined in       conf.d/10-cams.toml:4
              Firmware         1.2
              Serial number    0042
              Address          [2001:db8::7]:554

              Since its start
              Waits            nobody answers at 192.0.2.7:554
              Frames           1000 captured, 7 packets lost
              Network          waiting, rtsp://192.0.2.7/1, over tcp, login Digest SHA-256
              Reached at       192.0.2.7:554
              Next attempt     in 4.0 s
              Connections      3 of 5 attempts brought frames, 1 stall
              RTP              100000 packets, 7 lost, 1 steps of its clock
              First key frame  140.0 ms after connecting
              Clock            the camera's is 2.1 s behind, drifts -12.5 ppm
            """#)
    }

    @Test func `time stamps that run wrong are shown with what is done about it`() {
        func reported(_ video: NetworkStatistics.Timing?, _ audio: NetworkStatistics.Timing? = nil) -> [String] {
            var network = NetworkStatistics()
            (network.videoTiming, network.audioTiming) = (video, audio)
            network.driftPartsPerMillion = -160_000
            var capture = CaptureStatistics(path: "rtsp://192.0.2.7/1")
            capture.network = network
            var camera = Samples.camera("front")
            camera.stream.statistics = CameraStatistics(camera: "front", stream: "front")
            camera.stream.statistics?.capture = capture
            return CameraView.lines(camera, style: Style(width: 100)).filter {
                $0.contains("stamps") || $0.contains("drifts")
            }
        }
        #expect(
            reported(.init(basis: .corrected, speed: 0.84), .init(basis: .camera)) == [
                "  Time stamps  frames 16 % slow, corrected by arrival times"
            ])
        #expect(
            reported(.init(basis: .corrected, speed: 1.015), .init(basis: .corrected, speed: 0.5)) == [
                "  Time stamps  frames 1.5 % fast, corrected by arrival times; "
                    + "audio 50 % slow, corrected by arrival times"
            ])
        #expect(
            reported(.init(basis: .arrival)).first == "  Time stamps  frames not used, arrival times instead")
        #expect(reported(.init(basis: .camera)).allSatisfy { $0.contains("drifts") })
    }

    @Test func `what a hostile camera says is made visible`() {
        let hostile = Samples.hostile
        var device = NetworkStatistics.Device()
        (device.manufacturer, device.model, device.serial) = (hostile, hostile, hostile)
        device.profiles = [
            .init(
                token: hostile, name: hostile, service: hostile, url: hostile, codec: hostile, width: .min,
                height: .max, rate: .nan, bitrate: .min, gop: .min)
        ]
        var report = StreamTestReport(url: hostile)
        report.lines = [
            .init(step: .login, outcome: .failed, milliseconds: .infinity, text: hostile, hint: hostile)
        ]
        report.device = device
        (report.address, report.port, report.authentication) = (hostile, .min, hostile)
        var network = NetworkStatistics()
        (network.url, network.transport, network.address) = (hostile, hostile, hostile)
        (network.attempts, network.clockAheadMilliseconds, network.driftPartsPerMillion) = (.max, .nan, -.infinity)
        (network.nextAttemptSeconds, network.jitterMilliseconds) = (-.infinity, .nan)
        network.videoTiming = .init(basis: .corrected, speed: .infinity)
        network.audioTiming = .init(basis: .corrected, speed: -.greatestFiniteMagnitude)
        var capture = CaptureStatistics(path: hostile)
        capture.network = network
        let found = FoundCameraDocument(
            kind: .onvif, address: hostile, port: .min, name: hostile, manufacturer: hostile, source: hostile)
        let encoder = CameraEncoder(
            token: hostile, name: hostile, profiles: [hostile], codec: hostile, size: .init(width: .min, height: .max),
            rate: .infinity, bitrate: .max, codecs: [hostile], rates: -1e300...1e300, bitrates: .min ... .max,
            gops: .min ... .max)
        let lines =
            ProbeView.lines(report, style: Style(width: 120))
            + StreamTestView.lines(report, style: Style(width: 120))
            + NetworkSearchView.lines(
                DiscoveryDocument(nodes: [], network: Self.search(.done, [found]), limits: []),
                style: Style(width: 120))
            + CameraProfilesView.lines(
                CameraProfileListDocument(camera: hostile, used: hostile, profiles: device.profiles),
                encoders: CameraEncoderListDocument(encoders: [encoder]), style: Style(width: 120))
            + CaptureText.facts(capture).map { Style(width: 120).paint($0.1, .plain) }
        for line in lines {
            #expect(!line.unicodeScalars.contains { $0.value < 32 || $0.value == 0x202E }, "\(line.debugDescription)")
        }
        #expect(lines.count > 20)
    }
}
