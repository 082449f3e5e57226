import Glibc
import TestSupport
import Testing

@testable import Archive
@testable import Platform

/// What a power cut may leave at any point of an archive's life, and what becomes of that.
@Suite(.ownThread) struct ArchivePowerCutTests {
    /// Of one archive: everything that happened to it.
    private static func life(
        appended count: Int, flushedAfter flushes: Set<Int>, ends: Bool = true, lost: Set<Int> = []
    ) throws -> CrashLog {
        let stage = try ArchiveStage(in: ArchiveStage.memory)
        let directory = stage.directory
        let log = CrashLog(directory)
        try log.record {
            let archive = try GrowingStage.archive(in: directory)
            for (index, segment) in GrowingStage.segments.prefix(count).enumerated() {
                if lost.contains(index) {
                    // The disk is full for once, in the journal or in the payload.
                    log.faults[log.steps + index % 2] = ENOSPC
                    #expect(throws: ArchiveError.self) { try archive.append([1, 2, 3], milliseconds: 5000) }
                }
                try archive.append(segment[...], milliseconds: 1000)
                guard flushes.contains(index + 1) else { continue }
                try archive.flush()
                log.promise(index + 1)
            }
            guard ends else { return }
            let ending = try archive.end {
                // Before anything else is written.
                log.promise(count)
                return GrowingStage.fileName($0 + 5, $1)
            }
            #expect((ending == .empty) == (count == 0))
            log.promise(count)
        }
        return log
    }

    /// Finishes each state that a power cut may leave.
    ///
    /// - Returns: how many there were.
    private static func cut(
        _ log: CrashLog, samples: Int, _ random: inout SeededGenerator, again: Int, promised: Int = 0
    ) throws -> Int {
        var seen = 0
        for point in 0...log.changes.count {
            let (states, safe) = log.states(after: point, samples: samples, &random)
            // In the order of their contents: a set has another one in each process.
            for state in states.sorted(by: { "\($0.mapValues(\.count))" < "\($1.mapValues(\.count))" }) {
                let stage = try ArchiveStage(in: ArchiveStage.memory)
                let directory = stage.directory
                for (name, bytes) in state { try ArchiveStage.write(bytes, "\(directory)/\(name)") }
                let second = CrashLog(directory)
                let isCutAgain = again > 0 && Int.random(in: 0..<again, using: &random) == 0
                if isCutAgain {
                    try second.record { _ = try GrowingStage.finish(in: directory) }
                } else {
                    try GrowingStage.finish(in: directory)
                }
                let (count, reason) = GrowingStage.count(in: directory)
                let least = max(promised, safe)
                if count == nil || count! < least {
                    Issue.record(
                        """
                        cut after \(point) of \(log.changes.count) changes: \(reason), and \(least) segments were safe; \
                        the disk had \(state.mapValues(\.count))
                        """)
                    return seen
                }
                seen += 1
                guard isCutAgain else { continue }
                // Cut again, it comes to the same.
                seen += try cut(second, samples: 4, &random, again: 0, promised: count!)
            }
        }
        return seen
    }

    @Test(arguments: UInt64(1)...2)
    func `whatever a power cut leaves becomes an archive with all that was flushed, or nothing`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let log = try Self.life(appended: 8, flushedAfter: seed == 1 ? [2, 3, 7] : [1, 4])
        let seen = try Self.cut(log, samples: 6, &random, again: 80)
        #expect(seen > 1000)
    }

    @Test func `it may come while there was no room, or before anything was recorded`() throws {
        var random = SeededGenerator(seed: 3)
        for (count, lost) in [(0, []), (1, [0]), (5, [1, 2, 4])] as [(Int, Set<Int>)] {
            let log = try Self.life(appended: count, flushedAfter: [2, 5], lost: lost)
            #expect(try Self.cut(log, samples: 8, &random, again: 30) > 10)
        }
    }

    @Test func `the key is on the disk before the first byte that was sealed under it`() throws {
        let log = try Self.life(appended: 2, flushedAfter: [])
        let part = GrowingStage.name + GrowingArchive.partSuffix
        let journal = GrowingStage.name + GrowingArchive.journalSuffix
        var files: [String: UInt64] = [:]
        for case .create(let name, let file) in log.changes { files[name] = file }
        let sealed = try #require(
            log.changes.firstIndex {
                guard case .write(let file, let offset, _) = $0 else { return false }
                return file == files[part] && offset > 0
            })
        let before = log.changes[..<sealed]
        let file = try #require(files[journal])
        let flush = try #require(before.firstIndex(of: .flush(file: file)))
        let names = try #require(before.lastIndex(of: .flushDirectory))
        // Nothing of the head comes after it was flushed, and no name after the names were.
        #expect(before[flush...].allSatisfy { if case .write(file, _, _) = $0 { false } else { true } })
        #expect(before[names...].allSatisfy { if case .create = $0 { false } else { true } })
    }
}
