internal import Cryptography
internal import KeyAccess
internal import NanoTDF
internal import Wire

/// The signing key of a box: made here, so that what it may sign is known in one place.
public struct SigningIdentity: Sendable {
    private let key: ECPrivateKey

    /// SubjectPublicKeyInfo PEM: what a KAS is given.
    public var publicKeyPEM: String { (try? key.publicKey.spkiPEM()) ?? "" }
    /// `sha256//…` of the SubjectPublicKeyInfo: what a viewer can demand.
    public var fingerprint: String { key.publicKey.fingerprint }

    public static func generate() throws(KeyAccessError) -> SigningIdentity {
        do { return SigningIdentity(key: try ECPrivateKey.generate(.p256)) } catch { throw .crypto("\(error)") }
    }

    private init(key: ECPrivateKey) { self.key = key }

    /// - Parameter pem: as `privateKeyPEM` gives it; stays the caller's to wipe.
    public init(pem: [UInt8]) throws(KeyAccessError) {
        guard let key = try? ECPrivateKey(pem: pem), key.curve == .p256 else {
            throw .signingKey("it is not a private key on P-256 in PEM")
        }
        self.key = key
    }

    /// For a store of secrets; wipe it after use.
    public func privateKeyPEM() throws(KeyAccessError) -> [UInt8] {
        do { return try key.privateKeyPEMBytes() } catch { throw .crypto("\(error)") }
    }

    /// A new key for one stream, as `DeviceSigner` reads it: whoever has it signs for no other stream. Wipe it after
    /// use.
    public func keyForStream(_ stream: String) throws(KeyAccessError) -> [UInt8] {
        do {
            let own = try ECPrivateKey.generate(.p256)
            let statement = DeviceSignature.delegationStatement(key: own.publicKey.compressed(), stream: stream)
            let word = key.publicKey.compressed() + (try CanonicalES256.sign(statement, with: key))
            return try own.privateKeyPEMBytes() + Array("WatchBox-Delegation: \(Base64.encode(word))\n".utf8)
        } catch {
            throw .crypto("\(error)")
        }
    }

    /// Of what `publicKeyPEM` gave; nil for anything else.
    public static func fingerprint(publicKeyPEM pem: String) -> String? {
        guard case .ec(let key)? = try? PublicKeyPEM.load(pem) else { return nil }
        return key.fingerprint
    }

    /// 24 hexadecimal digits that stand for a device key and a stream: no other pair has them.
    public static func tag(publicKeyPEM pem: String, stream: String) -> String {
        Hexadecimal.encode(Array(Digest.sha256(Array((pem + "\0" + stream).utf8)).prefix(12)))
    }

    /// For what `privateKeyPEM` and `keyForStream` gave.
    public static func wipe(_ bytes: inout [UInt8]) { Wiping.wipe(&bytes) }
}
