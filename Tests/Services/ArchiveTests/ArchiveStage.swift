import Compression
import Cryptography
import Foundation
import NanoTDF
import TDF
import TDFCryptography

@testable import Archive

/// A directory, and the RSA key of a KAS for which archives in it are made.
final class ArchiveStage {
    /// An RSA key takes a while to make.
    static let key = try! RSAPrivateKey.generate(bits: 2048)

    /// Where flushing costs nothing, if there is such a place: for tests of thousands of files.
    static let memory = FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm/" : NSTemporaryDirectory()

    let directory: String

    /// - Parameter place: ends with a slash.
    init(in place: String = NSTemporaryDirectory()) throws {
        directory = place + "watchbox-archive-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    var files: [String] { (try? FileManager.default.contentsOfDirectory(atPath: directory).sorted()) ?? [] }

    func path(_ name: String = "film.tdf") -> String { "\(directory)/\(name)" }

    static func recipient() throws -> TDFRecipient {
        TDFRecipient(url: "https://kas.example.net/kas", kid: "r1", publicKeyPEM: try key.publicKey.spkiPEM())
    }

    func writer(_ name: String = "film.tdf", segmentSize: Int) throws -> ArchiveWriter {
        try ArchiveWriter(
            path(name), recipient: try Self.recipient(), policy: PlaintextPolicy(stream: "door"),
            segmentSize: segmentSize)
    }

    @discardableResult
    func make(_ plaintext: [UInt8], segmentSize: Int = 1000, name: String = "film.tdf") throws -> String {
        let writer = try writer(name, segmentSize: segmentSize)
        for begin in stride(from: 0, to: plaintext.count, by: 777) {
            try writer.write(plaintext[begin..<min(begin + 777, plaintext.count)])
        }
        try writer.finish(at: 1_800_000_000)
        return path(name)
    }

    /// All of it, verified as a command does.
    static func plaintext(_ path: String) throws -> [UInt8] {
        let archive = try ArchiveReader(path)
        try archive.verifyStructure()
        return try Self.part(nil, of: archive)
    }

    static func part(_ part: Range<Int64>?, of archive: ArchiveReader) throws -> [UInt8] {
        var plaintext: [UInt8] = []
        try opened(archive).read(part) { (bytes) throws(ArchiveError) in plaintext += bytes }
        return plaintext
    }

    static func opened(_ archive: ArchiveReader) throws -> OpenedArchive {
        // As a command does with a key in a file: one that unwraps nothing is no key.
        let key = try Self.key.archiveKey(from: archive.manifest.encryptionInformation.keyAccess[0])
        return try archive.opened(key)
    }

    // MARK: Damage

    /// Packs payload and manifest again, so that only what TDF itself verifies can notice.
    func repacked(
        _ path: String, _ change: (inout [UInt8], inout TDFManifest) throws -> Void
    ) throws -> String {
        let archive = try ArchiveReader(path)
        let begin = Int(TDFContainer.payloadOffset)
        let bytes = try Self.bytes(path)
        var payload = Array(bytes[begin..<(begin + Int(archive.map.encryptedSize))])
        var manifest = archive.manifest
        try change(&payload, &manifest)
        return try pack(payload, try ManifestJSON.encode(manifest))
    }

    func pack(_ payload: [UInt8], _ json: [UInt8], name: String = "changed.tdf") throws -> String {
        let checksum = CRC32(payload).value
        let bytes =
            TDFContainer.header(payloadSize: Int64(payload.count), crc32: checksum) + payload
            + (try TDFContainer.trailer(
                payloadSize: Int64(payload.count), payloadCRC32: checksum, manifest: json,
                manifestCRC32: CRC32(json).value))
        try Self.write(bytes, path(name))
        return path(name)
    }

    static func bytes(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path))) }

    static func write(_ bytes: [UInt8], _ path: String) throws { try Data(bytes).write(to: URL(filePath: path)) }
}
