internal import Wire

/// A public key as JSON (RFC 7517): P-256, RSA or Ed25519.
public struct JSONWebKey: Codable, Equatable, Sendable {
    public var type: String
    public var curve: String?
    public var x: String?
    public var y: String?
    public var modulus: String?
    public var exponent: String?
    public var keyID: String?
    public var algorithm: String?
    public var use: String?

    private enum CodingKeys: String, CodingKey {
        case type = "kty"
        case curve = "crv"
        case x, y
        case modulus = "n"
        case exponent = "e"
        case keyID = "kid"
        case algorithm = "alg"
        case use
    }

    /// - Parameter point: uncompressed SEC1, 65 bytes.
    public init(p256Point point: [UInt8], keyID: String?) {
        type = "EC"
        curve = "P-256"
        x = Base64.encode(point.dropFirst().prefix(32), alphabet: .url)
        y = Base64.encode(point.dropFirst(33), alphabet: .url)
        self.keyID = keyID
        algorithm = SignatureAlgorithm.es256.rawValue
        use = "sig"
    }

    /// - Parameters: both big-endian without leading zeros.
    public init(rsaModulus modulus: [UInt8], exponent: [UInt8], keyID: String?) {
        type = "RSA"
        self.modulus = Base64.encode(modulus, alphabet: .url)
        self.exponent = Base64.encode(exponent, alphabet: .url)
        self.keyID = keyID
    }

    /// The key's numbers, checked for form and length only.
    public enum Material: Equatable, Sendable {
        /// Uncompressed SEC1 point; whether it lies on the curve is for the driver to say.
        case p256([UInt8])
        case rsa(modulus: [UInt8], exponent: [UInt8])
        case ed25519([UInt8])
    }

    public enum Fault: Error, Equatable, Sendable {
        case unsupportedType
        case invalidNumber
    }

    public func material() throws(Fault) -> Material {
        switch type {
        case "EC" where curve == "P-256":
            return .p256([4] + (try number(x, count: 32)) + (try number(y, count: 32)))
        case "OKP" where curve == "Ed25519":
            return .ed25519(try number(x, count: 32))
        case "RSA":
            let modulus = Array(try number(modulus, count: nil).drop { $0 == 0 })
            let exponent = Array(try number(exponent, count: nil).drop { $0 == 0 })
            guard (256...512).contains(modulus.count), (1...8).contains(exponent.count) else { throw .invalidNumber }
            return .rsa(modulus: modulus, exponent: exponent)
        default:
            throw .unsupportedType
        }
    }

    /// The members that RFC 7638 hashes, in its order; SHA-256 of this text is the thumbprint (`jkt`).
    public func thumbprintInput() throws(Fault) -> [UInt8] {
        switch try material() {
        case .p256(let point):
            let x = Base64.encode(point[1..<33], alphabet: .url)
            let y = Base64.encode(point[33...], alphabet: .url)
            return Array(#"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#.utf8)
        case .rsa(let modulus, let exponent):
            let n = Base64.encode(modulus, alphabet: .url)
            let e = Base64.encode(exponent, alphabet: .url)
            return Array(#"{"e":"\#(e)","kty":"RSA","n":"\#(n)"}"#.utf8)
        case .ed25519(let point):
            return Array(#"{"crv":"Ed25519","kty":"OKP","x":"\#(Base64.encode(point, alphabet: .url))"}"#.utf8)
        }
    }

    private func number(_ text: String?, count: Int?) throws(Fault) -> [UInt8] {
        guard let text, text.utf8.count <= 1024 else { throw .invalidNumber }
        do {
            let bytes = try Base64.decode(text)
            guard !bytes.isEmpty, count == nil || bytes.count == count else { throw Fault.invalidNumber }
            return bytes
        } catch {
            throw .invalidNumber
        }
    }
}

/// A JWKS file (RFC 7517 §5).
public struct JSONWebKeySet: Codable, Equatable, Sendable {
    public var keys: [JSONWebKey]
}
