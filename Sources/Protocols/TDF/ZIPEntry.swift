internal import Wire

/// A file in a ZIP file, as the central directory lists it. Only stored entries: an archive has no others.
public struct ZIPEntry: Equatable, Sendable {
    public var name: String
    /// Bytes of the content.
    public var size: Int64
    /// Of the content.
    public var crc32: UInt32
    /// Where its local header begins, in bytes from the beginning of the file.
    public var offset: Int64
    /// General-purpose bits.
    var flags: UInt16 = 0

    /// Its size and CRC-32 may stand behind its data.
    var isDescribed: Bool { flags & ZIPFormat.descriptorFlag != 0 }

    public init(name: String, size: Int64, crc32: UInt32, offset: Int64) {
        self.name = name
        self.size = size
        self.crc32 = crc32
        self.offset = offset
    }

    /// Its name as messages have it, since it may come from anybody.
    var shownName: String { Self.shown(name) }

    static func shown(_ name: String) -> String { ShownText.ascii(name, limit: 40, replacing: "?") }
}

/// Numbers of the ZIP format (PKWARE's APPNOTE.TXT 6.3.10).
enum ZIPFormat {
    static let localHeader: UInt32 = 0x0403_4B50
    static let directoryEntry: UInt32 = 0x0201_4B50
    static let endRecord: UInt32 = 0x0605_4B50
    static let zip64EndRecord: UInt32 = 0x0606_4B50
    static let zip64Locator: UInt32 = 0x0706_4B50

    /// Of what is said of data behind them; it may be left out.
    static let descriptor: UInt32 = 0x0807_4B50

    static let localHeaderSize = 30
    static let directoryEntrySize = 46
    static let endRecordSize = 22
    static let zip64EndRecordSize = 56
    static let zip64LocatorSize = 20

    /// Version 2.0 for plain entries, 4.5 for those with ZIP64 sizes (§4.4.3.2).
    static let version: UInt16 = 20
    static let zip64Version: UInt16 = 45
    /// Extra field of sizes with 64 bits (§4.5.3).
    static let zip64ExtraField: UInt16 = 1
    /// 1980-01-01 00:00: when the archive was written is in its manifest.
    static let time: UInt16 = 0
    static let date: UInt16 = 0x21

    /// Bit 0 encrypted, 6 strongly, 13 with masked headers, 5 as a patch (§4.4.4).
    static let refusedFlags: UInt16 = 1 << 0 | 1 << 5 | 1 << 6 | 1 << 13
    /// Size and CRC-32 follow the data instead of being in the local header.
    static let descriptorFlag: UInt16 = 1 << 3
}
