import Cryptography
import Foundation
import KeyAccess
import NanoTDF
import Platform
import TDF
import TDFCryptography
import TestSupport
import Testing

@testable import Archive

@Suite(.ownThread, .enabled(if: ForeignEncoders.has("libx264", "aac"), "ffmpeg has no libx264"))
struct PlayableArchiveTests {
    @Test(arguments: ["libx264", "libx265"].filter { ForeignEncoders.has($0) })
    func `what went in comes out, and nothing else is left`(encoder: String) throws {
        let stage = try PlayableStage(encoder: encoder)
        let path = try stage.make()
        #expect(try PlayableStage.film(path) == stage.film)
        #expect(stage.archives.files == ["film.tdf"])
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(PlayableArchiveReader.isMeant(by: path))
        try PlayableStage.opened(path).export(to: stage.archives.path("film.mp4"))
        #expect(try ArchiveStage.bytes(stage.archives.path("film.mp4")) == stage.film)
    }

    @Test func `the manifest is the one that players of it read`() throws {
        let stage = try PlayableStage()
        let files = try PlayableArchiveFiles(try stage.make())
        let json = Data(try files.read("manifest.json"))
        let manifest = try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
        let encryption = try #require(manifest["encryptionInformation"] as? [String: Any])
        #expect(encryption["type"] as? String == "split")
        let method = try #require(encryption["method"] as? [String: Any])
        #expect(method["algorithm"] as? String == "AES-128-CBC")
        let ivText = try #require(method["iv"] as? String)
        let iv = try #require(Data(base64Encoded: ivText))
        let access = try #require((encryption["keyAccess"] as? [[String: Any]])?.first)
        #expect(access["type"] as? String == "wrapped")
        #expect(access["protocol"] as? String == "kas")
        #expect(access["url"] as? String == "https://kas.example.net/kas")
        // arkavo-rs refuses another length.
        let wrappedKey = try #require(access["wrappedKey"] as? String)
        #expect(Data(base64Encoded: wrappedKey)?.count == 256)
        let meta = try #require(manifest["meta"] as? [String: Any])
        let assetID = try #require(meta["assetId"] as? String)
        #expect(assetID == assetID.uppercased() && UUID(uuidString: assetID) != nil)
        #expect(meta["protectedAt"] as? String == "2027-01-15T08:00:00Z")
        let text = try #require(access["encryptedMetadata"] as? String)
        let metadataJSON = try #require(Data(base64Encoded: text))
        let metadata = try #require(try JSONSerialization.jsonObject(with: metadataJSON) as? [String: Any])
        #expect(metadata["type"] as? String == "fmp4-fairplay")
        #expect(metadata["assetId"] as? String == assetID)
        #expect(metadata["playlistFilename"] as? String == "playlist.m3u8")
        #expect(metadata["initFilename"] as? String == "init.mp4")
        #expect(metadata["segmentFilenames"] as? [String] == ["segment0.m4s", "segment1.m4s", "segment2.m4s"])
        #expect(metadata["encryption"] as? String == "cbcs-1-9")
        #expect(metadata["protectedAt"] as? String == "2027-01-15T08:00:00Z")
        let hashes = try #require(metadata["sha256"] as? [String: String])
        #expect(Set(hashes.keys) == Set(files.entries.keys).subtracting(["manifest.json"]))
        // The IV of the manifest is that of the film, and the key's name that of the asset.
        let head = try files.read("init.mp4")
        #expect(Data(head).range(of: iv) != nil)
        let uuid = try #require(UUID(uuidString: assetID))
        #expect(Data(head).range(of: withUnsafeBytes(of: uuid.uuid) { Data($0) }) != nil)
        #expect(
            String(decoding: try files.read("playlist.m3u8"), as: UTF8.self) == """
                #EXTM3U
                #EXT-X-VERSION:7
                #EXT-X-TARGETDURATION:1
                #EXT-X-MEDIA-SEQUENCE:0
                #EXT-X-PLAYLIST-TYPE:VOD
                #EXT-X-INDEPENDENT-SEGMENTS
                #EXT-X-MAP:URI="init.mp4"
                #EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://\(assetID)",KEYFORMAT="com.apple.streamingkeydelivery",KEYFORMATVERSIONS="1"
                #EXTINF:0.480,
                segment0.m4s
                #EXTINF:0.480,
                segment1.m4s
                #EXTINF:0.480,
                segment2.m4s
                #EXT-X-ENDLIST

                """)
    }

    /// With the key that RSA unwraps, and nothing else of ours but the ZIP file.
    @Test func `ffmpeg decrypts each segment behind the initialization segment`() throws {
        let stage = try PlayableStage()
        let (files, key) = try Self.opened(stage)
        let boxes = PlayableStage.boxes(stage.film)
        let head = boxes.prefix(2).flatMap(\.bytes)
        for number in 0..<3 {
            let clear = head + boxes[(2 + 2 * number)...(3 + 2 * number)].flatMap(\.bytes)
            let encrypted = try files.read("init.mp4") + files.read("segment\(number).m4s")
            #expect(try Self.decrypted(encrypted, key, as: clear, stage.ffmpeg) > 10)
        }
    }

    /// As a player takes them, of both codecs: before version 7 FFmpeg fails on a second encrypted fragment.
    @Test(
        .enabled(if: ForeignFFmpeg.newer != nil, "WATCHBOX_FFMPEG7 names no ffmpeg (`make test` gets one from PyPI)"),
        arguments: ["libx264", "libx265"].filter { ForeignEncoders.has($0) })
    func `ffmpeg 7 decrypts all segments behind each other`(encoder: String) throws {
        let stage = try PlayableStage(encoder: encoder)
        let (files, key) = try Self.opened(stage)
        let segments = try (0..<3).flatMap { try files.read("segment\($0).m4s") }
        let newer = try ForeignFFmpeg(ForeignFFmpeg.newer)
        #expect(try Self.decrypted(try files.read("init.mp4") + segments, key, as: stage.film, newer) == 36)
    }

    private static func opened(_ stage: PlayableStage) throws -> (PlayableArchiveFiles, key: String) {
        let files = try PlayableArchiveFiles(try stage.make())
        let manifest = try ManifestJSON.decode(PlayableManifest.self, try files.read("manifest.json"))
        let wrapped = try #require(manifest.encryptionInformation.keyAccess[0].wrappedKey)
        let wrappedKey = try #require(Data(base64Encoded: wrapped))
        let key = try ArchiveStage.key.decryptOAEP(Array(wrappedKey), hash: .sha1)
        #expect(key.count == 16)
        return (files, key.map { String(format: "%02x", $0) }.joined())
    }

    /// - Returns: how many frames of video were compared.
    private static func decrypted(
        _ encrypted: [UInt8], _ key: String, as clear: [UInt8], _ ffmpeg: ForeignFFmpeg
    ) throws -> Int {
        try ffmpeg.write(encrypted, "encrypted.mp4")
        try ffmpeg.write(clear, "clear.mp4")
        let rest = ["-map", "0:v", "-f", "framemd5", "-"]
        let expected = try ffmpeg.run(["-v", "error", "-i", "clear.mp4"] + rest)
        let found = try ffmpeg.run(["-v", "error", "-decryption_key", key, "-i", "encrypted.mp4"] + rest)
        #expect(found.output == expected.output)
        #expect(found.errors.isEmpty)
        return expected.output.split(separator: "\n").count { !$0.hasPrefix("#") }
    }

    @Test func `a segment has as many fragments as its length wants, and there may be hundreds`() throws {
        let stage = try PlayableStage()
        let path = try stage.make(segmentDuration: 0.9)
        #expect(try PlayableArchiveReader(path).playlist.segments.map(\.duration) == [960, 480])
        #expect(try PlayableStage.film(path) == stage.film)
        let writer = try stage.writer("long.tdf")
        let boxes = PlayableStage.boxes(stage.film)
        let head = boxes.prefix(2).flatMap(\.bytes)
        let fragment = boxes[2..<4].flatMap(\.bytes)
        try writer.write(head[...])
        for _ in 0..<300 { try writer.write(fragment[...]) }
        try writer.finish(at: 0)
        let archive = try PlayableArchiveReader(stage.archives.path("long.tdf"))
        #expect(archive.playlist.segments.count == 300)
        #expect(try PlayableStage.film(stage.archives.path("long.tdf")).count == head.count + 300 * fragment.count)
        // And in one segment no more than readers take.
        let dense = try stage.writer("dense.tdf", segmentDuration: 10_000)
        try dense.write(head[...])
        for _ in 0..<300 { try dense.write(fragment[...]) }
        try dense.finish(at: 0)
        #expect(try PlayableArchiveReader(stage.archives.path("dense.tdf")).playlist.segments.count == 2)
        #expect(try PlayableStage.film(stage.archives.path("dense.tdf")).count == head.count + 300 * fragment.count)
    }

    @Test func `a segment begins at a key frame, wherever fragments end`() throws {
        let stage = try PlayableStage()
        // A key frame every ten pictures, fragments of five: each second one begins within a group.
        let made = try stage.ffmpeg.make(
            "cut.mp4",
            [
                "-f", "lavfi", "-i", "testsrc2=s=192x160:r=25,format=yuv420p", "-frames:v", "40", "-c:v", "libx264",
                "-g", "10", "-bf", "0", "-movflags", "empty_moov+default_base_moof", "-frag_duration", "200000",
            ])
        let film = PlayableStage.boxes(made).filter { $0.kind != "mfra" }.flatMap(\.bytes)
        try #require(PlayableStage.boxes(film).count { $0.kind == "moof" } == 8)
        let writer = try stage.writer("cut.tdf")
        try writer.write(film[...])
        try writer.finish(at: 0)
        let path = stage.archives.path("cut.tdf")
        let archive = try PlayableArchiveReader(path)
        #expect(archive.playlist.segments.map(\.duration) == [400, 400, 400, 400])
        #expect(archive.playlist.isIndependent)
        #expect(try PlayableStage.film(path) == film)
        // Without the first fragment it begins where no player can.
        let boxes = PlayableStage.boxes(film)
        let late = try stage.writer("late.tdf")
        try late.write(boxes.prefix(2).flatMap(\.bytes)[...])
        try late.write(boxes.dropFirst(4).flatMap(\.bytes)[...])
        try late.finish(at: 0)
        let other = try PlayableArchiveReader(stage.archives.path("late.tdf"))
        #expect(other.playlist.segments.map(\.duration) == [200, 400, 400, 400])
        #expect(!other.playlist.isIndependent)
        // One key frame in all of it, and more fragments than boxes are read.
        let dense = try stage.writer("dense.tdf")
        try dense.write(boxes.prefix(4).flatMap(\.bytes)[...])
        let next = boxes[4..<6].flatMap(\.bytes)
        for _ in 0..<600 { try dense.write(next[...]) }
        try dense.finish(at: 0)
        let third = try PlayableArchiveReader(stage.archives.path("dense.tdf"))
        #expect(third.playlist.segments.map(\.duration) == [100_000, 20_200])
        #expect(!third.playlist.isIndependent)
    }

    @Test func `keys of another length than readers take are refused`() throws {
        let stage = try PlayableStage()
        let key = try RSAPrivateKey.generate(bits: 3072)
        let recipient = TDFRecipient(url: "https://kas.example.net/kas", publicKeyPEM: try key.publicKey.spkiPEM())
        #expect(throws: ArchiveError.format(.crypto(.rsaSize(bits: 3072)))) {
            try PlayableArchiveWriter(
                stage.archives.path("long.tdf"), recipient: recipient, policy: PlaintextPolicy())
        }
        #expect(stage.archives.files == [])
    }

    @Test func `a manifest that says something else of keys is refused`() throws {
        let stage = try PlayableStage()
        let path = try stage.make()
        let changes: [(inout PlayableManifest) -> Void] = [
            { $0.encryptionInformation.type = "other" },
            { $0.encryptionInformation.keyAccess[0].policyBinding?.algorithm = "none" },
            { $0.encryptionInformation.integrityInformation?.rootSignature.algorithm = "none" },
            { $0.encryptionInformation.keyAccess[0].kid = String(repeating: "k", count: 5000) },
            { manifest in
                var second = manifest.encryptionInformation.keyAccess[0]
                second.sid = "other"
                manifest.encryptionInformation.keyAccess.append(second)
            },
        ]
        for (number, change) in changes.enumerated() {
            let other = try stage.repacked(path) { contents in
                var manifest = try ManifestJSON.decode(PlayableManifest.self, contents["manifest.json"] ?? [])
                change(&manifest)
                contents["manifest.json"] = try ManifestJSON.encode(value: manifest)
            }
            do throws(ArchiveError) {
                _ = try PlayableArchiveReader(other)
                Issue.record("change \(number) was read")
            } catch {
                guard case .format(.manifest) = error else {
                    Issue.record("\(error)")
                    continue
                }
            }
        }
    }

    @Test func `what is no fragmented film leaves nothing`() throws {
        let stage = try PlayableStage()
        // With its index at the end, as most files have it.
        let plain = try stage.ffmpeg.make("plain.mp4", ["-i", "film.mp4", "-c", "copy"])
        for bytes in [plain, Array(stage.film.prefix(4000)), [], Array("no film at all, but text".utf8)] {
            #expect(throws: ArchiveError.self) {
                let writer = try stage.writer()
                try writer.write(bytes[...])
                try writer.finish(at: 0)
            }
            #expect(stage.archives.files == [])
        }
        let head = PlayableStage.boxes(stage.film).prefix(2).flatMap(\.bytes)
        #expect(throws: ArchiveError.playable(.noFilm)) {
            let writer = try stage.writer()
            try writer.write(head[...])
            try writer.finish(at: 0)
        }
        #expect(stage.archives.files == [])
    }

    @Test func `every file is verified, and the list of them with the key`() throws {
        let stage = try PlayableStage()
        let path = try stage.make()
        for name in ["playlist.m3u8", "init.mp4", "segment0.m4s", "segment2.m4s"] {
            let damaged = try stage.repacked(path) { $0[name]?[60] ^= 1 }
            #expect(throws: ArchiveError.playable(.fileHash(name))) {
                try PlayableArchiveReader(damaged).verifyStructure()
            }
        }
        let missing = try stage.repacked(path) { $0["segment1.m4s"] = nil }
        #expect(throws: ArchiveError.playable(.fileList("segment1.m4s"))) { try PlayableArchiveReader(missing) }
        let more = try stage.repacked(path) { $0["readme.txt"] = [1] }
        #expect(throws: ArchiveError.playable(.fileList("readme.txt"))) { try PlayableArchiveReader(more) }
        // Who changes a segment and what is said of it.
        let changed = try stage.repacked(
            path,
            metadata: { metadata in
                metadata.sha256?["segment1.m4s"] = String(repeating: "0", count: 64)
                if let hash = metadata.sha256?["segment0.m4s"] { metadata.sha256?["segment1.m4s"] = hash }
            }, files: { $0["segment1.m4s"] = $0["segment0.m4s"] })
        try PlayableArchiveReader(changed).verifyStructure()
        #expect(throws: ArchiveError.format(.rootSignature)) { try PlayableStage.opened(changed) }
        let policy = try stage.repacked(path) { contents in
            var manifest = try ManifestJSON.decode(PlayableManifest.self, contents["manifest.json"] ?? [])
            manifest.encryptionInformation.policy = Data(PlaintextPolicy(stream: "yard").encoded())
                .base64EncodedString()
            contents["manifest.json"] = try ManifestJSON.encode(value: manifest)
        }
        #expect(throws: ArchiveError.format(.policyBinding)) { try PlayableStage.opened(policy) }
        // The key of another archive, of the same recipient.
        let other = try PlayableArchiveReader(try stage.make("other.tdf"))
        let key = try ArchiveStage.key.contentKey(from: other.manifest.encryptionInformation.keyAccess[0])
        #expect(throws: ArchiveError.format(.policyBinding)) {
            try PlayableArchiveReader(path).opened(key)
        }
        // An archive of another profile, and this one as another.
        let plain = try stage.archives.make([1, 2, 3], name: "plain.tdf")
        #expect(!PlayableArchiveReader.isMeant(by: plain))
        #expect(throws: ArchiveError.self) { try PlayableArchiveReader(plain) }
        #expect(throws: ArchiveError.self) { try ArchiveReader(path) }
    }

    @Test(arguments: [0, 1, 2, 3])
    func `a damaged archive opens to the film, or not at all`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let stage = try PlayableStage()
        let path = try stage.make()
        let bytes = try ArchiveStage.bytes(path)
        var refused = 0
        for _ in 0..<60 {
            var damaged = bytes
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                damaged[Int.random(in: 0..<damaged.count, using: &generator)] =
                    UInt8.random(in: 0...255, using: &generator)
            }
            if Int.random(in: 0..<6, using: &generator) == 0 {
                damaged.removeLast(Int.random(in: 1..<damaged.count, using: &generator))
            }
            let name = stage.archives.path("damaged.tdf")
            try ArchiveStage.write(damaged, name)
            do {
                #expect(try PlayableStage.film(name) == stage.film)
            } catch { refused += 1 }
        }
        #expect(refused > 20)
    }

    @Test func `a name that is there stays, and a writer that is given up leaves nothing`() throws {
        let stage = try PlayableStage()
        let path = try stage.make()
        let writer = try stage.writer()
        try writer.write(stage.film[...])
        do throws(ArchiveError) {
            try writer.finish(at: 0)
            Issue.record("it was replaced")
        } catch {
            guard case .output(let failure) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(failure.isThere)
        }
        #expect(try PlayableStage.film(path) == stage.film)
        do {
            let writer = try stage.writer("second.tdf")
            try writer.write(stage.film[...])
            #expect(stage.archives.files.contains { $0.hasPrefix(".second.tdf") })
        }
        #expect(!stage.archives.files.contains { $0.hasPrefix(".second.tdf") })
    }
}
