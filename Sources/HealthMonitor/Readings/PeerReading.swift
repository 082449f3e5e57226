internal import CameraModel
internal import Glibc
internal import Platform

/// A relay or the key access server, reached for by name and by TCP.
enum PeerReading: Equatable, Sendable {
    /// A camera's stream is acknowledged by it at this moment: nothing needs to be tried.
    case vouched(String)
    /// Milliseconds of the connect.
    case connected(address: String, milliseconds: Double)
    /// The name server did not answer.
    case noNameServer(String)
    /// It answered that there is no such name.
    case noSuchName
    /// Nobody took the connection.
    case refused(String)

    /// Of each address, in milliseconds; the lane's own limit is for the name server.
    private static let connectLimit: Int32 = 3000
    private static let mostAddresses = 3

    /// Blocks: for a thread of its own.
    static func read(_ peer: HealthServiceSettings.Peer) -> PeerReading {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_NUMERICSERV
        var list: UnsafeMutablePointer<addrinfo>?
        let result = getaddrinfo(peer.host, "\(peer.port)", &hints, &list)
        guard result == 0, let list else {
            return switch result {
            case EAI_NONAME, -5: .noSuchName  // -5: EAI_NODATA
            default: .noNameServer(String(cString: gai_strerror(result)))
            }
        }
        defer { freeaddrinfo(list) }
        var reason = "it has no address"
        var next: UnsafeMutablePointer<addrinfo>? = list
        var tried = 0
        while let entry = next, tried < mostAddresses {
            tried += 1
            next = entry.pointee.ai_next
            switch connect(entry.pointee) {
            case .success(let milliseconds):
                return .connected(address: text(entry.pointee), milliseconds: milliseconds)
            case .failure(let failure): reason = "\(text(entry.pointee)) port \(peer.port): \(failure.reason)"
            }
        }
        return .refused(reason)
    }

    /// No name server is asked for these.
    static func isAddress(_ host: String) -> Bool { SocketAddress(host: host, port: 0) != nil }

    private struct Failure: Error {
        var reason: String
    }

    private static func connect(_ entry: addrinfo) -> Result<Double, Failure> {
        func failure() -> Result<Double, Failure> { .failure(Failure(reason: String(cString: strerror(errno)))) }
        let begin = Clocks.monotonic
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(entry.ai_family, kind, 0)
        guard descriptor >= 0 else { return failure() }
        defer { close(descriptor) }
        if Glibc.connect(descriptor, entry.ai_addr, entry.ai_addrlen) != 0 {
            guard errno == EINPROGRESS else { return failure() }
            var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            let ready = Glibc.poll(&poll, 1, connectLimit)
            guard ready > 0 else {
                return ready == 0 ? .failure(Failure(reason: "no answer within \(connectLimit / 1000) s")) : failure()
            }
            var number: Int32 = 0
            var length = socklen_t(MemoryLayout<Int32>.size)
            getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &number, &length)
            guard number == 0 else { return .failure(Failure(reason: String(cString: strerror(number)))) }
        }
        return .success(Double(Clocks.monotonic - begin) / 1e6)
    }

    private static func text(_ entry: addrinfo) -> String {
        var name = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        guard
            getnameinfo(
                entry.ai_addr, entry.ai_addrlen, &name, socklen_t(name.count), nil, 0, NI_NUMERICHOST) == 0
        else { return "?" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
