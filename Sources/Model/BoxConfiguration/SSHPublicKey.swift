internal import Wire

/// One line of `authorized_keys` without options: whoever has the private half may log in.
public struct SSHPublicKey: Equatable, Sendable {
    /// `ssh-ed25519`
    public let type: String
    /// In Base64, padded.
    public let blob: String
    /// For people; empty: none.
    public let comment: String

    /// How many a box takes.
    public static let countLimit = 16
    /// Bytes of a line; an RSA key of 16384 bits has 2800.
    static let lengthLimit = 4096
    static let hint =
        "Use the one line of a .pub file of your computer, such as \"ssh-ed25519 AAAA… you@laptop\"; ssh-keygen makes one"

    /// A line that sshd can read, and nothing that it would obey beside the key.
    init(_ line: String) throws(Finding) {
        guard !line.contains("PRIVATE KEY") else {
            throw Finding(
                "is a private key, which must not leave your computer",
                "Take it out; the file beside it that ends with .pub is the one to use")
        }
        guard line.utf8.count <= Self.lengthLimit else { throw Finding("is longer than 4096 bytes", Self.hint) }
        guard ShownText.isPrintable(line) else { throw Finding("is not one line of text", Self.hint) }
        let parts = line.split(separator: " ", maxSplits: 2)
        guard let type = parts.first.map(String.init), let kind = Kind(rawValue: type) else {
            throw Finding(
                "does not begin with a kind of key that a box takes",
                "Use one of \(Kind.allCases.map(\.rawValue).joined(separator: ", ")), without options before it")
        }
        guard parts.count >= 2, let bytes = try? Base64.decode(parts[1]), bytes.count > 4 else {
            throw Finding("is cut off, or was changed while it was copied", Self.hint)
        }
        try kind.check(bytes)
        self.type = type
        blob = Base64.encode(bytes)
        comment = parts.count > 2 ? ShownText.cleaned(parts[2], limit: 128).trimmingSpaces : ""
    }

    public var line: String { comment.isEmpty ? "\(type) \(blob)" : "\(type) \(blob) \(comment)" }

    enum Kind: String, CaseIterable {
        case ed25519 = "ssh-ed25519"
        case ecdsa = "ecdsa-sha2-nistp256"
        case rsa = "ssh-rsa"
        case securityKeyEd25519 = "sk-ssh-ed25519@openssh.com"
        case securityKeyECDSA = "sk-ecdsa-sha2-nistp256@openssh.com"

        /// RFC 4253 §6.6, RFC 5656 §3.1, RFC 8709 §4, OpenSSH's PROTOCOL.u2f.
        func check(_ bytes: [UInt8]) throws(Finding) {
            var fields = Fields(bytes)
            guard fields.next() == Array(rawValue.utf8) else {
                throw Finding("says two kinds of key: one before it, another in it", SSHPublicKey.hint)
            }
            let isWhole: Bool
            switch self {
            case .ed25519: isWhole = fields.next()?.count == 32
            case .securityKeyEd25519: isWhole = fields.next()?.count == 32 && fields.next()?.isEmpty == false
            case .ecdsa: isWhole = fields.isPoint()
            case .securityKeyECDSA: isWhole = fields.isPoint() && fields.next()?.isEmpty == false
            case .rsa:
                guard let exponent = fields.next(), let modulus = fields.next() else {
                    throw Finding("is cut off, or was changed while it was copied", SSHPublicKey.hint)
                }
                let bits = Self.bits(modulus)
                guard (2048...16_384).contains(bits), (2...64).contains(Self.bits(exponent)),
                    exponent.last.map({ $0 & 1 }) == 1
                else {
                    throw Finding(
                        "is an RSA key that is too weak, or none", "Make another one: ssh-keygen -t ed25519")
                }
                isWhole = true
            }
            guard isWhole, fields.isAtEnd else {
                throw Finding("is cut off, or was changed while it was copied", SSHPublicKey.hint)
            }
        }

        /// Of a positive number (RFC 4251 §5, mpint); 0 for what is none.
        private static func bits(_ number: [UInt8]) -> Int {
            guard let first = number.first, first < 0x80 else { return 0 }
            let digits = number.drop { $0 == 0 }
            return digits.first.map { digits.count * 8 - $0.leadingZeroBitCount } ?? 0
        }
    }

    /// Strings of SSH (RFC 4251 §5), one after the other.
    private struct Fields {
        private var rest: ArraySlice<UInt8>

        init(_ bytes: [UInt8]) { rest = bytes[...] }

        var isAtEnd: Bool { rest.isEmpty }

        /// Nil at the end, and for one that is cut off.
        mutating func next() -> [UInt8]? {
            guard rest.count >= 4 else { return nil }
            let count = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            guard count <= rest.count - 4 else { return nil }
            defer { rest = rest.dropFirst(4 + count) }
            return Array(rest.dropFirst(4).prefix(count))
        }

        /// Of the curve P-256, not compressed.
        mutating func isPoint() -> Bool {
            guard next() == Array("nistp256".utf8), let point = next() else { return false }
            return point.count == 65 && point[0] == 4
        }
    }
}

extension String {
    /// Without spaces at its ends.
    var trimmingSpaces: String {
        let text = drop { $0 == " " }
        return String(text.reversed().drop { $0 == " " }.reversed())
    }
}
