import Cryptography
import Foundation
import KeyAccess
import NanoTDF
import TDF
import TDFCryptography
import TestSupport
import Testing

@testable import Archive

@Suite(.ownThread, .enabled(if: ForeignEncoders.has("libx264", "aac"), "ffmpeg has no libx264"))
struct PlayabilityReportTests {
    private static func findings(_ report: PlayabilityReport) -> [String: String] {
        Dictionary(report.rows.map { ($0.part, $0.finding) }) { first, _ in first }
    }

    @Test func `an archive for FairPlay players, with its key and without`() throws {
        let stage = try PlayableStage()
        let path = try stage.make()
        let report = try PlayabilityReport.look(path)
        #expect(report.verdict.rawValue == "fairplay-ready (module missing)")
        var findings = Self.findings(report)
        #expect(findings["container"] == "ZIP, stored, 6 files")
        #expect(findings["boxes"] == "cbcs: avc1 (1:9), mp4a (whole samples)")
        #expect(findings["subsamples"]?.contains(" in 3 fragments, all add up; ") == true)
        let assetID = try PlayableArchiveReader(path).metadata.assetId
        #expect(findings["playlist"]?.contains("skd://\(assetID)") == true)
        #expect(findings["key"]?.hasPrefix("not looked at") == true)
        let archive = try PlayableArchiveReader(path)
        let key = try ArchiveStage.key.contentKey(from: archive.manifest.encryptionInformation.keyAccess[0])
        let opened = try PlayabilityReport.look(path, key: (key, 0))
        findings = Self.findings(opened)
        #expect(findings["key"]?.hasPrefix("unwraps") == true)
    }

    @Test func `an archive of another profile`() throws {
        let stage = try PlayableStage()
        let standard = try stage.archives.make(stage.film, name: "standard.tdf")
        #expect(try PlayabilityReport.look(standard).verdict.rawValue == "playable-locally")
        // As seed 1 has it: the film as a whole, and nothing that vouches for it.
        let json = """
            {"payload":{"type":"reference","url":"0.payload","protocol":"zip","isEncrypted":true,"mimeType":"video/mp4"},
            "encryptionInformation":{"type":"split","keyAccess":[{"type":"wrapped","url":"https://kas.example.net/kas",
            "wrappedKey":"AAAA"}],"method":{"algorithm":"AES-128-CBC","iv":"AAAAAAAAAAAAAAAAAAAAAA=="}}}
            """
        #expect(Self.findings(try PlayabilityReport.look(standard))["key"]?.hasPrefix("not looked at") == true)
        // One whose payload is no film, and one that is damaged where no manifest shows it.
        let writer = try ArchiveWriter(
            stage.archives.path("text.tdf"), recipient: try ArchiveStage.recipient(), policy: PlaintextPolicy(),
            mimeType: "text/plain")
        try writer.write(stage.film[...])
        try writer.finish(at: 0)
        let text = stage.archives.path("text.tdf")
        #expect(try PlayabilityReport.look(text).verdict.rawValue == "no-video (text/plain)")
        for name in [standard, text] {
            var bytes = try ArchiveStage.bytes(name)
            bytes[bytes.count / 2] ^= 1
            try ArchiveStage.write(bytes, stage.archives.path("damaged.tdf"))
            #expect(throws: ArchiveError.self) { try PlayabilityReport.look(stage.archives.path("damaged.tdf")) }
        }
        let whole = try stage.archives.pack([UInt8](repeating: 1, count: 320), Array(json.utf8), name: "whole.tdf")
        #expect(try PlayabilityReport.look(whole).verdict.rawValue == "not-fairplay (CBC whole payload)")
        #expect(CBCArchiveReader.isMeant(by: whole))
        var bytes = try ArchiveStage.bytes(whole)
        bytes[100] ^= 1
        try ArchiveStage.write(bytes, stage.archives.path("damaged.tdf"))
        #expect(throws: ArchiveError.self) { try PlayabilityReport.look(stage.archives.path("damaged.tdf")) }
    }

