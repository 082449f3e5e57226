import Compression
import Foundation
import Glibc
import KeyAccess
import NanoTDF
import TDF
import Testing

@testable import Archive
@testable import Platform

struct GrowingArchiveTests {
    private let stage: ArchiveStage
    private let part = GrowingStage.name + GrowingArchive.partSuffix
    private let journal = GrowingStage.name + GrowingArchive.journalSuffix

    init() throws { stage = try ArchiveStage(in: ArchiveStage.memory) }

    private func grown(_ count: Int = GrowingStage.segments.count) throws -> GrowingArchive {
        let archive = try GrowingStage.archive(in: stage.directory)
        for segment in GrowingStage.segments.prefix(count) { try archive.append(segment[...], milliseconds: 1000) }
        return archive
    }

    private func expect(_ count: Int, _ location: SourceLocation = #_sourceLocation) {
        let found = GrowingStage.count(in: stage.directory)
        #expect(found.count == count, "\(found.reason)", sourceLocation: location)
    }

    @Test func `what grew is an archive under its name, and nothing else is left`() throws {
        let archive = try grown()
        #expect(stage.files == [journal, part])
        let sizes = try [journal, part].map { Int64(try ArchiveStage.bytes(stage.path($0)).count) }
        #expect(archive.size == sizes[0] + sizes[1])
        #expect(archive.clearSize == Int64(GrowingStage.segments.joined().count))
        try archive.flush()
        let ending = try archive.end { begin, milliseconds in
            #expect(begin == GrowingStage.begin && milliseconds == 8000)
            return GrowingStage.fileName(begin, milliseconds)
        }
        let path = stage.path("00000007-20261128T192201040Z-8000.tdf")
        #expect(ending == .archive(path: path, milliseconds: 8000))
        expect(8)
        let reader = try ArchiveReader(path)
        #expect(reader.policy?.stream == "door")
        #expect(reader.manifest.meta?.protectedAt == "2026-11-28T19:22:01Z")
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
    }

    @Test func `ending reads nothing of the payload again, and comes to the same as finishing`() throws {
        let archive = try grown()
        try archive.flush()
        let copy = stage.path("copy")
        try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
        for name in [part, journal] {
            try FileManager.default.copyItem(atPath: stage.path(name), toPath: "\(copy)/\(name)")
        }
        // What the running process knows is enough: a byte that went bad meanwhile is not noticed here.
        let file = try PlainFile(opening: stage.path(part))
        let place = TDFContainer.payloadOffset + 20
        let byte = try file.read(place..<(place + 1))
        try file.write([byte[0] ^ 1], at: place)
        guard case .archive(let path, _) = try archive.end(named: GrowingStage.fileName) else {
            Issue.record("there was something in it")
            return
        }
        #expect(throws: ArchiveError.self) { try ArchiveReader(path).verifyStructure() }
        try PlainFile(opening: path).write(byte[...], at: place)
        try GrowingStage.finish(in: copy)
        #expect(try GrowingStage.files(in: copy).values.first == ArchiveStage.bytes(path))
    }

    @Test func `one that nothing was appended to is discarded`() throws {
        #expect(try GrowingStage.archive(in: stage.directory).end(named: GrowingStage.fileName) == .empty)
        #expect(stage.files == [])
        _ = try GrowingStage.archive(in: stage.directory)
        #expect(try GrowingStage.finish(in: stage.directory) == .empty)
        #expect(stage.files == [])
        #expect(try GrowingStage.finish(in: stage.directory) == .empty)
    }

    @Test func `finishing is done any number of times`() throws {
        _ = try grown(3)
        let path = stage.path("00000007-20261128T192201040Z-3000.tdf")
        let head = try ArchiveStage.bytes(stage.path(journal))
        #expect(try GrowingStage.finish(in: stage.directory) == .archive(path: path, milliseconds: 3000))
        let whole = try ArchiveStage.bytes(path)
        #expect(try GrowingStage.finish(in: stage.directory) == .empty)
        // The archive had its name, and the journal was still there; or both files were.
        try ArchiveStage.write(head, stage.path(journal))
        #expect(try GrowingStage.finish(in: stage.directory) == .empty)
        #expect(try ArchiveStage.bytes(path) == whole)
        try ArchiveStage.write(head, stage.path(journal))
        try ArchiveStage.write(whole, stage.path(part))
        #expect(try GrowingStage.finish(in: stage.directory) == .archive(path: path, milliseconds: 3000))
        #expect(try ArchiveStage.bytes(path) == whole)
        expect(3)
    }

