import BoxMemory
import CameraModel
import ControlAPI
import Discovery
import ErrorCatalog
import Foundation
import ONVIF
import Settings
import Synchronization
import Testing

@testable import ControlPlane

/// What control does for network cameras that run.
@Suite(.timeLimit(.minutes(15)))
struct NetworkCameraTests {
    private static let endpoint = "urn:uuid:5f5a69c2-e0ae-504f-829b-000000000042"

    /// What a camera's process says of itself.
    private final class Process: Sendable {
        let statistics = Mutex(NetworkStatistics())
        let requests = Mutex<[(line: String, body: String)]>([])
        let frame = Mutex<[UInt8]>([0xFF, 0xD8, 0xFF, 0xE0, 1, 2, 3, 0xFF, 0xD9])
        let answers = Mutex<[String: CameraStub.Answer]>([:])
        /// Why it waits; nil: it streams.
        let away = Mutex<ErrorCode?>(nil)

        func answer(_ camera: String) -> @Sendable (String, [UInt8]) -> CameraStub.Answer? {
            { [self] line, body in
                if !line.hasPrefix("GET /api/v1/status ") {
                    requests.withLock { $0.append((line, String(decoding: body, as: UTF8.self))) }
                }
                let start = line.split(separator: " ").prefix(2).joined(separator: " ")
                if let answer = answers.withLock({ $0[start] }) { return answer }
                if line.hasPrefix("GET /api/v1/status ") {
                    return .init(status: 200, body: JSONDocument.bytes(status(camera)))
                }
                if line.hasPrefix("GET /api/v1/snapshot?width=320 ") {
                    return .init(status: 200, type: "image/jpeg", body: frame.withLock { $0 })
                }
                return line.hasPrefix("POST /api/v1/announced ") ? .done : nil
            }
        }

        private func status(_ camera: String) -> CameraStatusDocument {
            var capture = CaptureStatistics(path: "onvif://192.0.2.7")
            capture.state = away.withLock { $0 } == nil ? .streaming : .waiting
            capture.code = away.withLock { $0 }
            capture.network = statistics.withLock { $0 }
            var statistics = CameraStatistics(camera: camera, stream: camera)
            statistics.state = .publishing
            statistics.capture = capture
            return CameraStatusDocument(
                statistics: statistics, instant: 1, framesPerSecond: 25, bitsPerSecond: 1, ivUsedRatio: 0,
                watchdogSeconds: nil, version: "1")
        }
    }

    private struct Box {
        var stage: ControlStage
        var control: ControlService
        var process: Process
        var stub: CameraStub

        /// Until everything that its process says has been looked at: on a busy machine an answer may be late.
        func look(until isSeen: () -> Bool = { true }) async {
            let expected = process.statistics.withLock { $0 }
            for _ in 0..<1000 {
                for _ in 0..<5 { await control.core.tick() }
                await control.core.thumbnailTask?.value
                await control.core.moveTask?.value
                let memory = await control.core.network["yard"]
                if memory?.lastEvent == expected.eventCount, memory?.learnedFacts?.address == expected.address,
                    memory?.learnedFacts?.device == expected.device, isSeen()
                {
                    return
                }
            }
        }

        func texts() throws -> [String] {
            try #require(control.core.memory).events(after: 0, limit: 1000).filter { $0.object == "yard" }.map(\.text)
                // On a busy machine an answer may be late.
                .filter { !$0.hasPrefix("unknown") && !$0.hasPrefix("live") }
        }
    }

    private func box(_ id: String = "yard", _ files: String = "") async throws -> Box {
        let stage = try ControlStage()
        try stage.write(ControlStage.connections + files)
        let control = try await stage.start()
        let request = CameraRequest(id: id, source: "onvif://192.0.2.7", user: "admin")
        try #require(await control.send(.post, "cameras", JSONDocument.text(request)).status == 201)
        let process = Process()
        process.statistics.withLock {
            $0.state = .live
            ($0.address, $0.port) = ("192.0.2.7", 554)
        }
        let stub = try CameraStub(id, of: stage, answer: process.answer(id))
        stage.units.forgetCalls()
        return Box(stage: stage, control: control, process: process, stub: stub)
    }

    private static var device: NetworkStatistics.Device {
        var device = NetworkStatistics.Device()
        (device.manufacturer, device.model, device.endpoint) = ("Example", "IPC-1", endpoint)
        device.profiles = [
            .init(token: "P1", name: "Main", service: "media2", url: "rtsp://192.0.2.7/1", width: 1920, height: 1080)
        ]
        return device
    }

    // MARK: Learning

