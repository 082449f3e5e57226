internal import Glibc
internal import Platform

/// Whether a name resolves and a port answers. Blocks: call it from an `OwnThread`.
enum Reachability {
    enum Failure: Error, Equatable {
        case name(String)
        case port(String)
    }

    struct Times: Equatable {
        var lookup: Duration
        var connect: Duration
        /// Nil where the kernel tells nothing.
        var link: TCPLink?
    }

    /// - Parameter limit: for the connection; the look-up has the resolver's own limits.
    static func connect(_ endpoint: Endpoint, limit: Duration = .seconds(5)) throws(Failure) -> Times {
        let begin = ContinuousClock.now
        let list = try lookUp(endpoint)
        defer { freeaddrinfo(list) }
        let resolved = ContinuousClock.now
        var failure = "no address"
        var next: UnsafeMutablePointer<addrinfo>? = list
        var tries = 0
        while let address = next, tries < 4 {
            tries += 1
            switch connect(address.pointee, limit: limit / 2) {
            case .refused(let why):
                failure = why
                next = address.pointee.ai_next
            case .connected(let link):
                return Times(lookup: resolved - begin, connect: ContinuousClock.now - resolved, link: link)
            }
        }
        throw .port(failure)
    }

    private static func lookUp(_ endpoint: Endpoint) throws(Failure) -> UnsafeMutablePointer<addrinfo> {
        var hints = addrinfo()
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(endpoint.host, "\(endpoint.port)", &hints, &list)
        guard code == 0, let list else { throw .name(String(cString: gai_strerror(code))) }
        return list
    }

    private enum Outcome {
        case connected(TCPLink?)
        case refused(String)
    }

    private static func connect(_ address: addrinfo, limit: Duration) -> Outcome {
        let kind = address.ai_socktype | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(address.ai_family, kind, address.ai_protocol)
        guard descriptor >= 0 else { return .refused(String(cString: strerror(errno))) }
        defer { close(descriptor) }
        if Glibc.connect(descriptor, address.ai_addr, address.ai_addrlen) == 0 {
            return .connected(TCPLink(descriptor: descriptor))
        }
        guard errno == EINPROGRESS else { return .refused(String(cString: strerror(errno))) }
        var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        var count: CInt
        repeat { count = Glibc.poll(&poll, 1, CInt(limit.milliseconds)) } while count < 0 && errno == EINTR
        guard count > 0 else { return .refused("no answer within \((limit.milliseconds / 1000).tenths) s") }
        var code: CInt = 0
        var size = socklen_t(MemoryLayout<CInt>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size)
        return code == 0 ? .connected(TCPLink(descriptor: descriptor)) : .refused(String(cString: strerror(code)))
    }
}
