import Foundation
import KeyAccess
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
        let whole = try stage.archives.pack([UInt8](repeating: 1, count: 320), Array(json.utf8), name: "whole.tdf")
        #expect(try PlayabilityReport.look(whole).verdict.rawValue == "not-fairplay (CBC whole payload)")
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
