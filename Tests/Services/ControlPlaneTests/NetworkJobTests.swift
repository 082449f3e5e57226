import BoxMemory
import CameraModel
import ControlAPI
import Discovery
import ErrorCatalog
import Foundation
import Settings
import Synchronization
import Testing

@testable import ControlPlane

/// Searches of the network and tests of cameras, without a network.
@Suite(.timeLimit(.minutes(15)))
struct NetworkJobTests {
    private static let password = "p@ss:/#% \"ü"
    private static let endpoint = "urn:uuid:5f5a69c2-e0ae-504f-829b-000000000042"

    private func box(_ files: String = ControlStage.connections) async throws -> (ControlStage, ControlService) {
        let stage = try ControlStage()
        try stage.write(files)
        return (stage, try await stage.start())
    }

    private static func onvif(_ address: String, endpoint: String? = nil) -> FoundCameraDocument {
        FoundCameraDocument(
            kind: .onvif, endpoint: endpoint, address: address, port: 80, source: "onvif://\(address)")
    }

    // MARK: Search

    @Test func `a search is begun, looked at, and ends by itself`() async throws {
        let (stage, control) = try await box()
        #expect(await control.send(.get, "discovery").problem?.code == .notFound)
        let begun = await control.send(.post, "discovery", #"{"ranges":["192.0.2.0/24"],"timeoutSeconds":2}"#)
        #expect(begun.status == 202 && begun.location == "/api/v1/discovery")
        let first = try begun.document(NetworkSearchDocument.self)
        #expect(first.state == .running && first.number == 1 && first.found.isEmpty)
        let search = try #require(await stage.network.nextSearch())
        #expect(stage.network.requests == [DiscoveryRequest(timeoutSeconds: 2, ranges: ["192.0.2.0/24"])])

        let second = await control.send(.post, "discovery", "{}")
        #expect(second.status == 409 && second.problem?.code == .discoveryRunning)

        stage.now.withLock { $0 += .seconds(3) }
        search.progress(.init(found: [Self.onvif("192.0.2.7")], probed: 17, total: 1270, remarks: ["eth1 is down"]))
        let half = try await control.get(NetworkSearchDocument.self, "discovery")
        #expect(half.probed == 17 && half.total == 1270 && half.elapsedSeconds == 3)
        #expect(half.found.map(\.address) == ["192.0.2.7"] && half.remarks == ["eth1 is down"])

        search.end(.success([Self.onvif("192.0.2.7"), Self.onvif("192.0.2.8")]))
        await control.core.jobs.settled()
        let done = try await control.get(NetworkSearchDocument.self, "discovery")
        #expect(done.state == .done && done.found.count == 2)
        stage.now.withLock { $0 += .seconds(60) }
        #expect(try await control.get(NetworkSearchDocument.self, "discovery").elapsedSeconds == 3)
        // The next one counts on.
        #expect(try await control.send(.post, "discovery", "{}").document(NetworkSearchDocument.self).number == 2)
        await stage.network.nextSearch()?.end(.success([]))
        await control.core.jobs.settled()
    }

    @Test func `a search that is cancelled keeps what it found, and the next one waits for its end`() async throws {
        let (stage, control) = try await box()
        #expect(await control.send(.delete, "discovery").problem?.code == .notFound)
        #expect(await control.send(.post, "discovery", "{}").status == 202)
        let search = try #require(await stage.network.nextSearch())
        search.progress(.init(found: [Self.onvif("192.0.2.7")]))
        let cancelled = try await control.send(.delete, "discovery").document(NetworkSearchDocument.self)
        #expect(cancelled.state == .cancelled && cancelled.found.count == 1)
        await search.isCancelled()
        search.end(.success([Self.onvif("192.0.2.7"), Self.onvif("192.0.2.8")]))
        await control.core.jobs.settled()
        let ended = try await control.get(NetworkSearchDocument.self, "discovery")
        #expect(ended.state == .cancelled && ended.found.count == 2)
        #expect(await control.send(.post, "discovery", "{}").status == 202)
        await stage.network.nextSearch()?.end(.success([]))
        await control.core.jobs.settled()
    }

    @Test func `a search right after one was cancelled waits for it, and is not refused`() async throws {
        let (stage, control) = try await box()
        #expect(await control.send(.post, "discovery", "{}").status == 202)
        let search = try #require(await stage.network.nextSearch())
        #expect(await control.send(.delete, "discovery").status == 200)
        await search.isCancelled()
        let next = Task { await control.send(.post, "discovery", "{}") }
        // The next one has its chance to be too early.
        for _ in 0..<1000 { _ = await control.send(.get, "discovery") }
        search.end(.success([]))
        let begun = try await next.value.document(NetworkSearchDocument.self)
        #expect(begun.state == .running && begun.number == 2)
        await stage.network.nextSearch()?.end(.success([]))
        await control.core.jobs.settled()
    }

    @Test(arguments: [
        "onvif://192.0.2.7/;touch$IFS/tmp/x", "onvif://192.0.2.7/$(id)", "onvif://192.0.2.7/`id`",
        "onvif://192.0.2.7/a&b", "onvif://192.0.2.7/'x'", "onvif://192.0.2.7/\u{1B}[2J", "onvif://192.0.2.7/a b",
    ])
    func `no shell's code is proposed as a source`(source: String) {
        func plain(_ source: String, _ scheme: String, _ address: String, _ port: Int) -> String {
            FoundCameraDocument.plainSource(source, scheme: scheme, address: address, port: port)
        }
        #expect(plain(source, "onvif", "192.0.2.7", 80) == "onvif://192.0.2.7")
        #expect(plain(source, "onvif", "2001:db8::7", 8000) == "onvif://[2001:db8::7]:8000")
        #expect(plain(source, "rtsp", "192.0.2.7", 554) == "rtsp://192.0.2.7:554/")
        let good = "onvif://192.0.2.7:8000/onvif/device_service?a=1"
        #expect(plain(good, "onvif", "192.0.2.7", 8000) == good)
    }

    @Test func `a search that fails says why, as problem and as event`() async throws {
        let (stage, control) = try await box()
        #expect(await control.send(.post, "discovery", "{}").status == 202)
        let error = CodedError(.unreachable, "the network cannot be searched", why: "no interface is up", hint: "Look")
        await stage.network.nextSearch()?.end(.failure(error))
        await control.core.jobs.settled()
        let failed = try await control.get(NetworkSearchDocument.self, "discovery")
        #expect(failed.state == .failed && failed.problem?.code == .unreachable && failed.problem?.hint == "Look")
        let events = try #require(control.core.memory).events(after: 0, limit: 100)
        #expect(events.contains { $0.topic == "system" && $0.text.contains("no interface is up") })
    }

    @Test(arguments: [
        #"{"timeoutSeconds":0}"#, #"{"timeoutSeconds":61}"#, #"{"ports":[]}"#, #"{"ports":[0]}"#,
        #"{"ports":[65536]}"#, #"{"ports":"554"}"#, #"{"interfaces":["an-interface-name"]}"#, "[]", "",
        "{\"ranges\":[\(Array(repeating: "\"192.0.2.0/30\"", count: 17).joined(separator: ","))]}",
    ])
    func `what no search takes is refused before it begins`(body: String) async throws {
        let (stage, control) = try await box()
        #expect(await control.send(.post, "discovery", body).status == 400)
        #expect(stage.network.requests.isEmpty)
    }

    @Test func `a network that is too large is refused with the search's own message`() async throws {
        let (stage, control) = try await box()
        stage.network.refuse(CodedError(.scanTooLarge, "the network cannot be searched", why: "10.0.0.0/8 is large"))
        let refused = await control.send(.post, "discovery", #"{"ranges":["10.0.0.0/8"]}"#)
        #expect(refused.status == 422 && refused.problem?.code == .scanTooLarge)
        #expect(await control.send(.get, "discovery").problem?.code == .notFound)
    }

    @Test func `only administrators search and test`() async throws {
        let (stage, control) = try await box()
        defer { withExtendedLifetime(stage) {} }
        for (method, path) in [
            (APIRequest.Method.post, "discovery"), (.get, "discovery"), (.delete, "discovery"), (.post, "camera-tests"),
            (.get, "camera-tests/x"), (.post, "cameras/a/test"), (.post, "cameras/a/ptz"), (.get, "cameras/a/presets"),
            (.get, "cameras/a/encoders"), (.patch, "cameras/a/encoders"), (.get, "cameras/a/thumbnail"),
            (.get, "cameras/a/controls"), (.post, "cameras/a/recording/mark"),
        ] {
            let answer = await control.send(method, path, "{}", isAdministrator: false)
            #expect(answer.problem?.code == .notPermitted, "\(method) \(path)")
        }
    }

    // MARK: Marks

    private static let known =
        ControlStage.connections + """
            camera.address = { source = "rtsp://192.0.2.7/one" }
            camera.identity = { source = "onvif://192.0.2.8", identity_endpoint = "\(endpoint)" }
            camera.port = { source = "rtsp://192.0.2.9:8554/" }
            camera.six = { source = "rtsp://[2001:DB8::7]/" }
            camera.usb = { source = "v4l2:/dev/v4l/by-id/usb-Example-video-index0" }

            """

    @Test func `what is found is marked as new, added, or wanting a login`() async throws {
        let (stage, control) = try await box(Self.known)
        #expect(await control.send(.post, "discovery", "{}").status == 202)
        var login = Self.onvif("192.0.2.50")
        login.mark = .needsLogin
        func rtsp(_ address: String, _ port: Int) -> FoundCameraDocument {
            FoundCameraDocument(kind: .rtsp, address: address, port: port, source: "rtsp://\(address):\(port)/")
        }
        await stage.network.nextSearch()?.end(
            .success([
                Self.onvif("192.0.2.7"), rtsp("192.0.2.7", 554), rtsp("192.0.2.7", 8554),
                // It has moved; and another one has come to its place.
                Self.onvif("192.0.2.99", endpoint: Self.endpoint), Self.onvif("192.0.2.8", endpoint: "urn:uuid:other"),
                rtsp("192.0.2.9", 8554), rtsp("192.0.2.9", 554), rtsp("2001:db8::7", 554), login,
            ]))
        await control.core.jobs.settled()
        let found = try await control.get(NetworkSearchDocument.self, "discovery").found
        #expect(
            found.map(\.camera) == [
                "address", "address", nil, "identity", nil, "port", nil, "six", nil,
            ])
        #expect(
            found.map(\.mark) == [
                .added, .added, .new, .added, .new, .added, .new, .added, .needsLogin,
            ])
    }

    @Test(arguments: [
        ("rtsp://192.0.2.7/one", "192.0.2.7", 554), ("rtsps://cam.local:8322/", "cam.local", 8322),
        ("onvif://192.0.2.8:8000/onvif/device_service", "192.0.2.8", 8000),
        ("rtsp://[2001:db8::7]:88", "2001:db8::7", 88),
        ("rtsp://[::1]?x=1", "::1", 554),
    ])
    func `host and port of a source`(source: String, host: String, port: Int) throws {
        let place = try #require(NetworkPlace(source))
        #expect(place.host == host && place.port == port)
    }

    @Test(arguments: [
        "test:", "file:/x", "rtsp:", "rtsp://", "rtsp://user:secret@host/", "rtsp://[::1", "ftp://host/",
    ])
    func `what is not a place on the network`(source: String) {
        #expect(NetworkPlace(source) == nil)
    }

    // MARK: Tests

    private static func report(_ source: String) -> StreamTestReport {
        var device = NetworkStatistics.Device()
        (device.manufacturer, device.model, device.firmware) = ("Example", "IPC-1\u{7}", "1.2")
        (device.serial, device.endpoint, device.mac) = ("0042", endpoint, "00:00:5E:00:53:01")
        device.profiles = [
            .init(
                token: "P2", name: "Sub", service: "media", url: "rtsp://192.0.2.7/2", codec: "h264", width: 640,
                height: 360, rate: 15, bitrate: 500_000, gop: 30),
            .init(
                token: "P1", name: "Main", service: "media2", url: "rtsp://192.0.2.7/1", codec: "hevc", width: 1920,
                height: 1080, rate: 25),
        ]
        var report = StreamTestReport(url: source)
        report.device = device
        (report.address, report.port, report.isUsable) = ("192.0.2.7", 554, true)
        return report
    }

    private func test(
        _ stage: ControlStage, _ control: ControlService, _ source: String
    ) async throws -> (id: String, ScriptedNetwork.Test) {
        let request = CameraTestRequest(source: source, user: "admin", password: Self.password)
        let begun = await control.send(.post, "camera-tests", JSONDocument.text(request))
        #expect(begun.status == 202)
        let id = try begun.document(CameraTestDocument.self).id
        #expect(begun.location == "/api/v1/camera-tests/\(id)")
        return (id, try #require(await stage.network.nextTest()))
    }

    @Test func `a test reports its steps as they come, and its end`() async throws {
        let (stage, control) = try await box()
        let (id, test) = try await test(stage, control, "rtsp://192.0.2.7/1")
        #expect(stage.network.testRequests.first?.password == Self.password)
        let empty = try await control.get(StreamTestReport.self, "camera-tests/\(id)")
        #expect(empty.url == "rtsp://192.0.2.7/1" && empty.lines.isEmpty && !empty.isDone)
        var report = StreamTestReport(url: "rtsp://192.0.2.7/1")
        report.lines = [.init(step: .reach, outcome: .ok, milliseconds: 2, text: "answers")]
        test.progress(report)
        #expect(try await control.get(StreamTestReport.self, "camera-tests/\(id)").lines.count == 1)
        report.isUsable = true
        test.end(report)
        await control.core.jobs.settled()
        let done = try await control.get(StreamTestReport.self, "camera-tests/\(id)")
        #expect(done.isDone && done.isUsable)

        // No one else's, and not for ever.
        #expect(await control.send(.get, "camera-tests/1").problem?.code == .notFound)
        stage.now.withLock { $0 += .seconds(299) }
        #expect(await control.send(.get, "camera-tests/\(id)").status == 200)
        stage.now.withLock { $0 += .seconds(1) }
        #expect(await control.send(.get, "camera-tests/\(id)").problem?.code == .notFound)
    }

    @Test func `a test that no one waits for is ended, and makes room`() async throws {
        let (stage, control) = try await box()
        let (id, test) = try await test(stage, control, "rtsp://192.0.2.7/1")
        #expect(
            await control.send(.delete, "camera-tests/\(id)", isAdministrator: false).problem?.code == .notPermitted)
        #expect(await control.send(.delete, "camera-tests/none").problem?.code == .notFound)
        #expect(await control.send(.delete, "camera-tests/\(id)").status == 204)
        await test.isCancelled()
        test.end(StreamTestReport(url: ""))
        await control.core.jobs.settled()
        #expect(try await control.get(StreamTestReport.self, "camera-tests/\(id)").isDone)
    }

    @Test func `so many tests at once, and no more`() async throws {
        let (stage, control) = try await box()
        var tests: [ScriptedNetwork.Test] = []
        for number in 0..<NetworkJobs.testLimit {
            tests.append(try await test(stage, control, "rtsp://192.0.2.\(number + 1)/").1)
        }
        let body = JSONDocument.text(CameraTestRequest(source: "rtsp://192.0.2.99/"))
        let refused = await control.send(.post, "camera-tests", body)
        #expect(refused.status == 429 && refused.problem?.code == .tooMuch)
        for test in tests { test.end(StreamTestReport(url: "")) }
        await control.core.jobs.settled()
        _ = try await test(stage, control, "rtsp://192.0.2.99/").1.end(StreamTestReport(url: ""))
        await control.core.jobs.settled()
    }

    @Test func `of tests that ended, the newest are kept`() async throws {
        let (stage, control) = try await box()
        var ids: [String] = []
        for number in 0..<NetworkJobs.keptTests + 2 {
            stage.now.withLock { $0 += .milliseconds(1) }
            let (id, test) = try await test(stage, control, "rtsp://192.0.2.1/\(number)")
            test.end(StreamTestReport(url: ""))
            await control.core.jobs.settled()
            ids.append(id)
        }
        #expect(await control.send(.get, "camera-tests/\(ids[1])").problem?.code == .notFound)
        #expect(await control.send(.get, "camera-tests/\(ids[2])").status == 200)
    }

    @Test(arguments: [
        #"{"source":"rtsp://admin:\#(password.replacing("\"", with: "\\\""))@192.0.2.7/"}"#, #"{"source":"test:"}"#,
        #"{"source":"ftp://192.0.2.7/"}"#, #"{"source":"rtsp://192.0.2.7/?password=p@ss:/"}"#,
        #"{"source":"rtsp://192.0.2.7/","user":""}"#, #"{"source":"rtsp://192.0.2.7/","pin":"p@ss:/"}"#,
        #"{"source":"rtsp://192.0.2.7/","password":"p@ss:/"#, #"{"source":"rtsp://192.0.2.7/","password":["p@ss:/"]}"#,
        "{\"source\":\"rtsp://192.0.2.7/\",\"password\":\"p@ss:/\(String(repeating: "x", count: 4096))\"}",
        #"{"password":"p@ss:/"}"#,
    ])
    func `a test that cannot be made is refused, and no password is shown`(body: String) async throws {
        let (stage, control) = try await box()
        let refused = await control.send(.post, "camera-tests", body)
        #expect([400, 422].contains(refused.status), "\(refused.text)")
        #expect(!refused.text.contains("p@ss"), "\(refused.text)")
        #expect(stage.network.testRequests.isEmpty)
    }

    @Test func `a password of a test is nowhere on the disk`() async throws {
        let (stage, control) = try await box()
        let (id, test) = try await test(stage, control, "onvif://192.0.2.7")
        test.end(Self.report("onvif://192.0.2.7"))
        await control.core.jobs.settled()
        let request = CameraRequest(id: "front", source: "onvif://192.0.2.7", user: "admin", test: id)
        #expect(await control.send(.post, "cameras", JSONDocument.text(request)).status == 201)
        let names = try FileManager.default.subpathsOfDirectory(atPath: stage.root)
        #expect(names.contains("state/state.db"))
        for name in names {
            guard let data = FileManager.default.contents(atPath: "\(stage.root)/\(name)") else { continue }
            #expect(data.firstRange(of: Data(Self.password.utf8)) == nil, "\(name)")
        }
    }

    // MARK: Adding

    @Test func `a camera is added with what its test found out`() async throws {
        let (stage, control) = try await box()
        let (id, test) = try await test(stage, control, "onvif://192.0.2.7")
        let request = CameraRequest(id: "front", source: "onvif://192.0.2.7", user: "admin", test: id)
        #expect(await control.send(.post, "cameras", JSONDocument.text(request)).problem?.code == .busy)
        var report = Self.report("onvif://192.0.2.7")
        report.pin = "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
        test.end(report)
        await control.core.jobs.settled()
        var other = request
        other.source = "onvif://192.0.2.8"
        #expect(await control.send(.post, "cameras", JSONDocument.text(other)).problem?.code == .badRequest)
        other = request
        other.test = "none"
        #expect(await control.send(.post, "cameras", JSONDocument.text(other)).problem?.code == .notFound)

        let added = await control.send(.post, "cameras", JSONDocument.text(request))
        #expect(added.status == 201, "\(added.text)")
        let camera = try added.document(CameraDocument.self)
        #expect(camera.manufacturer == "Example" && camera.firmware == "1.2" && camera.serial == "0042")
        #expect(camera.endpoint == Self.endpoint && camera.mac == "00:00:5e:00:53:01")
        #expect(camera.address == "192.0.2.7" && camera.port == 554)
        #expect(camera.settings["pin"] == .string(report.pin ?? ""))
        #expect(camera.settings["identity_serial"] == .string("0042"))
        #expect(camera.profiles.map(\.token) == ["P2", "P1"] && camera.profiles.map(\.isDefault) == [false, true])
        // Its process knows which device it must be.
        let file = try #require(stage.file("run/service/camera-front.json"))
        #expect(file.contains(Self.endpoint) && file.contains("00:00:5e:00:53:01") && file.contains("sha256//"))

        let profiles = try await control.get(CameraProfileListDocument.self, "cameras/front/profiles")
        #expect(profiles.used == "P1" && profiles.profiles.map(\.bitrate) == [500_000, nil])

        // Another address may be another device.
        let moved = await control.send(.patch, "cameras/front", #"{"source":"onvif://192.0.2.9"}"#)
        #expect(moved.status == 200)
        let there = try moved.document(CameraDocument.self)
        #expect(there.settings["identity_serial"] == nil && there.endpoint == nil && there.address == nil)
        #expect(
            there.settings["pin"] == nil && there.manufacturer == nil && there.model == nil && there.firmware == nil)
        #expect(there.profiles.isEmpty)
    }

    @Test func `both streams of one device are two cameras, after one test`() async throws {
        let (stage, control) = try await box()
        let (id, test) = try await test(stage, control, "onvif://192.0.2.7")
        test.end(Self.report("onvif://192.0.2.7"))
        await control.core.jobs.settled()
        for (camera, profile) in [("yard", "main"), ("yard-sub", "sub")] {
            let request = CameraRequest(
                id: camera, source: "onvif://192.0.2.7", user: "admin",
                settings: ["profile": .string(profile)], test: id)
            let added = await control.send(.post, "cameras", JSONDocument.text(request))
            #expect(added.status == 201, "\(added.text)")
            let document = try added.document(CameraDocument.self)
            #expect(document.settings["identity_serial"] == .string("0042") && document.endpoint == Self.endpoint)
            let used = try await control.get(CameraProfileListDocument.self, "cameras/\(camera)/profiles").used
            #expect(used == (profile == "main" ? "P1" : "P2"))
        }
        // Who looks for new ones sees that it is there, wherever it is now.
        #expect(await control.send(.post, "discovery", "{}").status == 202)
        await stage.network.nextSearch()?.end(.success([Self.onvif("192.0.2.99", endpoint: Self.endpoint)]))
        await control.core.jobs.settled()
        let found = try await control.get(NetworkSearchDocument.self, "discovery").found
        #expect(found.map(\.mark) == [.added] && found.map(\.camera) == ["yard"])
        // And that it moved is reported to both.
        _ = await control.core.heard(
            .init(kind: .hello, endpoint: Self.endpoint, address: "192.0.2.99", network: "eth0"))?
            .value
        let reported = try #require(control.core.memory).events(after: 0, limit: 1000)
            .filter { $0.text.contains("announced itself at 192.0.2.99") }.compactMap(\.object)
        #expect(Set(reported) == ["yard", "yard-sub"])
        // One goes, the other stays.
        #expect(await control.send(.delete, "cameras/yard-sub").status == 204)
        #expect(try await control.get(CameraDocument.self, "cameras/yard").endpoint == Self.endpoint)
    }

    private func added(_ stage: ControlStage, _ control: ControlService, isUsable: Bool = true) async throws {
        let (id, test) = try await test(stage, control, "onvif://192.0.2.7")
        var report = Self.report("onvif://192.0.2.7")
        report.pin = "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
        report.isUsable = isUsable
        test.end(report)
        await control.core.jobs.settled()
        let request = CameraRequest(id: "front", source: "onvif://192.0.2.7", user: "admin", test: id)
        #expect(await control.send(.post, "cameras", JSONDocument.text(request)).status == 201)
    }

    @Test func `another stream of the same device is the same device`() async throws {
        let (stage, control) = try await box()
        try await added(stage, control)
        let edited = await control.send(.patch, "cameras/front", #"{"source":"onvif://192.0.2.7:80/onvif/device"}"#)
        let camera = try edited.document(CameraDocument.self)
        #expect(camera.settings["pin"] != nil && camera.settings["identity_serial"] == .string("0042"))
        #expect(camera.manufacturer == "Example")
    }

    @Test func `a device that showed no frame proves nothing`() async throws {
        let (stage, control) = try await box()
        try await added(stage, control, isUsable: false)
        let camera = try await control.get(CameraDocument.self, "cameras/front")
        #expect(camera.settings["pin"] == nil && camera.settings["identity_serial"] == nil)
        #expect(camera.endpoint == nil && camera.manufacturer == nil && camera.profiles.isEmpty)
    }

    @Test func `another device is accepted in the camera's place`() async throws {
        let (stage, control) = try await box()
        try await added(stage, control)
        let body = #"{"settings":{"identity_endpoint":"","identity_serial":"","identity_mac":""}}"#
        let accepted = try await control.send(.patch, "cameras/front", body).document(CameraDocument.self)
        #expect(accepted.settings["identity_serial"] == nil && accepted.settings["identity_endpoint"] == nil)
        #expect(accepted.settings["identity_mac"] == nil && accepted.serial == nil && accepted.manufacturer == nil)
        #expect(accepted.settings["pin"] != nil)
        let file = try #require(stage.file("run/service/camera-front.json"))
        #expect(!file.contains(Self.endpoint) && !file.contains("0042"))
    }

    @Test func `going back keeps what was learned of the same device`() async throws {
        let (stage, control) = try await box()
        try await added(stage, control)
        #expect(await control.send(.patch, "cameras/front", #"{"name":"Gate"}"#).status == 200)
        #expect(await control.send(.post, "config/rollback", "{}").status == 200)
        let camera = try await control.get(CameraDocument.self, "cameras/front")
        #expect(camera.name == "front")
        #expect(camera.manufacturer == "Example" && camera.serial == "0042" && camera.address == "192.0.2.7")
        #expect(camera.firmware == "1.2" && camera.port == 554 && camera.endpoint == Self.endpoint)
    }

    @Test func `datagrams cannot be chosen beside an encrypted address`() async throws {
        let (stage, control) = try await box()
        defer { withExtendedLifetime(stage) {} }
        func add(_ id: String, _ source: String) async -> APIResponse {
            let request = CameraRequest(id: id, source: source, settings: ["transport": .string("udp")])
            return await control.send(.post, "cameras", JSONDocument.text(request))
        }
        let refused = await add("a", "rtsps://192.0.2.7/1")
        #expect(refused.status >= 400 && refused.text.contains("rtsps:// promises TLS"), "\(refused.text)")
        let added = await add("a", "rtsp://192.0.2.7/1")
        #expect(added.status == 201, "\(added.text)")
        // Nor by the other half of it; both together are a way.
        let source = #"{"source":"rtsps://192.0.2.7/1"}"#
        let changed = await control.send(.patch, "cameras/a", source)
        #expect(changed.status >= 400 && changed.text.contains("rtsps:// promises TLS"), "\(changed.text)")
        let both = #"{"source":"rtsps://192.0.2.7/1","settings":{"transport":"tcp"}}"#
        #expect(await control.send(.patch, "cameras/a", both).status == 200)
        let back = await control.send(.patch, "cameras/a", #"{"settings":{"transport":"multicast"}}"#)
        #expect(back.status >= 400)
    }

    @Test(arguments: [
        ("transport", "\"udp\"", "HTTP has no such thing"), ("profile", "\"sub\"", "onvif:// cameras alone"),
        ("rtsp_host", "\"192.0.2.9\"", "onvif:// cameras alone"), ("rtsp_port", "8554", "onvif:// cameras alone"),
    ])
    func `for frames over HTTP no one chooses what they lack`(
        setting: String, value: String, words: String
    ) async throws {
        let (stage, control) = try await box()
        defer { withExtendedLifetime(stage) {} }
        func camera(_ id: String, _ source: String) -> String {
            #"{"id":"\#(id)","source":"\#(source)","settings":{"\#(setting)":\#(value)}}"#
        }
        let refused = await control.send(.post, "cameras", camera("a", "http://192.0.2.7:81/stream"))
        #expect(refused.status >= 400 && refused.text.contains(words), "\(refused.text)")
        #expect(await control.send(.post, "cameras", camera("a", "onvif://192.0.2.7")).status == 201)
        // Nor by the other half of it.
        let changed = await control.send(.patch, "cameras/a", #"{"source":"http://192.0.2.7:81/stream"}"#)
        #expect(changed.status >= 400 && changed.text.contains(words), "\(changed.text)")
        let plain = #"{"id":"b","source":"http://192.0.2.7:81/stream","settings":{"snapshot_rate":1.5}}"#
        let added = await control.send(.post, "cameras", plain)
        #expect(added.status == 201, "\(added.text)")
    }

    @Test func `a pin that somebody chose stays`() async throws {
        let (stage, control) = try await box()
        let (id, test) = try await test(stage, control, "rtsps://192.0.2.7/1")
        var report = Self.report("rtsps://192.0.2.7/1")
        report.pin = "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
        test.end(report)
        await control.core.jobs.settled()
        let pin = "sha256//BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA="
        let request = CameraRequest(id: "a", source: "rtsps://192.0.2.7/1", settings: ["pin": .string(pin)], test: id)
        let added = await control.send(.post, "cameras", JSONDocument.text(request))
        let camera = try added.document(CameraDocument.self)
        #expect(camera.settings["pin"] == .string(pin))
        // A stream without ONVIF has no identity to prove.
        #expect(camera.settings["identity_serial"] == nil)
    }

    @Test func `more network cameras than the box pulls are refused, and the limit is named`() async throws {
        let (stage, control) = try await box(ControlStage.connections + "box = { pulls = 2 }\n")
        func add(_ id: String, isActive: Bool = true) async -> APIResponse {
            await control.send(
                .post, "cameras",
                JSONDocument.text(CameraRequest(id: id, source: "rtsp://192.0.2.7/\(id)", isActive: isActive)))
        }
        let first = await add("a")
        #expect(first.status == 201, "\(first.text)")
        #expect(await add("b").status == 201)
        let refused = await add("c")
        #expect(refused.status == 422 && refused.problem?.detail.contains("allows 2 active") == true)
        #expect(refused.problem?.hint.contains("pulls") == true)
        #expect(await add("c", isActive: false).status == 201)
        #expect(await control.send(.post, "cameras/c/enable").status == 422)
        #expect(await control.send(.post, "cameras/a/disable").status == 200)
        #expect(await control.send(.post, "cameras/c/enable").status == 200)
        #expect(stage.units.running.count == 2)
    }
}