    @Test func `what a process learns is stored, and nothing restarts`() async throws {
        let box = try await box()
        let file = box.stage.file("run/service/camera-yard.json")
        box.process.statistics.withLock { $0.device = Self.device }
        await box.look()
        let camera = try await box.control.get(CameraDocument.self, "cameras/yard")
        #expect(camera.manufacturer == "Example" && camera.endpoint == Self.endpoint)
        #expect(camera.address == "192.0.2.7" && camera.lastConnected == 1_700_000_000)
        #expect(camera.profiles.map(\.token) == ["P1"])

        // It has moved.
        box.process.statistics.withLock { $0.address = "192.0.2.99" }
        await box.look()
        #expect(try await box.control.get(CameraDocument.self, "cameras/yard").address == "192.0.2.99")
        // Nor does the next change of something else, or the next start of control.
        #expect(await box.control.send(.patch, "cameras/yard", #"{"name":"Yard"}"#).status == 200)
        #expect(box.stage.file("run/service/camera-yard.json") == file)
        _ = try await box.stage.start()
        #expect(box.stage.units.calls == [])
        #expect(await box.control.core.identity(of: "yard").endpoint == Self.endpoint)
    }

    @Test func `a process that says the impossible harms no other field and no other camera`() async throws {
        let box = try await box()
        box.process.statistics.withLock {
            $0.address = "../../etc"
            $0.port = -1
            var device = NetworkStatistics.Device()
            device.manufacturer = "\u{1B}[31m"
            device.model = String(repeating: "x", count: 5000)
            device.mac = "nonsense"
            device.profiles = Array(
                repeating: .init(token: "", name: "\u{0}", service: "x", url: "rtsp://a:b@c/", rate: .infinity),
                count: 100)
            // JSON has no infinity.
            for index in device.profiles.indices { device.profiles[index].rate = nil }
            device.serial = "0042"
            $0.device = device
        }
        await box.look()
        let camera = try await box.control.get(CameraDocument.self, "cameras/yard")
        #expect(camera.serial == "0042" && camera.address == nil && camera.port == nil && camera.mac == nil)
        #expect(camera.manufacturer?.contains("\u{1B}") != true && (camera.model?.count ?? 0) <= 128)
        #expect(camera.profiles.isEmpty)
    }

    // MARK: Events

    private static func event(_ number: UInt64, _ isActive: Bool?, _ kind: String = "motion") -> NetworkStatistics.Event
    {
        .init(number: number, kind: kind, topic: "tns1:X/\(kind)", isActive: isActive, realtimeMicroseconds: 0)
    }

    @Test func `motion is reported once, in order, also over a restart of the process`() async throws {
        let box = try await box()
        box.process.statistics.withLock {
            $0.events = [Self.event(1, true), Self.event(2, false)]
            $0.eventCount = 2
        }
        await box.look()
        // From before the first look: reported by whoever looked then.
        #expect(try !box.texts().contains { $0.contains("motion") })
        box.process.statistics.withLock {
            $0.events += [Self.event(3, true), Self.event(4, false), Self.event(5, nil, "digi\u{1B}tal")]
            $0.eventCount = 5
        }
        await box.look()
        await box.look()
        #expect(try box.texts().suffix(3) == ["motion began", "motion ended", "digi?tal"])
        box.process.statistics.withLock {
            $0.events = [Self.event(1, true, "tamper")]
            $0.eventCount = 1
        }
        await box.look()
        #expect(try box.texts().last == "tamper began")
    }

