public import Wire

/// The JSON body of a plaintext policy, as profile ntdf-1 writes it (opentdf/spec, schema/OpenTDF/policy.md).
public struct PlaintextPolicy: Equatable, Sendable {
    /// Fresh for each collection.
    public var identifier: RandomUUID
    /// The stream that the collection is for: a KAS of ours gives its key for no other. Nil leaves it out, as OpenTDF
    /// does.
    public var stream: String?
    /// Attribute value URLs; a subscriber must be granted every one.
    public var dataAttributes: [String]
    /// Subjects that may have the key; empty means whoever has the attributes.
    public var dissemination: [String]

    public init(
        identifier: RandomUUID = RandomUUID(), stream: String? = nil, dataAttributes: [String] = [],
        dissemination: [String] = []
    ) {
        self.identifier = identifier
        self.stream = stream
        self.dataAttributes = dataAttributes
        self.dissemination = dissemination
    }

    /// `{"uuid":"…","stream":"…","body":{"dataAttributes":[{"attribute":"…"}],"dissem":["…"]}}`, UTF-8, without white
    /// space. Readers that know no `stream` pass it over.
    public func encoded() -> [UInt8] {
        let attributes = dataAttributes.map { "{\"attribute\":\(Self.quoted($0))}" }.joined(separator: ",")
        let subjects = dissemination.map(Self.quoted).joined(separator: ",")
        let uuid = Self.quoted(identifier.description)
        let stream = stream.map { "\"stream\":\(Self.quoted($0))," } ?? ""
        return Array(
            "{\"uuid\":\(uuid),\(stream)\"body\":{\"dataAttributes\":[\(attributes)],\"dissem\":[\(subjects)]}}".utf8)
    }

    private static func quoted(_ text: String) -> String {
        var output = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": output += "\\\""
            case "\\": output += "\\\\"
            case let control where control.value < 0x20:
                let digits = String(control.value, radix: 16)
                output += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: output.unicodeScalars.append(scalar)
            }
        }
        return output + "\""
    }
}
