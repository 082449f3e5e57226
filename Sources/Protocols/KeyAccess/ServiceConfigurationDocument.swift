/// `GET /.well-known/opentdf-configuration`: where this service's endpoints are.
public struct ServiceConfigurationDocument: Codable, Equatable, Sendable {
    public struct KeyAccess: Codable, Equatable, Sendable {
        public var uri: String
        public var algorithms: [String]
        public var publicKeyURL: String
        public var rewrapURL: String
        public var connectPublicKeyURL: String
        public var connectRewrapURL: String

        private enum CodingKeys: String, CodingKey {
            case uri, algorithms
            case publicKeyURL = "public_key_url"
            case rewrapURL = "rewrap_url"
            case connectPublicKeyURL = "connect_public_key_url"
            case connectRewrapURL = "connect_rewrap_url"
        }
    }

    public struct IdentityProvider: Codable, Equatable, Sendable {
        public var issuer: String
        public var jwksURI: String?
        public var tokenEndpoint: String?

        public init(issuer: String, jwksURI: String? = nil, tokenEndpoint: String? = nil) {
            self.issuer = issuer
            self.jwksURI = jwksURI
            self.tokenEndpoint = tokenEndpoint
        }

        private enum CodingKeys: String, CodingKey {
            case issuer
            case jwksURI = "jwks_uri"
            case tokenEndpoint = "token_endpoint"
        }
    }

    public var kas: KeyAccess
    public var idp: IdentityProvider?
    public var platformIssuer: String?

    private enum CodingKeys: String, CodingKey {
        case kas, idp
        case platformIssuer = "platform_issuer"
    }

    /// - Parameter origin: scheme, host and port as clients reach the service, without a trailing slash.
    public init(origin: String, identityProvider: IdentityProvider?) {
        kas = KeyAccess(
            uri: origin + "/kas", algorithms: KeyAlgorithm.allCases.map(\.rawValue),
            publicKeyURL: origin + Route.publicKey, rewrapURL: origin + Route.rewrap,
            connectPublicKeyURL: origin + Route.connectPublicKey, connectRewrapURL: origin + Route.connectRewrap)
        idp = identityProvider
        platformIssuer = identityProvider?.issuer
    }
}

/// Paths of the service, from its origin on.
public enum Route {
    public static let publicKey = "/kas/v2/kas_public_key"
    public static let legacyPublicKey = "/kas/kas_public_key"
    public static let rewrap = "/kas/v2/rewrap"
    public static let legacyRewrap = "/kas/rewrap"
    public static let connectPublicKey = "/kas.AccessService/PublicKey"
    public static let connectLegacyPublicKey = "/kas.AccessService/LegacyPublicKey"
    public static let connectRewrap = "/kas.AccessService/Rewrap"
    public static let configuration = "/.well-known/opentdf-configuration"
    public static let collections = CollectionRegistration.path
    public static let renewToken = "/watchbox/v1/tokens/renew"
    public static let narrowToken = "/watchbox/v1/tokens/narrow"
    public static let health = "/healthz"
}
