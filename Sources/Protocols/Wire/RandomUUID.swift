/// A random UUID (RFC 9562, version 4).
public struct RandomUUID: Hashable, Sendable {
    /// 16 bytes.
    public let bytes: [UInt8]

    /// Draws one from the system's generator.
    public init() {
        var generator = SystemRandomNumberGenerator()
        self.init(using: &generator)
    }

    public init(using generator: inout some RandomNumberGenerator) {
        var bytes: [UInt8] = []
        for _ in 0..<2 {
            let word = generator.next()
            bytes += (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) }
        }
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        self.bytes = bytes
    }
}

extension RandomUUID: CustomStringConvertible {
    /// Lower-case, with hyphens.
    public var description: String {
        [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { Hexadecimal.encode(bytes[$0]) }.joined(separator: "-")
    }
}
