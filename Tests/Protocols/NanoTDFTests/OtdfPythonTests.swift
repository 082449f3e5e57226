import Cryptography
import Foundation
import NanoTDF
import NanoTDFCryptography
import TestSupport
import Testing
import Wire

/// PyPI's otdf-python checks what we seal, and we open what it makes.
@Suite(
    .enabled(
        if: OtdfPython.interpreter != nil,
        "WATCHBOX_OTDF_PYTHON names no Python that has otdf-python 0.11.0 (`make test` installs one)"),
    .timeLimit(.minutes(15)))
struct OtdfPythonTests {
    @Test func `otdf-python opens what we seal, and refuses what was altered`() async throws {
        let station = try Station()
        let sealer = try station.collection()
        let plaintexts: [[UInt8]] = [[], [1], Array("hello".utf8), [UInt8](repeating: 0x5A, count: 70_000)]
        var items = try plaintexts.map { try sealer.sealed($0) }
        for index in [0, 6, items[2].count - 1] {
            var altered = items[2]
            altered[index] ^= 1
            items.append(altered)
        }
        let reply: OtdfPython.Opened = try await OtdfPython.run(
            OtdfPython.script, "open",
            OtdfPython.Open(
                privateKey: try station.key.privateKeyPEM(), header: Hexadecimal.encode(sealer.headerBytes),
                items: items.map { Hexadecimal.encode($0) }))
        #expect(reply.plaintexts == plaintexts.map { Hexadecimal.encode($0) } + [nil, nil, nil])
    }

    @Test func `we open what otdf-python makes`() async throws {
        let station = try Station()
        let plaintexts: [[UInt8]] = [[], Array("from python".utf8), [UInt8](repeating: 0xA5, count: 70_000)]
        let reply: OtdfPython.Made = try await OtdfPython.run(
            OtdfPython.script, "make",
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

extension OtdfPython {
    fileprivate static let script = "nanotdf/otdf_peer.py"

    fileprivate struct Open: Encodable {
        let privateKey: String
        let header: String
        let items: [String]
    }
    fileprivate struct Opened: Decodable {
        let plaintexts: [String?]
    }
    fileprivate struct Make: Encodable {
        let publicKey: String
        let url: String
        let plaintexts: [String]
    }
    fileprivate struct Made: Decodable {
        let nanotdfs: [String]
    }
}
