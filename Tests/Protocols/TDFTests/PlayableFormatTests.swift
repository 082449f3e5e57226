import TestSupport
import Testing

@testable import TDF

@Suite struct PlayableFormatTests {
    private static let playlist = MediaPlaylist(
        assetID: "7D0B", initName: "init.mp4",
        segments: [.init(name: "segment0.m4s", duration: 6006), .init(name: "segment1.m4s", duration: 12_499)])

    @Test func `a playlist is read as it was written`() throws {
        let bytes = Self.playlist.encoded()
        #expect(try MediaPlaylist.parse(bytes) == Self.playlist)
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.contains("#EXT-X-TARGETDURATION:12\n"))
        #expect(text.contains("#EXTINF:6.006,\nsegment0.m4s\n#EXTINF:12.499,\n"))
        // As others write it: with carriage returns, other tags, whole seconds.
        let other = text.split(separator: "\n").joined(separator: "\r\n")
        #expect(try MediaPlaylist.parse(Array(other.utf8)) == Self.playlist)
        let lines =
            "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:6\n# a note\n#EXT-X-KEY:METHOD=SAMPLE-AES,KEYFORMATVERSIONS=\"1\","
            + "KEYFORMAT=\"com.apple.streamingkeydelivery\",URI=\"skd://7D0B\"\n#EXT-X-MAP:URI=\"init.mp4\"\n"
            + "#EXTINF:6,title\nsegment0.m4s\n#EXT-X-ENDLIST"
        #expect(try MediaPlaylist.parse(Array(lines.utf8)).segments == [.init(name: "segment0.m4s", duration: 6000)])
    }

    @Test(arguments: [
        ("#EXTM3U", "#EXTM4U", 1), ("SAMPLE-AES", "SAMPLE-AES-CTR", 8), ("SAMPLE-AES", "AES-128", 8),
        ("com.apple.streamingkeydelivery", "identity", 8), ("segment0.m4s", "../segment0.m4s", 10),
        ("segment1.m4s", "https://example.net/segment1.m4s", 12), ("#EXTINF:6.006,\n", "", 9),
        ("#EXTINF:6.006,", "#EXTINF:-1,", 9), ("#EXT-X-ENDLIST", "", 0), ("VERSION:7", "VERSION:3", 0),
        ("#EXT-X-MAP:URI=\"init.mp4\"\n", "", 9), ("#EXTINF:6.006,", "#EXT-X-BYTERANGE:7@0\n#EXTINF:6.006,", 9),
        ("#EXT-X-TARGETDURATION:12\n", "", 0), ("TARGETDURATION:12", "TARGETDURATION:11", 0),
        ("TARGETDURATION:12", "TARGETDURATION:many", 3), ("#EXT-X-ENDLIST\n", "#EXT-X-ENDLIST\n# more\n", 14),
        ("#EXT-X-MAP:URI=\"init.mp4\"\n", "#EXTINF:1,\nsegment9.m4s\n#EXT-X-MAP:URI=\"init.mp4\"\n", 8),
        ("#EXT-X-KEY", "#EXTINF:1,\nsegment9.m4s\n#EXT-X-KEY", 9),
    ])
    func `what is another playlist is refused`(old: String, new: String, line: Int) throws {
        let text = String(decoding: Self.playlist.encoded(), as: UTF8.self)
        let parts = text.split(separator: old, maxSplits: 1, omittingEmptySubsequences: false)
        try #require(parts.count == 2)
        do throws(MediaPlaylist.Fault) {
            _ = try MediaPlaylist.parse(Array((parts[0] + new + parts[1]).utf8))
            Issue.record("it was read")
        } catch {
            #expect(error.line == line, "\(error)")
        }
    }

    @Test func `segments that need others before them are not called independent`() throws {
        var playlist = Self.playlist
        playlist.isIndependent = false
        let bytes = playlist.encoded()
        #expect(!String(decoding: bytes, as: UTF8.self).contains("INDEPENDENT"))
        #expect(try MediaPlaylist.parse(bytes) == playlist)
    }

    @Test(arguments: 0..<20)
    func `damaged playlists are refused or read`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let bytes = Self.playlist.encoded()
        for _ in 0..<200 {
            var damaged = bytes
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                damaged[Int.random(in: 0..<damaged.count, using: &generator)] =
                    UInt8.random(in: 0...255, using: &generator)
            }
            if let read = try? MediaPlaylist.parse(damaged) { #expect(read.segments.count <= 2) }
        }
    }

    @Test func `metadata of another kind are refused`() throws {
        let names = ["playlist.m3u8", "init.mp4", "segment0.m4s"]
        let hash = [UInt8](repeating: 7, count: 32)
        let metadata = PlayableMetadata(
            assetID: "7D0B", segmentCount: 1, protectedAt: "2027-01-15T08:00:00Z",
            hashes: Dictionary(uniqueKeysWithValues: names.map { ($0, hash) }))
        #expect(try metadata.hashes() == ["playlist.m3u8": hash, "init.mp4": hash, "segment0.m4s": hash])
        let changes: [(inout PlayableMetadata) -> Void] = [
            { $0.type = "other" }, { $0.encryption = "cenc" }, { $0.segmentFilenames = [] },
            { $0.segmentFilenames = ["init.mp4"] }, { $0.segmentFilenames = ["a/b"] }, { $0.assetId = "a\"b" },
            { $0.sha256 = nil }, { $0.sha256?["init.mp4"] = "00" }, { $0.initFilename = ".hidden" },
            { $0.playlistFilename = "other.m3u8" },
        ]
        for change in changes {
            var other = metadata
            change(&other)
            #expect(throws: TDFError.self) { try other.hashes() }
        }
    }
}
