import CameraModel
import ErrorCatalog
import Logging
import RTMP
import Synchronization
import TestSupport
import Testing

@testable import CameraPipeline

/// What one camera writes into the journal in a day of virtual time.
struct OutageDayTests {
    private static let day: UInt64 = 86_400_000_000_000

    /// Lines by level, and their text.
    private final class Lines: LogHandler, Sendable {
        let lines = Mutex<[(level: Logger.Level, text: String)]>([])
        var metadata: Logger.Metadata {
            get { [:] }
            set {}
        }
        var logLevel: Logger.Level {
            get { .trace }
            set {}
        }
        subscript(metadataKey _: String) -> Logger.Metadata.Value? {
            get { nil }
            set {}
        }

        func log(event: LogEvent) {
            lines.withLock { $0.append((event.level, "\(event.message)")) }
        }

        var texts: [String] { lines.withLock { $0.map(\.text) } }
    }

    private final class Time: Sendable {
        let nanoseconds = Atomic<UInt64>(0)
        var now: UInt64 { nanoseconds.load(ordering: .relaxed) }
        func pass(_ more: UInt64) { nanoseconds.add(more, ordering: .relaxed) }
    }

    /// The steps of `CameraService.publish` with the back-off that is shipped, until the day is over.
    ///
    /// - Parameters:
    ///   - connecting: nanoseconds that an attempt takes.
    ///   - staying: nanoseconds for which a relay that takes the stream keeps it; nil: it does not take it.
    private func day(
        connecting: UInt64, staying: UInt64?, reason: (Int) -> String = { _ in "connection refused" }
    ) -> (lines: Lines, attempts: Int) {
        let (lines, time) = (Lines(), Time())
        let monitor = CameraMonitor(
            logger: Logger(label: "camera") { _ in lines }, now: { .nanoseconds(Int64(time.now)) })
        var random = SeededGenerator(seed: 7)
        var backoff = ReconnectBackoff()
        var attempts = 0
        monitor.enter(.starting)
        monitor.enter(.connecting)
        monitor.published(at: time.now)
        backoff.streamStarted(at: time.now)
        time.pass(3_600_000_000_000)
        while time.now < Self.day {
            monitor.enter(.waitingToReconnect, reason: reason(attempts), code: .relayUnreachable)
            time.pass(backoff.delay(after: .transient, at: time.now, random: random.next()) ?? Self.day)
            monitor.reconnecting()
            monitor.enter(.connecting)
            attempts += 1
            time.pass(connecting)
            guard let staying else { continue }
            monitor.published(at: time.now)
            backoff.streamStarted(at: time.now)
            time.pass(staying)
        }
        return (lines, attempts)
    }

    @Test(arguments: [5_000_000, 4_000_000_000] as [UInt64])
    func `a day without the relay is fewer than 100 lines, and says how it began and how long it takes`(
        connecting: UInt64
    ) throws {
        let (lines, attempts) = day(connecting: connecting, staying: nil)
        #expect(attempts > 10_000)
        let texts = lines.texts
        #expect(texts.count < 100, "\(texts.count) lines")
        #expect(texts.prefix(3) == ["connecting", "publishing", "waitingToReconnect: connection refused"])
        for time in ["1 min", "5 min", "15 min", "60 min", "22 h"] {
            #expect(texts.contains { $0.contains("(for \(time), ") }, "\(time)")
        }
    }

    @Test(arguments: [100_000_000, 29_000_000_000, 61_000_000_000, 700_000_000_000] as [UInt64])
    func `a relay that throws the stream out again and again is fewer than 100 lines a day`(staying: UInt64) {
        let (lines, attempts) = day(connecting: 20_000_000, staying: staying)
        #expect(attempts > 100)
        #expect(lines.texts.count < 100, "\(lines.texts.count) lines")
        #expect(lines.texts.contains { $0.contains("were not reported") || $0.contains("back") })
    }

    @Test func `reasons that are different each time are fewer than 100 lines a day`() {
        let (lines, _) = day(connecting: 20_000_000, staying: nil) { "refused by server number \($0)" }
        #expect(lines.texts.count < 100, "\(lines.texts.count) lines")
    }

    @Test func `a relay that is back for good is reported as back, and sums name the reason`() async {
        let (lines, time) = (Lines(), Time())
        let monitor = CameraMonitor(
            logger: Logger(label: "camera") { _ in lines }, now: { .nanoseconds(Int64(time.now)) },
            sleep: { _ in throw CancellationError() })
        for _ in 0..<100 {
            monitor.enter(.waitingToReconnect, reason: "closed", code: .relayUnreachable)
            time.pass(5_000_000_000)
            monitor.enter(.connecting)
            monitor.published(at: time.now)
            time.pass(5_000_000_000)
        }
        #expect(lines.texts.last?.hasPrefix("waitingToReconnect: closed (for ") == true, "\(lines.texts)")
        monitor.look()
        #expect(lines.texts.last != "publishing")
        time.pass(60_000_000_000)
        monitor.look()
        #expect(lines.texts.last?.hasPrefix("publishing") == true)
        let count = lines.texts.count
        monitor.look()
        #expect(lines.texts.count == count)
        let sums = lines.lines.withLock { $0.filter { $0.text.contains("(for ") } }
        #expect(!sums.isEmpty && sums.allSatisfy { $0.level == .warning && $0.text.contains("closed") }, "\(sums)")
    }

    @Test func `a short interruption is reported with its beginning and its end`() {
        let (lines, time) = (Lines(), Time())
        let monitor = CameraMonitor(
            logger: Logger(label: "camera") { _ in lines }, now: { .nanoseconds(Int64(time.now)) })
        for _ in 0..<3 {
            monitor.enter(.connecting)
            monitor.published(at: time.now)
            time.pass(3_600_000_000_000)
            monitor.enter(.waitingToReconnect, reason: "closed")
            time.pass(1_000_000_000)
        }
        #expect(
            lines.texts == [
                "connecting", "publishing", "waitingToReconnect: closed", "publishing", "waitingToReconnect: closed",
                "publishing", "waitingToReconnect: closed",
            ])
    }
}
