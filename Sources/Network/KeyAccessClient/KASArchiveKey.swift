internal import Cryptography
public import HTTPClient
internal import KeyAccess
public import Settings

/// The RSA key of a KAS, for which archives are wrapped.
public struct KASArchiveKey: Equatable, Sendable {
    /// The base URL that the KAS was asked at.
    public var url: String
    /// The KAS's name of the key; nil when it gives none.
    public var kid: String?
    /// SubjectPublicKeyInfo.
    public var publicKeyPEM: String

    /// Asks the configured KAS; no token is sent.
    ///
    /// - Parameter client: shared with other users of the same KAS; nil for one of its own.
    public static func fetch(
        _ configuration: KASConfiguration, client: HTTPClient? = nil
    ) async throws(KeyAccessError) -> KASArchiveKey {
        try await fetch(configuration, transport: client ?? configuration.makeHTTPClient())
    }

    static func fetch(
        _ configuration: KASConfiguration, transport: any KASTransport
    ) async throws(KeyAccessError) -> KASArchiveKey {
        let response = try await KASConnection(configuration, transport).send(
            .get, configuration.base + "/v2/kas_public_key?algorithm=\(KeyAlgorithm.rsa2048.rawValue)",
            authorised: false)
        let answer = try KASConnection.decode(PublicKeyResponse.self, response.body)
        guard case .rsa(let key)? = try? PublicKeyPEM.load(answer.publicKey), let pem = try? key.spkiPEM() else {
            throw .invalidKey(.archivePublicKey)
        }
        return KASArchiveKey(url: configuration.base, kid: answer.kid, publicKeyPEM: pem)
    }
}
