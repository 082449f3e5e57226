import BoxMemory
import ControlAPI
import CredentialStore
import ErrorCatalog
import Foundation
import Logging
import Synchronization
import Systemd
import Testing

@testable import ControlPlane

/// A box in a temporary directory: real files, real memory, real credentials (sealed with a device key), and units that
/// only remember what was asked of them.
final class ControlStage: Sendable {
    let root: String
    let units: RecordingUnits
    /// Of `CLOCK_BOOTTIME`; moves only when a test moves it.
    let now = Mutex(Duration.seconds(100))
    let boot = Mutex("boot-1")
    let steps = StepCounter()
    /// What control finds on the network; nothing unless a test says so.
    let network = ScriptedNetwork()
    private let stubs = Mutex<[CameraStub]>([])
    let deadlines: ProcessDeadlines

    /// - Parameter statusDeadline: for a process's state; long, because a machine may be slow: a test in which a
    ///   camera is silent has a shorter one.
    init(statusDeadline: Duration = .seconds(120)) throws {
        var deadlines = ProcessDeadlines()
        deadlines.status = statusDeadline
        deadlines.change = .seconds(120)
        self.deadlines = deadlines
        // In memory where there is such a place: the tests are about order, and a disk's pace would only slow them.
        let isShared = FileManager.default.isWritableFile(atPath: "/dev/shm")
        let place = isShared ? URL(fileURLWithPath: "/dev/shm") : FileManager.default.temporaryDirectory
        root = place.appendingPathComponent("wb-\(UUID().uuidString)").path
        for part in ["etc", "etc/conf.d", "state", "run"] {
            try FileManager.default.createDirectory(
                atPath: "\(root)/\(part)", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        units = RecordingUnits(runtimeDirectory: "\(root)/run")
    }

    deinit { try? FileManager.default.removeItem(atPath: root) }

    /// A process of this camera that takes changes over, for as long as the box is there.
    func addStub(_ camera: String) throws {
        let stub = try CameraStub(camera, of: self)
        stubs.withLock { $0.append(stub) }
    }

    var paths: ControlPaths {
        ControlPaths(
            configurationDirectory: "\(root)/etc", stateDirectory: "\(root)/state", runtimeDirectory: "\(root)/run",
            unitDirectories: ["\(root)/units", "\(root)/shipped"], systemdLibraries: ["\(root)/lib"])
    }

    func write(_ text: String, to name: String = "watchbox.toml") throws {
        try text.write(toFile: "\(root)/etc/\(name)", atomically: true, encoding: .utf8)
    }

    func file(_ path: String) -> String? {
        FileManager.default.contents(atPath: "\(root)/\(path)").map { String(decoding: $0, as: UTF8.self) }
    }

    func makeCredentials() throws -> CredentialStore {
        try CredentialStore(
            stateDirectory: paths.stateDirectory, runtimeDirectory: paths.runtimeDirectory,
            encryption: HeldEncryption.client("\(root)/\(HeldEncryption.name)"), requiresMemoryFileSystem: false)
    }

    /// A process of control, not yet booted.
    func makeService(
        journal: JournalAccess? = nil, notifier: Notifier = Notifier(socketPath: nil), watchdog: Duration? = nil,
        sleep: (@Sendable (Duration) async throws -> Void)? = nil
    ) throws -> ControlService {
        let steps = self.steps
        let box = self
        return ControlService(
            paths: paths, units: units, credentials: try makeCredentials(), notifier: notifier,
            journal: journal
                ?? JournalAccess(read: { _ in [] }, follow: { _ in AsyncThrowingStream { $0.finish() } }),
            watchdogInterval: watchdog, version: "1.2.3",
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            clock: ControlClock(
                realtimeMicroseconds: { 1_700_000_000_000_000 },
                sinceBoot: { [now = SharedDuration(box)] in now.value },
                bootIdentifier: boot.withLock { $0 }, sleep: sleep ?? { try await Task.sleep(for: $0) }),
            transaction: FileTransaction(willDo: { try steps.willDo($0) }), network: network.tools,
            deadlines: deadlines)
    }

    /// Control starts, and all that it asked of systemd is done.
    func start() async throws -> ControlService {
        let service = try makeService()
        await service.core.boot()
        await service.core.unitJobs.settled()
        return service
    }

    /// The machine starts again: the runtime directory is empty, and nothing runs.
    func reboot() throws {
        boot.withLock { $0 += "x" }
        now.withLock { $0 = .seconds(5) }
        try FileManager.default.removeItem(atPath: "\(root)/run")
        try FileManager.default.createDirectory(
            atPath: "\(root)/run", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        for unit in units.running.keys { units.set(unit, active: "inactive") }
    }

    private final class SharedDuration: Sendable {
        private weak let box: ControlStage?
        init(_ box: ControlStage) { self.box = box }
        var value: Duration { box?.now.withLock { $0 } ?? .zero }
    }

    static let connections = """
        relay.main = { url = "rtmp://127.0.0.1:1935/live" }
        kas = { url = "http://127.0.0.1:9443/kas" }

        """

    static let two =
        connections + """
            camera.a = { name = "A", source = "test:" }
            camera.b = { name = "B", source = "test:" }

            """
}

/// Counts the steps of a change, and ends it at one of them: for good, as a kill does, or for that step only.
final class StepCounter: Sendable {
    struct Killed: Error {}

    private struct State {
        var names: [String] = []
        var killAt: Int?
        var failAt: Int?
        var refused: (@Sendable (String) -> Bool)?
        var failure = CodedError(.diskFull, "no space left on device")
        var isDead = false
    }

    private let state = Mutex(State())

    var names: [String] { state.withLock { $0.names } }
    var isDead: Bool { state.withLock { $0.isDead } }

    func willDo(_ name: String) throws {
        try state.withLock { state in
            if state.isDead { throw Killed() }
            state.names.append(name)
            if state.names.count == state.killAt {
                state.isDead = true
                throw Killed()
            }
            if state.names.count == state.failAt { throw state.failure }
            if state.refused?(name) == true { throw state.failure }
        }
    }

    /// From here on no step happens, beginning with the nth from now; 1 is the next.
    func kill(at number: Int) { state.withLock { $0 = State(killAt: number) } }
    func fail(at number: Int) { state.withLock { $0 = State(failAt: number) } }
    /// From here on every such step fails.
    func refuse(_ steps: @escaping @Sendable (_ name: String) -> Bool) { state.withLock { $0 = State(refused: steps) } }
    func reset() { state.withLock { $0 = State() } }
}

extension ControlService {
    @discardableResult
    func send(
        _ method: APIRequest.Method, _ path: String, _ body: String = "", query: [String: String] = [:],
        ifMatch: String? = nil, lastEventID: String? = nil, isAdministrator: Bool = true
    ) async -> APIResponse {
        let answer = await router.answer(
            APIRequest(
                method, "/api/v1/\(path)", query: query, body: Array(body.utf8), ifMatch: ifMatch,
                lastEventID: lastEventID,
                peer: APIRequest.Peer(
                    processIdentifier: 1, userIdentifier: 0, groupIdentifier: 0, isAdministrator: isAdministrator)))
        await core.unitJobs.settled()
        return answer
    }

    func get<Document: Decodable>(_ type: Document.Type, _ path: String) async throws -> Document {
        try await send(.get, path).document(type)
    }
}

extension ControlService {
    func stored(_ id: String) async -> StoredCamera? { await core.current.store.camera(id) }

    /// The thumbnail of a camera that is on the disk.
    func keptThumbnail(_ id: String) async throws -> [UInt8]? {
        let camera = try #require(await stored(id))
        return try #require(core.memory).thumbnail(of: camera.uuid, at: camera.source)
    }

    func keepThumbnail(_ jpeg: [UInt8], of id: String) async throws {
        let camera = try #require(await stored(id))
        try #require(core.memory).setThumbnail(jpeg, of: camera.uuid, at: camera.source, taken: 5)
    }
}

extension APIResponse {
    var text: String {
        switch body {
        case .none, .events: ""
        case .json(let bytes), .bytes(let bytes, _): String(decoding: bytes, as: UTF8.self)
        case .text(let text, _): text
        }
    }

    func document<Document: Decodable>(_ type: Document.Type) throws -> Document {
        try JSONDocument.decode(type, from: Array(text.utf8))
    }

    var problem: Problem? { try? document(Problem.self) }

    var events: AsyncStream<ServerEvent>? {
        if case .events(let stream) = body { stream } else { nil }
    }
}
