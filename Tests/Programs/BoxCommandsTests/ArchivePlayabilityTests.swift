import Archive
import Cryptography
import Foundation
import NanoTDF
import TDF
import TestSupport
import Testing

@testable import BoxCommands

/// `watchboxctl archive playability`, the program itself.
@Suite(.ownThread, .enabled(if: ForeignEncoders.has("libx264", "aac"), "ffmpeg has no libx264"))
struct ArchivePlayabilityTests {
    @Test func `each profile has its verdict, and a damaged file has none`() async throws {
        let ffmpeg = try ForeignFFmpeg()
        let film = try ffmpeg.make(
            "film.mp4",
            [
                "-f", "lavfi", "-i", "testsrc2=s=192x160:r=25,format=yuv420p", "-f", "lavfi", "-i",
                "sine=f=440:r=48000", "-t", "1", "-c:v", "libx264", "-g", "12", "-c:a", "aac", "-movflags",
                "frag_keyframe+empty_moov+delay_moov+default_base_moof",
            ])
        let key = try RSAPrivateKey.generate(bits: 2048)
        try ffmpeg.write(Array(try key.privateKeyPEM().utf8), "kas.key.pem")
        let recipient = TDFRecipient(url: "https://kas.example.net/kas", publicKeyPEM: try key.publicKey.spkiPEM())
        let playable = try PlayableArchiveWriter(
            ffmpeg.path("playable.tdf"), recipient: recipient, policy: PlaintextPolicy())
        try playable.write(film[...])
        try playable.finish(at: 0)
        let standard = try ArchiveWriter(
            ffmpeg.path("standard.tdf"), recipient: recipient, policy: PlaintextPolicy())
        try standard.write(film[...])
        try standard.finish(at: 0)
        let whole = try CBCArchiveWriter(
            ffmpeg.path("whole.tdf"), recipient: recipient, policy: PlaintextPolicy(), mimeType: "video/mp4")
        try whole.write(film[...])
        try whole.finish(at: 0, replaces: false, progress: { (_) throws(ArchiveError) in })

        let shown = try await run(ffmpeg, "playable.tdf")
        #expect(shown.status == 0, "\(shown.errors)")
        #expect(shown.output.hasPrefix("playable.tdf: fairplay-ready (module missing)\n"))
        #expect(shown.output.contains("cbcs: avc1 (1:9), mp4a (whole samples)"))
        let opened = try await run(ffmpeg, "playable.tdf", "--key", "kas.key.pem", "--json")
        let document = try JSONDecoder().decode(ArchivePlayabilityDocument.self, from: Data(opened.bytes))
        #expect(document.schema == "watchbox.archive.playability/1")
        #expect(document.verdict == "fairplay-ready (module missing)")
        #expect(document.parts.contains { $0.part == "key" && $0.finding.hasPrefix("unwraps") })
        #expect(try await run(ffmpeg, "standard.tdf").output.hasPrefix("standard.tdf: playable-locally\n"))

        for (name, finding) in [
            ("standard.tdf", "unwraps, and vouches for policy and segments"), ("whole.tdf", "unwraps; the MAC"),
        ] {
            let shown = try await run(ffmpeg, name, "--key", "kas.key.pem")
            #expect(shown.status == 0 && shown.output.contains(finding), "\(shown.output)\(shown.errors)")
        }

        try ffmpeg.write(Array(try RSAPrivateKey.generate(bits: 2048).privateKeyPEM().utf8), "other.key.pem")
        let other = try await run(ffmpeg, "playable.tdf", "--key", "other.key.pem")
        #expect(other.status != 0)
        #expect(other.errors.contains("was not wrapped for the key in other.key.pem"), "\(other.errors)")
        var bytes = try ffmpeg.read("playable.tdf")
        bytes[bytes.count / 2] ^= 1
        try ffmpeg.write(bytes, "bad.tdf")
        let bad = try await run(ffmpeg, "bad.tdf")
        #expect(bad.status != 0)
        #expect(bad.errors.contains("CRC-32"))
    }

    private func run(_ ffmpeg: ForeignFFmpeg, _ arguments: String...) async throws -> ProgramRun {
        try await ProgramRun("watchboxctl", ["archive", "playability"] + arguments, in: ffmpeg.directory)
    }
}
