import Media
import RTP
import Wire

/// Packets of one stream, numbered as they are made.
struct Sender {
    var payloadType: UInt8 = 96
    var source: UInt32 = 0x1234_5678
    var sequence: UInt16 = 65530
    var timestamp: UInt32 = 0xFFFF_0000

    /// - Parameter count: sequence numbers that are used up before it.
    mutating func packet(_ payload: [UInt8], marker: Bool = false, skipping count: UInt16 = 0) -> [UInt8] {
        sequence &+= count
        var bytes: [UInt8] = [0x80, (marker ? 0x80 : 0) | payloadType]
        bytes.appendUInt16(sequence)
        bytes.appendUInt32(timestamp)
        bytes.appendUInt32(source)
        sequence &+= 1
        return bytes + payload
    }
}

/// H.264 as small as it gets.
enum Units {
    /// 96x64, by x264.
    static let sequence = hex("67f4000a90d964189b016a0c0c0c80000003008000001947891324")
    static let picture = hex("68ebcc448440")
    static let delimiter: [UInt8] = [9, 0xF0]
    static let filler: [UInt8] = [12, 0xFF, 0x80]
    static let information: [UInt8] = [6, 5, 1, 0xAA, 0x80]

    /// The first slice of a key frame; `first` false: another slice.
    static func key(_ value: UInt8 = 1, first: Bool = true, size: Int = 20) -> [UInt8] {
        [0x65, first ? 0x88 : 0x48] + [UInt8](repeating: value, count: size)
    }

    static func delta(_ value: UInt8 = 1, first: Bool = true, size: Int = 10) -> [UInt8] {
        [0x41, first ? 0x9A : 0x5A] + [UInt8](repeating: value, count: size)
    }

    static func hex(_ text: String) -> [UInt8] {
        (try? Hexadecimal.decode(text)) ?? []
    }

    /// Behind 4-byte lengths.
    static func accessUnit(_ units: [UInt8]...) -> [UInt8] {
        AnnexB.lengthPrefixed(units.map { $0[...] })
    }

    static func aggregate(_ units: [UInt8]...) -> [UInt8] {
        var bytes: [UInt8] = [24]
        for unit in units {
            bytes.appendUInt16(UInt16(unit.count))
            bytes += unit
        }
        return bytes
    }

    /// FU-A.
    static func fragments(_ unit: [UInt8], size: Int) -> [[UInt8]] {
        let body = Array(unit.dropFirst())
        return stride(from: 0, to: body.count, by: size).map { offset in
            let end = min(body.count, offset + size)
            let flags: UInt8 = (offset == 0 ? 0x80 : 0) | (end == body.count ? 0x40 : 0)
            return [unit[0] & 0xE0 | 28, flags | unit[0] & 0x1F] + body[offset..<end]
        }
    }
}

extension RTPTrack {
    static func h264(
        _ sets: [[UInt8]] = [], source: UInt32? = nil, firstSequence: UInt16? = nil, reorders: Bool = false
    ) -> RTPTrack {
        RTPTrack(
            RTPTrack.Configuration(
                format: .h264(parameterSets: sets), payloadType: 96, clockRate: 90000, source: source,
                firstSequence: firstSequence, reorders: reorders, ownSource: 0xCAFE_F00D, name: "3f1c"))
    }

    mutating func received(_ bytes: [UInt8], at now: UInt64 = 0) -> [EncodedUnit] {
        received(bytes[...], at: now)
    }
}

let millisecond: UInt64 = 1_000_000
let second: UInt64 = 1_000_000_000
