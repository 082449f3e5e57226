/// How a camera was asked to believe who asks.
public enum LoginScheme: String, Codable, Sendable, CaseIterable {
    /// It asks for nothing, or there is no user to name.
    case none
    /// WS-UsernameToken with PasswordDigest.
    case usernameToken = "username-token"
    /// HTTP Digest (RFC 7616), MD5 or SHA-256.
    case httpDigest = "http-digest"
    /// WS-UsernameToken with PasswordText: everybody on the way can read it.
    case plainText = "plain-text"
}
