import BoxMemory
import Foundation
import MemoryWriter
import TestSupport
import Testing

@testable import Database

/// What the memory holds after each step of `MemoryHistory`, made without any disturbance.
enum Undisturbed {
    static let steps = 160
    /// By step; 0: the empty memory.
    static let states: [String] = {
        do {
            return try withTemporaryDirectory { directory in
                let memory = try BoxMemory(path: directory + "/state.db")
                var states = [try MemoryHistory.state(of: memory)]
                for number in 1...steps {
                    try MemoryHistory.perform(number, on: memory)
                    states.append(try MemoryHistory.state(of: memory))
                }
                return states
            }
        } catch {
            Issue.record("the history cannot be made: \(error)")
            return []
        }
    }()
}

@Suite(.ownThread) struct PowerCutTests {
    private static let frameBytes = 24 + 4096
    private static let logHeaderBytes = 32

    @Test func `each step of the history leaves another state`() {
        #expect(Set(Undisturbed.states).count == Undisturbed.steps + 1)
    }

    /// Every writer goes on where the one before was killed.
    @Test(arguments: [1, 2] as [UInt64])
    func `kill -9 of the writer loses nothing that it acknowledged`(seed: UInt64) throws {
        try withTemporaryDirectory { directory in
            var random = SeededGenerator(seed: seed)
            let path = directory + "/state.db"
            var made = 0
            var kills = 0
            while made < Undisturbed.steps {
                // One that is faster than its killer gets no further than 40 steps.
                let last = min(made + 40, Undisturbed.steps)
                let writer = try WriterProcess(path: path, first: made + 1, last: last)
                writer.wait(for: made + Int.random(in: 0...30, using: &random))
                // Somewhere in its next steps, or while it opens the memory.
                for _ in 0..<Int.random(in: 0...20_000, using: &random) { _ = random.next() }
                writer.kill()
                kills += 1
                let memory = try BoxMemory(path: path)
                try #require(memory.setAside == nil)
                let state = try MemoryHistory.state(of: memory)
                let acknowledged = writer.acknowledged ?? made
                // The step that was under way may be done, but not half.
                let next = min(acknowledged + 1, Undisturbed.steps)
                let found = try #require((acknowledged...next).first { Undisturbed.states[$0] == state })
                made = found
            }
            #expect(kills >= 4)
        }
    }

    private struct Snapshot {
        var database: Data
        var log: Data
    }

    /// The files after each of the first steps, as a copy of the card would have them.
    private func snapshots(_ count: Int) throws -> [Snapshot] {
        try withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            let memory = try BoxMemory(path: path)
            return try (0...count).map { number in
                if number > 0 { try MemoryHistory.perform(number, on: memory) }
                return Snapshot(database: try bytes(path), log: try bytes(path + "-wal"))
            }
        }
    }

    private func state(after power: Snapshot) throws -> String {
        try withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            try power.database.write(to: URL(filePath: path))
            try power.log.write(to: URL(filePath: path + "-wal"))
            let memory = try BoxMemory(path: path)
            try #require(memory.setAside == nil)
            return try MemoryHistory.state(of: memory)
        }
    }

    @Test func `a log that ends anywhere in the last step gives the step before`() throws {
        let snapshots = try snapshots(16)
        var cuts = 0
        for number in 1..<snapshots.count {
            let snapshot = snapshots[number]
            let before = snapshots[number - 1].log.count
            #expect(try state(after: snapshot) == Undisturbed.states[number])
            // A log that began again is the next test's.
            guard snapshot.log.count > before, snapshot.log.prefix(before) == snapshots[number - 1].log else {
                continue
            }
            for frame in stride(from: before, to: snapshot.log.count, by: Self.frameBytes) {
                for offset in [frame, frame + 24, frame + Self.frameBytes - 1] {
                    let cut = Snapshot(database: snapshot.database, log: snapshot.log.prefix(offset))
                    #expect(try state(after: cut) == Undisturbed.states[number - 1], "step \(number), byte \(offset)")
                    cuts += 1
                }
                var torn = snapshot
                torn.log[frame + 24 + number] ^= 1
                #expect(try state(after: torn) == Undisturbed.states[number - 1], "step \(number), frame at \(frame)")
            }
        }
        #expect(cuts > 80)
    }

    @Test func `a log that ends anywhere gives a state that once was, and never an earlier one for a longer log`()
        throws
    {
        let snapshots = try snapshots(24)
        let last = try #require(snapshots.last)
        var reached = 0
        var offset = 0
        while offset <= last.log.count {
            let state = try state(after: Snapshot(database: last.database, log: last.log.prefix(offset)))
            let step = try #require(
                Undisturbed.states[...24].firstIndex(of: state), "a log of \(offset) bytes gives a state that never was"
            )
            #expect(step >= reached)
            reached = step
            offset += offset < Self.logHeaderBytes ? 8 : Self.frameBytes + 3
        }
        #expect(try state(after: last) == Undisturbed.states[24])
    }

    @Test func `a power cut while the log is moved into the database loses nothing`() throws {
        let last = try #require(try snapshots(24).last)
        let moved = try withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            try last.database.write(to: URL(filePath: path))
            try last.log.write(to: URL(filePath: path + "-wal"))
            try DatabaseConnection(path: path).execute("PRAGMA wal_checkpoint(TRUNCATE)")
            return try bytes(path)
        }
        #expect(moved != last.database)
        var old = last.database
        old.append(Data(repeating: 0, count: max(0, moved.count - old.count)))
        for page in 0..<moved.count / 4096 {
            // Everything before is new, this page is half-written, everything behind is old.
            let tear = page * 4096 + 1000
            let half = Snapshot(database: moved.prefix(tear) + old[tear...], log: last.log)
            #expect(try state(after: half) == Undisturbed.states[24], "page \(page)")
        }
    }
}
