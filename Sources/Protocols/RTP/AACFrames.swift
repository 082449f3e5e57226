internal import Media

/// Raw AAC frames out of the packets of RFC 3640 §3.2, §3.3.5 and §3.3.6: several in a packet, or one in several.
/// Interleaved frames are left out: cameras do not send any.
struct AACFrames: Sendable {
    /// The longest that an ADTS header could say.
    private static let frameLimit = 8191
    private static let frameCountLimit = 64

    private let sizeLength: Int
    private let indexLength: Int
    private let indexDeltaLength: Int
    /// RTP ticks from one frame to the next.
    private let duration: UInt32

    /// A frame whose packets come one after the other.
    private var fragment: [UInt8] = []
    private var fragmentSize = 0
    private var fragmentTimestamp: UInt32 = 0

    private(set) var damaged: UInt64 = 0

    init(configuration: [UInt8], sizeLength: Int, indexLength: Int, indexDeltaLength: Int, clockRate: Int) {
        self.sizeLength = min(32, max(0, sizeLength))
        self.indexLength = min(32, max(0, indexLength))
        self.indexDeltaLength = min(32, max(0, indexDeltaLength))
        var ticks: Int64 = 1024
        if let parsed = try? AudioSpecificConfig.parse(configuration[...]), clockRate > 0, clockRate <= 1 << 30 {
            ticks = parsed.frameDuration.ticks(timescale: Int64(clockRate))
        }
        duration = UInt32(clamping: ticks)
    }

    mutating func received(_ packet: RTPPacket, at now: UInt64, into output: inout [EncodedUnit]) {
        guard !packet.payload.isEmpty else { return }
        guard sizeLength > 0 else {
            deliver(packet.payload, timestamp: packet.timestamp, at: now, into: &output)
            return
        }
        guard let (sizes, data) = section(of: packet.payload) else {
            damage()
            return
        }
        if sizes.count == 1, sizes[0] > data.count {
            takeFragment(data, of: sizes[0], packet, at: now, into: &output)
            return
        }
        if !fragment.isEmpty { damage() }
        var rest = data
        var timestamp = packet.timestamp
        for size in sizes {
            guard size <= rest.count else {
                damage()
                return
            }
            deliver(rest.prefix(size), timestamp: timestamp, at: now, into: &output)
            rest = rest.dropFirst(size)
            timestamp = timestamp &+ duration
        }
    }

    /// The frames' sizes, and what stands behind the AU headers; nil when those are not whole, or interleaved.
    private func section(of payload: ArraySlice<UInt8>) -> (sizes: [Int], data: ArraySlice<UInt8>)? {
        guard payload.count >= 2 else { return nil }
        let bits = Int(payload.bigEndian16(at: payload.startIndex))
        let headers = payload.dropFirst(2)
        guard (bits + 7) / 8 <= headers.count else { return nil }
        var sizes: [Int] = []
        var offset = 0
        while true {
            let indexBits = sizes.isEmpty ? indexLength : indexDeltaLength
            guard offset + sizeLength + indexBits <= bits, sizes.count < Self.frameCountLimit else { break }
            let size = Self.field(headers, at: offset, bits: sizeLength)
            let index = Self.field(headers, at: offset + sizeLength, bits: indexBits)
            guard sizes.isEmpty || index == 0 else { return nil }
            offset += sizeLength + indexBits
            guard size > 0, size <= Self.frameLimit else { return nil }
            sizes.append(Int(size))
        }
        return sizes.isEmpty ? nil : (sizes, headers.dropFirst((bits + 7) / 8))
    }

    /// At most 32 bits, the highest first.
    private static func field(_ bytes: ArraySlice<UInt8>, at offset: Int, bits: Int) -> UInt32 {
        var value: UInt64 = 0
        for bit in offset..<(offset + bits) {
            value = value << 1 | UInt64(bytes[bytes.startIndex + bit / 8] >> UInt8(7 - bit % 8) & 1)
        }
        return UInt32(truncatingIfNeeded: value)
    }

    private mutating func takeFragment(
        _ data: ArraySlice<UInt8>, of size: Int, _ packet: RTPPacket, at now: UInt64, into output: inout [EncodedUnit]
    ) {
        if !fragment.isEmpty, fragmentTimestamp != packet.timestamp || fragmentSize != size { damage() }
        fragmentTimestamp = packet.timestamp
        fragmentSize = size
        fragment += data
        if fragment.count == size {
            let whole = fragment
            fragment = []
            deliver(whole[...], timestamp: packet.timestamp, at: now, into: &output)
        } else if fragment.count > size || packet.isMarked {
            damage()
        }
    }

    private func deliver(
        _ frame: ArraySlice<UInt8>, timestamp: UInt32, at now: UInt64, into output: inout [EncodedUnit]
    ) {
        let raw = Self.withoutTransportHeader(frame)
        guard !raw.isEmpty else { return }
        let data = unsafe raw.withUnsafeBytes { unsafe Array($0) }
        output.append(EncodedUnit(timestamp: timestamp, arrival: now, data: data, isKeyFrame: true))
    }

    /// Some cameras leave the ADTS header before each frame. A raw frame cannot begin like one: it would be an end
    /// mark.
    private static func withoutTransportHeader(_ frame: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let start = frame.startIndex
        guard frame.count > 7, frame[start] == 0xFF, frame[start + 1] & 0xF6 == 0xF0 else { return frame }
        let length =
            Int(frame[start + 3] & 3) << 11 | Int(frame[start + 4]) << 3 | Int(frame[start + 5]) >> 5
        guard length == frame.count else { return frame }
        return frame.dropFirst(frame[start + 1] & 1 == 0 ? 9 : 7)
    }

    /// A frame is not whole.
    private mutating func damage() {
        fragment = []
        damaged += 1
    }

    /// Packets are missing before the next one.
    mutating func lost() {
        if !fragment.isEmpty { damage() }
    }
}
