/// Body of `POST /kas/v2/rewrap` and message `kas.RewrapRequest`: one signed JWT that holds the real request.
public struct RewrapRequest: Codable, Equatable, Sendable {
    /// JWT in compact form whose claim `requestBody` is the JSON text of a `RewrapRequestBody`.
    public var signedRequestToken: String

    public init(signedRequestToken: String) {
        self.signedRequestToken = signedRequestToken
    }

    /// OpenTDFKit writes the first spelling, protojson clients the second.
    private enum CodingKeys: String, CodingKey {
        case underscored = "signed_request_token"
        case camelCased = "signedRequestToken"
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let token = try container.decodeIfPresent(String.self, forKey: .underscored) {
            signedRequestToken = token
        } else {
            signedRequestToken = try container.decode(String.self, forKey: .camelCased)
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(signedRequestToken, forKey: .underscored)
    }
}

/// Claims of the request token.
public struct RewrapRequestClaims: Codable, Equatable, Sendable {
    /// JSON text of a `RewrapRequestBody`.
    public var requestBody: String
    public var issuedAt: NumericDate?
    public var expiresAt: NumericDate?
    /// Makes a token single-use without its bytes being unique; few clients send it.
    public var tokenID: String?

    public init(requestBody: String, issuedAt: NumericDate?, expiresAt: NumericDate?, tokenID: String? = nil) {
        self.requestBody = requestBody
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.tokenID = tokenID
    }

    private enum CodingKeys: String, CodingKey {
        case requestBody
        case issuedAt = "iat"
        case expiresAt = "exp"
        case tokenID = "jti"
    }
}

/// What a client asks: a key to answer to, and the keys that it wants.
public struct RewrapRequestBody: Codable, Equatable, Sendable {
    /// PEM text; the forms in use differ (`Crypto.PublicKeyPEM` reads them).
    public var clientPublicKey: String
    /// Present in the v2 form. Empty in the v1 form, which `unified` turns into one entry.
    public var requests: [RewrapPolicyRequest]
    /// v1 form only; otdf-python repeats it beside `requests`, where it is ignored.
    public var keyAccess: KeyAccessObject?
    /// v1 form only: base64 of the policy.
    public var policy: String?
    /// v1 form only.
    public var algorithm: String?

    public init(clientPublicKey: String, requests: [RewrapPolicyRequest]) {
        self.clientPublicKey = clientPublicKey
        self.requests = requests
    }

    private enum CodingKeys: String, CodingKey {
        case clientPublicKey, requests, keyAccess, policy, algorithm
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        clientPublicKey = try container.decode(String.self, forKey: .clientPublicKey)
        requests = try container.decodeIfPresent([RewrapPolicyRequest].self, forKey: .requests) ?? []
        guard requests.isEmpty else { return }
        keyAccess = try container.decodeIfPresent(KeyAccessObject.self, forKey: .keyAccess)
        policy = try container.decodeIfPresent(String.self, forKey: .policy)
        algorithm = try container.decodeIfPresent(String.self, forKey: .algorithm)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(clientPublicKey, forKey: .clientPublicKey)
        if requests.isEmpty, keyAccess != nil {
            try container.encodeIfPresent(keyAccess, forKey: .keyAccess)
            try container.encodeIfPresent(policy, forKey: .policy)
            try container.encodeIfPresent(algorithm, forKey: .algorithm)
        } else {
            try container.encode(requests, forKey: .requests)
        }
    }

    /// True when the body is in the v1 form: the answer then also carries `entityWrappedKey`.
    public var isLegacyForm: Bool { requests.isEmpty && keyAccess != nil }

    /// The requests, a v1 body as its one entry.
    public var unified: [RewrapPolicyRequest] {
        guard isLegacyForm, let keyAccess else { return requests }
        return [
            RewrapPolicyRequest(
                algorithm: algorithm,
                policy: RewrapPolicy(id: "policy", body: policy),
                keyAccessObjects: [IdentifiedKeyAccessObject(keyAccessObjectId: "kao-0", keyAccessObject: keyAccess)])
        ]
    }
}

/// One policy and the key access objects that it governs.
public struct RewrapPolicyRequest: Codable, Equatable, Sendable {
    /// `ec:secp256r1` for NanoTDF; `rsa:2048`, empty or missing for TDF3.
    public var algorithm: String?
    public var policy: RewrapPolicy
    public var keyAccessObjects: [IdentifiedKeyAccessObject]

    public init(algorithm: String?, policy: RewrapPolicy, keyAccessObjects: [IdentifiedKeyAccessObject]) {
        self.algorithm = algorithm
        self.policy = policy
        self.keyAccessObjects = keyAccessObjects
    }

    private enum CodingKeys: String, CodingKey {
        case algorithm, policy, keyAccessObjects
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        algorithm = try container.decodeIfPresent(String.self, forKey: .algorithm)
        policy = try container.decodeIfPresent(RewrapPolicy.self, forKey: .policy) ?? RewrapPolicy(id: "", body: nil)
        keyAccessObjects =
            try container.decodeIfPresent([IdentifiedKeyAccessObject].self, forKey: .keyAccessObjects) ?? []
    }
}

public struct RewrapPolicy: Codable, Equatable, Sendable {
    /// Chosen by the client; comes back as `policyId`.
    public var id: String
    /// Base64 of the policy. Needed for TDF3, ignored for NanoTDF, whose policy is in the header.
    public var body: String?

    public init(id: String, body: String?) {
        self.id = id
        self.body = body
    }

    private enum CodingKeys: String, CodingKey {
        case id, body
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decodeIfPresent(String.self, forKey: .id) ?? ""
        body = try container.decodeIfPresent(String.self, forKey: .body)
    }
}

public struct IdentifiedKeyAccessObject: Codable, Equatable, Sendable {
    /// Chosen by the client; comes back in the result.
    public var keyAccessObjectId: String
    public var keyAccessObject: KeyAccessObject

    public init(keyAccessObjectId: String, keyAccessObject: KeyAccessObject) {
        self.keyAccessObjectId = keyAccessObjectId
        self.keyAccessObject = keyAccessObject
    }

    private enum CodingKeys: String, CodingKey {
        case keyAccessObjectId, keyAccessObject
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        keyAccessObjectId = try container.decodeIfPresent(String.self, forKey: .keyAccessObjectId) ?? ""
        keyAccessObject = try container.decode(KeyAccessObject.self, forKey: .keyAccessObject)
    }
}
