internal import Cryptography
public import Wire

/// The secret that play links are signed with. No textual form shows it.
public struct PlayLinkSecret: Equatable, Sendable {
    /// Bytes of the shortest secret.
    public static let minLength = 16

    private let bytes: [UInt8]

    /// - Parameter text: the content of its file, of which the first line counts, without white space around it. Nil
    ///   when that is shorter than `shortest`.
    public init?(_ text: String) {
        let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
        let line = text.utf8.prefix { $0 != 0x0A && $0 != 0x0D }
        let kept = line.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
        guard kept.count >= Self.minLength else { return nil }
        bytes = Array(kept)
    }

    public static func == (left: PlayLinkSecret, right: PlayLinkSecret) -> Bool {
        constantTimeEqual(left.bytes, right.bytes)
    }

    /// The query of a link that lets its holder play a stream until it expires.
    /// - Parameters:
    ///   - path: `app/name`.
    ///   - expires: seconds since 1970.
    public func query(path: String, expires: Int64) -> String {
        "expires=\(expires)&signature=\(signature(path, expires))"
    }

    /// - Parameter now: seconds since 1970; a link is good up to the second that it names.
    public func permits(path: String, expires: String, signature given: String, at now: Int64) -> Bool {
        guard let time = Int64(expires), "\(time)" == expires else { return false }
        let isGenuine = constantTimeEqual(Array(signature(path, time).utf8), Array(given.utf8))
        return isGenuine && now <= time
    }

    /// HMAC-SHA256 over purpose, path and time, one per line; the path has no line break (`StreamPath`).
    private func signature(_ path: String, _ expires: Int64) -> String {
        Hexadecimal.encode(
            Digest.hmacSHA256(key: bytes, Array("watchbox play link\n\(path)\n\(expires)".utf8)))
    }
}

extension PlayLinkSecret: Concealed {
    public var description: String { "play link secret" }
}
