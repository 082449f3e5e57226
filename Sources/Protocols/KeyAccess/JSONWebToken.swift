public import Wire

/// A JWT in compact form (RFC 7515 §7.1), split and decoded but neither verified nor parsed as JSON.
public struct JSONWebToken: Equatable, Sendable {
    /// JSON text of the protected header.
    public var header: [UInt8]
    /// JSON text of the claims.
    public var claims: [UInt8]
    public var signature: [UInt8]
    /// What the signature covers: the first two parts as they came, with the dot.
    public var signingInput: [UInt8]

    public enum Part: Equatable, Sendable {
        case header, claims, signature
    }

    public enum Fault: Error, Equatable, Sendable {
        /// Longer than the caller allows.
        case tooLong(count: Int, limit: Int)
        /// Dots separate this many parts instead of three.
        case partCount(Int)
        case invalidBase64(Part, Base64.Fault)
    }

    /// - Parameter limit: the longest text accepted, in bytes.
    public init(compact text: some StringProtocol, limit: Int) throws(Fault) {
        let bytes = Array(text.utf8)
        guard bytes.count <= limit else { throw .tooLong(count: bytes.count, limit: limit) }
        let parts = bytes.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .partCount(parts.count) }
        header = try Self.decode(parts[0], as: .header)
        claims = try Self.decode(parts[1], as: .claims)
        signature = try Self.decode(parts[2], as: .signature)
        signingInput = Array(bytes[..<parts[1].endIndex])
    }

    /// The first two parts of a token that is about to be signed.
    public static func signingInput(header: [UInt8], claims: [UInt8]) -> [UInt8] {
        Array((Base64.encode(header, alphabet: .url) + "." + Base64.encode(claims, alphabet: .url)).utf8)
    }

    /// - Parameter signature: over `signingInput`, in the form of JWS (ES256: r ‖ s).
    public static func compact(signingInput: [UInt8], signature: [UInt8]) -> String {
        String(decoding: signingInput, as: UTF8.self) + "." + Base64.encode(signature, alphabet: .url)
    }

    private static func decode(_ part: ArraySlice<UInt8>, as name: Part) throws(Fault) -> [UInt8] {
        // Base64url without padding only (RFC 7515 §2): another spelling of the same token would slip past a
        // replay memory that remembers bytes.
        for (offset, character) in part.enumerated() {
            let isDigit =
                switch character {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            guard isDigit else { throw .invalidBase64(name, .invalidCharacter(offset: offset)) }
        }
        do {
            return try Base64.decode(utf8: Array(part))
        } catch {
            throw .invalidBase64(name, error)
        }
    }
}

/// Protected header of a token.
public struct TokenHeader: Codable, Equatable, Sendable {
    public var algorithm: String
    public var type: String?
    public var keyID: String?
    /// Public key of a DPoP proof (RFC 9449 §4.2).
    public var key: JSONWebKey?
    /// Extensions that must be understood (RFC 7515 §4.1.11). We understand none, so any entry refuses the token.
    public var critical: [String]?

    public init(algorithm: String, type: String? = "JWT", keyID: String? = nil, key: JSONWebKey? = nil) {
        self.algorithm = algorithm
        self.type = type
        self.keyID = keyID
        self.key = key
    }

    private enum CodingKeys: String, CodingKey {
        case algorithm = "alg"
        case type = "typ"
        case keyID = "kid"
        case key = "jwk"
        case critical = "crit"
    }
}

/// Signature algorithms that are known at all; `none` is not among them.
public enum SignatureAlgorithm: String, Codable, CaseIterable, Sendable {
    case es256 = "ES256"
    case rs256 = "RS256"
    case eddsa = "EdDSA"
    case hs256 = "HS256"
}
