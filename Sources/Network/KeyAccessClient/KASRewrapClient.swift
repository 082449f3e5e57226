internal import Cryptography
internal import FoundationEssentials
public import HTTPClient
public import KeyAccess
public import NanoTDF
internal import Platform
public import Settings
internal import Wire

/// Asks the configured KAS for the keys of collections and archives (docs/ref/wire-format.md, "A rewrap").
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
        let object = KeyAccessObject(
            type: "remote", url: connection.configuration.base, protocol: "kas", header: Base64.encode(header))
        let (key, answer) = try await collectionKey(
            object, policy: try Self.policy(of: header), algorithm: .p256, salt: connection.configuration.sessionSalt,
            headers: [HTTPHeader(CollectionFacts.requestHeader.name, CollectionFacts.requestHeader.value)],
            adaptiveTimeout: adaptiveTimeout)
        return CollectionGrant(
            key: key, facts: answer.watchbox, publisher: PublisherProof(answer.watchbox, header: header))
    }

    /// The key of an archive (docs/ref/wire-format.md, "TDF3").
    ///
    /// - Parameters:
    ///   - object: an entry of `keyAccess` of its manifest. Its URL is not looked at.
    ///   - policy: base64, as the manifest has it.
    public func rewrap(
        archive object: KeyAccessObject, policy: String
    ) async throws(KeyAccessError) -> CollectionKey {
        var object = object
        // No KAS needs it for the key, and it may be of any length.
        object.encryptedMetadata = nil
        return try await collectionKey(object, policy: policy, algorithm: .rsa2048, salt: .tdf).key
    }

    /// The key of an archive of profile F, which has 16 bytes.
    ///
    /// - Parameter policy: nil: its manifest has none.
    public func rewrapContentKey(
        archive object: KeyAccessObject, policy: String?
    ) async throws(KeyAccessError) -> ContentKey {
        var object = object
        object.encryptedMetadata = nil
        var (key, _) = try await rewrap(
            object, policy: policy, algorithm: .rsa2048, salt: .tdf, keySize: ContentKey.byteCount)
        guard let contentKey = try? ContentKey(wiping: &key) else { throw .invalidKey(.wrappedKey) }
        return contentKey
    }

    private func collectionKey(
        _ object: KeyAccessObject, policy: String?, algorithm: KeyAlgorithm, salt: SessionSalt,
        headers: [HTTPHeader] = [], adaptiveTimeout: SharedAdaptiveTimeout? = nil
    ) async throws(KeyAccessError) -> (key: CollectionKey, answer: RewrapResponse) {
        var (key, answer) = try await rewrap(
            object, policy: policy, algorithm: algorithm, salt: salt, keySize: CollectionKey.byteCount,
            headers: headers, adaptiveTimeout: adaptiveTimeout)
        guard let collectionKey = try? CollectionKey(wiping: &key) else { throw .invalidKey(.wrappedKey) }
        return (collectionKey, answer)
    }

    /// - Parameters:
    ///   - salt: tried first.
    ///   - keySize: bytes.
    /// - Returns: the key, for the caller to wipe.
    private func rewrap(
        _ object: KeyAccessObject, policy: String?, algorithm: KeyAlgorithm, salt: SessionSalt, keySize: Int,
        headers: [HTTPHeader] = [], adaptiveTimeout: SharedAdaptiveTimeout? = nil
    ) async throws(KeyAccessError) -> (key: [UInt8], answer: RewrapResponse) {
        let clientKey = try Self.crypto { () throws(CryptoError) in try ECPrivateKey.generate(.p256) }
        let request = RewrapPolicyRequest(
            algorithm: algorithm.rawValue, policy: RewrapPolicy(id: "policy", body: policy),
            keyAccessObjects: [IdentifiedKeyAccessObject(keyAccessObjectId: Self.objectID, keyAccessObject: object)])
        let pem = try Self.crypto { () throws(CryptoError) in try clientKey.publicKey.spkiPEM() }
        let token = try requestToken(for: RewrapRequestBody(clientPublicKey: pem, requests: [request]))
        let response = try await connection.send(
            .post, connection.configuration.base + "/v2/rewrap", headers: headers,
            body: try KASConnection.encode(RewrapRequest(signedRequestToken: token)), authorised: true,
            adaptiveTimeout: adaptiveTimeout)
        let answer = try KASConnection.decode(RewrapResponse.self, response.body)
        return (try key(from: answer, clientKey: clientKey, salt: salt, size: keySize), answer)
    }

    // MARK: request

    /// ES256 under a key that is used for this token alone: the KAS checks times and single use, authentication rests
    /// on the bearer token.
    private func requestToken(for body: RewrapRequestBody) throws(KeyAccessError) -> String {
        let body = try KASConnection.encode(body)
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

    /// Base64; nil where the header holds none. arkavo-rs demands the policy beside the header that holds it.
    private static func policy(of header: [UInt8]) throws(KeyAccessError) -> String? {
        do throws(NanoTDFError) {
            return switch try NanoTDFHeader.parse(header).policy {
            case .plaintext(let body), .encrypted(let body): Base64.encode(body)
            case .remote, .encryptedWithKeyAccess: nil
            }
        } catch {
            throw .invalidHeader
        }
    }

    private static let objectID = "kao-0"

    // MARK: answer

    private func key(
        from answer: RewrapResponse, clientKey: ECPrivateKey, salt: SessionSalt, size: Int
    ) throws(KeyAccessError) -> [UInt8] {
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
            wrapped.count == Self.wrappingByteCount + size
        else { throw .garbage(.wrappedKeyForm) }
        guard case .ec(let sessionKey)? = try? PublicKeyPEM.load(answer.sessionPublicKey) else {
            throw .invalidKey(.sessionKey)
        }
        return try unwrap(wrapped, sessionKey: sessionKey, clientKey: clientKey, salt: salt)
    }

    /// Nonce 12 ‖ AES-256-GCM(key) ‖ tag 16.
    private static let wrappingByteCount = 12 + 16

    private func unwrap(
        _ wrapped: [UInt8], sessionKey: ECPublicKey, clientKey: ECPrivateKey, salt first: SessionSalt
    ) throws(KeyAccessError) -> [UInt8] {
        for salt in [first] + SessionSalt.allCases.filter({ $0 != first }) {
            var wrappingKey = try Self.crypto { () throws(CryptoError) in
                try clientKey.deriveKey(with: sessionKey, salt: salt.bytes)
            }
            defer { Wiping.wipe(&wrappingKey) }
            do throws(CryptoError) {
                return try AESGCM.open(
                    key: wrappingKey, nonce: Array(wrapped.prefix(12)), ciphertextAndTag: Array(wrapped.dropFirst(12)))
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
