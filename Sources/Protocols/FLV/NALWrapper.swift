public import Media
internal import Wire

/// A sealed item in the shape of one NAL unit, for relays that parse the frames they pass on
/// (docs/ref/wire-format.md, "Wrapped, for relays that parse frames"):
/// `length (4) ‖ NAL unit header ‖ item`. The header is that of a slice: `65` key or `41` inter frame (H.264), `26 01`
/// or `02 01` (H.265); the length counts header and item.
///
/// Nothing is escaped: units with a length before them may hold any bytes. Whoever writes start codes instead would cut
/// a unit where its bytes look like one, and cannot show a sealed frame anyway.
public enum NALWrapper {
    /// What a payload holds, as far as its lengths show.
    public enum Form: Equatable, Sendable {
        /// An item, or nothing that anybody knows.
        case item
        case wrapped(item: ArraySlice<UInt8>)
        /// The lengths fit both ways, which they do by chance. Authentication decides: an item has one form only.
        case either(item: ArraySlice<UInt8>)
    }

    /// IV and length of an item.
    private static let itemPrefix = 6

    /// Bytes before the item.
    public static func byteCount(_ codec: VideoCodec) -> Int {
        switch codec {
        case .h264: 5
        case .hevc: 6
        }
    }

    /// Appends what stands before an item of `itemByteCount` bytes, at most 2^24.
    public static func append(
        codec: VideoCodec, isKeyFrame: Bool, itemByteCount: Int, to bytes: inout [UInt8]
    ) {
        let header = header(codec, isKeyFrame: isKeyFrame)
        bytes.appendUInt32(UInt32(clamping: header.count + itemByteCount))
        bytes += header
    }

    /// Decides by the lengths alone; anything may come in.
    public static func form(of payload: ArraySlice<UInt8>, codec: VideoCodec) -> Form {
        let count = byteCount(codec)
        let item = payload.dropFirst(count)
        let header = payload.dropFirst(4).prefix(count - 4)
        guard bigEndian(payload.prefix(4)) == payload.count - 4, isItem(item),
            header.elementsEqual(self.header(codec, isKeyFrame: true))
                || header.elementsEqual(self.header(codec, isKeyFrame: false))
        else { return .item }
        return isItem(payload) ? .either(item: item) : .wrapped(item: item)
    }

    private static func header(_ codec: VideoCodec, isKeyFrame: Bool) -> [UInt8] {
        switch codec {
        case .h264: isKeyFrame ? [0x65] : [0x41]
        // IDR_W_RADL and TRAIL_R, first layer, first temporal sub-layer.
        case .hevc: isKeyFrame ? [0x26, 0x01] : [0x02, 0x01]
        }
    }

    private static func isItem(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.count >= itemPrefix && bigEndian(bytes.dropFirst(3).prefix(3)) == bytes.count - itemPrefix
    }

    private static func bigEndian(_ bytes: ArraySlice<UInt8>) -> Int {
        bytes.reduce(0) { $0 << 8 | Int($1) }
    }
}
