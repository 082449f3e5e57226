/// What is wrong between a request's `HTTPTrust` and the server; the raw value is the reason of a `.tlsFailed`.
enum TrustFault: String {
    case mismatch = "its certificate is not the one that was accepted"
    case pinnedKey = "its public key is not the pinned one"
    case pinWithoutTLS = "a public key is pinned, but the URL is not https"
    case invalidPin = "the stored pin does not have the form sha256//BASE64"
    case credentials = "credentials are not sent to a server whose certificate nobody has accepted yet"

    /// What the operator can do next.
    var hint: String {
        switch self {
        case .mismatch:
            "If the certificate was renewed on purpose, accept the new one; if not, find out who answers there."
        case .pinnedKey:
            "Compare the pin with the server's certificate: if its owner has a new key, set the new pin; if not, beware."
        case .pinWithoutTLS: "Use an https URL, or take the pin out."
        case .invalidPin: "Accept the server's certificate again."
        case .credentials: "Accept the server's certificate first."
        }
    }
}

extension HTTPClientError {
    /// The server showed another key than the pinned one. Nothing was sent to it, credentials least of all.
    public static func pinMismatch(host: String) -> HTTPClientError {
        .tlsFailed(host: host, reason: TrustFault.mismatch.rawValue)
    }

    /// Whether it is a `pinMismatch`: a changed certificate is the operator's decision, never one for a retry.
    public var isPinMismatch: Bool {
        switch self {
        case .tlsFailed(_, TrustFault.mismatch.rawValue), .tlsFailed(_, TrustFault.pinnedKey.rawValue): true
        default: false
        }
    }
}
