import Cryptography
import Foundation
import TDF
import TDFCryptography
import TestSupport
import Testing
import Wire

@testable import Archive

/// PyPI's otdf-python opens what we write, and we open what it makes.
@Suite(
    .enabled(
        if: OtdfPython.interpreter != nil,
        "WATCHBOX_OTDF_PYTHON names no Python that has otdf-python 0.11.0 (`make test` installs one)"),
    .timeLimit(.minutes(15)))
struct OtdfPythonArchiveTests {
    @Test(arguments: [0, 1, 1000, 70_000])
    func `otdf-python opens what we seal, and zipfile finds the form that the page describes`(count: Int) async throws {
        let stage = try ArchiveStage()
        let plaintext = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 13) }
        let path = try stage.make(plaintext, segmentSize: 4096)
        let form: OtdfPython.Form = try await OtdfPython.run(
            OtdfPython.script, "inspect", OtdfPython.Request(file: path))
        #expect(form.complaints == [])
        let opened: OtdfPython.Opened = try await OtdfPython.run(
            OtdfPython.script, "open", OtdfPython.Request(file: path, privateKey: try ArchiveStage.key.privateKeyPEM()))
        #expect(opened.plaintext == Hexadecimal.encode(plaintext))
        let damaged = try stage.repacked(path) { payload, _ in payload[14] ^= 1 }
        let refused: OtdfPython.Opened = try await OtdfPython.run(
            OtdfPython.script, "open",
            OtdfPython.Request(file: damaged, privateKey: try ArchiveStage.key.privateKeyPEM()))
        #expect(refused.plaintext == nil)
    }

    @Test func `otdf-python opens a recording with the KAS's key, and with the recovery key`() async throws {
        let stage = try ArchiveStage()
        let pair = try RSAPrivateKey.generate(bits: 3072)
        let recovery = try RecoveryKey(try pair.publicKey.spkiPEM())
        let archive = try GrowingStage.archive(in: stage.directory, alternatives: [recovery.recipient])
        for segment in GrowingStage.segments { try archive.append(segment[...], milliseconds: 1000) }
        guard case .archive(let path, _) = try archive.end(named: { GrowingStage.fileName($0, $1) }) else {
            Issue.record("it has no end")
            return
        }
        let form: OtdfPython.Form = try await OtdfPython.run(
            OtdfPython.script, "inspect", OtdfPython.Request(file: path))
        #expect(form.complaints == [])
        let stranger = try RSAPrivateKey.generate(bits: 2048)
        let film = Hexadecimal.encode(Array(GrowingStage.segments.joined()))
        for (key, plaintext) in [(ArchiveStage.key, film), (pair, film), (stranger, nil)] {
            let opened: OtdfPython.Opened = try await OtdfPython.run(
                OtdfPython.script, "open", OtdfPython.Request(file: path, privateKey: try key.privateKeyPEM()))
            #expect(opened.plaintext == plaintext)
        }
    }

    @Test(arguments: [0, 1, 1000, 70_000])
    func `we open what otdf-python makes`(count: Int) async throws {
        let stage = try ArchiveStage()
        let plaintext = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 17) }
        let made: OtdfPython.Made = try await OtdfPython.run(
            OtdfPython.script, "make",
            OtdfPython.Request(
                file: stage.path(), publicKey: try ArchiveStage.key.publicKey.spkiPEM(),
                url: "https://kas.example.net", plaintext: Hexadecimal.encode(plaintext), segmentSize: 4096))
        #expect(made.size > count)
        #expect(try ArchiveStage.plaintext(stage.path()) == plaintext)
    }
}

extension OtdfPython {
    fileprivate static let script = "tdf/otdf_archive_peer.py"

    fileprivate struct Request: Encodable {
        var file: String
        var privateKey: String?
        var publicKey: String?
        var url: String?
        var plaintext: String?
        var segmentSize: Int?
    }
    fileprivate struct Opened: Decodable {
        let plaintext: String?
    }
    fileprivate struct Made: Decodable {
        let size: Int
    }
    fileprivate struct Form: Decodable {
        let complaints: [String]
    }
}
