import ControlAPI
import Database
import ErrorCatalog
import Foundation
import Testing

@testable import HealthMonitor

struct HealthHistoryTests {
    private let now = KernelClock().now().realtimeSeconds

    private func event(
        _ text: String, time: Int64? = nil, check: String = "publish"
    ) -> HealthEvent {
        HealthEvent(
            id: 0, time: time ?? now, kind: "state", check: check, object: "front", from: .ok, to: .fail, text: text,
            code: .relayStalled)
    }

    private func save(_ history: HealthHistory, _ clock: any HealthClock) async {
        // One turn begins it, the next takes what it brought.
        await history.finish(limit: .seconds(60), clock: clock)
        history.turn(at: clock.now())
    }

    @Test func `events outlive the process`() async throws {
        let tree = try FixtureTree()
        let clock = KernelClock()
        let first = HealthHistory(directory: tree.paths.stateDirectory)
        first.add(event("one"))
        first.add(event("two", check: "disk"))
        #expect(await first.events(check: nil, since: 0, clock: clock).map(\.text) == ["two", "one"])
        await save(first, clock)
        #expect(first.trouble == nil)

        let second = HealthHistory(directory: tree.paths.stateDirectory)
        second.add(event("three"))
        await save(second, clock)
        let events = await second.events(check: nil, since: 0, clock: clock)
        #expect(events.map(\.text) == ["three", "two", "one"])
        #expect(events.map(\.id) == [3, 2, 1])
        var expected = event("one")
        expected.id = 1
        #expect(events.last == expected)
        #expect(await second.events(check: "disk", since: 0, clock: clock).map(\.text) == ["two"])
        #expect(await second.events(check: nil, since: now + 100, clock: clock).isEmpty)
    }

    @Test func `a directory that cannot be written stops nothing, and is reported`() async throws {
        let tree = try FixtureTree()
        try tree.remove("state")
        let clock = ManualClock()
        let history = HealthHistory(directory: tree.paths.stateDirectory)
        for number in 0..<HealthHistory.maxInMemory + 10 { history.add(event("\(number)")) }
        history.turn(at: clock.now())
        while history.trouble == nil { await save(history, clock) }
        #expect(history.lost == 10)
        let events = await history.events(check: nil, since: 0, clock: KernelClock())
        #expect(events.count == HealthHistory.maxInMemory)
        #expect(events.first?.text == "\(HealthHistory.maxInMemory + 9)")

        // The disk comes back; after a minute it is tried again.
        try FileManager.default.createDirectory(atPath: tree.paths.stateDirectory, withIntermediateDirectories: true)
        clock.advance(.seconds(61))
        while history.trouble != nil { await save(history, clock) }
        let store = try HistoryStore(path: "\(tree.paths.stateDirectory)/history.db")
        #expect(try store.events(check: nil, since: 0).count == HealthHistory.maxInMemory)
    }

    @Test func `a damaged file is moved aside and reported`() async throws {
        let tree = try FixtureTree(["state/history.db": "this is not a database, whatever its name says"])
        let clock = KernelClock()
        let history = HealthHistory(directory: tree.paths.stateDirectory)
        history.add(event("one"))
        await save(history, clock)
        #expect(history.trouble?.code == .databaseDamaged)
        #expect(try tree.text("state/history.db.corrupt-1").hasPrefix("this is not"))
        #expect(await history.events(check: nil, since: 0, clock: clock).map(\.text) == ["one"])
        history.add(event("two"))
        await save(history, clock)
        #expect(history.trouble == nil)
    }

    @Test func `a day is kept, and never more than the limit of rows`() throws {
        let tree = try FixtureTree()
        let store = try HistoryStore(path: "\(tree.root)/state/history.db")
        let now: Int64 = 1_780_000_000
        func add(_ ids: ClosedRange<Int64>, time: Int64) throws {
            try store.append(
                ids.map { id in
                    var event = event("\(id)", time: time)
                    event.id = id
                    return event
                }, now: now)
        }
        try add(1...10, time: now - 90_000)
        #expect(try store.events(check: nil, since: 0).isEmpty)
        // Written before the clock was set: no one knows how old it is.
        try add(11...12, time: 40)
        try add(13...13, time: now - 100)
        #expect(try store.events(check: nil, since: now - 3600).map(\.id) == [13, 12, 11])
        try add(14...Int64(13 + HistoryStore.maxEvents), time: now)
        #expect(try store.lastID() == Int64(13 + HistoryStore.maxEvents))
        #expect(try store.events(check: nil, since: 0).count == HistoryStore.maxAnswered)
        try add(40_000...40_000, time: now)
        #expect(try store.events(check: nil, since: 0).last.map { $0.id > 20_000 } == true)
    }
}
