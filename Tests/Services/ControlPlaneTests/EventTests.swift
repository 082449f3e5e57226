import BoxMemory
import ControlAPI
import ErrorCatalog
import Foundation
import Synchronization
import Testing

@testable import ControlPlane
@testable import Systemd

struct EventTests {
    private func collect(_ stream: AsyncStream<ServerEvent>, _ count: Int) async -> [ServerEvent] {
        var events: [ServerEvent] = []
        var iterator = stream.makeAsyncIterator()
        while events.count < count, let event = await iterator.next() { events.append(event) }
        return events
    }

    private func text(_ event: ServerEvent) throws -> String {
        try JSONDocument.decode(EventDocument.self, from: Array(event.data.utf8)).text
    }

    @Test func `a watcher gets its topics as they happen, and after a pause what it missed`() async throws {
        let stage = try ControlStage()
        let control = try await stage.start()
        let hub = control.core.hub
        let answer = await control.send(.get, "events", query: ["topics": "camera,key"])
        let stream = try #require(answer.events)
        hub.publish(.camera, object: "a", code: .noFrames, "one")
        hub.publish(.relay, "not asked for")
        hub.publish(.key, "two")
        let seen = await collect(stream, 2)
        #expect(try seen.map(text) == ["one", "two"])
        #expect(seen.map(\.event) == ["camera", "key"])
        let first = try #require(seen.first?.id)

        hub.publish(.camera, "three")
        let again = await control.send(.get, "events", query: ["topics": "camera,key"], lastEventID: first)
        let resumed = try #require(again.events)
        hub.publish(.camera, "four")
        #expect(try await collect(resumed, 3).map(text) == ["two", "three", "four"])
    }

