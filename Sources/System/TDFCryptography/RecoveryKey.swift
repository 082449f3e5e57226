public import Cryptography
public import KeyAccess
public import TDF
internal import Wire

/// The public half of an RSA key that recordings are wrapped for beside the key of the KAS: whoever has the private half opens them
/// when no KAS is left.
public struct RecoveryKey: Equatable, Sendable {
    /// Why a text is none.
    public enum Fault: Error, Equatable, Sendable {
        /// Somebody named the wrong file; whoever has seen the text has the key.
        case isPrivate
        /// More than ``RecoveryKey/maxLength`` bytes.
        case length(Int)
        case key(CryptoError)
        /// A key, and not of RSA.
        case isNotRSA
    }

    /// Bytes of text that are looked at.
    public static let maxLength = PublicKeyPEM.textLimit
    /// What entries of `keyAccess` for such a key have for a KAS: a name that never leads anywhere (RFC 6761, 6.4), so that no reader
    /// asks anybody for it.
    public static let url = "https://recovery-key.invalid"

    /// Base64 of its SubjectPublicKeyInfo, in one line.
    public let text: String
    /// `sha256//` and the Base64 of the SHA-256 of its SubjectPublicKeyInfo.
    public let fingerprint: String
    /// Of the modulus.
    public let bits: Int

    /// - Parameter text: SubjectPublicKeyInfo in PEM, or the Base64 between its lines.
    public init(_ text: String) throws(Fault) {
        // First: it is worth a word of its own, whatever else is in the text.
        guard !text.contains("PRIVATE KEY") else { throw .isPrivate }
        guard text.utf8.count <= Self.maxLength else { throw .length(text.utf8.count) }
        let pem = text.contains("-----BEGIN ") ? text : Self.pem(of: text)
        let loaded: PublicKeyPEM
        do throws(CryptoError) { loaded = try PublicKeyPEM.load(pem) } catch { throw .key(error) }
        guard case .rsa(let key) = loaded else { throw .isNotRSA }
        do throws(CryptoError) {
            let der = try key.spki()
            // As OpenSSL writes it, so that one key is one text.
            self.text = Base64.encode(der)
            fingerprint = "sha256//" + Base64.encode(Digest.sha256(der))
        } catch {
            throw .key(error)
        }
        bits = key.bits
    }

    /// For an archive, beside its KAS. Its name is the fingerprint.
    public var recipient: TDFRecipient {
        TDFRecipient(url: Self.url, kid: fingerprint, publicKeyPEM: Self.pem(of: text))
    }

    private static func pem(of text: String) -> String {
        "-----BEGIN PUBLIC KEY-----\n\(text)\n-----END PUBLIC KEY-----\n"
    }
}

extension RecoveryKey.Fault: CustomStringConvertible {
    /// After the name of what holds it: `public.pem is not a key of RSA`.
    public var description: String {
        switch self {
        case .isPrivate: "holds a private key"
        case .length(let count): "has \(count) bytes, and at most \(RecoveryKey.maxLength) are read"
        case .key(.invalidKey(.rsaSize(let bits))): "is an RSA key of \(bits) bits, and 2048 to 4096 are taken"
        case .key(.invalidKey(.rsaNumbers)): "is an RSA key whose numbers protect nothing"
        case .key: "is not a public key in PEM"
        case .isNotRSA: "is not a key of RSA"
        }
    }
}

extension KeyAccessObject {
    /// It is wrapped for a ``RecoveryKey``: no KAS can do anything with it.
    public var isForRecoveryKey: Bool { url == RecoveryKey.url }
}
