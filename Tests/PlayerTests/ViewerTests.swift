import ChannelTestSupport
import Foundation
import KeyAccess
import KeyAccessClient
import Logging
import Media
import NanoTDF
import RTMP
import RTMPTransport
import Synchronization
import Testing

@testable import Player

@Suite(.timeLimit(.minutes(15)))
struct ViewerTests {
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Gives the key when it is told to; without one, never.
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
        func viewed(allowed: Bool) async throws -> ViewerStatistics {
            try await MiniRelay.serving(second, to: .sealed(kas)) { next in
                try await MiniRelay.serving(
                    first, sendsTo: "rtmp://127.0.0.1:\(next.url.port)/live", to: .sealed(kas)
                ) {
                    var configuration = $0
                    if allowed { configuration.redirectHosts = ["127.0.0.1:\(next.url.port)"] }
                    let viewer = try Viewer(configuration: configuration, sinks: [], logger: Self.logger)
                    async let end = viewer.run()
                    for _ in 0..<500 where await viewer.report().opened < (allowed ? 4 : 2) {
                        try await Task.sleep(for: .milliseconds(10))
                    }
                    viewer.stop()
                    return try await end
                }
            }
        }
        let moved = try await viewed(allowed: true)
        #expect(moved.opened == 4 && moved.moves == 1 && moved.reconnects == 0)
        #expect(moved.rewraps == 1 && moved.noKey == 0)
        #expect(moved.finding == nil)
        // It may not make a viewer connect to whom it likes.
        let stayed = try await viewed(allowed: false)
        #expect(stayed.opened == 2 && stayed.moves == 0)
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

    @Test func `an output that nobody reads does not hold up the end`() async throws {
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

    @Test func `whoever is told the state may block, and the stream goes on`() async throws {
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

/// Tells what came.
final class LoggingSink: MediaSink {
    private let log: EventLog<MediaEvent>

    init(_ log: EventLog<MediaEvent>) {
        self.log = log
    }

    func consume(_ event: MediaEvent, _ provenance: ViewerSession.Provenance?) throws(ViewerError) { log.add(event) }
    func finish() throws(ViewerError) {}
}
