import Cryptography
import Foundation
import NanoTDF
import NanoTDFCryptography
import Testing
import Wire

/// PyPI's otdf-python checks what we seal, and we open what it makes.
@Suite(
    .enabled(
        if: OtdfPython.interpreter != nil,
        "WATCHBOX_OTDF_PYTHON names no Python that has otdf-python 0.11.0 (`make test` installs one)"),
    .timeLimit(.minutes(15)))
struct OtdfPythonTests {
    @Test func `otdf-python opens what we seal, and refuses what was altered`() throws {
        let station = try Station()
        let sealer = try station.collection()
        let plaintexts: [[UInt8]] = [[], [1], Array("hello".utf8), [UInt8](repeating: 0x5A, count: 70_000)]
        var items = try plaintexts.map { try sealer.sealed($0) }
        for index in [0, 6, items[2].count - 1] {
            var altered = items[2]
            altered[index] ^= 1
            items.append(altered)
        }
        let reply: OtdfPython.Opened = try OtdfPython.run(
            "open",
            OtdfPython.Open(
                privateKey: try station.key.privateKeyPEM(), header: Hexadecimal.encode(sealer.headerBytes),
                items: items.map { Hexadecimal.encode($0) }))
        #expect(reply.plaintexts == plaintexts.map { Hexadecimal.encode($0) } + [nil, nil, nil])
    }

    @Test func `we open what otdf-python makes`() throws {
        let station = try Station()
        let plaintexts: [[UInt8]] = [[], Array("from python".utf8), [UInt8](repeating: 0xA5, count: 70_000)]
        let reply: OtdfPython.Made = try OtdfPython.run(
            "make",
            OtdfPython.Make(
                publicKey: try station.key.publicKey.spkiPEM(), url: "https://kas.example.net",
                plaintexts: plaintexts.map { Hexadecimal.encode($0) }))
        #expect(reply.nanotdfs.count == plaintexts.count)
        for (nanotdf, plaintext) in zip(reply.nanotdfs, plaintexts) {
            let single = try SingleNanoTDF.parse(bytes(nanotdf)[...])
            let key = try station.key.collectionKey(for: single.header)
            var reader = try ItemReader(key: key, crypto: OpenSSLCrypto())
            #expect(try reader.open(single.item) == plaintext)
            #expect(reader.nonceRule == .zerosFirst)
            #expect(try PolicyBinding.verify(single.header, key: key, crypto: OpenSSLCrypto()) == .sha256Suffix)
        }
    }
}

private enum OtdfPython {
    struct Open: Encodable {
        let privateKey: String
        let header: String
        let items: [String]
    }
    struct Opened: Decodable {
        let plaintexts: [String?]
    }
    struct Make: Encodable {
        let publicKey: String
        let url: String
        let plaintexts: [String]
    }
    struct Made: Decodable {
        let nanotdfs: [String]
    }
    struct Failure: Error {
        let status: Int32
        let message: String
    }

    static var interpreter: String? {
        let path = ProcessInfo.processInfo.environment["WATCHBOX_OTDF_PYTHON"] ?? ""
        return FileManager.default.isExecutableFile(atPath: path) ? path : nil
    }

    static func run<Reply: Decodable>(_ command: String, _ request: some Encodable) throws -> Reply {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        // Files, not pipes: neither side can block on the other.
        let directory = FileManager.default.temporaryDirectory.appending(path: "watchbox-otdf-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let files = ["request", "reply", "errors"].map { directory.appending(path: $0) }
        try JSONEncoder().encode(request).write(to: files[0])
        for file in files[1...] { try Data().write(to: file) }
        let process = Process()
        process.executableURL = URL(filePath: try #require(interpreter))
        process.arguments = [tests.appending(path: "Rigs/nanotdf/otdf_peer.py").path(), command]
        process.standardInput = try FileHandle(forReadingFrom: files[0])
        process.standardOutput = try FileHandle(forWritingTo: files[1])
        process.standardError = try FileHandle(forWritingTo: files[2])
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            let message = String(decoding: try Data(contentsOf: files[2]), as: UTF8.self)
            throw Failure(status: process.terminationStatus, message: message)
        }
        return try JSONDecoder().decode(Reply.self, from: Data(contentsOf: files[1]))
    }
}
