internal import Cryptography
internal import NanoTDF
public import Settings
internal import Wire

/// Asks a KAS for its public key once, for a person who wants to know whether it can be reached and whose key it has.
public enum KASProbe {
    /// Lower-case hexadecimal SHA-256 of the public key, as the KAS gives it (SEC1).
    public static func publicKeyFingerprint(_ configuration: KASConfiguration) async throws(KeyAccessError) -> String {
        var fresh = configuration
        // What was kept for the case of an outage is not an answer here.
        fresh.publicKeyCacheFile = nil
        let recipient = try await KASPublicKeyCache(configuration: fresh).recipient()
        return Hexadecimal.encode(Digest.sha256(recipient.publicKey))
    }
}
