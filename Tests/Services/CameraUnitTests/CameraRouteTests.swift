import CameraModel
import CameraUnit
import ControlAPI
import ErrorCatalog
import Foundation
import OpenAPI
import Synchronization
import Systemd
import Testing
import UplinkRate

/// The API of one camera's process.
struct CameraRouteTests {
    private static let administrator = APIRequest.Peer(
        processIdentifier: 1, userIdentifier: 0, groupIdentifier: 0, isAdministrator: true)

    private func answer(
        _ camera: CameraUnitService.Camera, _ method: APIRequest.Method, _ path: String, _ body: String = "",
        isAdministrator: Bool = true, query: [String: String] = [:]
    ) async -> APIResponse {
        var peer = Self.administrator
        peer.isAdministrator = isAdministrator
        return await router(camera).answer(APIRequest(method, path, query: query, body: Array(body.utf8), peer: peer))
    }

    private func router(_ camera: CameraUnitService.Camera) -> APIRouter {
        CameraUnitService(
            camera: camera, notifier: Notifier(socketPath: nil), watchdogInterval: nil, version: "1.2.3"
        ).router
    }

    private func camera(
        _ capture: CaptureStatistics? = nil, uplink: UplinkStatistics? = nil
    ) -> CameraUnitService.Camera {
        CameraUnitService.Camera(
            statistics: {
                var statistics = CameraStatistics(camera: "front", stream: "front")
                statistics.capture = capture
                statistics.uplink = uplink
                return statistics
            }, requestKeyFrame: {}, rotateKey: {})
    }

    private func problem(_ answer: APIResponse) -> Problem? {
        guard case .bytes(let bytes, _) = answer.body else {
            if case .json(let bytes) = answer.body { return try? JSONDocument.decode(Problem.self, from: bytes) }
            return nil
        }
        return try? JSONDocument.decode(Problem.self, from: bytes)
    }

    /// `WATCHBOX_WRITE_DOCS=1 swift test --filter OpenAPI` writes it again.
    @Test func `the committed OpenAPI document is the one that the code makes`() throws {
        let routes = router(camera()).routes
        #expect(OpenAPIDocument.undocumented(routes) == [])
        let made = OpenAPIDocument.text(title: "WatchBox camera", version: "1", routes: routes)
        let path = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
            .appendingPathComponent("../../../docs/ref/openapi-camera.json")
        if ProcessInfo.processInfo.environment["WATCHBOX_WRITE_DOCS"] == "1" {
            try made.write(to: path, atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOf: path, encoding: .utf8) == made)
    }

    @Test func `a change reaches the camera as it was asked for`() async {
        let changes = Mutex<[VideoChange]>([])
        var camera = camera()
        camera.change = { (change: VideoChange) async throws(CodedError) in changes.withLock { $0.append(change) } }
        let body = #"{"bitrate":500000,"width":640,"height":360}"#
        #expect(await answer(camera, .patch, "/api/v1/video", body).status == 204)
        #expect(changes.withLock { $0 } == [VideoChange(bitrate: 500_000, width: 640, height: 360)])
        let stranger = await answer(camera, .patch, "/api/v1/video", body, isAdministrator: false)
        #expect(stranger.status == 403)
        #expect(changes.withLock { $0.count } == 1)
    }

    @Test func `a newer token reaches the camera, from an administrator only`() async {
        let tokens = Mutex<[String]>([])
        var camera = camera()
        let body = #"{"secret":"a.b.c"}"#
        // One that has none says so.
        #expect(problem(await answer(camera, .put, "/api/v1/kas-token", body))?.code == .badRequest)
        camera.replaceToken = { (token: String) throws(CodedError) in tokens.withLock { $0.append(token) } }
        #expect(await answer(camera, .put, "/api/v1/kas-token", body).status == 204)
        #expect(await answer(camera, .put, "/api/v1/kas-token", body, isAdministrator: false).status == 403)
        #expect(tokens.withLock { $0 } == ["a.b.c"])
    }

