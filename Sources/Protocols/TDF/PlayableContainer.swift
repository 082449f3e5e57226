/// The ZIP file of profile P: no payload, but the files of a film in HTTP Live Streaming, by their names.
public enum PlayableContainer {
    public static let manifestName = "manifest.json"
    public static let playlistName = "playlist.m3u8"
    public static let initName = "init.mp4"
    /// Segments of six seconds: sixteen hours.
    public static let maxSegments = 10_000
    /// Bytes of a segment: it is held in memory.
    public static let maxSegmentSize = 64 << 20
    /// Bytes of the initialization segment, and of the playlist.
    public static let maxHeadSize = 1 << 20
    /// Bytes of the list of entries: each has at most 96.
    static let maxDirectoryBytes = 2 << 20
    /// Segments, and what is beside them.
    static let maxEntries = maxSegments + 3

    /// - Parameter number: from 0.
    public static func segmentName(_ number: Int) -> String { "segment\(number).m4s" }

    /// The bytes before those of a file.
    public static func header(name: String, size: Int, crc32: UInt32) -> [UInt8] {
        ZIPWriting.localHeader(name: name, size: Int64(size), crc32: crc32, isLarge: false)
    }

    /// The list of entries, and the end of the file.
    ///
    /// - Parameter offset: where it begins.
    public static func trailer(_ entries: [ZIPEntry], offset: Int64) -> [UInt8] {
        let directory = entries.flatMap { ZIPWriting.directoryEntry($0, hasLargeHeader: false) }
        return directory
            + ZIPWriting.endRecords(
                count: entries.count, directoryOffset: offset, directorySize: Int64(directory.count))
    }

    /// The most bytes that a file of such a name has.
    public static func maxSize(of name: String) -> Int {
        switch name {
        case manifestName: TDFManifest.maxBytes
        case playlistName, initName: maxHeadSize
        default: maxSegmentSize
        }
    }

    /// Whether it can stand in a playlist and in a ZIP file as it is: up to 128 letters, digits, dots, hyphens and underscores, no dot first.
    public static func isName(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count) && text.utf8.first != UInt8(ascii: ".")
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }
}
