internal import Wire

/// The bytes of an FLV file: the header once, then tags.
public enum FLVFileWriter {
    /// The longest body that a tag can have.
    public static let maximumTagSize = 0xFF_FFFF

    /// The nine bytes of the file header and the zero before the first tag.
    public static func header(hasVideo: Bool, hasAudio: Bool) -> [UInt8] {
        let flags: UInt8 = (hasAudio ? 4 : 0) | (hasVideo ? 1 : 0)
        return FLVFileReader.signature + [1, flags, 0, 0, 0, 9, 0, 0, 0, 0]
    }

    /// Appends one tag and its size.
    public static func append(
        type: UInt8, timestamp: UInt32, prefix: ArraySlice<UInt8>, payload: ArraySlice<UInt8>,
        to bytes: inout [UInt8]
    ) throws(FLVError) {
        let size = prefix.count + payload.count
        guard size <= maximumTagSize else { throw .tagTooLong(bytes: size, limit: maximumTagSize) }
        bytes.append(type)
        bytes.appendUInt24(UInt32(size))
        bytes.appendUInt24(timestamp)
        bytes.append(UInt8(truncatingIfNeeded: timestamp >> 24))
        bytes.appendUInt24(0)
        bytes += prefix
        bytes += payload
        bytes.appendUInt32(UInt32(11 + size))
    }

    public static func append(_ tag: FLVTag, to bytes: inout [UInt8]) throws(FLVError) {
        try append(type: tag.type, timestamp: tag.timestamp, prefix: [], payload: tag.body[...], to: &bytes)
    }
}