    @Test func `a watcher that is too slow is sent away and misses nothing`() async throws {
        let stage = try ControlStage()
        let hub = try await stage.start().core.hub
        let stream = try hub.watch(topics: nil, after: nil)
        let other = try hub.watch(topics: nil, after: nil)
        let count = EventHub.bufferLimit + 50
        for number in 0..<count { hub.publish(.system, "\(number)") }
        var seen: [ServerEvent] = []
        for await event in stream { seen.append(event) }
        #expect(seen.count == EventHub.bufferLimit)
        let rest = try hub.watch(topics: nil, after: Int64(try #require(seen.last?.id)))
        let missed = await collect(rest, 50)
        #expect(try (seen + missed).map(text) == (0..<count).map { "\($0)" })
        _ = other
    }

    @Test func `who is far behind gets the past in pieces`() async throws {
        let stage = try ControlStage()
        let hub = try await stage.start().core.hub
        for number in 0..<(EventHub.replayLimit + 10) { hub.publish(.camera, object: "a", "\(number)") }
        var after: Int64 = 0
        var seen: [String] = []
        for await event in try hub.watch(topics: ["camera"], after: 0) {
            after = Int64(event.id ?? "") ?? -1
            seen.append(try text(event))
        }
        #expect(seen.count == EventHub.replayLimit)
        seen += try await collect(try hub.watch(topics: ["camera"], after: after), 10).map(text)
        #expect(seen == (0..<(EventHub.replayLimit + 10)).map { "\($0)" })
    }

    @Test func `there are 32 places, and one that is left can be taken`() async throws {
        let stage = try ControlStage()
        let control = try await stage.start()
        let hub = control.core.hub
        var streams: [AsyncStream<ServerEvent>] = []
        for _ in 0..<(EventHub.watcherLimit - 1) { streams.append(try hub.watch(topics: nil, after: nil)) }
        let place = try hub.enter()
        let refused = await control.send(.get, "events")
        #expect(refused.status == 429)
        #expect(await control.send(.get, "logs", query: ["follow": "1"]).status == 429)
        hub.leave(place)
        let taken = await control.send(.get, "events")
        #expect(taken.events != nil)
        hub.close()
        for stream in streams { #expect(await collect(stream, 1) == []) }
        #expect(await control.send(.get, "events").status == 409)
    }

    @Test(arguments: [["topics": "weather"], ["topics": "camera,../x"]])
    func `an unknown topic is refused with those that there are`(query: [String: String]) async throws {
        let stage = try ControlStage()
        let answer = await (try await stage.start()).send(.get, "events", query: query)
        #expect(answer.status == 400)
        #expect(answer.problem?.hint.contains("camera") == true)
    }

    @Test func `a change is sent with the generation, and a unit's changes as the supervision sees them`() async throws
    {
        let stage = try ControlStage()
        try stage.write(ControlStage.connections)
        let control = try await stage.start()
        await control.core.tick()
        await control.send(.post, "cameras", #"{"id":"a","source":"test:"}"#)
        await control.core.tick()
        stage.units.set("watchbox-camera@a.service", active: "failed", result: "oom-kill")
        await control.core.tick()
        let events = try #require(control.core.memory).events(after: 0, limit: 100)
        #expect(events.contains { $0.topic == "config" && $0.text == "generation 2: camera add a" })
        #expect(events.contains { $0.topic == "camera" && $0.object == "a" && $0.text == "runs" })
        #expect(events.contains { $0.code == "WB-6102" || $0.text.contains("memory ran out") })
    }

    @Test func `a box on which nothing happens writes nothing`() async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.two)
        let control = try await stage.start()
        for _ in 0..<5 { await control.core.tick() }
        // Its cameras have no process that answers: after an hour the next sum is an hour away.
        stage.now.withLock { $0 += .seconds(3700) }
        for _ in 0..<5 { await control.core.tick() }
        await control.core.unitJobs.settled()
        func files() throws -> [String] {
            try FileManager.default.subpathsOfDirectory(atPath: stage.root).sorted().filter {
                // Memory of SQLite's readers.
                !$0.hasSuffix("-shm")
            }.map { path in
                var status = stat()
                lstat("\(stage.root)/\(path)", &status)
                return "\(path) \(status.st_size) \(status.st_ino) \(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
            }
        }
        let before = try files()
        stage.steps.reset()
        for _ in 0..<50 {
            stage.now.withLock { $0 += .seconds(2) }
            await control.core.tick()
        }
        await control.core.unitJobs.settled()
        #expect(Set(try files()).symmetricDifference(before) == [])
        #expect(stage.steps.names == [])
    }

    @Test func `logs are filtered by what was asked, and only units of WatchBox are read`() async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.two)
        let journal = JournalAccess(
            read: { query in
                [
                    JournalEntry(
                        cursor: "c1", realtimeMicroseconds: 5, unit: query.units.joined(separator: "+"),
                        identifier: "x", priority: query.maximumPriority ?? 6,
                        message:
                            "\(query.camera ?? "-") \(query.last) \(query.sinceMicroseconds ?? 0) \(query.afterCursor ?? "-")",
                        fields: ["WATCHBOX_CAMERA": "a", "WATCHBOX_CODE": "WB-2001"])
                ]
            },
            follow: { _ in
                AsyncThrowingStream { continuation in
                    for number in 0..<3 {
                        continuation.yield(
                            JournalEntry(
                                cursor: "c\(number)", realtimeMicroseconds: 1, unit: nil, identifier: nil, priority: 4,
                                message: "line \(number)", fields: [:]))
                    }
                    continuation.finish()
                }
            })
        let control = try stage.makeService(journal: journal)
        await control.core.boot()
        func line(_ query: [String: String]) async throws -> LogLine {
            try #require(try await control.send(.get, "logs", query: query).document(LogDocument.self).lines.first)
        }
        let one = try await line(["camera": "a", "n": "7", "since": "2", "level": "warning"])
        #expect(one.message == "a 7 2000000 -")
        // Whoever was interrupted goes on behind a line, whatever time it is by now.
        let again = await control.send(.get, "logs", query: ["camera": "a"], lastEventID: "s=1;i=2")
        #expect(try again.document(LogDocument.self).lines.first?.message == "a 100 0 s=1;i=2")
        #expect(one.level == "warning")
        #expect(one.code == .noFrames)
        #expect(try await line(["unit": "health"]).unit == "watchbox-health.service")
        #expect(try await line([:]).unit?.contains("watchbox-camera@a.service") == true)
        for query in [
            ["unit": "ssh.service"], ["unit": "watchbox-*.service"], ["n": "0"], ["n": "99999"], ["level": "loud"],
            ["since": "yesterday"], ["camera": "../a"],
        ] {
            #expect((400...422).contains(await control.send(.get, "logs", query: query).status), "\(query)")
        }
        let stream = try #require(await control.send(.get, "logs", query: ["follow": "1"]).events)
        let lines = await collect(stream, 10)
        #expect(lines.map(\.event) == ["log", "log", "log"])
        #expect(lines.map(\.id) == ["c0", "c1", "c2"])
    }
}
