/// Why a server cannot listen.
public enum APIServerError: Error, Equatable, Sendable {
    /// Another process answers there.
    case inUse(path: String)
    /// Something that is not a socket has that name.
    case notASocket(path: String)
    /// Longer than a Unix socket's address may be.
    case pathTooLong(path: String, limit: Int)
    case noSuchGroup(String)
    /// The handed-over descriptor is not a listening stream socket.
    case notListening(descriptor: CInt)
    case failed(call: String, path: String, reason: String)
}

extension APIServerError: CustomStringConvertible {
    /// What happened, why, and what to do next.
    public var description: String {
        switch self {
        case .inUse(let path): "another process already answers at \(path). Stop it, or choose another path"
        case .notASocket(let path): "\(path) exists and is not a socket. Remove it"
        case .pathTooLong(let path, let limit): "\(path) is longer than \(limit) bytes. Choose a shorter path"
        case .noSuchGroup(let group): "there is no group \(group). Run: sudo addgroup --system \(group)"
        case .notListening(let descriptor):
            "descriptor \(descriptor) is not a listening socket. Check the socket unit: it needs ListenStream= and Accept=no"
        case .failed(let call, let path, let reason):
            "\(path) cannot be listened on: \(call): \(reason). Check the directory and its permissions"
        }
    }
}