    @Test func `what a camera saw is reported in types, also to who asks later`() async throws {
        let box = try await box()
        await box.look()
        func event(_ number: UInt64, _ kind: String, _ source: String?) -> NetworkStatistics.Event {
            .init(number: number, kind: kind, topic: "t", isActive: true, source: source, realtimeMicroseconds: 0)
        }
        box.process.statistics.withLock {
            $0.events = [event(1, "digitalInput", "In_1"), event(2, "motion", "a\u{1B}b"), event(3, "Visitor", nil)]
            $0.eventCount = 3
        }
        await box.look()
        #expect(
            try box.texts().suffix(3) == ["digital input (In_1) began", "motion (a?b) began", "Visitor began"])
        var reported: [SensorEvent?] = []
        for await event in try box.control.core.hub.watch(topics: ["camera"], after: 0) {
            let document = try JSONDocument.decode(EventDocument.self, from: Array(event.data.utf8))
            guard document.object == "yard", document.text.hasSuffix("began") else { continue }
            reported.append(document.sensorEvent)
            if reported.count == 3 { break }
        }
        #expect(
            reported == [
                SensorEvent(kind: .digitalInput, isActive: true, source: "In_1"),
                SensorEvent(kind: .motion, isActive: true, source: "a?b"), nil,
            ])
    }

    @Test func `a flood of events is counted, not reported one by one`() async throws {
        let box = try await box()
        await box.look()
        box.process.statistics.withLock {
            $0.events = (969...1000).map { Self.event($0, nil) }
            $0.eventCount = 1000
        }
        let before = try box.texts().count
        await box.look()
        let texts = try box.texts()
        #expect(texts.count == before + 9)
        #expect(texts.last == "992 more events, not reported one by one")
        // It goes on: a few each minute, and one number.
        box.process.statistics.withLock {
            $0.events = (1969...2000).map { Self.event($0, nil) }
            $0.eventCount = 2000
        }
        await box.look()
        #expect(try box.texts() == texts)
        box.stage.now.withLock { $0 += .seconds(60) }
        box.process.statistics.withLock {
            $0.events = (2969...3000).map { Self.event($0, nil) }
            $0.eventCount = 3000
        }
        await box.look()
        #expect(try box.texts().count == texts.count + 7)
        #expect(try box.texts().last == "1994 more events, not reported one by one")
        // Numbers that are not a count of what came.
        box.stage.now.withLock { $0 += .seconds(60) }
        box.process.statistics.withLock {
            $0.events = [Self.event(.max, nil)]
            $0.eventCount = 3001
        }
        await box.look()
        #expect(try box.texts().last == "1 more events, not reported one by one")
    }

    // MARK: Announcements

    @Test func `an announcement goes to the process of its camera, and not too often`() async throws {
        let box = try await box()
        box.process.statistics.withLock { $0.device = Self.device }
        await box.look()
        box.process.requests.withLock { $0 = [] }
        let hello = Announcement(
            kind: .hello, endpoint: Self.endpoint, address: "192.0.2.99",
            url: "http://192.0.2.99/onvif/device_service", network: "eth0")
        await box.control.core.heard(hello)?.value
        #expect(await box.control.core.heard(hello) == nil)
        var bodies = box.process.requests.withLock { $0.filter { $0.line.contains("announced") }.map(\.body) }
        #expect(bodies.count == 1)
        let reported = try JSONDocument.decode(AnnouncedRequest.self, from: Array((bodies.first ?? "").utf8))
        #expect(
            reported
                == AnnouncedRequest(
                    address: "192.0.2.99", url: "http://192.0.2.99/onvif/device_service", evidence: .endpoint))
        box.stage.now.withLock { $0 += .seconds(5) }
        await box.control.core.heard(hello)?.value
        bodies = box.process.requests.withLock { $0.filter { $0.line.contains("announced") }.map(\.body) }
        #expect(bodies.count == 2)
        // One event in a minute, and the store still has the address of before: nothing is proven.
        #expect(try box.texts().filter { $0.contains("announced itself at 192.0.2.99") }.count == 1)
        #expect(try await box.control.get(CameraDocument.self, "cameras/yard").address == "192.0.2.7")
    }

    @Test func `a bye is reported and changes nothing, and an unknown device belongs to no camera`() async throws {
        let box = try await box()
        box.process.statistics.withLock { $0.device = Self.device }
        await box.look()
        box.process.requests.withLock { $0 = [] }
        let bye = Announcement(kind: .bye, endpoint: Self.endpoint, address: "192.0.2.99", network: "eth0")
        #expect(await box.control.core.heard(bye) == nil)
        #expect(try box.texts().contains { $0.contains("leaves the network") })
        for endpoint in ["urn:uuid:other", "", String(repeating: "x", count: 257)] {
            let other = Announcement(kind: .hello, endpoint: endpoint, address: "192.0.2.99", network: "eth0")
            #expect(await box.control.core.heard(other) == nil)
        }
        let long = Announcement(
            kind: .hello, endpoint: Self.endpoint, address: String(repeating: "9", count: 65), network: "eth0")
        #expect(await box.control.core.heard(long) == nil)
        #expect(box.process.requests.withLock { $0.isEmpty })
    }

    @Test func `the service listens while it runs`() async throws {
        let box = try await box()
        box.process.statistics.withLock { $0.device = Self.device }
        await box.look()
        let running = Task { try await box.control.run() }
        box.stage.network.announce(.init(kind: .hello, endpoint: Self.endpoint, address: "192.0.2.98", network: "eth0"))
        let events = try box.control.core.hub.watch(topics: ["camera"], after: 0)
        for await event in events where event.data.contains("announced itself at 192.0.2.98") { break }
        running.cancel()
        try? await running.value
        #expect(await box.control.send(.post, "discovery", "{}").problem?.code == .busy)
    }

    // MARK: Moves

    private static let mac = "44:a6:42:11:22:33"

    /// Passed to its process.
    private static func announced(_ box: Box) throws -> [AnnouncedRequest] {
        try box.process.requests.withLock { $0.filter { $0.line.contains("announced") }.map(\.body) }.map {
            try JSONDocument.decode(AnnouncedRequest.self, from: Array($0.utf8))
        }
    }

    @Test func `what a camera does not report about itself is asked of the network, once`() async throws {
        let box = try await box()
        box.stage.network.answer(DeviceIdentity(endpoint: Self.endpoint, serial: "X", mac: Self.mac), at: "192.0.2.7")
        var device = Self.device
        (device.endpoint, device.serial) = (nil, "0042")
        let reported = device
        box.process.statistics.withLock { $0.device = reported }
        await box.look { box.stage.network.asked.count == 1 }
        let camera = try await box.control.get(CameraDocument.self, "cameras/yard")
        // What it reported with a password stays.
        #expect(camera.endpoint == Self.endpoint && camera.serial == "0042" && camera.mac == Self.mac)
        await box.look()
        #expect(box.stage.network.asked == ["192.0.2.7"])
    }

    @Test func `a camera that is away is looked for, and its process learns who may be it`() async throws {
        let box = try await box()
        box.stage.network.answer(DeviceIdentity(endpoint: Self.endpoint, mac: Self.mac), at: "192.0.2.7")
        await box.look { box.stage.network.asked.count == 1 }
        box.process.requests.withLock { $0 = [] }
        func sighting(_ address: String, _ identity: DeviceIdentity) -> Sighting {
            .init(address: address, url: "http://\(address)/onvif/device_service", identity: identity)
        }
        box.stage.network.show([
            sighting("192.0.2.7", DeviceIdentity(endpoint: Self.endpoint)),
            sighting("192.0.2.50", DeviceIdentity(endpoint: "urn:uuid:other", serial: "9")),
            sighting("192.0.2.77", DeviceIdentity(endpoint: Self.endpoint)),
            sighting("192.0.2.66", DeviceIdentity(mac: Self.mac)),
        ])
        box.process.away.withLock { $0 = .cameraUnreachable }
        box.process.statistics.withLock { $0.state = .waiting }
        await box.look()
        #expect(box.stage.network.near.isEmpty)
        box.stage.now.withLock { $0 += AwayWatch.graceTime }
        await box.look { box.stage.network.near.count == 1 }
        // Around where it was, because its MAC address is known.
        #expect(box.stage.network.near == [["192.0.2.7"]])
        #expect(
            try Self.announced(box) == [
                AnnouncedRequest(
                    address: "192.0.2.66", url: "http://192.0.2.66/onvif/device_service", evidence: .mac),
                AnnouncedRequest(
                    address: "192.0.2.77", url: "http://192.0.2.77/onvif/device_service", evidence: .endpoint),
            ])
        // Every few minutes, and no longer once it is there again.
        await box.look()
        #expect(box.stage.network.near.count == 1)
        box.stage.now.withLock { $0 += AwayWatch.pause }
        await box.look { box.stage.network.near.count == 2 }
        box.process.away.withLock { $0 = nil }
        box.stage.now.withLock { $0 += AwayWatch.pause }
        await box.look()
        #expect(box.stage.network.near.count == 2)
    }

    @Test func `a reported move can be accepted, at that address and no other`() async throws {
        let box = try await box()
        box.process.statistics.withLock { $0.device = Self.device }
        await box.look()
        let pin = "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
        let settings = #"{"settings":{"pin":"\#(pin)","identity_serial":"0042"}}"#
        #expect(await box.control.send(.patch, "cameras/yard", settings).status == 200)
        let early = await box.control.send(.patch, "cameras/yard", #"{"acceptMove":"onvif://192.0.2.77:8000"}"#)
        #expect(early.status == 422 && early.problem?.code == .invalidValue)
        box.process.statistics.withLock {
            $0.moves = [.init(address: "192.0.2.77", source: "onvif://192.0.2.77:8000", evidence: .serial)]
        }
        await box.look()
        // A camera that only restarts is not an event.
        #expect(try !box.texts().contains { $0.contains("--accept-move") })
        box.stage.now.withLock { $0 += AwayWatch.graceTime }
        await box.look {
            (try? box.texts().contains { $0.contains("--accept-move onvif://192.0.2.77:8000") }) == true
        }
        await box.look()
        #expect(try box.texts().filter { $0.contains("--accept-move") }.count == 1)
        let shown = try await box.control.get(CameraDocument.self, "cameras/yard")
        #expect(shown.stream.statistics?.capture?.network?.moves?.first?.address == "192.0.2.77")
        for body in [
            #"{"acceptMove":"192.0.2.66"}"#, #"{"acceptMove":"192.0.2.77"}"#, #"{"acceptMove":""}"#,
            #"{"acceptMove":"192.0.2.77","source":"onvif://192.0.2.66"}"#,
        ] {
            #expect([400, 422].contains(await box.control.send(.patch, "cameras/yard", body).status), "\(body)")
        }
        #expect(try await box.control.get(CameraDocument.self, "cameras/yard").source == "onvif://192.0.2.7")

        let dry = await box.control.send(
            .patch, "cameras/yard", #"{"acceptMove":"onvif://192.0.2.77:8000"}"#, query: ["dryRun": "1"])
        #expect(dry.status == 200)
        #expect(try await box.control.get(CameraDocument.self, "cameras/yard").source == "onvif://192.0.2.7")
        #expect(
            await box.control.send(.patch, "cameras/yard", #"{"acceptMove":"onvif://192.0.2.77:8000"}"#).status == 200)
        let camera = try await box.control.get(CameraDocument.self, "cameras/yard")
        #expect(camera.source == "onvif://192.0.2.77:8000" && camera.endpoint == Self.endpoint)
        #expect(camera.settings["pin"] == .string(pin) && camera.settings["identity_serial"] == .string("0042"))
    }

    @Test func `whoever claims ever other addresses makes an event a minute`() async throws {
        let box = try await box()
        func events() throws -> Int { try box.texts().count { $0.contains("--accept-move") } }
        for number in 1...60 {
            box.process.statistics.withLock {
                $0.moves = [.init(address: "192.0.2.\(number)", source: "onvif://192.0.2.\(number)", evidence: .mac)]
            }
            box.stage.now.withLock { $0 += .seconds(5) }
            await box.look()
        }
        #expect(try (3...6).contains(events()))
    }

    @Test func `a key that another camera shows as well proves nothing`() async throws {
        let box = try await box()
        box.process.statistics.withLock { $0.servicePin = "sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=" }
        await box.look()
        #expect(await !box.control.core.isKeyShared("yard"))
        // Another channel of the same recorder has the same key.
        for (id, host, isShared) in [("channel", "192.0.2.7", false), ("gate", "192.0.2.8", true)] {
            let body = #"""
                {"id":"\#(id)","source":"rtsps://\#(host)/1",
                "settings":{"pin":"sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="}}
                """#
            #expect(await box.control.send(.post, "cameras", body).status == 201)
            #expect(await box.control.core.isKeyShared("yard") == isShared, "\(id)")
        }
    }

    @Test func `a network is looked at after half a minute, every three minutes, and later every fifteen`() {
        var watch = AwayWatch()
        var looks: [Int] = []
        for second in stride(from: 0, through: 7200, by: 2) where watch.isDue(["a"], at: .seconds(second)) {
            looks.append(second)
        }
        #expect(looks.first == 30)
        let pauses = zip(looks, looks.dropFirst()).map { $1 - $0 }
        #expect(pauses.prefix(19).allSatisfy { $0 == 180 })
        #expect(pauses.dropFirst(20).allSatisfy { $0 == 900 } && pauses.count >= 22)
        // Another one that goes is looked for within three minutes, both at once.
        let later = [7202, 7400, 7402].map { watch.isDue(["a", "b"], at: .seconds($0)) }
        #expect(later == [false, true, false])
        var restarts = AwayWatch()
        let due = (0..<600).map { restarts.isDue($0 % 20 < 19 ? ["a"] : [], at: .seconds($0)) }
        #expect(!due.contains(true))
    }

    // MARK: Thumbnails

    @Test func `a thumbnail is taken once a minute, and a frame that is too large never`() async throws {
        let box = try await box("yard", "box.previews = true\n")
        #expect(await box.control.send(.get, "cameras/yard/thumbnail").problem?.code == .notFound)
        func taken() -> Int { box.process.requests.withLock { $0.count { $0.line.contains("snapshot") } } }
        await box.look { taken() == 1 }
        await box.look()
        #expect(taken() == 1)
        let answer = await box.control.send(.get, "cameras/yard/thumbnail")
        guard case .bytes(let frame, type: "image/jpeg") = answer.body else {
            Issue.record("\(answer)")
            return
        }
        #expect(frame == box.process.frame.withLock { $0 })
        #expect(try await box.control.keptThumbnail("yard") == frame)

        box.process.frame.withLock { $0 += Array(repeating: 7, count: ControlCore.thumbnailBytes) }
        box.stage.now.withLock { $0 += ControlCore.thumbnailPeriod }
        await box.look { taken() == 2 }
        #expect(taken() == 2)
        box.process.frame.withLock { $0 = Array("<html>".utf8) }
        box.stage.now.withLock { $0 += ControlCore.thumbnailPeriod }
        await box.look { taken() == 3 }
        #expect(taken() == 3)
        #expect(try await box.control.core.thumbnail("yard") == frame)

        // A new one is shown at once, and kept on the disk seldom.
        box.process.frame.withLock { $0 = [0xFF, 0xD8, 0xFF, 9] }
        box.stage.now.withLock { $0 += ControlCore.thumbnailPeriod }
        await box.look { taken() == 4 }
        #expect(try await box.control.core.thumbnail("yard") == [0xFF, 0xD8, 0xFF, 9])
        #expect(try await box.control.keptThumbnail("yard") == frame)
        #expect(await box.control.send(.delete, "cameras/yard").status == 204)
        #expect(await box.control.send(.get, "cameras/yard/thumbnail").problem?.code == .notFound)
    }

    @Test func `no frame is on the disk unless somebody asked for that`() async throws {
        let box = try await box()
        func taken() -> Int { box.process.requests.withLock { $0.count { $0.line.contains("snapshot") } } }
        await box.look { taken() == 1 }
        #expect(await box.control.send(.get, "cameras/yard/thumbnail").status == 200)
        #expect(try await box.control.keptThumbnail("yard") == nil)
        // Of a time when they were kept: gone with the next start, and shown to no one.
        try await box.control.keepThumbnail([0xFF, 0xD8, 0xFF], of: "yard")
        let next = try await box.stage.start()
        #expect(try await next.keptThumbnail("yard") == nil)
        #expect(await next.send(.get, "cameras/yard/thumbnail").problem?.code == .notFound)
    }

    @Test func `switched off, frames are gone from the disk at once`() async throws {
        let box = try await box("yard", "box.previews = true\n")
        func taken() -> Int { box.process.requests.withLock { $0.count { $0.line.contains("snapshot") } } }
        await box.look { taken() == 1 }
        #expect(try await box.control.keptThumbnail("yard") != nil)
        let file = try #require(box.stage.file("etc/watchbox.toml"))
        try box.stage.write(file.replacingOccurrences(of: "previews = true", with: "previews = false"))
        #expect(await box.control.send(.post, "config/apply", "{}").status == 200)
        #expect(try await box.control.keptThumbnail("yard") == nil)
    }

    @Test func `another source has none of the frames of before`() async throws {
        let box = try await box("yard", "box.previews = true\n")
        func taken() -> Int { box.process.requests.withLock { $0.count { $0.line.contains("snapshot") } } }
        await box.look { taken() == 1 }
        #expect(await box.control.send(.get, "cameras/yard/thumbnail").status == 200)
        #expect(await box.control.send(.patch, "cameras/yard", #"{"source":"onvif://192.0.2.8"}"#).status == 200)
        #expect(await box.control.send(.get, "cameras/yard/thumbnail").problem?.code == .notFound)
    }

    @Test(arguments: [false, true])
    func `what the process of the source before says is not learned of the new one`(isAsked: Bool) async throws {
        let box = try await box()
        box.process.statistics.withLock {
            $0.device = Self.device
            $0.eventCount = 1
            $0.events = [.init(number: 1, kind: "motion", topic: "t", isActive: true, realtimeMicroseconds: 0)]
        }
        if isAsked { box.stub.hold() }
        let look = Task {
            guard isAsked else { return }
            for _ in 0..<5 { await box.control.core.tick() }
        }
        if isAsked { await box.stub.isAsked(1) }
        async let change = box.control.send(.patch, "cameras/yard", #"{"source":"onvif://192.0.2.8"}"#)
        if isAsked {
            // The answer comes when the new source is in force already.
            while box.stage.file("run/service/camera-yard.json")?.contains("192.0.2.8") != true {
                try await Task.sleep(for: .milliseconds(5))
            }
            box.stub.release()
        }
        #expect(await change.status == 200)
        await look.value
        // Its unit has not restarted yet, as far as it knows.
        for _ in 0..<10 { await box.control.core.tick() }
        await box.control.core.moveTask?.value
        let camera = try await box.control.get(CameraDocument.self, "cameras/yard")
        #expect(camera.manufacturer == nil && camera.endpoint == nil && camera.address == nil)
        #expect(await (box.control.core.remembered("yard") ?? LearnedCamera()).identity.isEmpty)
        let memory = await box.control.core.network["yard"]
        #expect(memory?.learnedFacts == nil && memory?.lastEvent == nil && memory?.identifiedAddress == nil)
    }

    @Test func `going back asks the processes again`() async throws {
        let box = try await box()
        box.process.statistics.withLock { $0.device = Self.device }
        await box.look()
        #expect(await box.control.send(.patch, "cameras/yard", #"{"source":"onvif://192.0.2.8"}"#).status == 200)
        #expect(try await box.control.get(CameraDocument.self, "cameras/yard").manufacturer == nil)
        #expect(await box.control.send(.post, "config/rollback", "{}").status == 200)
        await box.look()
        let camera = try await box.control.get(CameraDocument.self, "cameras/yard")
        #expect(camera.source == "onvif://192.0.2.7" && camera.manufacturer == "Example")
    }

    @Test func `what a process learns is not a change that somebody else was first with`() async throws {
        let box = try await box()
        let before = await box.control.send(.get, "cameras/yard").eTag
        box.process.statistics.withLock { $0.device = Self.device }
        await box.look()
        #expect(try await box.control.get(CameraDocument.self, "cameras/yard").manufacturer == "Example")
        let after = await box.control.send(.get, "cameras/yard").eTag
        #expect(before != nil && after == before)
    }

    // MARK: Its process is asked

    @Test func `what is asked of a camera goes to its process, and its refusal comes back`() async throws {
        let box = try await box()
        var report = StreamTestReport(url: "onvif://192.0.2.7")
        report.isDone = true
        let presets = PTZPresetListDocument(presets: [PTZPreset(token: "1", name: "Gate")])
        let refusal = Problem(CodedError(.cameraRefuses, "the camera has no PTZ", object: "yard"))
        box.process.answers.withLock {
            $0["POST /api/v1/test"] = .init(status: 200, body: JSONDocument.bytes(report))
            $0["POST /api/v1/ptz"] = .init(status: refusal.status, body: JSONDocument.bytes(refusal))
            $0["GET /api/v1/presets"] = .init(status: 200, body: JSONDocument.bytes(presets))
            $0["GET /api/v1/encoders"] = .init(
                status: 200, body: JSONDocument.bytes(CameraEncoderListDocument(encoders: [])))
            $0["PATCH /api/v1/encoders"] = .done
        }
        #expect(try await box.control.send(.post, "cameras/yard/test").document(StreamTestReport.self) == report)
        let command = JSONDocument.text(PTZCommand.continuous(pan: 1, tilt: 0, zoom: 0, seconds: 1))
        let moved = await box.control.send(.post, "cameras/yard/ptz", command)
        #expect(moved.status == 502 && moved.problem?.code == .cameraRefuses)
        #expect(box.process.requests.withLock { $0.last?.body } == command)
        #expect(try await box.control.get(PTZPresetListDocument.self, "cameras/yard/presets") == presets)
        #expect(try await box.control.get(CameraEncoderListDocument.self, "cameras/yard/encoders").encoders.isEmpty)
        let change = JSONDocument.text(CameraEncoder.Change(token: "E1", bitrate: 500_000))
        #expect(await box.control.send(.patch, "cameras/yard/encoders", change).status == 204)
        #expect(box.process.requests.withLock { $0.last?.body } == change)
        #expect(await box.control.send(.patch, "cameras/yard/encoders", "{}").problem?.code == .badRequest)
        #expect(await box.control.send(.post, "cameras/yard/ptz", #"{"fly":{}}"#).problem?.code == .badRequest)

        #expect(await box.control.send(.post, "cameras/none/test").problem?.code == .notFound)
        #expect(await box.control.send(.post, "cameras/..%2Fx/test").status >= 400)
        #expect(await box.control.send(.post, "streams/yard/stop").status == 200)
        #expect(await box.control.send(.post, "cameras/yard/test").problem?.code == .unreachable)
    }

    @Test func `a mark goes to the camera's process, and is an event of the box`() async throws {
        let box = try await box()
        func answers(_ isMarked: Bool) {
            let document = RecordingMarkDocument(isMarked: isMarked)
            box.process.answers.withLock {
                $0["POST /api/v1/recording/mark"] = .init(status: 200, body: JSONDocument.bytes(document))
            }
        }
        answers(true)
        let mark = JSONDocument.text(RecordingMarkRequest(seconds: 60))
        let answer = await box.control.send(.post, "cameras/yard/recording/mark", mark)
        #expect(try answer.document(RecordingMarkDocument.self).isMarked)
        #expect(box.process.requests.withLock { $0.last?.body } == mark)
        let texts = try box.texts()
        #expect(texts.last == "its recording was marked")
        answers(false)
        let other = await box.control.send(.post, "cameras/yard/recording/mark", mark)
        #expect(try !other.document(RecordingMarkDocument.self).isMarked)
        #expect(try box.texts() == texts, "nothing was marked")
        let refusal = Problem(CodedError(.badRequest, "this camera is not recorded", object: "yard"))
        box.process.answers.withLock {
            $0["POST /api/v1/recording/mark"] = .init(status: refusal.status, body: JSONDocument.bytes(refusal))
        }
        let refused = await box.control.send(.post, "cameras/yard/recording/mark", "{}")
        #expect(refused.problem?.code == .badRequest && refused.problem?.detail.contains("not recorded") == true)
        #expect(await box.control.send(.post, "cameras/none/recording/mark", "{}").problem?.code == .notFound)
        #expect(await box.control.send(.post, "cameras/yard/recording/mark", "[]").problem?.code == .badRequest)
    }

    @Test func `a camera's process is asked for its recordings, by whoever may see the box`() async throws {
        let box = try await box()
        func answers(_ document: RecordingsDocument.Camera) {
            box.process.answers.withLock {
                for path in ["?limit=100", "?limit=400&from=2026-11-28T00%3A00%3A00.000Z&after=x.tdf"] {
                    $0["GET /api/v1/recordings\(path)"] = .init(status: 200, body: JSONDocument.bytes(document))
                }
            }
        }
        var document = RecordingsDocument.Camera(camera: "somebody else", recordings: [])
        answers(document)
        let empty = await box.control.send(.get, "cameras/yard/recordings", isAdministrator: false)
        document.camera = "yard"
        #expect(try empty.document(RecordingsDocument.Camera.self) == document)

        // As much as a page can have is more than any other answer of a camera.
        let time = "2026-11-28T00:00:00.000Z"
        document.recordings = Array(
            repeating: .init(
                file: String(repeating: "0", count: 54), from: time, to: time, bytes: .max, pinned: false),
            count: RecordingsQuery.limits.upperBound)
        document.spans = Array(
            repeating: .init(from: time, to: time, seconds: 4_294_967.295, bytes: .max, files: 1),
            count: RecordingsQuery.limits.upperBound)
        document.gaps = Array(
            repeating: .init(from: time, to: time, seconds: 626_857_032.828), count: RecordingsQuery.limits.upperBound)
        answers(document)
        let query = ["from": "2026-11-28T00:00:00Z", "limit": "400", "after": "x.tdf"]
        let full = await box.control.send(.get, "cameras/yard/recordings", query: query)
        #expect(try full.document(RecordingsDocument.Camera.self) == document)
        document.next = String(repeating: "0", count: RecordingsQuery.maximumAnswerBytes)
        answers(document)
        let flood = await box.control.send(.get, "cameras/yard/recordings", query: query)
        #expect(flood.problem?.code == .unreachable, "a process answers what it likes, and no more than that is read")

        let asked = box.process.requests.withLock { $0.count }
        for query in [["limit": "401"], ["from": "yesterday"], ["after": "a b"], ["to": ""]] {
            let refused = await box.control.send(.get, "cameras/yard/recordings", query: query)
            #expect(refused.problem?.code == .badRequest && refused.problem?.hint.isEmpty == false)
        }
        #expect(box.process.requests.withLock { $0.count } == asked, "nobody is asked what cannot be")
        let refusal = Problem(CodedError(.busy, "the recordings of this camera are being read"))
        box.process.answers.withLock {
            $0["GET /api/v1/recordings?limit=100"] = .init(status: 409, body: JSONDocument.bytes(refusal))
        }
        #expect(await box.control.send(.get, "cameras/yard/recordings").problem == refusal)
        #expect(await box.control.send(.get, "cameras/none/recordings").problem?.code == .notFound)
        #expect(await box.control.send(.post, "streams/yard/stop").status == 200)
        #expect(await box.control.send(.get, "cameras/yard/recordings").problem?.code == .unreachable)
    }

    @Test func `a camera's process is asked for its controls`() async throws {
        let box = try await box()
        let controls = CameraControlsDocument(
            camera: "somebody else", device: "csi:/base/x", card: "imx708",
            controls: [
                VideoControlDocument(
                    name: "brightness", kind: "integer", minimum: 0, maximum: 255, step: 1, defaultValue: 128, value: 7)
            ])
        box.process.answers.withLock {
            $0["GET /api/v1/controls"] = .init(status: 200, body: JSONDocument.bytes(controls))
        }
        let answer = try await box.control.get(CameraControlsDocument.self, "cameras/yard/controls")
        #expect(answer.camera == "yard" && answer.controls == controls.controls)
        #expect(await box.control.send(.get, "cameras/none/controls").problem?.code == .notFound)
        #expect(await box.control.send(.post, "streams/yard/stop").status == 200)
        #expect(await box.control.send(.get, "cameras/yard/controls").problem?.code == .unreachable)
    }

    @Test func `a camera of this machine has no PTZ and no profiles`() async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.two)
        let control = try await stage.start()
        for (method, path) in [
            (APIRequest.Method.post, "test"), (.get, "presets"), (.get, "encoders"), (.get, "profiles"),
        ] {
            #expect(await control.send(method, "cameras/a/\(path)").problem?.code == .badRequest, "\(path)")
        }
    }

    @Test func `a camera without its password runs, and restarts when it gets one`() async throws {
        let box = try await box()
        #expect(box.stage.units.running["watchbox-camera@yard.service"] != nil)
        let camera = try await box.control.get(CameraDocument.self, "cameras/yard")
        #expect(!camera.hasPassword && camera.stream.state != .stopped)
        #expect(await box.control.send(.put, "cameras/yard/password", #"{"secret":"p@ss:/#% ü"}"#).status == 204)
        #expect(box.stage.units.words == ["restart watchbox-camera@yard.service"])
        #expect(try await box.control.get(CameraDocument.self, "cameras/yard").hasPassword)
    }
}
