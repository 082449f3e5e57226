public import HTTPClient
internal import Platform
internal import Wire

/// Why a KAS gave no key. Holds no token and no key.
public enum KeyAccessError: Error, Equatable, Sendable {
    public enum TokenFault: Equatable, Sendable {
        /// `errno` of the call that failed.
        case system(CInt)
        case notAFile
        case empty
        case tooLong(limit: Int)
        case invalidCharacter
    }

    /// What is wrong with an answer of status 200.
    public enum AnswerFault: Equatable, Sendable {
        /// Not JSON, too deep, or without a field that must be there.
        case unreadable
        /// No result for what was asked.
        case missingResult
        /// The wrapped key is not base64, or not nonce, 32 bytes and tag.
        case wrappedKeyForm
        /// 304 although nothing was asked for conditionally.
        case unexpectedNotModified
    }

    public enum KeyFault: Equatable, Sendable {
        /// The KAS's public key is not a P-256 key in PEM.
        case publicKey
        /// The KAS's key for archives is not an RSA key in PEM.
        case archivePublicKey
        /// The session key of an answer is invalid.
        case sessionKey
        /// The wrapped key opens under none of the known salts: it is damaged, or not meant for this request.
        case wrappedKey
    }

    /// The header that a key is asked for is not a NanoTDF header.
    case invalidHeader
    case tokenUnreadable(path: String?, TokenFault)
    /// The key that registrations are signed with is invalid, or can't be read. Says why, and nothing of the key.
    case signingKey(String)
    /// The configured URL, token or CA file can't be used.
    case configuration(HTTPClientError)
    /// No connection, or it broke.
    case unreachable(HTTPClientError)
    /// No complete answer in time.
    case slow(HTTPClientError)
    /// An answer of another status than 200. `message` is the KAS's own, shortened to printable text.
    case status(Int, message: String)
    case garbage(AnswerFault)
    /// What answers is not a KAS: not HTTP, or far too long.
    case notAKeyService(HTTPClientError)
    /// The KAS refuses this key. `reason` is the KAS's own, shortened to printable text.
    case denied(reason: String)
    case invalidKey(KeyFault)
    /// The cryptographic library failed.
    case crypto(String)
    case cancelled

    /// When the same request is worth being sent again.
    public enum Retry: Equatable, Sendable {
        /// After seconds, growing: the KAS or the network may come back any moment.
        case soon
        /// After minutes: someone must change something first.
        case late
        case never
    }

    /// What answers is not who it should be, or is unknown: it was sent nothing, and is not believed.
    public var isDistrust: Bool {
        if case .unreachable(.tlsFailed) = self { true } else { false }
    }

    public var retry: Retry {
        switch self {
        case .unreachable(let error) where error.isPinMismatch: .late
        case .unreachable, .slow, .garbage, .notAKeyService, .invalidKey, .crypto: .soon
        case .status(let status, _): status == 408 || status == 429 || status >= 500 ? .soon : .late
        case .tokenUnreadable, .signingKey, .configuration, .denied: .late
        case .invalidHeader, .cancelled: .never
        }
    }
}

extension KeyAccessError: CustomStringConvertible {
    public var description: String { "\(what): \(why). \(hint)" }

    /// What happened.
    public var what: String {
        switch self {
        case .invalidHeader: "no key can be asked for"
        case .tokenUnreadable: "the access token cannot be read"
        case .signingKey: "the device's signing key cannot be used"
        case .configuration: "the key access service cannot be asked"
        case .unreachable: "the key access service cannot be reached"
        case .slow: "the key access service did not answer in time"
        case .status(let status, _): "the key access service refused the request (HTTP \(status))"
        case .garbage, .notAKeyService: "the answer makes no sense"
        case .denied: "the key access service denies the key"
        case .invalidKey: "the key access service sent an invalid key"
        case .crypto: "the key cannot be computed"
        case .cancelled: "the request was cancelled"
        }
    }

    /// Why it happened.
    public var why: String {
        switch self {
        case .invalidHeader: "the stream's header is not a NanoTDF header"
        case .tokenUnreadable(let path, let fault):
            "\(path.map { "\($0): " } ?? "")\(Self.text(fault))"
        case .signingKey(let reason): reason
        case .configuration(let error), .unreachable(let error), .slow(let error), .notAKeyService(let error):
            "\(error)"
        case .status(_, let message): message.isEmpty ? "it gives no reason" : "it says \"\(message)\""
        case .garbage(.unreadable): "it is not the JSON that was expected"
        case .garbage(.missingResult): "it holds no result for the header that was sent"
        case .garbage(.wrappedKeyForm): "its wrapped key is not base64 of 60 bytes"
        case .garbage(.unexpectedNotModified): "\"not modified\" was not asked for"
        case .denied(let reason): reason.isEmpty ? "it gives no reason" : "it says \"\(reason)\""
        case .invalidKey(.publicKey): "its public key is not a P-256 key in PEM"
        case .invalidKey(.archivePublicKey): "its key for archives is not an RSA key of 2048 to 4096 bits in PEM"
        case .invalidKey(.sessionKey): "its session key is not a P-256 key in PEM"
        case .invalidKey(.wrappedKey): "the wrapped key does not open with any known session salt"
        case .crypto(let call): "\(call) failed"
        case .cancelled: "no one waits for it any more"
        }
    }

    /// What to do next.
    public var hint: String {
        switch self {
        case .invalidHeader: "Check the publisher."
        case .tokenUnreadable: "Put a valid token there; the file is read again by itself."
        case .signingKey:
            "Give the file of a P-256 private key, readable for this program; a box makes its own: watchboxctl device make."
        case .configuration(let error), .unreachable(let error), .slow(let error): error.hint
        case .status(401, _): "Check the token: it may be expired, or made for another service."
        case .status(403, _): "Check the token's scopes: kas.rewrap to view, kas.publish to publish."
        case .status(404, _): "Check the path of the configured URL; it usually ends in /kas."
        case .status(let status, _) where (300...399).contains(status):
            "Configure the URL that it points to; redirects are not followed."
        case .status: "Look into the log of the key access service."
        case .garbage, .notAKeyService: "Check that the configured URL is that of a key access service."
        case .denied: "Check the stream's policy and the viewer's rights; the service's audit log names the reason."
        case .invalidKey: "Check the service's version and its session salt."
        case .crypto: "Check this machine's memory and its OpenSSL."
        case .cancelled: "Nothing to do."
        }
    }

    private static func text(_ fault: TokenFault) -> String {
        switch fault {
        case .system(let code): SystemMessage.text(code)
        case .notAFile: "not a regular file"
        case .empty: "it is empty"
        case .tooLong(let limit): "longer than \(limit) bytes"
        case .invalidCharacter: "it holds white space or characters outside ASCII"
        }
    }
}

extension KeyAccessError {
    init(_ error: HTTPClientError) {
        switch error {
        case .invalidURL, .plainHTTPRefused, .invalidHeader, .unavailable: self = .configuration(error)
        case .unreachable, .tlsFailed, .connectionLost, .tooManyRequests: self = .unreachable(error)
        case .connectTimedOut, .timedOut: self = .slow(error)
        case .malformedResponse, .responseTooLarge: self = .notAKeyService(error)
        case .cancelled: self = .cancelled
        }
    }

    /// A peer's text, fit for a log line: printable ASCII, 160 characters at most.
    static func printable(_ text: String) -> String {
        ShownText.ascii(text.replacing("\"", with: " "), limit: 160, replacing: " ")
    }
}
