/// Why a session with a camera ended, or did not come about. Texts that come from the camera are cut and made printable;
/// no address, user or password is in here.
public enum RTSPFailure: Error, Equatable, Sendable {
    /// 401, and no credentials were given. `offered` are the schemes: `Digest SHA-256`, `Digest MD5`, `Basic`, …
    case loginNeeded(offered: [String])
    /// 401 in spite of credentials.
    case loginRefused(scheme: String, realm: String)
    /// None of the offered schemes is known; no credentials were sent.
    case loginUnsupported(offered: [String])
    /// Only Basic is offered, which shows the password to everybody on the way; it was not sent.
    case basicNotAllowed(realm: String)
    /// 403.
    case forbidden
    /// 404 or 410.
    case noSuchStream
    /// 453 or 503: others hold the camera's streams.
    case busy(status: Int, retryAfterSeconds: Int?)
    /// 461, or an answer that names another transport than the one that was asked for.
    case transportRefused
    /// The description offers no media that is taken; `offered` are the encodings.
    case noSupportedMedia(offered: [String])
    /// The video is offered as SRTP (RFC 3711), which is not taken; `profile` is what the description says: `RTP/SAVP`, …
    case encryptedMedia(profile: String)
    /// A redirect to another host, which is not followed: it would get the camera's credentials.
    case redirectElsewhere(host: String)
    /// Another status.
    case refused(method: String, status: Int, reason: String)
    /// Not RTSP as we understand it; the position counts bytes from the beginning of the connection.
    case malformed(position: Int, reason: String)
    /// The first bytes are of another protocol.
    case notRTSP
    /// No answer in time to this request.
    case timeout(method: String)
    /// The connection ended; `method` is the request that waited for an answer.
    case closed(method: String?)
    /// The same behind a login, of which no other request showed that the camera takes it.
    case closedAtLogin(method: String, scheme: String)
    /// More than a bound of ours.
    case tooLong(what: String, limit: Int)
}

extension RTSPFailure: CustomStringConvertible {
    public var description: String {
        switch self {
        case .loginNeeded(let offered):
            "the camera asks for a user and a password (\(Self.list(offered)))"
        case .loginRefused(let scheme, let realm):
            "the camera refuses user or password (\(scheme), \(realm.isEmpty ? "no realm" : realm))"
        case .loginUnsupported(let offered):
            "the camera offers no login that is known (\(Self.list(offered))); the password was not sent"
        case .basicNotAllowed(let realm):
            "the camera offers only Basic without encryption (\(realm.isEmpty ? "no realm" : realm)); "
                + "the password was not sent"
        case .forbidden: "the camera forbids this user the stream (403)"
        case .noSuchStream: "the camera has no stream of this name (404)"
        case .busy(let status, let seconds):
            "the camera serves as many viewers as it can (\(status))"
                + (seconds.map { "; it asks to wait \($0) s" } ?? "")
        case .transportRefused: "the camera does not offer this transport"
        case .noSupportedMedia(let offered): "the camera offers no video that can be taken (\(Self.list(offered)))"
        case .encryptedMedia(let profile):
            "the camera offers its video only as SRTP (\(profile)), encrypted packets that are not taken"
        case .redirectElsewhere(let host): "the camera sends its viewers to another host, \(host)"
        case .refused(let method, let status, let reason):
            "the camera refuses \(method): \(status)\(reason.isEmpty ? "" : " ")\(reason)"
        case .malformed(let position, let reason): "the camera's answer: \(reason) (byte \(position))"
        case .notRTSP: "what answers there is not RTSP"
        case .timeout(let method): "the camera did not answer \(method) in time"
        case .closed(let method?): "the camera closed the connection instead of answering \(method)"
        case .closedAtLogin(let method, let scheme):
            "the camera closed the connection at the login (\(scheme)) instead of answering \(method)"
        case .closed(nil): "the camera closed the connection"
        case .tooLong(let what, let limit): "the camera's answer: more than \(limit) \(what)"
        }
    }

    private static func list(_ offered: [String]) -> String {
        offered.isEmpty ? "nothing offered" : "offered: " + offered.joined(separator: ", ")
    }
}
