import BoxMemory
import ControlAPI
import ErrorCatalog
import Foundation
import Synchronization
import Testing

@testable import ControlPlane

/// What a day of virtual time without the relay leaves in the history of the box, and on its card.
struct OutageDayTests {
    private static let cameras = ["a", "b", "c", "d"]

    /// - Parameter state: of a camera's stream at a second of the day.
    private func day(
        every seconds: Int, _ state: (Int) -> StreamDocument.State
    ) async throws -> [StoredEvent] {
        let stage = try ControlStage()
        let text = Self.cameras.map { "camera.\($0) = { source = \"test:\" }\n" }.joined()
        try stage.write(ControlStage.connections + text)
        let control = try await stage.start()
        let memory = try #require(control.core.memory)
        let before = try memory.latestEventID()
        for second in stride(from: 0, to: 86_400, by: seconds) {
            stage.now.withLock { $0 = .seconds(1000 + second) }
            let state = state(second)
            let documents = Self.cameras.map {
                StreamDocument(
                    camera: $0, stream: $0, state: state,
                    reason: state == .waiting ? "the relay does not answer" : nil,
                    code: state == .waiting ? .relayUnreachable : nil, relay: "main", restarts: 0,
                    unit: "active")
            }
            await control.core.reportNews(of: documents)
        }
        return try memory.events(after: before, limit: 10_000)
    }

    /// Bytes that this thread has handed to the kernel.
    private func written() throws -> Int {
        let text = try String(contentsOfFile: "/proc/thread-self/io", encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("wchar: ") })
        return try #require(Int(line.dropFirst(7)))
    }

    /// What storing these events makes SQLite write: log, and the moves into the database.
    private func bytes(of events: [StoredEvent]) throws -> Int {
        let stage = try ControlStage()
        let memory = try BoxMemory(path: stage.paths.database)
        let before = try written()
        for event in events { try memory.append(event) }
        return try written() - before
    }

    /// Once a look finds the camera connecting, once waiting: what was an event each time.
    @Test(arguments: [2, 10])
    func `a day without the relay is fewer than 50 events of each camera, and less than 1 MB on the card`(
        seconds: Int
    ) async throws {
        let events = try await day(every: seconds) { second in
            second < 3600 ? .live : second / seconds % 2 == 0 ? .starting : .waiting
        }
        let own = events.filter { $0.object == "a" }
        #expect((6..<50).contains(own.count), "\(own.count) events")
        #expect(own[0].text.contains("(") == false, "the beginning: \(own[0].text)")
        #expect(own.contains { $0.text.contains("the relay does not answer") })
        #expect(own.allSatisfy { $0.code == "\(ErrorCode.relayUnreachable)" })
        for time in ["1 min", "5 min", "15 min", "60 min", "22 h"] {
            #expect(own.contains { $0.text.contains("(for \(time)") }, "\(time)")
        }
        let bytes = try bytes(of: events)
        #expect((10_000..<1_000_000).contains(bytes), "\(bytes) bytes of \(events.count) events")
    }

    @Test(arguments: [7, 61, 700])
    func `a stream that comes and goes is fewer than 50 events a day`(period: Int) async throws {
        let events = try await day(every: 2) { $0 / period % 2 == 0 ? .live : .waiting }
        let own = events.filter { $0.object == "a" }
        // What is shorter than the grace period is not an event at all.
        #expect((period == 7 ? 0..<50 : 3..<50).contains(own.count), "\(own.count) events")
        #expect(try bytes(of: own) < 1_000_000)
    }

    @Test func `an outage that ends is reported with its end, a stop at once, and a look that missed not at all`()
        async throws
    {
        let events = try await day(every: 10) { second in
            switch second {
            case 3600..<3610: .unknown
            case 7200..<7500: .waiting
            case 40_000...: .stopped
            default: .live
            }
        }
        #expect(
            events.filter { $0.object == "a" }.map(\.text) == [
                "waiting: the relay does not answer", "waiting: the relay does not answer (for 1 min)", "live",
                "stopped",
            ])
    }

    @Test func `ten days of events on every topic keep the configuration's changes and how the outage began`()
        async throws
    {
        let stage = try ControlStage()
        let hub = try await stage.start().core.hub
        hub.publish(.config, object: "2", "generation 2: camera add a")
        hub.publish(.camera, object: "a", "waiting: the relay does not answer")
        for number in 0..<3000 { hub.publish(.health, object: "b", "event \(number)") }
        for number in 0..<900 { hub.publish(.relay, "event \(number)") }
        let memory = try #require(try stage.makeService().core.memory)
        let texts = try memory.events(after: 0, limit: 10_000).map(\.text)
        #expect(texts.contains("generation 2: camera add a"))
        #expect(texts.contains("waiting: the relay does not answer"))
        #expect(texts.count < 3000)
    }
}
