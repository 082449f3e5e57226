/// Answer to a rewrap; also message `kas.RewrapResponse`.
public struct RewrapResponse: Codable, Equatable, Sendable {
    public var responses: [PolicyRewrapResult]
    /// SPKI PEM of the session key; empty when the client key is RSA.
    public var sessionPublicKey: String
    public var schemaVersion: String?
    /// Base64; only in the answer to a v1 body, equal to the first result's key.
    public var entityWrappedKey: String?
    /// Only for a client that asked for it, and only when one key was asked for and given.
    public var watchbox: CollectionFacts?

    public init(
        responses: [PolicyRewrapResult], sessionPublicKey: String, schemaVersion: String? = "1.0.0",
        entityWrappedKey: String? = nil, watchbox: CollectionFacts? = nil
    ) {
        self.responses = responses
        self.sessionPublicKey = sessionPublicKey
        self.schemaVersion = schemaVersion
        self.entityWrappedKey = entityWrappedKey
        self.watchbox = watchbox
    }

    private enum CodingKeys: String, CodingKey {
        case responses, sessionPublicKey, schemaVersion, entityWrappedKey, watchbox
    }

    /// Absent fields are protojson's spelling of empty ones.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        responses = try container.decodeIfPresent([PolicyRewrapResult].self, forKey: .responses) ?? []
        sessionPublicKey = try container.decodeIfPresent(String.self, forKey: .sessionPublicKey) ?? ""
        schemaVersion = try container.decodeIfPresent(String.self, forKey: .schemaVersion)
        entityWrappedKey = try container.decodeIfPresent(String.self, forKey: .entityWrappedKey)
        // Another service may use the name for something else, which says nothing about the key.
        watchbox = try? container.decodeIfPresent(CollectionFacts.self, forKey: .watchbox)
    }
}

public struct PolicyRewrapResult: Codable, Equatable, Sendable {
    public var policyId: String
    public var results: [KeyAccessRewrapResult]

    public init(policyId: String, results: [KeyAccessRewrapResult]) {
        self.policyId = policyId
        self.results = results
    }

    private enum CodingKeys: String, CodingKey {
        case policyId, results
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        policyId = try container.decodeIfPresent(String.self, forKey: .policyId) ?? ""
        results = try container.decodeIfPresent([KeyAccessRewrapResult].self, forKey: .results) ?? []
    }
}

/// The outcome for one key access object.
public struct KeyAccessRewrapResult: Codable, Equatable, Sendable {
    /// `permit` or `fail`.
    public var status: String
    public var keyAccessObjectId: String
    /// Base64 of nonce 12 ‖ AES-256-GCM(key) ‖ tag 16 under the session key, or of RSA-OAEP-SHA1(key).
    public var kasWrappedKey: String?
    /// Why, when `status` is `fail`. otdf-python shows this one.
    public var error: String?
    /// `["error": …]` when `status` is `fail` (OpenTDFKit shows this one); never present on success, because
    /// OpenTDFKit decodes it as string to string and breaks on anything else.
    public var metadata: [String: String]?

    public static func permit(id: String, wrappedKey: String) -> KeyAccessRewrapResult {
        KeyAccessRewrapResult(status: "permit", keyAccessObjectId: id, kasWrappedKey: wrappedKey)
    }

    public static func fail(id: String, error: String) -> KeyAccessRewrapResult {
        KeyAccessRewrapResult(status: "fail", keyAccessObjectId: id, error: error, metadata: ["error": error])
    }

    public var isPermitted: Bool { status == "permit" }

    init(
        status: String, keyAccessObjectId: String, kasWrappedKey: String? = nil, error: String? = nil,
        metadata: [String: String]? = nil
    ) {
        self.status = status
        self.keyAccessObjectId = keyAccessObjectId
        self.kasWrappedKey = kasWrappedKey
        self.error = error
        self.metadata = metadata
    }

    private enum CodingKeys: String, CodingKey {
        case status, keyAccessObjectId, kasWrappedKey, error, metadata
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        status = try container.decodeIfPresent(String.self, forKey: .status) ?? ""
        keyAccessObjectId = try container.decodeIfPresent(String.self, forKey: .keyAccessObjectId) ?? ""
        kasWrappedKey = try container.decodeIfPresent(String.self, forKey: .kasWrappedKey)
        error = try container.decodeIfPresent(String.self, forKey: .error)
        // Other services put objects here (`X-Required-Obligations`): not an error, and nothing that we use.
        metadata = try? container.decodeIfPresent([String: String].self, forKey: .metadata)
    }
}
