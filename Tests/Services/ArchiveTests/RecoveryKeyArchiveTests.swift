import Compression
import Cryptography
import Foundation
import KeyAccess
import NanoTDF
import TDF
import TDFCryptography
import Testing

@testable import Archive

/// Recordings that open with a key that no KAS has, and what a crash, or a program that knows nothing of such keys, makes of them.
struct RecoveryKeyArchiveTests {
    private static let pair = try! RSAPrivateKey.generate(bits: 2048)

    /// An archive that nobody ended.
    private func left(in directory: String) throws {
        let recovery = try RecoveryKey(try Self.pair.publicKey.spkiPEM())
        let archive = try GrowingStage.archive(in: directory, alternatives: [recovery.recipient])
        for segment in GrowingStage.segments { try archive.append(segment[...], milliseconds: 1000) }
        try archive.flush()
    }

    private func opened(_ directory: String, with pair: RSAPrivateKey, entry index: Int) throws -> [UInt8] {
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: directory).first)
        let archive = try ArchiveReader("\(directory)/\(name)")
        let object = archive.manifest.encryptionInformation.keyAccess[index]
        var plaintext: [UInt8] = []
        try archive.opened(try pair.archiveKey(from: object), fromKeyAccess: index).read {
            (bytes) throws(ArchiveError) in plaintext += bytes
        }
        return plaintext
    }

    @Test func `what a crash left opens with both keys, also while it grows`() throws {
        let stage = try ArchiveStage()
        try left(in: stage.directory)
        let grown = try #require(try GrownArchive("\(stage.directory)/\(GrowingStage.name).part"))
        #expect(grown.reader.manifest.encryptionInformation.keyAccess.count == 2)
        try GrowingStage.finish(in: stage.directory)
        let film = Array(GrowingStage.segments.joined())
        #expect(try opened(stage.directory, with: ArchiveStage.key, entry: 0) == film)
        #expect(try opened(stage.directory, with: Self.pair, entry: 1) == film)
    }

    /// As the firmware before it reads a head: what it does not know it passes over.
    private struct FormerHead: Codable {
        struct Envelope: Codable {
            var policy: String
            var keyAccess: KeyAccessObject
        }
        var envelope: Envelope
        var mimeType: String
        var meta: TDFManifest.Meta
        var begin: Int64
    }

    @Test func `a program that knows nothing of it ends it for the KAS`() throws {
        let stage = try ArchiveStage()
        try left(in: stage.directory)
        let journal = "\(stage.directory)/\(GrowingStage.name).journal"
        let checksum: ([UInt8]) -> UInt32 = { CRC32($0).value }
        let (json, entries) = try #require(ArchiveJournal.read(try ArchiveStage.bytes(journal), checksum: checksum))
        let former = try JSONEncoder().encode(try JSONDecoder().decode(FormerHead.self, from: Data(json)))
        var bytes = try ArchiveJournal.head(Array(former), checksum: checksum)
        for entry in entries { bytes += ArchiveJournal.encode(entry, checksum: checksum) }
        try Data(bytes).write(to: URL(fileURLWithPath: journal))
        try GrowingStage.finish(in: stage.directory)
        #expect(try opened(stage.directory, with: ArchiveStage.key, entry: 0) == Array(GrowingStage.segments.joined()))
    }

    @Test func `a journal with more ways than readers take is not made`() throws {
        let stage = try ArchiveStage()
        let recipient = try RecoveryKey(try Self.pair.publicKey.spkiPEM()).recipient
        #expect(throws: ArchiveError.self) {
            try GrowingStage.archive(in: stage.directory, alternatives: Array(repeating: recipient, count: 16))
        }
        #expect(stage.files == [])
    }

    /// Somebody who can write to the directory makes them.
    @Test(arguments: [16, 300], ["1", "2"])
    func `one that has them, or whose ways are to shares of a key, is refused and ends nothing`(
        count: Int, sid: String
    ) throws {
        let stage = try ArchiveStage()
        try left(in: stage.directory)
        let journal = "\(stage.directory)/\(GrowingStage.name).journal"
        let checksum: ([UInt8]) -> UInt32 = { CRC32($0).value }
        let (json, entries) = try #require(ArchiveJournal.read(try ArchiveStage.bytes(journal), checksum: checksum))
        var head = try ManifestJSON.decode(GrowingArchive.Head.self, json)
        var other = try #require(head.envelope.alternatives?.first)
        other.sid = sid
        head.envelope.alternatives = Array(repeating: other, count: sid == "1" ? count : 1)
        var bytes = try ArchiveJournal.head(try ManifestJSON.encode(value: head), checksum: checksum)
        for entry in entries { bytes += ArchiveJournal.encode(entry, checksum: checksum) }
        try Data(bytes).write(to: URL(fileURLWithPath: journal))
        #expect(throws: ArchiveError.self) { try GrownArchive("\(stage.directory)/\(GrowingStage.name).part") }
        #expect(try GrowingStage.finish(in: stage.directory) == .empty)
        #expect(stage.files == [])
    }
}
