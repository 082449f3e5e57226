internal import Wire

/// What a camera's control packets say (RFC 3550 §6.4.1, §6.6); the rest of them is passed over.
enum ControlMessage: Equatable, Sendable {
    case senderReport(source: UInt32, ntp: UInt64, timestamp: UInt32)
    case goodbye(source: UInt32)

    private static let senderReportType: UInt8 = 200
    private static let goodbyeType: UInt8 = 203

    /// The messages of a compound packet, as far as it can be read.
    static func parse(_ bytes: ArraySlice<UInt8>) -> [ControlMessage] {
        var messages: [ControlMessage] = []
        var rest = bytes
        while rest.count >= 4, rest[rest.startIndex] >> 6 == 2 {
            let start = rest.startIndex
            let size = 4 * (Int(rest.bigEndian16(at: start + 2)) + 1)
            guard rest.count >= size else { break }
            switch rest[start + 1] {
            case senderReportType where size >= 28:
                let ntp = UInt64(rest.bigEndian32(at: start + 8)) << 32 | UInt64(rest.bigEndian32(at: start + 12))
                messages.append(
                    .senderReport(
                        source: rest.bigEndian32(at: start + 4), ntp: ntp,
                        timestamp: rest.bigEndian32(at: start + 16)))
            case goodbyeType:
                let count = min(Int(rest[start] & 0x1F), size / 4 - 1)
                for index in 0..<count {
                    messages.append(.goodbye(source: rest.bigEndian32(at: start + 4 + 4 * index)))
                }
            default: break
            }
            rest = rest[(start + size)...]
        }
        return messages
    }

    /// Whether bytes on a data channel are a control packet (RFC 5761 §4).
    static func isControl(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.count >= 8 else { return false }
        let type = bytes[bytes.startIndex + 1]
        return bytes[bytes.startIndex] >> 6 == 2 && type >= 200 && type <= 207
    }
}

/// A receiver's compound packet: report and source description (RFC 3550 §6.1, §6.4.2, §6.5).
struct ReceiverReport: Sendable {
    private var bytes: [UInt8] = []

    /// - Parameter block: a report block; nil when there is nothing to report on.
    init(ownSource: UInt32, name: String, block: [UInt8]?) {
        bytes.reserveCapacity(64 + name.utf8.count)
        bytes.append(0x80 | (block == nil ? 0 : 1))
        bytes.append(201)
        bytes.appendUInt16(block == nil ? 1 : 7)
        bytes.appendUInt32(ownSource)
        if let block { bytes += block }
        appendDescription(ownSource: ownSource, name: name.utf8.prefix(255))
    }

    private mutating func appendDescription(ownSource: UInt32, name: some Collection<UInt8>) {
        // Source, item header, name, and at least one zero that ends the items.
        let words = (4 + 2 + name.count + 1 + 3) / 4
        let end = bytes.count + 4 + words * 4
        bytes.append(0x81)
        bytes.append(202)
        bytes.appendUInt16(UInt16(words))
        bytes.appendUInt32(ownSource)
        bytes.append(1)
        bytes.append(UInt8(name.count))
        bytes += name
        while bytes.count < end { bytes.append(0) }
    }

    var encoded: [UInt8] { bytes }
}
