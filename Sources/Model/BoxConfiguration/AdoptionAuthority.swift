internal import Wire

/// Certificates that stand in an adoption file as an object's `ca`: for a relay, a KAS or a receiver whose authority is its owner's
/// own. They become a file of the box, which the object's `ca_file` names.
public struct AdoptionAuthority: Equatable, Sendable {
    static let name = "ca"
    static let reference = "ca_file"
    /// Bytes of the text, and certificates in it.
    static let sizeLimit = 16 << 10
    static let countLimit = 16
    private static let hint = "Use ca = \"\"\"…\"\"\" with all of the certificate's .pem file between the quotes"

    /// As the file names it: `kas.ca`.
    public var key: String
    /// On the box, absolute.
    public var path: String
    /// PEM (RFC 7468), certificates and nothing beside them.
    public var text: String

    /// - Parameter object: as an error names it: `relay.main`.
    /// - Throws: what is wrong with it. Whether each of them is a certificate, TLS says.
    init(of object: String, _ node: WrittenValue) throws(Finding) {
        guard case .string(let written) = node else {
            throw Finding("is \(node.kind), but must be a string", Self.hint)
        }
        guard written.utf8.count <= Self.sizeLimit else {
            throw Finding(
                "is longer than \(Self.sizeLimit >> 10) KiB", "Take certificates out that this server does not need")
        }
        key = "\(object).\(Self.name)"
        path = "/etc/watchbox/ca-\(object.replacing(".", with: "-")).pem"
        text = try Self.certificates(written)
    }

    /// What stands around certificates, as `openssl s_client` shows them, is left out; a key is refused, whoever pasted it.
    private static func certificates(_ written: String) throws(Finding) -> String {
        let (begin, end) = ("-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----")
        var text = ""
        var count = 0
        var body: String?
        for line in written.split(whereSeparator: \.isNewline) {
            let line = String(line).trimmingSpaces
            if line.contains("PRIVATE KEY") {
                throw Finding(
                    "holds a private key", "Write the certificate alone; whoever has seen the file has the key")
            }
            if line == begin {
                guard body == nil else { throw Finding("has a certificate that does not end", hint) }
                body = ""
            } else if line == end {
                guard let digits = body, let bytes = try? Base64.decode(digits), bytes.first == 0x30 else {
                    throw Finding("has a certificate that is damaged", hint)
                }
                count += 1
                text += "\(begin)\n\(wrapped(digits))\(end)\n"
                body = nil
            } else if body != nil {
                body? += line
            }
        }
        guard body == nil else { throw Finding("has a certificate that does not end", hint) }
        guard count > 0 else { throw Finding("holds no certificate", hint) }
        guard count <= countLimit else { throw Finding("holds more than \(countLimit) certificates", "Take some out") }
        return text
    }

    /// 64 characters a line (RFC 7468, 2).
    private static func wrapped(_ digits: String) -> String {
        var (text, rest) = ("", Substring(digits))
        while !rest.isEmpty {
            text += rest.prefix(64) + "\n"
            rest = rest.dropFirst(64)
        }
        return text
    }
}
