/// Reads the bit fields of a parameter set (ITU-T H.264 §7.2, §9.1; H.265 the same).
///
/// Works on the RBSP: the NAL unit without its emulation prevention bytes. A read either moves `offset` past the field
/// or throws and leaves it.
struct BitReader: Sendable {
    private let bytes: [UInt8]
    private let end: Int

    /// Bits read so far.
    private(set) var offset = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        end = bytes.count * 8
    }

    /// Takes a NAL unit as it is in a stream.
    init(nalUnit: ArraySlice<UInt8>) {
        self.init(BitReader.rbsp(of: nalUnit))
    }

    var remaining: Int { end - offset }

    /// u(n), n ≤ 32.
    mutating func bits(_ count: Int) throws(MediaError) -> UInt32 {
        assert(count >= 0 && count <= 32)
        guard remaining >= count else {
            throw .truncatedBits(offset: offset, needed: count, available: remaining)
        }
        var value: UInt64 = 0
        var taken = 0
        while taken < count {
            let inByte = (offset + taken) & 7
            let take = min(8 - inByte, count - taken)
            let byte = UInt64(bytes[(offset + taken) >> 3])
            let field = (byte >> UInt64(8 - inByte - take)) & (1 << UInt64(take) - 1)
            value = value << UInt64(take) | field
            taken += take
        }
        offset += count
        return UInt32(truncatingIfNeeded: value)
    }

    /// u(1).
    mutating func flag() throws(MediaError) -> Bool {
        try bits(1) != 0
    }

    mutating func skip(_ count: Int) throws(MediaError) {
        guard count >= 0, remaining >= count else {
            throw .truncatedBits(offset: offset, needed: count, available: remaining)
        }
        offset += count
    }

    /// ue(v), 0…2^32−2 (§9.1).
    mutating func unsignedExpGolomb() throws(MediaError) -> UInt32 {
        let start = offset
        var zeros = 0
        while true {
            guard remaining > 0 else {
                offset = start
                throw .truncatedBits(offset: start, needed: 2 * zeros + 1, available: end - start)
            }
            if try flag() { break }
            zeros += 1
            guard zeros < 32 else {
                let behind = offset
                offset = start
                throw .invalid(.expGolombCode, value: 0, offset: behind)
            }
        }
        guard remaining >= zeros else {
            offset = start
            throw .truncatedBits(offset: start, needed: 2 * zeros + 1, available: end - start)
        }
        let suffix = try bits(zeros)
        return UInt32((UInt64(1) << UInt64(zeros)) - 1 + UInt64(suffix))
    }

    /// ue(v) that must not exceed `limit`.
    mutating func unsignedExpGolomb(
        _ field: MediaError.Field, upTo limit: UInt32
    ) throws(MediaError) -> Int {
        let value = try unsignedExpGolomb()
        guard value <= limit else { throw .invalid(field, value: UInt64(value), offset: offset) }
        return Int(value)
    }

    /// se(v) (§9.1.1).
    mutating func signedExpGolomb() throws(MediaError) -> Int32 {
        let code = Int64(try unsignedExpGolomb())
        return Int32(truncatingIfNeeded: code & 1 == 1 ? (code + 1) / 2 : -(code / 2))
    }

    /// A NAL unit without its emulation prevention bytes: 00 00 03 → 00 00 (H.264 §7.4.1).
    static func rbsp(of nalUnit: ArraySlice<UInt8>) -> [UInt8] {
        var rbsp: [UInt8] = []
        rbsp.reserveCapacity(nalUnit.count)
        var zeros = 0
        for byte in nalUnit {
            if zeros >= 2, byte == 3 {
                zeros = 0
                continue
            }
            zeros = byte == 0 ? zeros + 1 : 0
            rbsp.append(byte)
        }
        return rbsp
    }
}
