internal import Wire

/// One data packet of RTP (RFC 3550 §5.1), without contributing sources and padding.
public struct RTPPacket: Equatable, Sendable {
    /// 0…127; what it means says the session description.
    public var payloadType: UInt8
    /// For video: the last packet of a frame. Not every camera keeps to it.
    public var isMarked: Bool
    public var sequence: UInt16
    /// In the payload format's clock, from a random start.
    public var timestamp: UInt32
    /// SSRC.
    public var source: UInt32
    /// Not copied: a part of the bytes that were parsed.
    public var payload: ArraySlice<UInt8>
    /// The header extension (§5.3.1) without its first four bytes, and the profile that those name. Not copied either.
    public var headerExtension: ArraySlice<UInt8> = []
    public var extensionProfile: UInt16 = 0

    /// Takes a whole datagram, or what one interleaved frame carries.
    public static func parse(_ bytes: ArraySlice<UInt8>) throws(RTPError) -> RTPPacket {
        let start = bytes.startIndex
        guard bytes.count >= headerSize else {
            throw .wire(.truncated(offset: 0, needed: headerSize, available: bytes.count))
        }
        let flags = bytes[start]
        guard flags >> 6 == 2 else { throw .unsupportedVersion(flags >> 6) }
        var begin = start + headerSize + 4 * Int(flags & 0x0F)
        var extensionBegin: Int?
        if flags & 0x10 != 0 {
            guard bytes.endIndex - begin >= 4 else {
                throw .wire(
                    .truncated(offset: begin - start, needed: 4, available: max(0, bytes.endIndex - begin)))
            }
            extensionBegin = begin + 4
            begin += 4 + 4 * Int(bytes.bigEndian16(at: begin + 2))
        }
        guard begin <= bytes.endIndex else {
            throw .wire(.truncated(offset: headerSize, needed: begin - start - headerSize, available: bytes.count - 12))
        }
        var end = bytes.endIndex
        if flags & 0x20 != 0 {
            let padding = end > begin ? Int(bytes[end - 1]) : 0
            guard padding > 0, padding <= end - begin else {
                throw .invalidPadding(count: padding, available: end - begin)
            }
            end -= padding
        }
        let second = bytes[start + 1]
        var packet = RTPPacket(
            payloadType: second & 0x7F, isMarked: second & 0x80 != 0, sequence: bytes.bigEndian16(at: start + 2),
            timestamp: bytes.bigEndian32(at: start + 4), source: bytes.bigEndian32(at: start + 8),
            payload: bytes[begin..<end])
        if let extensionBegin {
            packet.headerExtension = bytes[extensionBegin..<begin]
            packet.extensionProfile = bytes.bigEndian16(at: extensionBegin - 4)
        }
        return packet
    }

    private static let headerSize = 12
}

/// Fields at known places, whose presence was checked before.
extension ArraySlice<UInt8> {
    func bigEndian16(at index: Int) -> UInt16 {
        UInt16(self[index]) << 8 | UInt16(self[index + 1])
    }

    func bigEndian32(at index: Int) -> UInt32 {
        UInt32(bigEndian16(at: index)) << 16 | UInt32(bigEndian16(at: index + 2))
    }
}
