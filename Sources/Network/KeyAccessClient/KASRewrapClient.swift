internal import Cryptography
internal import FoundationEssentials
public import HTTPClient
internal import KeyAccess
internal import NanoTDF
internal import Platform
public import Settings
internal import Wire

/// Asks the configured KAS for the keys of collections (docs/ref/wire-format.md, "A rewrap").
public struct KASRewrapClient: Sendable {
    /// Seconds that a request token is valid.
    static let tokenLifetime: Int64 = 60

    private let connection: KASConnection
    private let adaptiveTimeout = SharedAdaptiveTimeout()
    /// Unix seconds.
    private let now: @Sendable () -> Int64

    /// - Parameter client: shared with other users of the same KAS; nil for one of its own.
    public init(configuration: KASConfiguration, client: HTTPClient? = nil) {
        self.init(configuration: configuration, transport: client ?? configuration.makeHTTPClient())
    }

    init(
        configuration: KASConfiguration, transport: any KASTransport,
        now: @escaping @Sendable () -> Int64 = { Clocks.wallSeconds }
    ) {
        connection = KASConnection(configuration, transport)
        self.now = now
    }

    /// The key of the collection that this header announces, and what the KAS knows of it. The header's own locator is not
    /// looked at.
    public func rewrap(header: [UInt8]) async throws(KeyAccessError) -> CollectionGrant {
        let clientKey = try Self.crypto { () throws(CryptoError) in try ECPrivateKey.generate(.p256) }
        let body = try KASConnection.encode(
            RewrapRequest(signedRequestToken: try requestToken(for: header, clientKey: clientKey)))
        let response = try await connection.send(
            .post, connection.configuration.base + "/v2/rewrap",
            headers: [HTTPHeader(CollectionFacts.requestHeader.name, CollectionFacts.requestHeader.value)], body: body,
            authorised: true, adaptiveTimeout: adaptiveTimeout)
        let answer = try KASConnection.decode(RewrapResponse.self, response.body)
        return CollectionGrant(
            key: try key(from: answer, clientKey: clientKey), facts: answer.watchbox,
            publisher: PublisherProof(answer.watchbox, header: header))
    }

    // MARK: request

    /// ES256 under a key that is used for this token alone: the KAS checks times and single use, authentication rests
    /// on the bearer token.
    private func requestToken(for header: [UInt8], clientKey: ECPrivateKey) throws(KeyAccessError) -> String {
        let body = try KASConnection.encode(
            try requestBody(for: header, clientKey: clientKey.publicKey))
        let issued = now()
        let identifier = try Self.crypto { () throws(CryptoError) in try SecureRandom.bytes(16) }
        let claims = RewrapRequestClaims(
            requestBody: String(decoding: body, as: UTF8.self), issuedAt: NumericDate(seconds: issued),
            expiresAt: NumericDate(seconds: issued + Self.tokenLifetime), tokenID: Hexadecimal.encode(identifier))
        let input = JSONWebToken.signingInput(
            header: try KASConnection.encode(TokenHeader(algorithm: SignatureAlgorithm.es256.rawValue)),
            claims: try KASConnection.encode(claims))
        let signature = try Self.crypto { () throws(CryptoError) in
            try ECPrivateKey.generate(.p256).signES256(input)
        }
        return JSONWebToken.compact(signingInput: input, signature: signature)
    }

    private func requestBody(
        for header: [UInt8], clientKey: ECPublicKey
    ) throws(KeyAccessError) -> RewrapRequestBody {
        let policy: String?
        do throws(NanoTDFError) {
            // arkavo-rs demands the policy beside the header that holds it.
            policy =
                switch try NanoTDFHeader.parse(header).policy {
                case .plaintext(let body), .encrypted(let body): Base64.encode(body)
                case .remote, .encryptedWithKeyAccess: nil
                }
        } catch {
            throw .invalidHeader
        }
        let object = KeyAccessObject(
            type: "remote", url: connection.configuration.base, protocol: "kas", header: Base64.encode(header))
        let request = RewrapPolicyRequest(
            algorithm: KeyAlgorithm.p256.rawValue, policy: RewrapPolicy(id: "policy", body: policy),
            keyAccessObjects: [IdentifiedKeyAccessObject(keyAccessObjectId: Self.objectID, keyAccessObject: object)])
        let pem = try Self.crypto { () throws(CryptoError) in try clientKey.spkiPEM() }
        return RewrapRequestBody(clientPublicKey: pem, requests: [request])
    }

    private static let objectID = "kao-0"

    // MARK: answer

    private func key(from answer: RewrapResponse, clientKey: ECPrivateKey) throws(KeyAccessError) -> CollectionKey {
        // One was asked for; a KAS that forgets to repeat the identifier is understood.
        let results = answer.responses.flatMap(\.results)
        guard
            let result = results.first(where: { $0.keyAccessObjectId == Self.objectID })
                ?? (results.count == 1 ? results.first : nil)
        else { throw .garbage(.missingResult) }
        guard result.isPermitted else {
            throw .denied(reason: KeyAccessError.printable(result.error ?? result.metadata?["error"] ?? ""))
        }
        guard let text = result.kasWrappedKey, let wrapped = try? Base64.decode(text),
            wrapped.count == Self.wrappedByteCount
        else { throw .garbage(.wrappedKeyForm) }
        guard case .ec(let sessionKey)? = try? PublicKeyPEM.load(answer.sessionPublicKey) else {
            throw .invalidKey(.sessionKey)
        }
        return try unwrap(wrapped, sessionKey: sessionKey, clientKey: clientKey)
    }

    /// Nonce 12 ‖ AES-256-GCM(key) 32 ‖ tag 16.
    private static let wrappedByteCount = 12 + CollectionKey.byteCount + 16

    private func unwrap(
        _ wrapped: [UInt8], sessionKey: ECPublicKey, clientKey: ECPrivateKey
    ) throws(KeyAccessError) -> CollectionKey {
        let first = connection.configuration.sessionSalt
        for salt in [first] + SessionSalt.allCases.filter({ $0 != first }) {
            var wrappingKey = try Self.crypto { () throws(CryptoError) in
                try clientKey.deriveKey(with: sessionKey, salt: salt.bytes)
            }
            defer { Wiping.wipe(&wrappingKey) }
            do throws(CryptoError) {
                var key = try AESGCM.open(
                    key: wrappingKey, nonce: Array(wrapped.prefix(12)), ciphertextAndTag: Array(wrapped.dropFirst(12)))
                guard let collectionKey = try? CollectionKey(wiping: &key) else { throw .authenticationFailed }
                return collectionKey
            } catch {
                guard error == .authenticationFailed else { throw .crypto("\(error)") }
            }
        }
        throw .invalidKey(.wrappedKey)
    }

    private static func crypto<R>(_ body: () throws(CryptoError) -> R) throws(KeyAccessError) -> R {
        do { return try body() } catch { throw .crypto("\(error)") }
    }
}
