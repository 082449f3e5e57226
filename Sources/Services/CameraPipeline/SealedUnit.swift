public import Media

/// What was sealed, for logs and statistics.
public struct SealedUnit: Equatable, Sendable {
    public var track: AccessUnit.Track
    public var isKeyFrame: Bool
    /// Milliseconds on the stream's timeline, before they wrap at 2^32.
    public var decodeMilliseconds: Int64
    public var compositionMilliseconds: Int32
    /// Of the unit, in clear.
    public var byteCount: Int
    /// What was sealed along with it: a note, or nothing.
    public var noteByteCount: Int
    /// Of the item; 0 when nothing was sealed, in a test.
    public var iv: UInt32
    /// The first 8 hexadecimal digits of the header's SHA-256.
    public var collection: String?
    /// The entry announces the collection.
    public var beginsCollection: Bool
}
