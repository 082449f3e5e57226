import CameraModel
import CameraUnit
import ControlAPI
import ErrorCatalog
import PrometheusText
import Synchronization
import Systemd
import Testing

/// What a network camera's process answers beside its figures.
struct NetworkRouteTests {
    private static let paths: [(APIRequest.Method, String, String)] = [
        (.post, "/api/v1/test", ""), (.post, "/api/v1/ptz", #"{"stop":{}}"#), (.get, "/api/v1/presets", ""),
        (.get, "/api/v1/encoders", ""), (.patch, "/api/v1/encoders", #"{"token":"1","gop":25}"#),
        (.post, "/api/v1/announced", #"{"address":"192.0.2.9"}"#),
    ]

    private final class Calls: Sendable {
        private let names = Mutex<[String]>([])

        var all: [String] { names.withLock { $0 } }

        func add(_ name: String) { names.withLock { $0.append(name) } }
    }

    /// Keeps what reaches it; refuses changes of its encoder.
    private final class StubCamera: NetworkSourceControl {
        private let calls: Calls
        private let tested: @Sendable () async -> Void

        init(_ calls: Calls, tested: @escaping @Sendable () async -> Void = {}) {
            self.calls = calls
            self.tested = tested
        }

        func test(_ progress: @escaping @Sendable (StreamTestReport) -> Void) async -> StreamTestReport {
            calls.add("test")
            await tested()
            var report = StreamTestReport(url: "rtsp://cam/1")
            report.lines = [.init(step: .reach, outcome: .failed, milliseconds: 5, text: "nobody answers")]
            report.isDone = true
            return report
        }

        func observeSensors(_ observer: @escaping @Sendable (SensorEvent) -> Void) {}

        func move(_ command: PTZCommand) async throws(CodedError) { calls.add("\(command)") }

        func presets() async throws(CodedError) -> [PTZPreset] { [PTZPreset(token: "1", name: "Door")] }

        func encoders() async throws(CodedError) -> [CameraEncoder] {
            [CameraEncoder(token: "e", name: "main", profiles: ["p"], codec: "h264", size: .init(width: 2, height: 2))]
        }

        func configure(_ encoder: CameraEncoder.Change) async throws(CodedError) {
            calls.add("\(encoder.token) \(encoder.gop ?? 0)")
            throw CodedError(.cameraRefuses, "the camera refuses this", hint: "Use less")
        }

        func announced(
            address: String, url: String?, evidence: NetworkStatistics.Move.Evidence, isKeyShared: Bool
        ) { calls.add("\(address) \(url ?? "-") \(evidence)") }
    }

    private func unit(_ network: (any NetworkSourceControl)?) -> CameraUnitService {
        let camera = CameraUnitService.Camera(
            statistics: { CameraStatistics(camera: "yard", stream: "yard") }, requestKeyFrame: {}, rotateKey: {},
            network: network)
        return CameraUnitService(
            camera: camera, notifier: Notifier(socketPath: nil), watchdogInterval: nil, version: "1.2.3")
    }

    private func answer(
        _ unit: CameraUnitService, _ method: APIRequest.Method, _ path: String, _ body: String = "",
        isAdministrator: Bool = true
    ) async -> APIResponse {
        let peer = APIRequest.Peer(
            processIdentifier: 1, userIdentifier: 0, groupIdentifier: 0, isAdministrator: isAdministrator)
        return await unit.router.answer(APIRequest(method, path, body: Array(body.utf8), peer: peer))
    }

    private func document<Document: Decodable>(_ type: Document.Type, _ answer: APIResponse) throws -> Document? {
        guard case .json(let bytes) = answer.body else { return nil }
        return try JSONDocument.decode(type, from: bytes)
    }

    private func problem(_ answer: APIResponse) -> Problem? {
        switch answer.body {
        case .json(let bytes), .bytes(let bytes, type: _): try? JSONDocument.decode(Problem.self, from: bytes)
        default: nil
        }
    }

    @Test func `what is asked reaches the camera, and its answers come back`() async throws {
        let calls = Calls()
        let unit = unit(StubCamera(calls))
        let report = try document(StreamTestReport.self, await answer(unit, .post, "/api/v1/test"))
        #expect(report?.isDone == true && report?.lines.map(\.text) == ["nobody answers"])
        #expect(await answer(unit, .post, "/api/v1/ptz", #"{"goTo":{"preset":"Door"}}"#).status == 204)
        let presets = try document(PTZPresetListDocument.self, await answer(unit, .get, "/api/v1/presets"))
        #expect(presets?.presets == [PTZPreset(token: "1", name: "Door")])
        let encoders = try document(CameraEncoderListDocument.self, await answer(unit, .get, "/api/v1/encoders"))
        #expect(encoders?.encoders.map(\.token) == ["e"])
        let refused = await answer(unit, .patch, "/api/v1/encoders", #"{"token":"e","gop":25}"#)
        #expect(problem(refused)?.code == .cameraRefuses)
        let body = #"{"address":"192.0.2.9","url":"http://192.0.2.9/onvif/device_service","evidence":"mac"}"#
        #expect(await answer(unit, .post, "/api/v1/announced", body).status == 204)
        #expect(await answer(unit, .post, "/api/v1/announced", #"{"address":"fe80::1%eth0"}"#).status == 204)
        #expect(
            calls.all == [
                "test", "goTo(preset: \"Door\")", "e 25", "192.0.2.9 http://192.0.2.9/onvif/device_service mac",
                "fe80::1%eth0 - endpoint",
            ])
    }

    @Test func `all of it is for administrators`() async {
        let calls = Calls()
        for (method, path, body) in Self.paths {
            #expect(await answer(unit(StubCamera(calls)), method, path, body, isAdministrator: false).status == 403)
        }
        #expect(calls.all.isEmpty)
    }

    @Test func `a camera of this machine says that it is not a network camera`() async {
        for (method, path, body) in Self.paths {
            let problem = problem(await answer(unit(nil), method, path, body))
            #expect(problem?.code == .badRequest && problem?.detail.contains("is not on the network") == true)
        }
    }

    @Test(arguments: [
        ("ptz", "", ErrorCode.badRequest), ("ptz", "{}", .badRequest), ("ptz", #"{"dance":{}}"#, .badRequest),
        ("ptz", #"{"continuous":{"pan":2,"tilt":0,"zoom":0,"seconds":1}}"#, .invalidValue),
        ("ptz", #"{"continuous":{"pan":0,"tilt":0,"zoom":0,"seconds":3600}}"#, .invalidValue),
        ("ptz", #"{"store":{"preset":""}}"#, .invalidValue), ("announced", "{}", .badRequest),
        ("announced", #"{"address":""}"#, .invalidValue), ("announced", #"{"address":"a b"}"#, .invalidValue),
        ("announced", #"{"address":"192.0.2.1/x"}"#, .invalidValue),
        ("announced", #"{"address":"192.0.2.1","url":"file:///etc/passwd"}"#, .invalidValue),
        ("announced", #"{"address":"192.0.2.1","url":"http://a:b@192.0.2.1/"}"#, .invalidValue),
        ("announced", #"{"address":"192.0.2.1","url":"http://192.0.2.1/\n"}"#, .invalidValue),
    ]) func `what is out of range does not reach the camera`(path: String, body: String, code: ErrorCode) async {
        let calls = Calls()
        let answer = await answer(unit(StubCamera(calls)), .post, "/api/v1/\(path)", body)
        #expect(problem(answer)?.code == code)
        #expect(problem(answer)?.hint.isEmpty == false)
        #expect(calls.all.isEmpty)
    }

    @Test(arguments: ["", "{}", #"{"token":"1"}"#, #"{"token":"","gop":1}"#, #"{"token":"1","rate":-1}"#])
    func `an invalid change of an encoder does not reach the camera`(body: String) async {
        let calls = Calls()
        #expect(await answer(unit(StubCamera(calls)), .patch, "/api/v1/encoders", body).status >= 400)
        #expect(calls.all.isEmpty)
    }

    /// The second one is refused while the first has not come back, and the third is let in.
    @Test func `one test runs at a time`() async throws {
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        let unit = unit(
            StubCamera(Calls()) {
                begin.yield()
                for await _ in ended { break }
            })
        let first = Task { await answer(unit, .post, "/api/v1/test").status }
        for await _ in begun { break }
        #expect(problem(await answer(unit, .post, "/api/v1/test"))?.code == .busy)
        end.finish()
        #expect(await first.value == 200)
        #expect(await answer(unit, .post, "/api/v1/test").status == 200)
    }

    @Test func `figures of the network are there for Prometheus`() async {
        var statistics = CameraStatistics(camera: "yard", stream: "yard")
        var capture = CaptureStatistics(path: "rtsp://cam/1")
        var network = NetworkStatistics()
        network.state = .live
        network.attempts = 3
        network.connections = 2
        network.stalls = 1
        network.packets = 1000
        network.lost = 7
        network.reordered = 6
        network.discarded = 5
        network.damaged = 4
        network.timelines = 2
        network.firstKeyFrameMilliseconds = 125
        network.driftPartsPerMillion = -50
        network.videoTiming = .init(basis: .camera)
        network.audioTiming = .init(basis: .corrected, speed: 0.84)
        network.transport = "tcp"
        network.authentication = "Digest SHA-256"
        network.videoCodec = "hevc"
        network.eventCount = 9
        capture.network = network
        statistics.capture = capture
        let families = CameraMetrics.families(
            CameraStatusDocument(
                statistics: statistics, instant: 0, framesPerSecond: 0, bitsPerSecond: 0, ivUsedRatio: 0,
                watchdogSeconds: nil, version: "1"))
        let text = MetricFamily.text(families)
        for line in [
            #"watchbox_pull_state{camera="yard",state="live"} 1"#,
            #"watchbox_pull_state{camera="yard",state="stalled"} 0"#,
            #"watchbox_pull_attempts_total{camera="yard"} 3"#, #"watchbox_pull_connections_total{camera="yard"} 2"#,
            #"watchbox_pull_stalls_total{camera="yard"} 1"#, #"watchbox_rtp_packets_total{camera="yard"} 1000"#,
            #"watchbox_rtp_packets_irregular_total{camera="yard",reason="lost"} 7"#,
            #"watchbox_rtp_packets_irregular_total{camera="yard",reason="reordered"} 6"#,
            #"watchbox_rtp_packets_irregular_total{camera="yard",reason="discarded"} 5"#,
            #"watchbox_pull_frames_damaged_total{camera="yard"} 4"#,
            #"watchbox_pull_timestamps_corrected{camera="yard",media="video"} 0"#,
            #"watchbox_pull_timestamps_corrected{camera="yard",media="audio"} 1"#,
            #"watchbox_pull_timelines_total{camera="yard"} 2"#,
            #"watchbox_pull_first_key_frame_seconds{camera="yard"} 0.125"#,
            #"watchbox_pull_clock_drift_ratio{camera="yard"} -5e-05"#, #"watchbox_pull_events_total{camera="yard"} 9"#,
            #"watchbox_pull_info{camera="yard",transport="tcp",authentication="Digest SHA-256",video="hevc",audio=""} 1"#,
        ] { #expect(text.contains(line + "\n"), "\(line)") }
        // What is not known is not reported as zero.
        #expect(!text.contains("watchbox_pull_clock_ahead_seconds") && !text.contains("watchbox_rtp_jitter_seconds"))
        // Names of metrics are unique, and what ends in _total counts.
        #expect(Set(families.map(\.name)).count == families.count)
        for family in families {
            #expect(family.name.hasSuffix("_total") == (family.kind == .counter), "\(family.name)")
        }
        capture.network = nil
        statistics.capture = capture
        #expect(
            !MetricFamily.text(
                CameraMetrics.families(
                    CameraStatusDocument(
                        statistics: statistics, instant: 0, framesPerSecond: 0, bitsPerSecond: 0, ivUsedRatio: 0,
                        watchdogSeconds: nil, version: "1"))
            ).contains("watchbox_pull"))
    }
}
