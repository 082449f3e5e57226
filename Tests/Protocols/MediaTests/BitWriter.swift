/// The inverse of `BitReader`: writes parameter sets for the tests.
struct BitWriter {
    private(set) var bytes: [UInt8] = []
    private var free = 0

    var count: Int { bytes.count * 8 - free }

    mutating func bits(_ value: UInt32, _ count: Int) {
        for bit in stride(from: count - 1, through: 0, by: -1) {
            if free == 0 {
                bytes.append(0)
                free = 8
            }
            free -= 1
            bytes[bytes.count - 1] |= UInt8(value >> UInt32(bit) & 1) << UInt8(free)
        }
    }

    mutating func flag(_ value: Bool) { bits(value ? 1 : 0, 1) }

    mutating func unsignedExpGolomb(_ value: UInt32) {
        let code = UInt64(value) + 1
        let length = 64 - code.leadingZeroBitCount
        bits(0, length - 1)
        bits(UInt32(truncatingIfNeeded: code >> 32), max(0, length - 32))
        bits(UInt32(truncatingIfNeeded: code), min(length, 32))
    }

    mutating func unsignedExpGolomb(_ value: Int) { unsignedExpGolomb(UInt32(value)) }

    mutating func signedExpGolomb(_ value: Int32) {
        unsignedExpGolomb(value > 0 ? UInt32(value) * 2 - 1 : UInt32(-Int64(value)) * 2)
    }

    /// rbsp_trailing_bits, then emulation prevention (H.264 §7.3.2.11, §7.4.1).
    func nalUnit() -> [UInt8] {
        var writer = self
        writer.flag(true)
        var unit: [UInt8] = []
        var zeros = 0
        for byte in writer.bytes {
            if zeros >= 2, byte <= 3 {
                unit.append(3)
                zeros = 0
            }
            unit.append(byte)
            zeros = byte == 0 ? zeros + 1 : 0
        }
        return unit
    }
}
