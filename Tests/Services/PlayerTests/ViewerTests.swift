import ChannelTestSupport
import Foundation
import KeyAccess
import Logging
import Media
import NIOCore
import NanoTDF
import RTMP
import RTMPTransport
import Synchronization
import Testing

@testable import KeyAccessClient
@testable import Player

@Suite(.timeLimit(.minutes(15)))
struct ViewerTests {
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Gives the key when it is asked to; without one, never.
    private struct LateKey: KeyProvider {
        let log: EventLog<CollectionKey>

        func key(forHeader header: [UInt8]) async throws(KeyRefusal) -> CollectionGrant {
            do {
                return CollectionGrant(key: try await log.next { _ in true })
            } catch {
                throw KeyRefusal(.unavailable, reason: "no key in this test")
            }
        }
    }

    /// A KAS that is away, then back before the publisher has registered, then whole.
    private final class ReturningKAS: KeyProvider {
        let key: CollectionKey
        let answers: Mutex<[KeyRefusal.Kind]>

        init(_ key: CollectionKey, _ answers: [KeyRefusal.Kind]) {
            self.key = key
            self.answers = Mutex(answers)
        }

        func key(forHeader header: [UInt8]) async throws(KeyRefusal) -> CollectionGrant {
            if let kind = answers.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
                throw KeyRefusal(kind, reason: "not yet")
            }
            return CollectionGrant(key: key)
        }
    }

    @Test func `a KAS that was away and then knew nothing of the header ends no viewer, and nothing is lost`()
        async throws
    {
        let collection = try SealedStream.Collection()
        // Six refusals in a row ended a viewer before.
        let kas = ReturningKAS(
            collection.key, [.unavailable, .unavailable] + [KeyRefusal.Kind](repeating: .denied, count: 8))
        let states = EventLog<ViewerStatistics.State>()
        let statistics = try await MiniRelay.serving(try sealed(collection), to: .sealed(kas)) {
            var configuration = $0
            configuration.hold.duration = .max / 2
            let viewer = try Viewer(
                configuration: configuration, sinks: [], logger: Self.logger, onState: { states.add($0.state) })
            async let end = viewer.run()
            try await states.next { $0 == .waitingForKey }
            try await states.next { $0 == .playing }
            viewer.stop()
            return try await end
        }
        #expect(statistics.opened == 2)
        #expect(statistics.rewrapFailures == 10)
        #expect(statistics.noKey == 0)
    }

    @Test func `another stream's key opens nothing, and the viewer says why`() async throws {
        let collection = try SealedStream.Collection()
        struct Foreign: KeyProvider {
            let key: CollectionKey

            func key(forHeader header: [UInt8]) async throws(KeyRefusal) -> CollectionGrant {
                CollectionGrant(
                    key: key,
                    facts: CollectionFacts(
                        stream: "hall", registeredAt: 1, newerRegistrations: 0, time: 1_800_000_000_000))
            }
        }
        let verdicts = EventLog<ViewerStatistics.Verdict?>()
        let statistics = try await MiniRelay.serving(
            try sealed(collection), to: .sealed(Foreign(key: collection.key))
        ) {
            let viewer = try Viewer(
                configuration: $0, sinks: [], logger: Self.logger, onState: { verdicts.add($0.verdict) })
            async let end = viewer.run()
            try await verdicts.next { $0 == .notThisStream }
            viewer.stop()
            return try await end
        }
        #expect(statistics.opened == 0)
        #expect(statistics.verdict == .notThisStream)
        #expect(statistics.notThisStream == 1)
        #expect(statistics.finding == .notThisStream)
    }

    @Test func `a relay that is drained sends the viewer on, which loses neither key nor frame`() async throws {
        let collection = try SealedStream.Collection()
        let kas = ReturningKAS(collection.key, [])
        let first = try sealed(collection)
        // The next relay begins with the group of pictures that runs.
        let second = first + [try collection.video(80), try collection.video(120)]
        let moved = try await MiniRelay.serving(second, to: .sealed(kas)) { next in
            try await MiniRelay.serving(first, sendsTo: "rtmp://127.0.0.1:\(next.url.port)/live", to: .sealed(kas)) {
                var configuration = $0
                configuration.redirectHosts = ["127.0.0.1:\(next.url.port)"]
                let viewer = try Viewer(configuration: configuration, sinks: [], logger: Self.logger)
                async let end = viewer.run()
                for _ in 0..<500 where await viewer.report().opened < 4 {
                    try await Task.sleep(for: .milliseconds(10))
                }
                viewer.stop()
                return try await end
            }
        }
        #expect(moved.opened == 4 && moved.moves == 1 && moved.reconnects == 0)
        #expect(moved.rewraps == 1 && moved.noKey == 0)
        #expect(moved.finding == nil)
    }

    @Test func `a relay may not make a viewer connect to whom it likes`() async throws {
        let messages = try sealed(try SealedStream.Collection())
        let elsewhere = EventLog<RTMPServerConnection>()
        let warnings = EventLog<String>()
        let statistics = try await MiniRelay.serving(messages, plays: elsewhere, to: .keyless) { next in
            try await MiniRelay.serving(
                messages, sendsTo: "rtmp://127.0.0.1:\(next.url.port)/live", to: .keyless
            ) {
                let viewer = try Viewer(
                    configuration: $0, sinks: [], logger: Logger(label: "test") { _ in WarningLog(warnings) })
                async let end = viewer.run()
                try await warnings.next { $0.contains("not followed") }
                viewer.stop()
                return try await end
            }
        }
        #expect(elsewhere.all.isEmpty && statistics.moves == 0)
    }

    // MARK: Sent elsewhere

    /// A viewer at a relay that sends it on to another, which it may go to and which must give it something soon.
    private func sent(
        untilEnd: Bool = false, toOne next: [SealedStream.Message], accepts: Bool = true,
        timeout: UInt64 = 3_000_000_000, _ body: (Travel) async throws -> Void
    ) async throws -> Result<ViewerStatistics, any Error> {
        let travel = Travel()
        let messages = try sealed(try SealedStream.Collection())
        return try await MiniRelay.serving(next, accepts: accepts, plays: travel.away, to: .keyless) { next in
            try await MiniRelay.serving(
                messages, sendsTo: "rtmp://127.0.0.1:\(next.url.port)/live", plays: travel.home, to: .keyless
            ) {
                var configuration = $0
                configuration.redirectHosts = ["127.0.0.1:\(next.url.port)"]
                configuration.redirectTimeout = timeout
                configuration.untilStreamEnds = untilEnd
                let viewer = try Viewer(
                    configuration: configuration, sinks: [], logger: Self.logger, onState: { travel.states.add($0) })
                let running = Task { try await viewer.run() }
                do { try await body(travel) } catch {
                    viewer.stop()
                    _ = await running.result
                    throw error
                }
                viewer.stop()
                return await running.result
            }
        }
    }

    /// Who asked to play where.
    private struct Travel {
        let home = EventLog<RTMPServerConnection>()
        let away = EventLog<RTMPServerConnection>()
        let states = EventLog<ViewerStatistics>()

        func on(_ connection: RTMPServerConnection, _ action: @escaping @Sendable (RTMPServerConnection) -> Void) {
            RTMPEventLoop.shared.execute { action(connection) }
        }
    }

    @Test func `a viewer comes home from where there is no stream`() async throws {
        let result = try await sent(toOne: []) { travel in
            let first = try await travel.home.next { _ in true }
            try await travel.away.next { _ in true }
            travel.on(first) { $0.close() }
            try await travel.home.next { _ in true }
        }
        #expect(try result.get().moves == 0)
    }

    @Test func `a stream that ended while the viewer was on its way has ended, when there is none elsewhere`()
        async throws
    {
        _ = try await sent(untilEnd: true, toOne: []) { travel in
            let first = try await travel.home.next { _ in true }
            try await travel.away.next { _ in true }
            travel.on(first) { $0.announceEnd() }
            try await travel.states.next { $0.state == .ended }
        }
    }

    @Test func `a viewer comes home when the stream elsewhere stops`() async throws {
        let result = try await sent(toOne: SealedStream.formats) { travel in
            try await travel.home.next { _ in true }
            try await travel.away.next { _ in true }
            // Its publisher has gone home.
            try await travel.home.next { _ in true }
        }
        #expect(try result.get().moves == 1)
    }

    @Test func `a login that is required elsewhere does not end a viewer`() async throws {
        let result = try await sent(toOne: [], accepts: false, timeout: 600_000_000_000) { travel in
            let first = try await travel.home.next { _ in true }
            let second = try await travel.away.next { _ in true }
            travel.on(first) { $0.close() }
            try await travel.states.next { $0.reason == "the relay sent us to another connection" }
            travel.on(second) { $0.rejectPlay(code: "NetStream.Play.Unauthorized", description: "who are you?") }
            try await travel.home.next { _ in true }
        }
        #expect(throws: Never.self) { try result.get() }
    }

    @Test func `a relay that sends a viewer round and round does not make it hurry`() async throws {
        let messages = try sealed(try SealedStream.Collection())
        // As the relay's loop sees it: a test that gets to run late would count from too late an instant.
        let instants = EventLog<NIODeadline>()
        try await MiniRelay.serving(messages, sendsTo: "/round", instants: instants, to: .keyless) {
            let viewer = try Viewer(configuration: $0, sinks: [], logger: Self.logger)
            async let end = viewer.run()
            for _ in 0..<4 { try await instants.next { _ in true } }
            viewer.stop()
            _ = try await end
        }
        // Half of 0.5 s, of 1 s and of 1.5 s are the least that it waits.
        let asked = instants.all
        #expect(asked[3] - asked[0] >= .milliseconds(1450))
    }

    private func sealed(_ collection: SealedStream.Collection) throws -> [SealedStream.Message] {
        [try collection.headerFrame()] + SealedStream.formats
            + [try collection.video(0, key: true), try collection.video(40)]
    }

    private static func clear(bytes: Int = 5) -> [SealedStream.Message] {
        var message = SealedStream.clearVideo(0, key: true)
        message.body.removeLast(9)
        message.body += withUnsafeBytes(of: UInt32(bytes).bigEndian) { Array($0) } + [0x65]
        message.body += [UInt8](repeating: 0x55, count: bytes - 1)
        return SealedStream.formats + [message]
    }

    @Test func `a stream that ends before its key came ends the viewer, when the hold is over`() async throws {
        let messages = try sealed(try SealedStream.Collection())
        let statistics = try await MiniRelay.serving(messages, ends: true, to: .sealed(LateKey(log: EventLog()))) {
            var configuration = $0
            configuration.hold.duration = 100_000_000
            return try await Viewer(configuration: configuration, sinks: [], logger: Self.logger).run()
        }
        #expect(statistics.state == .ended)
        #expect(statistics.opened == 0)
    }

    @Test func `a key that comes after the stream's end still opens what waited`() async throws {
        let collection = try SealedStream.Collection()
        let messages = try sealed(collection)
        let log = EventLog<CollectionKey>()
        let states = EventLog<ViewerStatistics.State>()
        let statistics = try await MiniRelay.serving(messages, ends: true, to: .sealed(LateKey(log: log))) {
            let viewer = try Viewer(
                configuration: $0, sinks: [], logger: Self.logger, onState: { states.add($0.state) })
            async let end = viewer.run()
            try await states.next { $0 == .waitingForKey }
            log.add(collection.key)
            return try await end
        }
        #expect(statistics.opened == 2)
        #expect(statistics.noKey == 0)
    }

    @Test func `without keys a time limit counts from the first message`() async throws {
        let messages = try sealed(try SealedStream.Collection())
        let statistics = try await MiniRelay.serving(messages, to: .keyless) {
            var configuration = $0
            configuration.duration = 1
            return try await Viewer(configuration: configuration, sinks: [], logger: Self.logger).run()
        }
        #expect(statistics.state == .ended)
        #expect(statistics.relayedBytes > 0)
    }

    @Test func `an output that is not read does not hold up the end`() async throws {
        let pipe = Pipe()
        let states = EventLog<ViewerStatistics.State>()
        let statistics = try await MiniRelay.serving(Self.clear(bytes: 400_000), to: .clear) {
            let viewer = try Viewer(
                configuration: $0, sinks: [MovieSink(.descriptor(pipe.fileHandleForWriting.fileDescriptor))],
                logger: Self.logger, onState: { states.add($0.state) })
            async let end = viewer.run()
            try await states.next { $0 == .playing }
            viewer.stop()
            return try await end
        }
        #expect(statistics.video.units == 1)
        #expect(statistics.outputDropped == 0)
    }

    @Test func `whoever receives the state may block, and the stream goes on`() async throws {
        let gate = DispatchSemaphore(value: 0)
        let log = EventLog<MediaEvent>()
        let statistics = try await MiniRelay.serving(Self.clear(), to: .clear) {
            let viewer = try Viewer(
                configuration: $0, sinks: [LoggingSink(log)], logger: Self.logger, onState: { _ in gate.wait() })
            async let end = viewer.run()
            try await log.next { if case .accessUnit = $0 { true } else { false } }
            viewer.stop()
            return try await end
        }
        for _ in 0..<100 { gate.signal() }
        #expect(statistics.state == .ended)
    }

    @Test func `a recording that cannot be made is an error`() {
        let url = RTMPURL(scheme: .rtmp, host: "127.0.0.1", port: 1, app: "live", streamName: "door")
        let configuration = ViewerConfiguration(url: url, mode: .keyless, recordingPath: "/no/such/folder/a.flv")
        #expect(throws: ViewerError.output("/no/such/folder/a.flv: No such file or directory")) {
            _ = try Viewer(configuration: configuration, sinks: [], logger: Self.logger)
        }
    }

    @Test func `authorities that cannot be read end the viewer`() async throws {
        let url = RTMPURL(scheme: .rtmps, host: "127.0.0.1", port: 1, app: "live", streamName: "door")
        let configuration = ViewerConfiguration(
            url: url, tls: RTMPClientTLS(authorityFile: "/no/such/file.pem"), mode: .clear)
        let viewer = try Viewer(configuration: configuration, sinks: [], logger: Self.logger)
        let error = await #expect(throws: ViewerError.self) { try await viewer.run() }
        guard case .relay(let reason)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains("TLS cannot be set up"))
    }
}

/// Reports what came.
final class LoggingSink: MediaSink {
    private let log: EventLog<MediaEvent>

    init(_ log: EventLog<MediaEvent>) {
        self.log = log
    }

    func consume(_ event: MediaEvent, _ provenance: ViewerSession.Provenance?) throws(ViewerError) { log.add(event) }
    func finish() throws(ViewerError) {}
}

/// Reports what was warned of.
private struct WarningLog: LogHandler {
    private let warnings: EventLog<String>
    var metadata = Logger.Metadata()
    var logLevel = Logger.Level.warning

    init(_ warnings: EventLog<String>) { self.warnings = warnings }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { warnings.add("\(event.message)") }
}
