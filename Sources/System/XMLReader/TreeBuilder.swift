internal import CXML2
internal import ONVIF

/// Elements from the steps of libxml2's reader. The limits hold here as well: what counts is what libxml2 saw.
struct TreeBuilder {
    private let reader: OpaquePointer
    private let limits: XMLReader.Limits
    /// Lines of the document before those that libxml2 got.
    private let lineOffset: Int
    private var open: [XMLElement] = []
    private var elements = 0
    private var textBytes = 0
    /// One String for each name and each namespace, however many elements have it.
    private var names: Set<String> = []
    private var namespaces: Set<String> = []

    init(reader: OpaquePointer, limits: XMLReader.Limits, lineOffset: Int) {
        self.reader = reader
        self.limits = limits
        self.lineOffset = lineOffset
    }

    mutating func root() throws(XMLReaderError) -> XMLElement {
        var root: XMLElement?
        while true {
            switch wb_xml_next(reader) {
            case WB_XML_END:
                guard let root else { throw failure("it has no element") }
                return root
            case WB_XML_ELEMENT:
                let isEmpty = wb_xml_is_empty(reader)
                let element = try element()
                if isEmpty { close(element, &root) } else { open.append(element) }
            case WB_XML_ELEMENT_END:
                guard let element = open.popLast() else { throw failure("an end tag too many") }
                close(element, &root)
            case WB_XML_TEXT:
                guard !open.isEmpty else { continue }
                open[open.count - 1].text += try counted(wb_xml_value(reader))
            case WB_XML_OTHER: continue
            case WB_XML_FORBIDDEN:
                let (line, column, _) = place()
                throw .forbidden(line: line, column: column, reason: "it has a document type or uses an entity")
            default: throw failure(nil)
            }
        }
    }

    private mutating func close(_ element: XMLElement, _ root: inout XMLElement?) {
        if open.isEmpty { root = element } else { open[open.count - 1].children.append(element) }
    }

    private mutating func element() throws(XMLReaderError) -> XMLElement {
        elements += 1
        guard elements <= limits.elements else { throw .limitExceeded(.elements(limits.elements)) }
        guard open.count < limits.depth else { throw .limitExceeded(.depth(limits.depth)) }
        var element = XMLElement(namespace: try namespace(), name: name())
        while wb_xml_next_attribute(reader) {
            guard element.attributes.count < limits.attributes else {
                throw .limitExceeded(.attributes(limits.attributes))
            }
            element.attributes.append(
                XMLElement.Attribute(
                    namespace: try namespace(), name: name(), value: try counted(wb_xml_value(reader))))
        }
        return element
    }

    /// libxml2 leaves a prefix in the name when nothing declares it.
    private mutating func name() -> String {
        var name = Self.text(wb_xml_name(reader))
        if let colon = name.utf8.lastIndex(of: UInt8(ascii: ":")) {
            name = String(name[name.utf8.index(after: colon)...])
        }
        return names.insert(name).memberAfterInsert
    }

    private mutating func namespace() throws(XMLReaderError) -> String {
        let text = Self.text(wb_xml_namespace(reader))
        let (isNew, namespace) = namespaces.insert(text)
        guard isNew else { return namespace }
        guard text.utf8.count <= limits.namespaceBytes else {
            throw .limitExceeded(.namespaceBytes(limits.namespaceBytes))
        }
        try count(text)
        return namespace
    }

    private mutating func counted(_ value: UnsafePointer<CChar>?) throws(XMLReaderError) -> String {
        let text = Self.text(value)
        try count(text)
        return text
    }

    private mutating func count(_ text: String) throws(XMLReaderError) {
        textBytes += text.utf8.count
        guard textBytes <= limits.textBytes else { throw .limitExceeded(.textBytes(limits.textBytes)) }
    }

    private static func text(_ value: UnsafePointer<CChar>?) -> String {
        value.map { String(cString: $0) } ?? ""
    }

    private func failure(_ reason: String?) -> XMLReaderError {
        let (line, column, cause) = place()
        return .malformed(line: line, column: column, reason: reason ?? cause)
    }

    private func place() -> (line: Int, column: Int, reason: String) {
        var line: Int32 = 0
        var column: Int32 = 0
        var reason = [CChar](repeating: 0, count: 200)
        wb_xml_failure(reader, &line, &column, &reason, reason.count)
        return (line > 0 ? Int(line) + lineOffset : 0, Int(max(column, 0)), XMLReader.text(reason))
    }
}