    /// Boxes that somebody changed together with the hashes of their files: no key is needed for that.
    @Test func `one that is whole, and that no FairPlay player takes, is not called ready`() throws {
        let stage = try PlayableStage()
        let path = try stage.make()
        func changed(
            _ name: String, _ change: @escaping (inout [UInt8]) throws -> Void
        ) throws -> String {
            var content = try PlayableArchiveFiles(path).read(name)
            try change(&content)
            return try stage.repacked(
                path,
                metadata: { $0.sha256?[name] = Digest.sha256(content).map { String(format: "%02x", $0) }.joined() },
                files: { $0[name] = content })
        }
        func place(_ text: String, in bytes: [UInt8]) throws -> Int {
            try #require(bytes.indices.first { bytes[$0...].starts(with: Array(text.utf8)) })
        }
        #expect(try PlayabilityReport.look(changed("init.mp4") { _ in }).verdict == .fairplayReady)
        let reasons: [(String, (inout [UInt8], Int) -> Void)] = [
            // Behind its kind, version, flags and a reserved byte: the pattern, the key's name, the IV.
            ("pattern of avc1", { $0[$1 + 9] = 0x28 }),
            ("key ID of avc1 is not the asset's", { $0[$1 + 12] ^= 1 }),
            ("IV of avc1 is not the manifest's", { $0[$1 + 29] ^= 1 }),
        ]
        for (reason, change) in reasons {
            let other = try changed("init.mp4") { bytes in change(&bytes, try place("tenc", in: bytes)) }
            #expect(try PlayabilityReport.look(other).verdict.rawValue == "not-fairplay (\(reason))")
        }
        let format = try changed("init.mp4") { bytes in
            let frma = try place("frma", in: bytes)
            bytes.replaceSubrange((frma + 4)..<(frma + 8), with: Array("avc3".utf8))
        }
        #expect(try PlayabilityReport.look(format).verdict.rawValue.hasPrefix("not-fairplay (avc3"))
        let meta = try stage.repacked(path) { contents in
            var manifest = try ManifestJSON.decode(PlayableManifest.self, contents["manifest.json"] ?? [])
            manifest.meta?.assetId = "other"
            contents["manifest.json"] = try ManifestJSON.encode(value: manifest)
        }
        #expect(try PlayabilityReport.look(meta).verdict.rawValue == "not-fairplay (two asset IDs)")
        // What contradicts itself is not judged at all.
        for (kind, offset) in [("saiz", 13), ("saio", 15), ("senc", 11), ("senc", 17), ("tfhd", 7), ("trun", 11)] {
            let other = try changed("segment1.m4s") { bytes in bytes[try place(kind, in: bytes) + offset] ^= 0x41 }
            #expect(throws: ArchiveError.self, "\(kind)") { try PlayabilityReport.look(other) }
        }
        for (kind, offset) in [("tenc", 10), ("tenc", 11), ("schm", 8), ("trex", 11), ("encv", 0)] {
            let other = try changed("init.mp4") { bytes in bytes[try place(kind, in: bytes) + offset] ^= 0x41 }
            #expect(throws: ArchiveError.self, "\(kind)") { try PlayabilityReport.look(other) }
        }
    }

    @Test func `one that contradicts itself is not called ready`() throws {
        let stage = try PlayableStage()
        let path = try stage.make()
        let damaged = try stage.repacked(path) { $0["segment1.m4s"]?[70] ^= 1 }
        #expect(throws: ArchiveError.playable(.fileHash("segment1.m4s"))) { try PlayabilityReport.look(damaged) }
        let clear = try stage.repacked(path) { $0["segment1.m4s"] = nil }
        #expect(throws: ArchiveError.playable(.fileList("segment1.m4s"))) { try PlayabilityReport.look(clear) }
        #expect(throws: ArchiveError.self) { try PlayabilityReport.look(stage.ffmpeg.path("film.mp4")) }
    }
}
