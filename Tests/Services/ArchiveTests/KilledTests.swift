import ArchiveGrower
import Cryptography
import Foundation
import Glibc
import TDF
import TestSupport
import Testing

@testable import Archive

/// `kill -9` of a process that records as fast as it can.
@Suite(.ownThread) struct ArchiveKilledTests {
    /// One such process.
    private final class Grower {
        private let process = Process()
        private let output = Pipe()
        private var rest = Data()
        private(set) var lines = 0
        /// Segments that are safe, by sequence.
        private(set) var safe: [UInt64: Int] = [:]

        init(_ directory: String, pem: String, first: UInt64) throws {
            process.executableURL = URL(filePath: BuiltProgram.path("ArchiveGrower"))
            process.arguments = [directory, pem, "\(first)"]
            process.standardOutput = output
            try process.run()
        }

        func wait(for count: Int) {
            while lines < count, read() {}
        }

        /// Wherever it is; then reads what it had said until then.
        func kill() {
            Glibc.kill(process.processIdentifier, SIGKILL)
            while read() {}
            process.waitUntilExit()
        }

        private func read() -> Bool {
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { return false }
            rest += data
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: rest[rest.startIndex..<end], as: UTF8.self)
                rest = Data(rest[rest.index(after: end)...])
                let numbers = line.split(separator: " ").compactMap { UInt64($0) }
                guard numbers.count == 2 else {
                    Issue.record("the process said: \(line)")
                    return false
                }
                safe[numbers[0]] = Int(numbers[1])
                lines += 1
            }
            return true
        }
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
