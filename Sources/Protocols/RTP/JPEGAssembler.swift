internal import Wire

/// JPEG files out of the packets of RFC 2435: those carry the scan alone, and in a few bytes what the headers said.
struct JPEGAssembler: Sendable {
    static let byteLimit = 16 << 20

    /// The headers of one packet (RFC 2435 §3.1).
    private struct Header {
        /// Bytes of the scan before this packet's.
        var offset: Int
        /// 0: 4:2:2, 1: 4:2:0.
        var sampling: UInt8
        var quality: UInt8
        /// In blocks of eight; 0: more than 255 of them.
        var width: UInt8
        var height: UInt8
        /// MCUs; 0 when there are no restart markers.
        var restartInterval: UInt16 = 0
    }

    private struct Quantization: Sendable {
        /// One table or two.
        var bytes: [UInt8]
        /// Bit n: the values of table n have two bytes.
        var precision: UInt8
    }

    private var file: [UInt8] = []
    private var scanSize = 0
    private var timestamp: UInt32 = 0
    private var arrival: UInt64 = 0
    private var isOpen = false
    private var isDamaged = false
    private var hasDelivered = false
    /// Tables that came in band, for the images that name them only (qualities 128…254).
    private var known: [UInt8: Quantization] = [:]

    private(set) var damaged: UInt64 = 0
    /// By the session description.
    private let dimensions: FrameDimensions?

    init(dimensions: FrameDimensions? = nil) {
        self.dimensions = dimensions
    }

    mutating func received(_ packet: RTPPacket, at now: UInt64, into output: inout [EncodedUnit]) {
        if isOpen, packet.timestamp != timestamp { finish(into: &output) }
        isOpen = true
        timestamp = packet.timestamp
        arrival = now
        if !isDamaged, !take(packet) { isDamaged = true }
        if packet.isMarked { finish(into: &output) }
    }

    /// Packets are missing before the next one.
    mutating func lost() {
        if isOpen { isDamaged = true }
    }

    private mutating func finish(into output: inout [EncodedUnit]) {
        if isDamaged || scanSize == 0 {
            if hasDelivered || scanSize > 0 { damaged += 1 }
        } else {
            // The end mark is sent by some, left out by others.
            if !(file.count >= 2 && file[file.count - 2] == 0xFF && file[file.count - 1] == 0xD9) {
                file += [0xFF, 0xD9]
            }
            hasDelivered = true
            let data = unsafe file.withUnsafeBytes { unsafe Array($0) }
            output.append(EncodedUnit(timestamp: timestamp, arrival: arrival, data: data, isKeyFrame: true))
        }
        file.removeAll(keepingCapacity: file.capacity <= 4 << 20)
        scanSize = 0
        isOpen = false
        isDamaged = false
    }

    /// False when the image is damaged by this packet.
    private mutating func take(_ packet: RTPPacket) -> Bool {
        var rest = packet.payload
        guard let header = Self.header(&rest), header.offset == scanSize else { return false }
        if header.offset == 0 {
            guard let tables = quantization(header.quality, &rest) else { return false }
            var size = FrameDimensions(width: Int(header.width) * 8, height: Int(header.height) * 8)
            if header.width == 0 || header.height == 0 {
                // 2040 pixels are the most that the RFC's header can say.
                guard let found = JPEGHeaderExtension.dimensions(packet) ?? dimensions,
                    (1...0xFFFF).contains(found.width), (1...0xFFFF).contains(found.height)
                else { return false }
                size = found
            }
            appendHeaders(header, size, tables)
        }
        guard rest.count <= Self.byteLimit - file.count else { return false }
        file.append(contentsOf: rest)
        scanSize += rest.count
        return true
    }

    /// Takes the headers off `rest`; nil when they are not whole, or say what this RFC does not define.
    private static func header(_ rest: inout ArraySlice<UInt8>) -> Header? {
        guard rest.count >= 8 else { return nil }
        let start = rest.startIndex
        let type = rest[start + 4]
        var header = Header(
            offset: Int(rest.bigEndian32(at: start) & 0xFF_FFFF), sampling: type & 0x3F, quality: rest[start + 5],
            width: rest[start + 6], height: rest[start + 7])
        guard type < 128, header.sampling <= 1 else { return nil }
        rest = rest.dropFirst(8)
        if type >= 64 {
            guard rest.count >= 4 else { return nil }
            header.restartInterval = rest.bigEndian16(at: rest.startIndex)
            rest = rest.dropFirst(4)
        }
        return header
    }

