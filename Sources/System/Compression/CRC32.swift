internal import CZlib

/// The checksum of ZIP and gzip (ISO 3309), over what comes piece by piece. It notices accidents, not attackers.
public struct CRC32: Equatable, Sendable {
    /// Of all that came so far.
    public private(set) var value: UInt32 = 0

    public init() {}

    public init(_ bytes: [UInt8]) {
        update(bytes[...])
    }

    public mutating func update(_ bytes: ArraySlice<UInt8>) {
        bytes.withUnsafeBufferPointer { buffer in
            // Of no bytes zlib gives the value to begin with.
            guard let start = buffer.baseAddress, !buffer.isEmpty else { return }
            value = UInt32(truncatingIfNeeded: crc32_z(UInt(value), start, buffer.count))
        }
    }
}
