/// Whose certificate is accepted for a TLS connection.
public enum HTTPTrust: Equatable, Sendable {
    /// One of the configured authorities or of the system's, for the host's name; and with the client's pinned key, when
    /// it has one (`HTTPClient.Configuration.publicKeyPin`).
    case system
    /// The one with this key: "sha256//" and the Base64 of the SHA-256 of its SubjectPublicKeyInfo, as
    /// `HTTPResponse.pin` gives it. Name, authority and dates are not looked at: cameras sign their certificates
    /// themselves.
    case pinned(String)
    /// Any; the answer gives its pin. For the first meeting only, and never with credentials: a request that has some
    /// is refused.
    case firstUse
}
