/// A datagram of WS-Discovery from a device.
public struct DiscoveryMessage: Equatable, Sendable {
    public enum Content: Equatable, Sendable {
        /// The answer to a Probe.
        case matches([DiscoveredTarget])
        /// A device has come, or has another address.
        case hello(DiscoveredTarget)
        /// A device says that it goes.
        case bye(DiscoveredTarget)
        /// Something else, such as another program's Probe.
        case other(action: String)
    }

    /// Of the sender's choice; the same when it repeats a message. Empty when there is none.
    public var messageID: String
    public var content: Content

    /// Targets in one answer, types and scopes of one target, and characters of one text that are kept.
    static let targetLimit = 64
    static let wordLimit = 64
    static let textLimit = 512

    /// Reads an envelope. What the answer relates to is not looked at: cameras get it wrong, and who would forge an
    /// answer has read the Probe.
    ///
    /// - Parameter source: the address that the datagram came from.
    /// - Throws: when it is not an envelope with a body.
    public static func parse(_ root: XMLElement, source: String) throws(DiscoveryMessageError) -> DiscoveryMessage {
        guard root.name == "Envelope" else { throw .notAnEnvelope(root: String(root.name.prefix(64))) }
        guard let content = root.child("Body")?.children.first else { throw .empty }
        let messageID = root.descendant("Header", "MessageID").map(text(of:)) ?? ""
        return DiscoveryMessage(messageID: messageID, content: self.content(content, source: source))
    }

    private static func content(_ element: XMLElement, source: String) -> Content {
        guard element.namespace == DiscoveryNames.discovery else {
            return .other(action: String(element.name.prefix(64)))
        }
        switch element.name {
        case "ProbeMatches":
            let matches = element.children(named: "ProbeMatch")
            return .matches(matches.prefix(targetLimit).map { target($0, source: source) })
        case "Hello": return .hello(target(element, source: source))
        case "Bye": return .bye(target(element, source: source))
        default: return .other(action: String(element.name.prefix(64)))
        }
    }

    private static func target(_ element: XMLElement, source: String) -> DiscoveredTarget {
        DiscoveredTarget(
            endpoint: element.descendant("EndpointReference", "Address").map(text(of:)),
            types: words(element.child("Types")), scopes: words(element.child("Scopes")),
            addresses: DiscoveryAddress.repaired(element.child("XAddrs")?.text ?? "", source: source),
            metadataVersion: element.child("MetadataVersion").flatMap { UInt32(text(of: $0)) } ?? 0, source: source)
    }

    private static func words(_ element: XMLElement?) -> [String] {
        let words = (element?.text ?? "").split(whereSeparator: \.isWhitespace)
        return words.lazy.filter { $0.utf8.count <= textLimit }.prefix(wordLimit).map(String.init)
    }

    private static func text(of element: XMLElement) -> String {
        String(element.text.trimmingSpaces.prefix(textLimit))
    }
}

/// Why a datagram is not a WS-Discovery message.
public enum DiscoveryMessageError: Error, Equatable, Sendable, CustomStringConvertible {
    case notAnEnvelope(root: String)
    case empty

    public var description: String {
        switch self {
        case .notAnEnvelope(let root): "the document is <\(root)>, not a SOAP envelope"
        case .empty: "the envelope has nothing in its body"
        }
    }
}
