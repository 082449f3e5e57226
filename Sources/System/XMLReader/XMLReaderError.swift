/// Why a document was not read.
public enum XMLReaderError: Error, Equatable, Sendable {
    /// Not well-formed. Line and column count from 1; 0 where they are not known.
    case malformed(line: Int, column: Int, reason: String)
    /// It declares a document type or uses an entity: neither belongs into SOAP (SOAP 1.2 part 1 §5), and both have
    /// been ways to read files and to fill memory.
    case forbidden(line: Int, column: Int, reason: String)
    case limitExceeded(Limit)
    /// libxml2 is missing or out of memory.
    case unavailable(reason: String)

    public enum Limit: Equatable, Sendable {
        /// Bytes of the document.
        case bytes(Int)
        /// Elements within one another, the root counted as 1.
        case depth(Int)
        case elements(Int)
        /// Attributes of one element, namespace declarations not counted.
        case attributes(Int)
        /// Namespace declarations in force at one place.
        case namespaces(Int)
        /// Bytes of one namespace.
        case namespaceBytes(Int)
        /// Bytes of character data, attribute values and distinct namespaces in all.
        case textBytes(Int)
    }
}

extension XMLReaderError: CustomStringConvertible {
    /// What happened, and why.
    public var description: String {
        switch self {
        case .malformed(let line, let column, let reason):
            "not well-formed XML at line \(line), column \(column): \(reason)"
        case .forbidden(let line, let column, let reason):
            "refused XML at line \(line), column \(column): \(reason)"
        case .limitExceeded(.bytes(let limit)): "XML of more than \(limit) bytes"
        case .limitExceeded(.depth(let limit)): "XML with more than \(limit) elements within one another"
        case .limitExceeded(.elements(let limit)): "XML of more than \(limit) elements"
        case .limitExceeded(.attributes(let limit)): "XML with more than \(limit) attributes in one element"
        case .limitExceeded(.namespaces(let limit)):
            "XML with more than \(limit) namespace declarations at one place"
        case .limitExceeded(.namespaceBytes(let limit)): "XML with a namespace of more than \(limit) bytes"
        case .limitExceeded(.textBytes(let limit)): "XML with more than \(limit) bytes of text"
        case .unavailable(let reason): "XML cannot be read: \(reason)"
        }
    }
}
