internal import CXML2
public import ONVIF

/// Reads XML that comes from the network, with libxml2.
///
/// Bounded in size, depth and number before libxml2 sees a byte. Nothing is ever fetched; a document type is refused,
/// and with it every entity but the five of XML itself.
public enum XMLReader {
    /// The most that one document may hold.
    public struct Limits: Equatable, Sendable {
        public var bytes = 1 << 20
        /// Elements within one another, the root counted as 1; more than 200 counts as 200.
        public var depth = 64
        public var elements = 20_000
        /// Of one element, namespace declarations not counted.
        public var attributes = 64
        /// Namespace declarations in force at one place: those of an element and of all around it. libxml2 2.9 looks
        /// through them one by one for each name. Not of the whole document, as some devices declare at each element.
        public var namespaces = 128
        /// Bytes of one namespace, as the document writes it. libxml2 reads its length again for each element in it.
        public var namespaceBytes = 512
        /// Bytes of character data, attribute values and distinct namespaces in all.
        public var textBytes = 1 << 20

        public init() {}

        /// For one datagram from anybody on the network: what the answers of WS-Discovery need, with room.
        ///
        /// 64 KiB, 16 elements within one another, 500 elements, 16 attributes, 64 namespaces, 16 KiB of text.
        public static let datagram: Limits = {
            var limits = Limits()
            limits.bytes = 64 << 10
            limits.depth = 16
            limits.elements = 500
            limits.attributes = 16
            limits.namespaces = 64
            limits.textBytes = 16 << 10
            return limits
        }()
    }

    /// libxml2's own bound is 256 without an option that lifts others too.
    private static let maximumDepth = 200

    /// The document's root element.
    ///
    /// Bytes are UTF-8, with or without a byte order mark, whatever the document declares; what is not UTF-8 becomes
    /// U+FFFD, as a manufacturer's name in another encoding must not hide the device. White space and NUL around the
    /// document, which devices send, are skipped. A name with an undeclared prefix comes without it and without a
    /// namespace.
    public static func parse(
        _ bytes: ArraySlice<UInt8>, limits: Limits = Limits()
    ) throws(XMLReaderError) -> XMLElement {
        guard bytes.count <= limits.bytes else { throw .limitExceeded(.bytes(limits.bytes)) }
        var bounds = limits
        bounds.depth = min(limits.depth, maximumDepth)
        let text = DocumentText(bytes)
        guard !text.bytes.isEmpty, let count = Int32(exactly: text.bytes.count) else {
            throw .malformed(line: 1, column: 1, reason: "there is no document")
        }
        try DocumentCheck.run(text, bounds)
        try load()
        return try text.bytes.withUnsafeBufferPointer { (buffer) throws(XMLReaderError) -> XMLElement in
            guard let start = buffer.baseAddress, let reader = wb_xml_open(start, count) else {
                throw .unavailable(reason: "out of memory")
            }
            defer { wb_xml_close(reader) }
            var tree = TreeBuilder(reader: reader, limits: bounds, lineOffset: text.skippedLines)
            return try tree.root()
        }
    }

    private static func load() throws(XMLReaderError) {
        var failure = [CChar](repeating: 0, count: 320)
        guard wb_xml_load(&failure, failure.count) else {
            throw .unavailable(reason: text(failure))
        }
    }

    /// Up to the first NUL.
    static func text(_ characters: [CChar]) -> String {
        String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
