public import RTMPTransport

/// Who may play.
public struct PlayAuthorization: Equatable, Sendable {
    /// Of a stream's path ("live/cam1"), or of "*", which stands for every other path.
    private var keys: [String: String]
    private var linkSecret: PlayLinkSecret?

    /// Anybody may.
    public static let open = PlayAuthorization()

    /// Without both, anybody may; with both, either of them opens.
    /// - Parameters:
    ///   - keys: lines of `app/name = key`, as `PublishAuthorization` reads them.
    ///   - linkSecret: what links are signed with.
    public init(keys: String? = nil, linkSecret: PlayLinkSecret? = nil) throws(PublishAuthorization.Fault) {
        self.keys = [:]
        if let keys { self.keys = try PublishAuthorization.keys(in: keys) }
        self.linkSecret = linkSecret
    }

    private init() { keys = [:] }

    func permits(_ path: StreamPath, _ shown: PlayCredential) -> Bool {
        if keys.isEmpty, linkSecret == nil { return true }
        if let expected = keys[path.description] ?? keys["*"], let key = shown.key,
            PublishAuthorization.constantTimeEqual(expected, key)
        {
            return true
        }
        guard let linkSecret, let expires = shown.expires, let signature = shown.signature else { return false }
        return linkSecret.permits(path: path.description, expires: expires, signature: signature, at: shown.time)
    }
}

extension PlayAuthorization: CustomStringConvertible {
    /// Without the keys.
    public var description: String {
        if keys.isEmpty, linkSecret == nil { return "open" }
        return "\(keys.count) play keys\(linkSecret == nil ? "" : ", signed links")"
    }
}

/// What a player showed, and when. As secret as a key: it stays out of logs.
struct PlayCredential: Sendable {
    var key: String?
    /// As they stand in a link.
    var expires: String?
    var signature: String?
    /// Seconds since 1970.
    var time: Int64 = 0
}
