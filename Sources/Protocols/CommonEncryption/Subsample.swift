internal import Wire

/// A part of a sample: clear bytes, and protected ones behind them (ISO/IEC 23001-7 §9.5).
struct Subsample: Equatable, Sendable {
    /// BytesOfClearData.
    var clear: UInt16
    /// BytesOfProtectedData.
    var protected: UInt32

    /// `saiz` has 8 bits for 2 bytes, and 6 for each of them.
    static let limit = 42

    var size: UInt64 { UInt64(clear) + UInt64(protected) }
}

extension [Subsample] {
    /// More clear bytes than the field of one can say become several.
    mutating func append(clear: Int, protected: Int) {
        var clear = clear
        while clear > Int(UInt16.max) {
            append(Subsample(clear: .max, protected: 0))
            clear -= Int(UInt16.max)
        }
        append(Subsample(clear: UInt16(clear), protected: UInt32(truncatingIfNeeded: protected)))
    }

    /// As in `senc`: their count, and the two numbers of each.
    func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendUInt16(UInt16(truncatingIfNeeded: count))
        for part in self {
            bytes.appendUInt16(part.clear)
            bytes.appendUInt32(part.protected)
        }
        return bytes
    }
}