    @Test func `half of one is no archive`() throws {
        for missing in [part, journal] {
            _ = try grown(2)
            #expect(unlink(stage.path(missing)) == 0)
            #expect(try GrowingStage.finish(in: stage.directory) == .empty)
            #expect(stage.files == [])
        }
    }

    @Test func `what is behind the payload goes, and a header that was not written is`() throws {
        for change in [
            { $0 += [1, 2, 3] }, { $0 += [UInt8](repeating: 0, count: 5000) }, { $0 += $0 },
            { $0.replaceSubrange(0..<59, with: repeatElement(0, count: 59)) },
        ] as [(inout [UInt8]) -> Void] {
            _ = try grown()
            var bytes = try ArchiveStage.bytes(stage.path(part))
            change(&bytes)
            try ArchiveStage.write(bytes, stage.path(part))
            try GrowingStage.finish(in: stage.directory)
            expect(8)
            try FileManager.default.removeItem(atPath: stage.path(stage.files[0]))
        }
    }

    @Test(arguments: [false, true])
    func `what is no plain file is left alone`(isJournal: Bool) throws {
        _ = try grown(2)
        let path = stage.path(isJournal ? journal : part)
        let target = stage.path("target")
        #expect(rename(path, target) == 0)
        let bytes = try ArchiveStage.bytes(target)
        let kinds: [(CInt, () -> CInt)] = [
            (ELOOP, { symlink(target, path) }), (EINVAL, { mkfifo(path, 0o600) }), (EISDIR, { mkdir(path, 0o700) }),
        ]
        for (number, make) in kinds {
            #expect(make() == 0)
            #expect(throws: ArchiveError.output(FileFailure(call: "open", path: path, number: number))) {
                try GrowingStage.finish(in: stage.directory)
            }
            #expect(stage.files.count == 3)
            #expect(try ArchiveStage.bytes(target) == bytes)
            #expect(remove(path) == 0)
        }
        #expect(rename(target, path) == 0)
        try GrowingStage.finish(in: stage.directory)
        expect(2)
    }

    @Test func `one that is there is not begun again`() throws {
        let archive = try grown(1)
        #expect {
            try GrowingStage.archive(in: stage.directory)
        } throws: { error in
            guard case ArchiveError.output(let failure) = error else { return false }
            return failure.isThere && failure.path.hasSuffix(journal)
        }
        _ = try archive.end(named: GrowingStage.fileName)
        expect(1)
        // A payload that nobody finished is in the way, and stays.
        try ArchiveStage.write([1], stage.path(part))
        #expect(throws: ArchiveError.self) { try GrowingStage.archive(in: stage.directory) }
        #expect(stage.files.contains(part) && !stage.files.contains(journal))
    }

    @Test func `what no reader would open is not begun`() throws {
        var recipient = try ArchiveStage.recipient()
        recipient.url = String(repeating: "u", count: 5000)
        #expect(throws: ArchiveError.self) {
            try GrowingArchive("1", in: stage.directory, recipient: recipient, policy: .init(), begin: 0)
        }
        #expect(stage.files == [])
    }

    @Test func `a segment that is too long does not count`() throws {
        let archive = try grown(2)
        let limit = TDFSegmentEntry.maxClearSize
        #expect(throws: ArchiveError.format(.segmentTooLarge(count: limit + 1, limit: limit))) {
            try archive.append([UInt8](repeating: 0, count: limit + 1)[...], milliseconds: 1)
        }
        _ = try archive.end(named: GrowingStage.fileName)
        expect(2)
    }

    @Test func `an archive has as many segments as can be written, and not one more`() throws {
        let archive = try GrowingStage.archive(in: stage.directory)
        for _ in 0..<TDFManifest.maxWrittenSegments { try archive.append([], milliseconds: 1) }
        #expect(throws: ArchiveError.format(.segmentsExhausted(limit: TDFManifest.maxWrittenSegments))) {
            try archive.append([], milliseconds: 1)
        }
        let ending = try GrowingStage.finish(in: stage.directory)
        guard case .archive(let path, 160_000) = ending else {
            Issue.record("\(ending)")
            return
        }
        #expect(try ArchiveReader(path).map.count == TDFManifest.maxWrittenSegments)
    }

    /// Each step of appending, flushing and ending fails once, as on a full or a broken disk; then there is room again.
    @Test(arguments: [ENOSPC, EIO])
    func `whatever fails, the archive ends once it can`(number: CInt) throws {
        var failures = 0
        steps: for failing in 0..<200 {
            for endsHere in [true, false] {
                let directory = stage.path("\(number)-\(failing)-\(endsHere)")
                try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
                let log = CrashLog(directory)
                log.faults[failing] = number
                var appended: [[UInt8]] = []
                try log.record {
                    func attempt(_ body: () throws -> Void) -> Bool { (try? body()) != nil }
                    var archive: GrowingArchive?
                    if !attempt({ archive = try GrowingStage.archive(in: directory) }) {
                        #expect(try GrowingStage.files(in: directory).isEmpty)
                        archive = try GrowingStage.archive(in: directory)
                    }
                    guard let archive else { return }
                    for segment in GrowingStage.segments.prefix(4) {
                        if attempt({ try archive.append(segment[...], milliseconds: 1000) }) {
                            appended.append(segment)
                        }
                        _ = attempt { try archive.flush() }
                    }
                    if !attempt({ _ = try archive.end(named: GrowingStage.fileName) }), endsHere {
                        _ = attempt { _ = try archive.end(named: GrowingStage.fileName) }
                    }
                }
                // What is left when the process lets go.
                try GrowingStage.finish(in: directory)
                let found = GrowingStage.count(in: directory, of: appended)
                #expect(found.count == appended.count, "step \(failing): \(found.reason)")
                try FileManager.default.removeItem(atPath: directory)
                guard log.steps > failing else { break steps }
                failures += 1
            }
        }
        #expect((40..<390).contains(failures))
    }

    // MARK: Damage

    /// A journal whose checksums fit.
    ///
    /// - Parameter entries: nil: those that it has.
    private func write(head: [UInt8], entries: [UInt8]? = nil) throws {
        let entries = try entries ?? ArchiveStage.bytes(stage.path(journal)).suffix(2 * 68)
        try ArchiveStage.write(
            try ArchiveJournal.head(head) { CRC32($0).value } + entries, stage.path(journal))
    }

    @Test func `a head that is no head makes no archive`() throws {
        let deep = String(repeating: "[", count: 100_000)
        for text in ["", "{}", "[", "null", "\u{0}", deep, "{\"begin\":1e999}", "{\"begin\":0,\"begin\":[]}"] {
            _ = try grown(2)
            try write(head: Array(text.utf8))
            #expect(try GrowingStage.finish(in: stage.directory) == .empty)
            #expect(stage.files == [])
        }
    }

    @Test func `a head with values that no archive has makes none`() throws {
        for change in [
            { $0.envelope.policy = String(repeating: "A", count: 70_000) },
            { $0.envelope.keyAccess.url = String(repeating: "u", count: 5000) },
        ] as [(inout GrowingArchive.Head) -> Void] {
            _ = try grown(2)
            var head = try head()
            change(&head)
            try write(head: try ManifestJSON.encode(value: head))
            #expect(try GrowingStage.finish(in: stage.directory) == .empty)
            #expect(stage.files == [])
        }
        for begin in [Int64.min, .max] {
            _ = try grown(2)
            var head = try head()
            head.begin = begin
            try write(head: try ManifestJSON.encode(value: head))
            try GrowingStage.finish(in: stage.directory)
            expect(2)
            try FileManager.default.removeItem(atPath: stage.path(stage.files[0]))
        }
    }

    private func head() throws -> GrowingArchive.Head {
        let read = try #require(
            ArchiveJournal.read(try ArchiveStage.bytes(stage.path(journal))) { CRC32($0).value })
        return try ManifestJSON.decode(GrowingArchive.Head.self, read.head)
    }

    @Test func `a journal may be longer than any that is written`() throws {
        _ = try grown(2)
        let file = try PlainFile(opening: stage.path(journal))
        try file.truncate(to: 1 << 40)
        try GrowingStage.finish(in: stage.directory)
        expect(2)
    }

    @Test func `an entry that says something else of the segment than the payload ends it there`() throws {
        for change in [
            { $0.payloadCRC32 ^= 1 }, { $0.segment.entry.gmac[3] ^= 1 },
            {
                $0.segment.entry.clearSize += 1
                $0.segment.entry.encryptedSize += 1
            },
        ] as [(inout ArchiveJournal.Entry) -> Void] {
            _ = try grown(4)
            let read = try #require(
                ArchiveJournal.read(try ArchiveStage.bytes(stage.path(journal))) { CRC32($0).value })
            var entries = read.entries
            change(&entries[2])
            try write(
                head: read.head, entries: entries.flatMap { ArchiveJournal.encode($0) { CRC32($0).value } })
            try GrowingStage.finish(in: stage.directory)
            expect(2)
            try FileManager.default.removeItem(atPath: stage.path(stage.files[0]))
        }
    }
}
