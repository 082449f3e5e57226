public import KeyAccess
public import Wire

/// Which KAS is asked, and how. The only KAS that is ever asked: what a header names is not followed, or a relay could have
/// tokens sent to a host of its own.
public struct KASConfiguration: Equatable, Sendable {
    /// `https://kas.example.net/kas`; http for this machine only. Without a path, `/kas` is meant.
    public var url: String
    public var token: AccessTokenSource
    /// Trusted certificates (PEM) in place of the system's.
    public var certificateAuthorityFile: String?
    /// "sha256//" and the Base64 of the SHA-256 of the KAS's SubjectPublicKeyInfo: holds in addition to the chain. Nil: any
    /// key that the chain vouches for.
    public var publicKeyPin: String?
    /// Tried first when a key comes; the other ones of `SessionSalt` after it.
    public var sessionSalt: SessionSalt
    public var keyIdentifier: KeyIdentifierUse
    /// Keeps the last good public key, so that a process can start while the KAS is away.
    public var publicKeyCacheFile: String?
    /// File of the key that registrations are signed with (`DeviceSigner`); nil: they are not signed.
    public var signingKeyFile: String?
    public var connectTimeout: Duration
    /// For a whole request.
    public var timeout: Duration

    public init(
        url: String, token: AccessTokenSource = .none, certificateAuthorityFile: String? = nil,
        publicKeyPin: String? = nil,
        sessionSalt: SessionSalt = .l1l, keyIdentifier: KeyIdentifierUse = .automatic,
        publicKeyCacheFile: String? = nil, signingKeyFile: String? = nil,
        connectTimeout: Duration = .seconds(5), timeout: Duration = .seconds(10)
    ) {
        self.url = url
        self.token = token
        self.certificateAuthorityFile = certificateAuthorityFile
        self.publicKeyPin = publicKeyPin
        self.sessionSalt = sessionSalt
        self.keyIdentifier = keyIdentifier
        self.publicKeyCacheFile = publicKeyCacheFile
        self.signingKeyFile = signingKeyFile
        self.connectTimeout = connectTimeout
        self.timeout = timeout
    }

    /// The URL that endpoints hang on and that headers carry: no slash at the end, never without a path.
    public var base: String {
        var text = Substring(url)
        while text.hasSuffix("/") { text.removeLast() }
        guard let scheme = text.firstRange(of: "://"), !text[scheme.upperBound...].contains("/") else {
            return String(text)
        }
        return text + "/kas"
    }
}

extension KASConfiguration: Codable {
    private enum CodingKeys: String, CodingKey {
        case url, token, tokenFile, certificateAuthorityFile, publicKeyPin, sessionSalt, keyIdentifier,
            publicKeyCacheFile, signingKeyFile
        case connectTimeoutSeconds, timeoutSeconds
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(url: try container.decode(String.self, forKey: .url))
        if let path = try container.decodeIfPresent(String.self, forKey: .tokenFile) {
            token = .file(path)
        } else if let value = try container.decodeIfPresent(String.self, forKey: .token) {
            token = .value(value)
        }
        certificateAuthorityFile = try container.decodeIfPresent(String.self, forKey: .certificateAuthorityFile)
        publicKeyPin = try container.decodeIfPresent(String.self, forKey: .publicKeyPin)
        sessionSalt = try container.decodeIfPresent(SessionSalt.self, forKey: .sessionSalt) ?? sessionSalt
        keyIdentifier = try container.decodeIfPresent(KeyIdentifierUse.self, forKey: .keyIdentifier) ?? keyIdentifier
        publicKeyCacheFile = try container.decodeIfPresent(String.self, forKey: .publicKeyCacheFile)
        signingKeyFile = try container.decodeIfPresent(String.self, forKey: .signingKeyFile)
        connectTimeout = try Self.duration(container, .connectTimeoutSeconds) ?? connectTimeout
        timeout = try Self.duration(container, .timeoutSeconds) ?? timeout
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(url, forKey: .url)
        switch token {
        case .none: break
        case .file(let path): try container.encode(path, forKey: .tokenFile)
        case .value(let value): try container.encode(value, forKey: .token)
        // Belongs to a process and is in none of its files.
        case .held: break
        }
        try container.encodeIfPresent(certificateAuthorityFile, forKey: .certificateAuthorityFile)
        try container.encodeIfPresent(publicKeyPin, forKey: .publicKeyPin)
        try container.encode(sessionSalt, forKey: .sessionSalt)
        try container.encode(keyIdentifier, forKey: .keyIdentifier)
        try container.encodeIfPresent(publicKeyCacheFile, forKey: .publicKeyCacheFile)
        try container.encodeIfPresent(signingKeyFile, forKey: .signingKeyFile)
        try container.encode(connectTimeout.inSeconds, forKey: .connectTimeoutSeconds)
        try container.encode(timeout.inSeconds, forKey: .timeoutSeconds)
    }

    private static func duration(
        _ container: KeyedDecodingContainer<CodingKeys>, _ key: CodingKeys
    ) throws -> Duration? {
        guard let seconds = try container.decodeIfPresent(Double.self, forKey: key) else { return nil }
        guard seconds.isFinite, seconds > 0, seconds <= 3600 else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: container, debugDescription: "a time must be within 0 and 3600 s")
        }
        return .seconds(seconds)
    }
}

extension KASConfiguration: Concealed {
    /// The URL without what may be secret in it; never the token.
    public var description: String { "KAS at \(Self.redacted(base)), \(token)" }

    /// A password does not belong in the URL, nor a query; a URL that has them is shown without.
    private static func redacted(_ url: String) -> String {
        var text = String(url.prefix { $0 != "?" && $0 != "#" })
        guard let scheme = text.firstRange(of: "://") else { return text }
        let end = text[scheme.upperBound...].firstIndex(of: "/") ?? text.endIndex
        if let at = text[scheme.upperBound..<end].lastIndex(of: "@") {
            text.replaceSubrange(scheme.upperBound..<at, with: "***")
        }
        return text
    }
}

extension Duration {
    fileprivate var inSeconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}
