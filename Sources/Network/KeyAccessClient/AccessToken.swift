internal import Glibc
internal import KeyAccess
internal import Platform
public import Settings
internal import Synchronization

extension HeldAccessToken {
    /// - Throws: `.tokenUnreadable` when it is not a token; then the one of before stays.
    public func replace(with token: String) throws(KeyAccessError) {
        newer = try AccessTokenReader.checked(token, path: nil)
    }
}

/// Gives the token of a source, reading its file again when the file changed.
final class AccessTokenReader: Sendable {
    /// Bytes; real tokens have one or two thousand.
    static let limit = 16 * 1024

    private struct Version: Equatable {
        var inode: UInt64
        var size: Int64
        var seconds: Int64
        var nanoseconds: Int64
    }

    private let source: AccessTokenSource
    private let cached = Mutex<(version: Version, token: String)?>(nil)

    init(_ source: AccessTokenSource) {
        self.source = source
    }

    /// Nil when the source is `.none`.
    func token() throws(KeyAccessError) -> String? {
        switch source {
        case .none: return nil
        case .value(let value): return try Self.checked(value, path: nil)
        case .file(let path): return try read(path)
        case .held(let held):
            if let newer = held.newer { return newer }
            return try read(held.file)
        }
    }

    private func read(_ path: String) throws(KeyAccessError) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .tokenUnreadable(path: path, .system(errno)) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .tokenUnreadable(path: path, .system(errno)) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .tokenUnreadable(path: path, .notAFile) }
        let version = Version(
            inode: UInt64(status.st_ino), size: Int64(status.st_size), seconds: Int64(status.st_mtim.tv_sec),
            nanoseconds: Int64(status.st_mtim.tv_nsec))
        if let known = cached.withLock({ $0 }), known.version == version { return known.token }
        let bytes: [UInt8]
        do throws(SmallFile.Failure) {
            bytes = try WholeFile.read(descriptor, limit: Self.limit)
        } catch .tooLong(let limit) {
            throw .tokenUnreadable(path: path, .tooLong(limit: limit))
        } catch {
            throw .tokenUnreadable(path: path, .system(error.number))
        }
        let token = try Self.checked(String(decoding: bytes, as: UTF8.self), path: path)
        cached.withLock { $0 = (version, token) }
        return token
    }

    /// Without white space around it; one run of visible ASCII (RFC 6750 §2.1).
    static func checked(_ text: String, path: String?) throws(KeyAccessError) -> String {
        var token = Substring(text)
        while token.first?.isWhitespace == true { token.removeFirst() }
        while token.last?.isWhitespace == true { token.removeLast() }
        guard !token.isEmpty else { throw .tokenUnreadable(path: path, .empty) }
        guard token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw .tokenUnreadable(path: path, .invalidCharacter)
        }
        return String(token)
    }
}

extension AccessTokenReader {
    /// `iss` and `sub` of a token that is a JWT, unverified: what its holder has to put into a registration's proof.
    /// Empty texts of any other token.
    static func claimed(_ token: String?) -> (issuer: String, subject: String) {
        guard let token, let jwt = try? JSONWebToken(compact: token, limit: limit),
            let claims = try? KASConnection.decode(AccessClaims.self, jwt.claims)
        else { return ("", "") }
        return (claims.issuer ?? "", claims.subject ?? "")
    }
}
