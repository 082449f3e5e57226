import APIServer
import ControlAPI
import ErrorCatalog
import Foundation
import Logging
import ServiceLifecycle
import Synchronization

@testable import Hooks

/// Control's socket with events, a directory for the state, and hooks that run; time passes only while somebody waits.
final class HookStage: Sendable {
    let root: String
    private let log = Mutex<[String]>([])
    private let source = Mutex(Source())
    private let now = Mutex(Duration.seconds(1000))

    private struct Source {
        var events: [EventDocument] = []
        var streams: [AsyncStream<ServerEvent>.Continuation] = []
    }

    init() throws {
        root = NSTemporaryDirectory() + "wb-hooks-\(UInt32.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: root) }

    /// What the journal would hold.
    var lines: [String] { log.withLock { $0 } }

    var socket: String { root + "/events.sock" }

    var logger: Logger {
        Logger(label: "test") { [self] _ in Listening { [self] line in log.withLock { $0.append(line) } } }
    }

    var clock: HookClock {
        HookClock(
            realtimeMicroseconds: { 1_800_000_000_000_000 },
            sinceBoot: { [weak self] in self?.now.withLock { $0 } ?? .zero },
            sleep: { [weak self] duration in
                try await Task.sleep(for: .milliseconds(2))
                self?.now.withLock { $0 += duration }
            })
    }

    /// Something happens on the box.
    func happens(_ id: Int64, topic: String = "camera", object: String? = "front", _ text: String = "is not live") {
        let event = EventDocument(
            id: id, time: 1_799_999_999_000_000 + id, topic: topic, object: object, code: .noFrames, text: text)
        source.withLock { source in
            source.events.append(event)
            for stream in source.streams { stream.yield(Self.served(event)) }
        }
    }

    /// Control is restarted: all streams end.
    func endStreams() {
        source.withLock { source in
            for stream in source.streams { stream.finish() }
            source.streams = []
        }
    }

    private static func served(_ event: EventDocument) -> ServerEvent {
        ServerEvent(id: "\(event.id)", event: event.topic, data: JSONDocument.text(event))
    }

    private var router: APIRouter {
        APIRouter([
            APIRoute(.get, "/api/v1/events/latest", "") { [self] _ in
                .document(EventPositionDocument(id: source.withLock { $0.events.last?.id ?? 0 }))
            },
            APIRoute(.get, "/api/v1/events", "") { [self] request in
                let (stream, continuation) = AsyncStream.makeStream(of: ServerEvent.self)
                source.withLock { source in
                    if let after = request.lastEventID.flatMap({ Int64($0) }) {
                        for event in source.events where event.id > after { continuation.yield(Self.served(event)) }
                    }
                    source.streams.append(continuation)
                }
                return APIResponse(body: .events(stream))
            },
        ])
    }

    /// Runs hooks and what they follow until the body is done; then they are shut down as systemd does it.
    func running(
        _ hooks: [HookServiceSettings.Hook], secrets: [String: String] = [:],
        _ body: (HooksService) async throws -> Void
    ) async throws {
        let (ready, continuation) = AsyncStream.makeStream(of: Void.self)
        let server = APIServer(
            configuration: .init(listener: .unixSocket(path: socket, mode: 0o600, group: nil)), router: router,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, onRunning: { _ in continuation.yield() })
        let service = HooksService(
            settings: HookServiceSettings(box: "porch-box", hooks: hooks), stateDirectory: root, eventsSocket: socket,
            secret: { secrets[$0] }, logger: logger, clock: clock)
        let serving = Task { try await server.run() }
        for await _ in ready { break }
        let group = ServiceGroup(
            services: [service], logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let running = Task { try await group.run() }
        let followed = Task { [self] in
            while source.withLock({ $0.streams.isEmpty }), !Task.isCancelled {
                try await Task.sleep(for: .milliseconds(2))
            }
        }
        try await followed.value
        let result: Result<Void, any Error>
        do { result = .success(try await body(service)) } catch { result = .failure(error) }
        await group.triggerGracefulShutdown()
        try await running.value
        endStreams()
        serving.cancel()
        _ = await serving.result
        try result.get()
    }

    static func hook(
        _ name: String, _ url: String?, kind: String = "webhook", events: [String] = ["camera", "health"],
        cameras: [String] = [], urlSecret: String? = nil, tokenSecret: String? = nil
    ) -> HookServiceSettings.Hook {
        HookServiceSettings.Hook(
            name: name, kind: kind, url: url, urlSecret: urlSecret, tokenSecret: tokenSecret, events: events,
            cameras: cameras)
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

extension HooksService {
    func ask(_ method: APIRequest.Method, _ path: String) async -> APIResponse {
        await router.answer(
            APIRequest(
                method, path,
                peer: APIRequest.Peer(
                    processIdentifier: 1, userIdentifier: 0, groupIdentifier: 0, isAdministrator: true)))
    }

    func state(_ name: String) async throws -> HookState? {
        try await ask(.get, "/api/v1/hooks").document(HookStatesDocument.self).hooks[name]
    }

    /// Asked again until it is so.
    func state(_ name: String, when isMet: (HookState) -> Bool) async throws -> HookState {
        while true {
            if let state = try await state(name), isMet(state) { return state }
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    func test(_ name: String) async throws -> HookTestDocument {
        try await ask(.post, "/api/v1/hooks/\(name)/test").document(HookTestDocument.self)
    }
}

extension APIResponse {
    func document<Document: Decodable>(_ type: Document.Type) throws -> Document {
        guard case .json(let bytes) = body else { throw CocoaError(.coderInvalidValue) }
        return try JSONDocument.decode(type, from: bytes)
    }
}
