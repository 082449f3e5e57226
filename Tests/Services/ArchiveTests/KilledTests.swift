import ArchiveGrower
import Cryptography
import Foundation
import TDF
import TestSupport
import Testing

@testable import Archive

/// `kill -9` of a process that records as fast as it can.
@Suite(.ownThread) struct ArchiveKilledTests {
    /// One such process.
    private final class Grower {
        private let program: SpeakingProgram
        private let said = Said()

        private final class Said {
            var lines = 0
            var safe: [UInt64: Int] = [:]
        }

        var lines: Int { said.lines }
        /// Segments that are safe, by sequence.
        var safe: [UInt64: Int] { said.safe }

        init(_ directory: String, pem: String, first: UInt64) throws {
            program = try SpeakingProgram("ArchiveGrower", [directory, pem, "\(first)"]) { [said] line in
                let numbers = line.split(separator: " ").compactMap { UInt64($0) }
                guard numbers.count == 2 else {
                    Issue.record("the process said: \(line)")
                    return
                }
                said.safe[numbers[0]] = Int(numbers[1])
                said.lines += 1
            }
        }

        func wait(for count: Int) {
            while lines < count, program.listen() {}
        }

        /// Wherever it is; then reads what it had said until then.
        func kill() { program.kill() }
    }

    /// Twice, beside each other.
    @Test(arguments: UInt64(1)...2)
    func `kill -9 at a hundred points loses nothing that was flushed, and leaves nothing else`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let stage = try ArchiveStage(in: ArchiveStage.memory)
        let pem = try ArchiveStage.key.publicKey.spkiPEM()
        var first: UInt64 = 1
        var growing = 0
        for _ in 0..<100 {
            let grower = try Grower(stage.directory, pem: pem, first: first)
            grower.wait(for: Int.random(in: 0...12, using: &random))
            // Somewhere in what comes next.
            for _ in 0..<Int.random(in: 0...20_000, using: &random) { _ = random.next() }
            grower.kill()
            let directory = RecordingDirectory(stage.directory)
            let left = try directory.list()
            #expect(left.growing.count <= 1)
            growing += left.growing.count
            for sequence in left.growing {
                _ = try GrowingArchive.finish(RecordingName.stem(sequence), in: stage.directory) {
                    RecordingName(sequence: sequence, begin: $0, duration: $1).fileName
                }
            }
            let listing = try directory.list()
            #expect(listing.growing == [] && listing.recordings.count == stage.files.count)
            var found: Set<UInt64> = []
            for recording in listing.recordings {
                let sequence = recording.name.sequence
                found.insert(sequence)
                let archive = try ArchiveReader(directory.path(of: recording.name))
                try archive.verifyStructure()
                let count = archive.map.count
                // All but the last had their end.
                let least = grower.safe[sequence] ?? 1
                let isLast = sequence == listing.recordings.last?.name.sequence
                #expect(count >= least && count <= GrownContent.count && (isLast || count == GrownContent.count))
                let expected = (0..<count).flatMap { GrownContent.segment($0, of: sequence) }
                #expect(try ArchiveStage.part(nil, of: archive) == expected)
                #expect(unlink(directory.path(of: recording.name)) == 0)
            }
            #expect(found.isSuperset(of: grower.safe.keys))
            first = (listing.recordings.last?.name.sequence ?? first) + 1
        }
        // Most of them were killed while one grew.
        #expect(growing > 20)
    }
}
