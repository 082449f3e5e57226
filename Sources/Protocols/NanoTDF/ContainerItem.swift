internal import Wire

/// One item of a collection as it is in an RTMP message: `IV(3) ‖ length(3) ‖ ciphertext ‖ tag`, the length being
/// that of ciphertext and tag (docs/ref/wire-format.md, "A frame").
public struct ContainerItem: Equatable, Sendable {
    /// Bytes in front of the ciphertext.
    public static let prefixByteCount = 6
    /// Bytes that a sealed item has over its plaintext, with the 16-byte tag that is written.
    public static let overhead = 22
    /// Largest counter value; the first item has 1, and 0 is never written.
    public static let lastCounter: UInt32 = 0xFF_FFFF

    public let counter: UInt32
    public let ciphertext: ArraySlice<UInt8>
    public let tag: ArraySlice<UInt8>

    init(counter: UInt32, ciphertext: ArraySlice<UInt8>, tag: ArraySlice<UInt8>) {
        self.counter = counter
        self.ciphertext = ciphertext
        self.tag = tag
    }

    /// - Parameters:
    ///   - tagByteCount: from the header.
    ///   - limit: bytes of the item at most.
    /// - Throws: `.wire` when cut short or followed by anything, `.invalid(.itemLength, …)` when there is no room for
    ///   the tag, `.tooLarge(.itemLength, …)`.
    public static func parse(
        _ bytes: ArraySlice<UInt8>, tagByteCount: Int, limit: Int = 4 << 20
    ) throws(NanoTDFError) -> ContainerItem {
        let envelope = try ItemEnvelope.parse(bytes, limit: limit)
        return try envelope.split(tagByteCount: tagByteCount)
    }
}

/// An item whose tag size isn't known yet, as its header is still on its way.
struct ItemEnvelope {
    let counter: UInt32
    /// Ciphertext and tag.
    let body: ArraySlice<UInt8>

    static func parse(_ bytes: ArraySlice<UInt8>, limit: Int) throws(NanoTDFError) -> ItemEnvelope {
        var reader = FieldReader<NanoTDFError>(bytes)
        let counter = try reader.readUInt24()
        let length = Int(try reader.readUInt24())
        guard length + ContainerItem.prefixByteCount <= limit else {
            throw .tooLarge(.itemLength, count: length, limit: limit - ContainerItem.prefixByteCount, offset: 3)
        }
        let body = try reader.readBytes(length)
        try reader.finish()
        return ItemEnvelope(counter: counter, body: body)
    }

    func split(tagByteCount: Int) throws(NanoTDFError) -> ContainerItem {
        guard body.count >= tagByteCount else { throw .invalid(.itemLength, offset: 3) }
        let split = body.endIndex - tagByteCount
        return ContainerItem(counter: counter, ciphertext: body[..<split], tag: body[split...])
    }
}
