import Compression
import Cryptography
import Foundation
import TDF
import Testing
import Wire

@testable import Archive

/// Recordings in one ZIP file.
@Suite(.timeLimit(.minutes(15))) struct BinderTests {
    private static let begin: Int64 = 1_795_856_400_040
    private static let names = (1...3).map {
        RecordingName(sequence: UInt64($0), begin: begin + Int64($0) * 60_000, duration: 59_960, isPinned: $0 == 2)
    }

    /// Three recordings of a few segments, and what a binder of them is made of.
    private static func bound(_ stage: ArchiveStage) throws -> String {
        let writer = try BinderWriter(stage.path("bound.zip"))
        for (index, name) in names.enumerated() {
            let path = try stage.make([UInt8](repeating: UInt8(index), count: 2500), name: name.fileName)
            try writer.add(name, try ArchiveReader(path))
        }
        try writer.finish(camera: "door", from: begin, to: begin + 240_000)
        return stage.path("bound.zip")
    }

    @Test func `recordings are in it byte for byte, and are archives there`() throws {
        let stage = try ArchiveStage()
        let path = try Self.bound(stage)
        let binder = try BinderReader(path)
        #expect(BinderReader.isMeant(by: path))
        #expect(binder.recordings.map(\.name) == Self.names)
        #expect(binder.index.camera == "door" && binder.index.schema == "watchbox.binder/1")
        #expect(binder.index.from == "2026-11-28T09:00:00.040Z" && binder.index.to == "2026-11-28T09:04:00.040Z")
        #expect(binder.index.recordings[1].begin == "2026-11-28T09:02:00.040Z")
        for (index, recording) in binder.recordings.enumerated() {
            let original = try ArchiveStage.bytes(stage.path(recording.name.fileName))
            #expect(try recording.file.read(0..<recording.file.size) == original)
            #expect(binder.index.recordings[index].sha256 == Hexadecimal.encode(Digest.sha256(original)))
            try recording.verifyBytes()
            let archive = try ArchiveReader(recording.file)
            try archive.verifyStructure()
            #expect(try ArchiveStage.part(nil, of: archive) == [UInt8](repeating: UInt8(index), count: 2500))
            #expect(archive.size == Int64(original.count))
        }
        #expect(stage.files == Self.names.map(\.fileName).sorted() + ["bound.zip"])
        #expect(!BinderReader.isMeant(by: stage.path(Self.names[0].fileName)))
    }

    @Test func `one that nobody finishes leaves nothing, and none is replaced unasked`() throws {
        let stage = try ArchiveStage()
        let path = try stage.make([1], name: Self.names[0].fileName)
        var writer: BinderWriter? = try BinderWriter(stage.path("bound.zip"))
        try writer?.add(Self.names[0], try ArchiveReader(path))
        writer = nil
        #expect(stage.files == [Self.names[0].fileName])
        try ArchiveStage.write([9], stage.path("bound.zip"))
        let other = try BinderWriter(stage.path("bound.zip"))
        try other.add(Self.names[0], try ArchiveReader(path))
        #expect(throws: ArchiveError.self) { try other.finish(camera: "door", from: 0, to: 1) }
        #expect(try ArchiveStage.bytes(stage.path("bound.zip")) == [9])
    }

    @Test func `a damaged recording is refused before a byte of it is bound`() throws {
        let stage = try ArchiveStage()
        let path = try stage.make([UInt8](repeating: 3, count: 2500), name: Self.names[0].fileName)
        var bytes = try ArchiveStage.bytes(path)
        bytes[Int(TDFContainer.payloadOffset) + 1000] ^= 1
        try ArchiveStage.write(bytes, path)
        let writer = try BinderWriter(stage.path("bound.zip"))
        #expect(throws: ArchiveError.format(.container(.checksum(entry: "0.payload"), offset: 0))) {
            try writer.add(Self.names[0], try ArchiveReader(path))
        }
    }

    // MARK: - What others may make

    /// A binder whose index and names are somebody's.
    private static func pack(
        _ stage: ArchiveStage, names: [String] = names.map(\.fileName),
        entries change: (inout [ZIPEntry]) -> Void = { _ in }, index: (inout BinderIndex) -> Void = { _ in }
    ) throws -> String {
        let content = try ArchiveStage.bytes(try stage.make([5, 6, 7], name: "\(UUID().uuidString).tdf"))
        var bytes: [UInt8] = []
        var entries: [ZIPEntry] = []
        for name in names {
            let crc32 = CRC32(content).value
            entries.append(
                ZIPEntry(name: name, size: Int64(content.count), crc32: crc32, offset: Int64(bytes.count)))
            bytes += BinderContainer.header(name: name, size: Int64(content.count), crc32: crc32) + content
        }
        var document = BinderIndex(
            camera: "door", from: begin, to: begin + 1,
            recordings: Self.names.map { .init($0, bytes: Int64(content.count), sha256: Digest.sha256(content)) })
        index(&document)
        change(&entries)
        let json = try ManifestJSON.encode(value: document)
        bytes += try BinderContainer.trailer(
            entries, offset: Int64(bytes.count), index: json, indexCRC32: CRC32(json).value)
        try ArchiveStage.write(bytes, stage.path("packed.zip"))
        return stage.path("packed.zip")
    }

    private static func refusal(_ path: String) -> String {
        do {
            _ = try BinderReader(path)
            return "none"
        } catch {
            return "\(error)"
        }
    }

    @Test func `what the index says is what is there, or it is refused with its place`() throws {
        let stage = try ArchiveStage()
        #expect(Self.refusal(try Self.pack(stage)) == "none")
        typealias Lie = @Sendable (inout BinderIndex) -> Void
        let lies: [(Lie, String)] = [
            ({ $0.recordings[1].bytes += 1 }, "index.json, recordings.[1].bytes: it says"),
            ({ $0.recordings[1].duration = -1 }, "index.json, recordings.[1].duration: it says -1, and 59960 is there"),
            ({ $0.recordings[2].begin = "2026" }, "index.json, recordings.[2].begin: it says 2026"),
            ({ $0.recordings[0].name = "../x" }, "index.json, recordings.[0].name: it says ../x"),
            ({ $0.recordings[0].sha256 = "00" }, "index.json, recordings.[0].sha256"),
            ({ $0.recordings.swapAt(0, 1) }, "index.json, recordings.[0].name"),
            ({ $0.recordings.removeLast() }, "index.json, recordings: it says 2 of them, and 3 entries"),
            ({ $0.recordings = [] }, "index.json, recordings: 0 of them"),
            ({ $0.schema = "watchbox.binder/9" }, "index.json, schema"),
            ({ $0.camera = String(repeating: "x", count: 65) }, "index.json, camera"),
        ]
        for (lie, expected) in lies {
            let refusal = Self.refusal(try Self.pack(stage, index: lie))
            #expect(refusal.contains(expected), "\(refusal)")
        }
        let backwards = Self.refusal(
            try Self.pack(stage, names: Self.names.reversed().map(\.fileName), index: { $0.recordings.reverse() }))
        #expect(backwards.contains("index.json, recordings.[1].name: its number is not behind"), "\(backwards)")
        // The hash is what reading all of it finds.
        let path = try Self.pack(stage, index: { $0.recordings[1].sha256 = String(repeating: "ab", count: 32) })
        let binder = try BinderReader(path)
        try binder.recordings[0].verifyBytes()
        #expect(throws: ArchiveError.format(.recordingHash(name: Self.names[1].fileName))) {
            try binder.recordings[1].verifyBytes()
        }
    }

    @Test(arguments: ["../00000001-20261128T090100040Z-59960.tdf", "/etc/passwd", "a/b.tdf", "", "door.tdf", "x\0.tdf"])
    func `no entry has another name than recordings have`(name: String) throws {
        let stage = try ArchiveStage()
        let refusal = Self.refusal(try Self.pack(stage, names: [name] + Self.names.dropFirst().map(\.fileName)))
        #expect(refusal.contains("is no entry of an archive") && refusal.contains("byte 0 of the file"), "\(refusal)")
    }

    @Test func `entries that reach into each other, or are there twice, are refused`() throws {
        let stage = try ArchiveStage()
        for change: (inout [ZIPEntry]) -> Void in [
            { $0[1].offset = $0[0].offset }, { $0[1].offset -= 1 }, { $0[0].size += 1 }, { $0[0].size = .max },
            { $0[2].offset = .max - 1 }, { $0[2] = $0[0] }, { $0.removeFirst() },
        ] {
            #expect(Self.refusal(try Self.pack(stage, entries: change)) != "none")
        }
    }

    @Test func `absurd counts are refused before anything is made of them`() throws {
        let stage = try ArchiveStage()
        var bytes = try ArchiveStage.bytes(try Self.pack(stage))
        let end = bytes.count - 22
        for offset in [8, 10] { bytes.replaceSubrange((end + offset)..<(end + offset + 2), with: [0xFE, 0xFF]) }
        try ArchiveStage.write(bytes, stage.path("many.zip"))
        let refusal = Self.refusal(stage.path("many.zip"))
        #expect(refusal.contains("the list of entries has 65534, at most 50001 allowed"), "\(refusal)")
        #expect(!BinderReader.isMeant(by: stage.path("many.zip")))
    }

    @Test func `cut or damaged anywhere it is refused or told`() throws {
        let stage = try ArchiveStage()
        let path = try Self.bound(stage)
        let bytes = try ArchiveStage.bytes(path)
        let recordings = try BinderReader(path).recordings.map { try $0.file.read(0..<$0.file.size) }
        for count in stride(from: 0, to: bytes.count, by: 97) {
            try ArchiveStage.write(Array(bytes[..<count]), stage.path("cut.zip"))
            #expect(Self.refusal(stage.path("cut.zip")) != "none", "\(count)")
        }
        for place in stride(from: 0, to: bytes.count, by: 53) {
            var damaged = bytes
            damaged[place] ^= 0x40
            try ArchiveStage.write(damaged, stage.path("damaged.zip"))
            var isSame = false
            do {
                let binder = try BinderReader(stage.path("damaged.zip"))
                for recording in binder.recordings {
                    try recording.verifyBytes()
                    try ArchiveReader(recording.file).verifyStructure()
                }
                // Times and versions in the binder's own headers are nobody's, and no byte of a recording is.
                let found = try binder.recordings.map { try $0.file.read(0..<$0.file.size) }
                isSame = binder.recordings.map(\.name) == Self.names && found == recordings
            } catch {
                continue
            }
            #expect(isSame, "\(place)")
        }
    }
}
