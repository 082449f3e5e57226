internal import Wire

/// The NanoTDF header of a collection as a video message: `17 02 00 00 00 ‖ "NTDF" ‖ length(2) ‖ header`, sent before
/// the first key frame that it covers. For every other tool it is an AVC "end of sequence".
public enum NTDFHeaderFrame {
    /// The longest header that fits the two bytes of the length.
    public static let maximumHeaderSize = 0xFFFF

    private static let magic: [UInt8] = [0x4E, 0x54, 0x44, 0x46]

    public static func encode(_ header: [UInt8]) throws(FLVError) -> [UInt8] {
        guard !header.isEmpty, header.count <= maximumHeaderSize else { throw .headerFrameLength(header.count) }
        var bytes: [UInt8] = [0x17, 0x02, 0x00, 0x00, 0x00]
        bytes.reserveCapacity(11 + header.count)
        bytes += magic
        bytes.appendUInt16(UInt16(header.count))
        bytes += header
        return bytes
    }

    /// Codec id 7 and the magic at offset 5, whatever the frame and packet type.
    ///
    /// A sealed item can look so only with counter 0x4E5444 and more than 4.6 MB; collections end long before that
    /// counter.
    public static func matches(_ body: ArraySlice<UInt8>) -> Bool {
        guard body.count >= 9, let first = body.first, first & 0x8F == 7 else { return false }
        return body.dropFirst(5).prefix(4).elementsEqual(magic)
    }

    /// The NanoTDF header, exactly as long as the frame says.
    public static func parse(_ body: ArraySlice<UInt8>) throws(FLVError) -> ArraySlice<UInt8> {
        guard matches(body) else { throw .notAHeaderFrame }
        var reader = FieldReader<FLVError>(body)
        try reader.skip(9)
        let length = Int(try reader.readUInt16())
        guard length > 0 else { throw .headerFrameLength(0) }
        let header = try reader.readBytes(length)
        try reader.finish()
        return header
    }
}
