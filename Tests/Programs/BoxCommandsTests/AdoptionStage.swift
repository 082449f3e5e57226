import APIServer
import ControlAPI
import ControlClient
import Foundation
import Logging
import ServiceLifecycle
import Synchronization
import Testing

@testable import BoxCommands
@testable import ControlPlane
@testable import CredentialStore
@testable import Systemd

/// A box in a directory: the real control with its API on a socket, a root for files of the system, and a volume. Units
/// are only pretended.
final class AdoptionStage: Sendable {
    let directory: String
    /// What control and the API log.
    let log = Mutex("")

    var volume: String { "\(directory)/WATCHBOX" }
    var root: String { "\(directory)/root" }
    var socket: String { "\(directory)/api.sock" }
    var client: ControlClient {
        ControlClient(socketPath: socket, readTimeout: .seconds(120), changeTimeout: .seconds(120))
    }

    init() throws {
        // In memory where there is such a place; and a socket's path is short.
        let place = FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : "/tmp"
        directory = "\(place)/wb-adopt-\(UUID().uuidString.prefix(8))"
        for part in ["WATCHBOX", "root/etc", "etc", "state", "run"] {
            try FileManager.default.createDirectory(
                atPath: "\(directory)/\(part)", withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        }
        try Data("0123456789abcdef0123456789abcdef\n".utf8).write(to: URL(filePath: "\(root)/etc/machine-id"))
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    func write(_ text: String, to path: String = "WATCHBOX/watchbox.toml") throws {
        try Data(text.utf8).write(to: URL(filePath: "\(directory)/\(path)"))
    }

    func bytes(_ path: String) -> Data? { FileManager.default.contents(atPath: "\(directory)/\(path)") }

    func text(_ path: String) -> String? { bytes(path).map { String(decoding: $0, as: UTF8.self) } }

    func mode(_ path: String) -> Int? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: "\(directory)/\(path)")
        return attributes?[.posixPermissions] as? Int
    }

    var volumeNames: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: volume)) ?? []).sorted()
    }

    /// Below the root, without what was there before.
    var systemNames: [String] {
        let paths = FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []
        return paths.filter { path in
            var isDirectory: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: "\(root)/\(path)", isDirectory: &isDirectory)
            return !isDirectory.boolValue && path != "etc/machine-id"
        }.sorted()
    }

    /// Files that hold a text, below a part of the directory.
    func places(of text: String, below part: String) -> [String] {
        let paths = FileManager.default.enumerator(atPath: "\(directory)/\(part)")?.compactMap { $0 as? String } ?? []
        return paths.filter { bytes("\(part)/\($0)")?.range(of: Data(text.utf8)) != nil }
    }

    func adoption(
        client: ControlClient? = nil, record: AdoptionRecord? = nil,
        willDo: @escaping (AdoptionStep) throws -> Void = { _ in }
    ) throws -> Adoption {
        Adoption(
            volume: try AdoptionVolume(volume), root: root, client: client ?? self.client, record: record,
            patience: .seconds(120), willDo: willDo)
    }

    @discardableResult
    func adopt(
        isDryRun: Bool = false, record: AdoptionRecord? = nil,
        willDo: @escaping (AdoptionStep) throws -> Void = { _ in }
    ) async throws -> AdoptionReport {
        try await adoption(record: record, willDo: willDo).run(isDryRun: isDryRun)
    }

    /// With a box of its own whose control runs for as long as the body does.
    ///
    /// - Parameter configuration: what the operator's file says.
    static func run(
        configuration: String? = nil, _ body: @Sendable (AdoptionStage) async throws -> Void
    ) async throws {
        let stage = try AdoptionStage()
        if let configuration { try stage.write(configuration, to: "etc/watchbox.toml") }
        let logger = Logger(label: "test") { _ in
            Listening { text in stage.log.withLock { $0 += text + "\n" } }
        }
        let (state, runtime) = ("\(stage.directory)/state", "\(stage.directory)/run")
        let control = ControlService(
            paths: ControlPaths(
                configurationDirectory: "\(stage.directory)/etc", stateDirectory: state, runtimeDirectory: runtime,
                unitDirectories: ["\(stage.directory)/units"], systemdLibraries: ["\(stage.directory)/lib"]),
            units: IdleUnits(),
            credentials: try CredentialStore(
                stateDirectory: state, runtimeDirectory: runtime,
                encryption: CredentialEncryption(socketPath: "\(stage.directory)/credentials.sock"),
                requiresMemoryFileSystem: false),
            notifier: Notifier(socketPath: nil), version: "1.2.3", logger: logger)
        await control.core.boot()
        let (addresses, running) = AsyncStream<String>.makeStream()
        let server = APIServer(
            configuration: APIServerConfiguration(
                listener: .unixSocket(path: stage.socket, mode: 0o600, group: nil)),
            router: control.router, logger: logger, onRunning: { running.yield($0) })
        let services = ServiceGroup(services: [server], logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { running.finish() }
                try await services.run()
            }
            var iterator = addresses.makeAsyncIterator()
            var failure: (any Error)?
            if await iterator.next(isolation: nil) != nil {
                do { try await body(stage) } catch { failure = error }
            }
            await services.triggerGracefulShutdown()
            try await group.waitForAll()
            if let failure { throw failure }
        }
    }

    private struct Listening: LogHandler {
        let heard: @Sendable (String) -> Void
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        init(_ heard: @escaping @Sendable (String) -> Void) { self.heard = heard }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { heard("\(event.level) \(event.message) \(event.metadata ?? [:])") }
    }
}

/// Units that start nothing.
private struct IdleUnits: UnitControl {
    func start(_ unit: String) async throws(SystemdError) {}
    func startIrreversibly(_ unit: String) async throws(SystemdError) {}
    func stop(_ unit: String) async throws(SystemdError) {}
    func restart(_ unit: String) async throws(SystemdError) {}
    func resetFailed(_ unit: String) async throws(SystemdError) {}
    func state(of unit: String) async throws(SystemdError) -> UnitState {
        UnitState(name: unit, load: "loaded", active: "inactive", sub: "dead")
    }
    func units(matching pattern: String) async throws(SystemdError) -> [UnitState] { [] }
}
