/// What is refused before libxml2 reads the document: declarations, and more of anything than the limits allow.
///
/// libxml2 2.9 compares each attribute of an element with each other one and each name with all namespaces in force, and
/// reads a document type before it reports it; so a look at the tags comes first. Whether they are well-formed is for
/// libxml2 to say.
struct DocumentCheck {
    private let bytes: [UInt8]
    private let limits: XMLReader.Limits
    private var offset = 0
    private var elements = 0
    /// Namespace declarations of each open element.
    private var open: [Int] = []
    /// Their sum.
    private var namespaces = 0

    static func run(_ text: DocumentText, _ limits: XMLReader.Limits) throws(XMLReaderError) {
        var check = DocumentCheck(bytes: text.bytes, limits: limits)
        do throws(Fault) {
            try check.run()
        } catch {
            let (line, column) = text.position(check.offset)
            switch error {
            case .limit(let limit): throw .limitExceeded(limit)
            case .declaration: throw .forbidden(line: line, column: column, reason: "it has a document type")
            case .malformed(let reason): throw .malformed(line: line, column: column, reason: reason)
            }
        }
    }

    private enum Fault: Error {
        case limit(XMLReaderError.Limit)
        case declaration
        case malformed(String)
    }

    private init(bytes: [UInt8], limits: XMLReader.Limits) {
        self.bytes = bytes
        self.limits = limits
    }

    private mutating func run() throws(Fault) {
        while offset < bytes.count {
            guard bytes[offset] == UInt8(ascii: "<") else {
                offset += 1
                continue
            }
            if continues(with: "<!--") {
                try skip(4, to: "-->", "a comment without an end")
            } else if continues(with: "<![CDATA[") {
                try skip(9, to: "]]>", "a CDATA section without an end")
            } else if continues(with: "<?") {
                try skip(2, to: "?>", "a processing instruction without an end")
            } else if continues(with: "<!") {
                throw .declaration
            } else if continues(with: "</") {
                try skip(2, to: ">", "an end tag without an end")
                namespaces -= open.popLast() ?? 0
            } else {
                try startTag()
            }
        }
    }

    private mutating func startTag() throws(Fault) {
        elements += 1
        guard elements <= limits.elements else { throw .limit(.elements(limits.elements)) }
        guard open.count < limits.depth else { throw .limit(.depth(limits.depth)) }
        var attributes = 0
        var declarations = 0
        var isDeclaration = false
        var valueStart = 0
        var quote: UInt8?
        var place = offset + 1
        while place < bytes.count {
            let byte = bytes[place]
            if let opening = quote {
                if byte == opening {
                    guard !isDeclaration || place - valueStart <= limits.namespaceBytes else {
                        throw .limit(.namespaceBytes(limits.namespaceBytes))
                    }
                    quote = nil
                    isDeclaration = false
                }
            } else {
                switch byte {
                case UInt8(ascii: "\""), UInt8(ascii: "'"):
                    quote = byte
                    valueStart = place + 1
                    if isDeclaration { break }
                    attributes += 1
                    guard attributes <= limits.attributes else { throw .limit(.attributes(limits.attributes)) }
                case UInt8(ascii: ">"):
                    if bytes[place - 1] == UInt8(ascii: "/") {
                        namespaces -= declarations
                    } else {
                        open.append(declarations)
                    }
                    offset = place + 1
                    return
                case UInt8(ascii: "x") where declares(at: place):
                    isDeclaration = true
                    declarations += 1
                    namespaces += 1
                    guard namespaces <= limits.namespaces else { throw .limit(.namespaces(limits.namespaces)) }
                case UInt8(ascii: "<"): throw .malformed("a tag within a tag")
                default: break
                }
            }
            place += 1
        }
        throw .malformed("a tag without an end")
    }

    /// Whether "xmlns" or "xmlns:…" is the name of an attribute here.
    private func declares(at place: Int) -> Bool {
        let name: StaticString = "xmlns"
        let end = place + name.utf8CodeUnitCount
        guard end < bytes.count, Self.isBlank(bytes[place - 1]), matches(name, at: place) else { return false }
        return bytes[end] == UInt8(ascii: ":") || bytes[end] == UInt8(ascii: "=") || Self.isBlank(bytes[end])
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
    }

    private func continues(with text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard bytes.count - offset >= count else { return false }
        return matches(text, at: offset)
    }

    private func matches(_ text: StaticString, at place: Int) -> Bool {
        text.withUTF8Buffer { text in
            for index in 0..<text.count where bytes[place + index] != text[index] { return false }
            return true
        }
    }

    private mutating func skip(_ opening: Int, to end: StaticString, _ fault: String) throws(Fault) {
        let count = end.utf8CodeUnitCount
        var place = offset + opening
        while place <= bytes.count - count {
            if matches(end, at: place) {
                offset = place + count
                return
            }
            place += 1
        }
        throw .malformed(fault)
    }
}