    @Test(arguments: ["", "{}", "[]", #"{"width":640}"#, #"{"height":360,"bitrate":1}"#, #"{"bitrate":"fast"}"#])
    func `an invalid change does not reach the camera`(body: String) async {
        var camera = camera()
        camera.change = { (change: VideoChange) async throws(CodedError) in Issue.record("\(change)") }
        let answer = await answer(camera, .patch, "/api/v1/video", body)
        #expect(problem(answer)?.code == .badRequest)
        #expect(problem(answer)?.hint.isEmpty == false)
    }

    @Test func `what the camera refuses is reported in its own text`() async {
        var camera = camera()
        camera.change = { (_: VideoChange) async throws(CodedError) in
            throw CodedError(.invalidValue, "the rate is 0", hint: "Use 1 to 120")
        }
        let answer = await answer(camera, .patch, "/api/v1/video", #"{"frameRate":0}"#)
        #expect(problem(answer)?.code == .invalidValue)
        #expect(problem(answer)?.detail.contains("the rate is 0") == true)
    }

    @Test func `a frame is for administrators only`() async {
        var camera = camera()
        camera.snapshot = { (maxWidth) async throws(CodedError) in
            [0xFF, 0xD8, 0xFF, 0xD9] + (maxWidth.map { Array("\($0)".utf8) } ?? [])
        }
        let frame = await answer(camera, .get, "/api/v1/snapshot")
        guard case .bytes([0xFF, 0xD8, 0xFF, 0xD9], type: "image/jpeg") = frame.body else {
            Issue.record("\(frame)")
            return
        }
        let small = await answer(camera, .get, "/api/v1/snapshot", query: ["width": "320"])
        guard case .bytes([0xFF, 0xD8, 0xFF, 0xD9, 0x33, 0x32, 0x30], type: "image/jpeg") = small.body else {
            Issue.record("\(small)")
            return
        }
        for width in ["15", "16385", "wide", ""] {
            let refused = await answer(camera, .get, "/api/v1/snapshot", query: ["width": width])
            #expect(problem(refused)?.code == .badRequest)
        }
        #expect(await answer(camera, .get, "/api/v1/snapshot", isAdministrator: false).status == 403)
        #expect(await answer(camera, .get, "/api/v1/status", isAdministrator: false).status == 200)
    }

    @Test func `controls are for administrators only`() async throws {
        var camera = camera()
        let document = CameraControlsDocument(camera: "front", device: "csi:/base/x", card: "imx708", controls: [])
        camera.controls = { () async throws(CodedError) in document }
        guard case .json(let bytes) = await answer(camera, .get, "/api/v1/controls").body else {
            Issue.record("no document")
            return
        }
        #expect(try JSONDocument.decode(CameraControlsDocument.self, from: bytes) == document)
        #expect(await answer(camera, .get, "/api/v1/controls", isAdministrator: false).status == 403)
    }

    @Test func `a source whose media are encoded already says so`() async {
        #expect(problem(await answer(self.camera(), .get, "/api/v1/controls"))?.code == .badRequest)
        #expect(problem(await answer(camera(), .patch, "/api/v1/video", #"{"bitrate":1}"#))?.code == .badRequest)
        #expect(problem(await answer(camera(), .get, "/api/v1/snapshot"))?.code == .badRequest)
    }

    @Test func `figures of the camera and its encoder are there for Prometheus`() async throws {
        var capture = CaptureStatistics(path: "/dev/video0")
        capture.state = .streaming
        capture.captured = 100
        capture.superseded = 7
        capture.encoder = "libx264"
        capture.isHardwareEncoder = false
        capture.limit = "less"
        capture.latencyNanoseconds = 20_000_000
        for _ in 0..<3 { capture.encodeDurations.took(8_000_000) }
        guard case .text(let text, _) = await answer(camera(capture), .get, "/metrics").body else {
            Issue.record("no text")
            return
        }
        for line in [
            #"watchbox_capture_up{camera="front"} 1"#, #"watchbox_capture_frames_total{camera="front"} 100"#,
            #"watchbox_capture_frames_lost_total{camera="front",reason="superseded"} 7"#,
            #"watchbox_encoder_info{camera="front",encoder="libx264",hardware="0"} 1"#,
            #"watchbox_encoder_limited{camera="front"} 1"#, #"watchbox_capture_latency_seconds{camera="front"} 0.02"#,
            #"watchbox_encode_seconds_bucket{camera="front",le="0.005"} 0"#,
            #"watchbox_encode_seconds_bucket{camera="front",le="0.01"} 3"#,
            #"watchbox_encode_seconds_bucket{camera="front",le="+Inf"} 3"#,
            #"watchbox_encode_seconds_sum{camera="front"} 0.024"#, #"watchbox_encode_seconds_count{camera="front"} 3"#,
        ] { #expect(text.contains(line + "\n"), "\(line)") }
        guard case .text(let none, _) = await answer(camera(), .get, "/metrics").body else {
            Issue.record("no text without a device")
            return
        }
        #expect(!none.contains("watchbox_capture"))
    }

    @Test func `figures of a bitrate that follows the link are there for Prometheus, and else are not`() async throws {
        let uplink = UplinkStatistics(
            target: 850_000, least: 350_000, most: 3_500_000, measured: 940_000, delayMilliseconds: 40, drops: 21,
            changes: 7, reason: .congestion, lastChange: 1)
        guard case .text(let text, _) = await answer(camera(uplink: uplink), .get, "/metrics").body,
            case .text(let none, _) = await answer(camera(), .get, "/metrics").body
        else {
            Issue.record("no text")
            return
        }
        for line in [
            #"watchbox_uplink_target_bits_per_second{camera="front"} 850000"#,
            #"watchbox_uplink_limit_bits_per_second{camera="front"} 3500000"#,
            #"watchbox_uplink_measured_bits_per_second{camera="front"} 940000"#,
            #"watchbox_uplink_delay_seconds{camera="front"} 0.04"#,
            #"watchbox_uplink_frames_dropped_total{camera="front"} 21"#,
            #"watchbox_uplink_bitrate_changes_total{camera="front"} 7"#,
        ] { #expect(text.contains(line + "\n"), "\(line)") }
        #expect(!none.contains("watchbox_uplink"))
    }

    @Test func `a mark reaches the recorder, and one that cannot be does not`() async throws {
        let marks = Mutex<[Double?]>([])
        var camera = camera()
        camera.mark = { seconds in
            marks.withLock { $0.append(seconds) }
            return seconds == nil
        }
        let path = "/api/v1/recording/mark"
        for (body, isMarked) in [("{}", true), (#"{"seconds":3600}"#, false)] {
            let document = RecordingMarkDocument(isMarked: isMarked)
            guard case .json(let bytes) = await answer(camera, .post, path, body).body else {
                Issue.record("no document")
                return
            }
            #expect(try JSONDocument.decode(RecordingMarkDocument.self, from: bytes) == document)
        }
        #expect(await answer(camera, .post, path, "{}", isAdministrator: false).status == 403)
        for seconds in ["0.5", "3601", "-1"] {
            let refused = problem(await answer(camera, .post, path, "{\"seconds\":\(seconds)}"))
            #expect(refused?.code == .invalidValue && refused?.hint.isEmpty == false)
        }
        for body in ["", #"{"seconds":"1"}"#, #"{"seconds":1e999}"#, "[]"] {
            #expect(await answer(camera, .post, path, body).status == 400)
        }
        #expect(marks.withLock { $0 } == [nil, 3600])
    }

    @Test func `a camera that is not recorded cannot be marked, and says what to do`() async {
        let refused = problem(await answer(camera(), .post, "/api/v1/recording/mark", "{}"))
        #expect(refused?.code == .badRequest && refused?.hint.contains("watchboxctl recording on") == true)
    }

    // MARK: Recordings

    private static let recordings = "/api/v1/recordings"

    @Test func `recordings are for everybody who may see the status, and are those that are asked for`() async throws {
        let queries = Mutex<[RecordingsQuery]>([])
        var camera = camera()
        let document = RecordingsDocument.Camera(camera: "front", recordings: [])
        camera.recordings = { query in
            queries.withLock { $0.append(query) }
            return document
        }
        let query = ["from": "2026-11-28T00:00:00Z", "to": "2026-11-29T00:00:00Z", "limit": "7", "after": "x.tdf"]
        for query in [query, [:]] {
            let answer = await answer(camera, .get, Self.recordings, isAdministrator: false, query: query)
            guard case .json(let bytes) = answer.body else {
                Issue.record("no document")
                return
            }
            #expect(try JSONDocument.decode(RecordingsDocument.Camera.self, from: bytes) == document)
        }
        for query in [["limit": "0"], ["from": "now"], ["to": "-1"], ["after": "../x"]] {
            let refused = problem(await answer(camera, .get, Self.recordings, query: query))
            #expect(refused?.status == 400 && refused?.hint.isEmpty == false)
        }
        #expect(
            queries.withLock { $0 } == [
                RecordingsQuery(from: 1_795_824_000_000, to: 1_795_910_400_000, limit: 7, after: "x.tdf"),
                RecordingsQuery(),
            ])
    }

    @Test(.timeLimit(.minutes(5))) func `recordings are read for one at a time`() async throws {
        let (entered, entrance) = AsyncStream.makeStream(of: Void.self)
        let (released, release) = AsyncStream.makeStream(of: Void.self)
        var camera = camera()
        let count = Mutex(0)
        camera.recordings = { (_: RecordingsQuery) async throws(CodedError) in
            let isFirst = count.withLock { count in
                count += 1
                return count == 1
            }
            if isFirst {
                entrance.yield()
                for await _ in released { break }
            }
            throw CodedError(.recordingFailed, "the disk is gone")
        }
        let router = router(camera)
        let request = APIRequest(.get, Self.recordings, peer: Self.administrator)
        let first = Task { await router.answer(request) }
        for await _ in entered { break }
        let refused = problem(await router.answer(request))
        #expect(refused?.code == .busy && refused?.status == 409 && refused?.hint.isEmpty == false)
        release.yield()
        #expect(problem(await first.value)?.code == .recordingFailed)
        // However the first one ended, there is room for the next.
        #expect(problem(await router.answer(request))?.code == .recordingFailed)
    }
}