    private mutating func quantization(_ quality: UInt8, _ rest: inout ArraySlice<UInt8>) -> Quantization? {
        switch quality {
        case 1...99: return Quantization(bytes: JPEGTables.quantization(quality: quality), precision: 0)
        case 128...255: break
        default: return nil
        }
        guard rest.count >= 4 else { return nil }
        let precision = rest[rest.startIndex + 1]
        let length = Int(rest.bigEndian16(at: rest.startIndex + 2))
        rest = rest.dropFirst(4)
        if length == 0 { return known[quality] }
        guard length <= rest.count, length <= 256 else { return nil }
        let tables = Quantization(bytes: Array(rest.prefix(length)), precision: precision & 3)
        rest = rest.dropFirst(length)
        guard Self.tables(tables) != nil else { return nil }
        // 255 is for tables that differ from image to image.
        if quality < 255 { known[quality] = tables }
        return tables
    }

    /// Luminance and chrominance; one table serves both. Nil when the bytes are not whole tables.
    private static func tables(_ quantization: Quantization) -> [(isLong: Bool, values: ArraySlice<UInt8>)]? {
        var rest = quantization.bytes[...]
        var tables: [(isLong: Bool, values: ArraySlice<UInt8>)] = []
        for bit in 0..<2 where !rest.isEmpty {
            let isLong = quantization.precision >> UInt8(bit) & 1 != 0
            let size = isLong ? 128 : 64
            guard rest.count >= size else { return nil }
            tables.append((isLong, rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        guard let first = tables.first else { return nil }
        if tables.count == 1 { tables.append(first) }
        return tables
    }

    private mutating func appendHeaders(
        _ header: Header, _ size: FrameDimensions, _ quantization: Quantization
    ) {
        file.removeAll(keepingCapacity: true)
        file += [0xFF, 0xD8, 0xFF, 0xE0, 0, 16]
        file += Array("JFIF".utf8)
        file += [0, 1, 1, 0, 0, 1, 0, 1, 0, 0]
        for (number, table) in (Self.tables(quantization) ?? []).enumerated() {
            file += [0xFF, 0xDB, 0, UInt8(3 + table.values.count), (table.isLong ? 0x10 : 0) | UInt8(number)]
            file += table.values
        }
        file += [0xFF, 0xC0, 0, 17, 8]
        file.appendUInt16(UInt16(size.height))
        file.appendUInt16(UInt16(size.width))
        file += [3, 1, header.sampling == 0 ? 0x21 : 0x22, 0, 2, 0x11, 1, 3, 0x11, 1]
        for table in JPEGTables.huffman {
            file += [0xFF, 0xC4]
            file.appendUInt16(UInt16(3 + table.counts.count + table.symbols.count))
            file.append(table.id)
            file += table.counts
            file += table.symbols
        }
        if header.restartInterval > 0 {
            file += [0xFF, 0xDD, 0, 4]
            file.appendUInt16(header.restartInterval)
        }
        file += [0xFF, 0xDA, 0, 12, 3, 1, 0, 2, 0x11, 3, 0x11, 0, 63, 0]
    }
}

/// The size that a camera gives in the header extension of an image's first packet: segments of a JPEG's header, the
/// frame header (SOF) among them.
enum JPEGHeaderExtension {
    /// Of the packet that begins an image (ONVIF); those of the others have 0xFFFF.
    private static let profile: UInt16 = 0xFFD8

    /// Nil where there is no such extension, or no whole frame header in it.
    static func dimensions(_ packet: RTPPacket) -> FrameDimensions? {
        guard packet.extensionProfile == profile else { return nil }
        var rest = packet.headerExtension
        while rest.count >= 4 {
            let start = rest.startIndex
            guard rest[start] == 0xFF else { return nil }
            let marker = rest[start + 1]
            // What fills the extension up to whole 32-bit words.
            if marker == 0xFF {
                rest = rest.dropFirst()
                continue
            }
            let length = Int(rest.bigEndian16(at: start + 2))
            guard length >= 2, length + 2 <= rest.count else { return nil }
            if marker == 0xC0 || marker == 0xC1 {
                guard length >= 8 else { return nil }
                return FrameDimensions(
                    width: Int(rest.bigEndian16(at: start + 7)), height: Int(rest.bigEndian16(at: start + 5)))
            }
            rest = rest.dropFirst(length + 2)
        }
        return nil
    }
}
