/// What an archive's manifest holds of one segment.
public struct TDFSegmentEntry: Equatable, Sendable {
    /// Bytes of the IV before and of the tag behind the ciphertext.
    public static let overhead = 12 + gmacByteCount
    /// Bytes of the hash of a segment, which is its GCM tag.
    public static let gmacByteCount = 16
    /// Bytes of plaintext in one segment: whoever opens one holds all of it, and that may be a small board.
    public static let maxClearSize = 32 << 20

    /// Bytes of plaintext; a segment may end anywhere, such as before a key frame.
    public var clearSize: Int
    /// Bytes of IV, ciphertext and tag.
    public var encryptedSize: Int
    /// The last 16 bytes of the segment.
    public var gmac: [UInt8]

    public init(clearSize: Int, encryptedSize: Int, gmac: [UInt8]) {
        self.clearSize = clearSize
        self.encryptedSize = encryptedSize
        self.gmac = gmac
    }
}

/// A segment that was sealed, with what it takes to end the archive after it without the key.
public struct TDFSealedSegment: Equatable, Sendable {
    public var entry: TDFSegmentEntry
    /// HMAC-SHA256 under the key over the GMACs of all segments so far: the root signature of an archive that ends here.
    ///
    /// Whoever keeps it can cut the finished archive after this segment, unnoticed: it does not outlive the recording.
    public var rootSignature: [UInt8]

    public init(entry: TDFSegmentEntry, rootSignature: [UInt8]) {
        self.entry = entry
        self.rootSignature = rootSignature
    }
}
