internal import Glibc

/// Whether a name resolves and a port takes a connection. Blocks: for an `OwnThread`.
public enum Reachability {
    public enum Failure: Error, Equatable, Sendable {
        /// What getaddrinfo said, as text; and whether a name server answered that there is no such name.
        case name(String, isUnknown: Bool)
        /// No one took the connection, at the address that was tried last.
        case port(String, address: String)
    }

    public struct Times: Sendable {
        /// The address that took the connection.
        public var address: String
        /// Milliseconds.
        public var lookup: Double
        /// Milliseconds; of this address alone.
        public var connect: Double
    }

    /// Milliseconds, of each address; the look-up has the resolver's own limits.
    private static let connectLimit: CInt = 3000
    private static let maxAddresses = 3

    /// - Parameter looking: is given the connection, which is closed afterwards.
    public static func connect(
        _ host: String, _ port: UInt16, looking: (CInt) -> Void = { _ in }
    ) throws(Failure) -> Times {
        let begin = Clocks.monotonic
        let addresses = try lookUp(host, port)
        let lookup = milliseconds(since: begin)
        var failure = Failure.port("it has no address", address: host)
        for address in addresses {
            let begin = Clocks.monotonic
            guard let reason = refusal(of: address, looking) else {
                return Times(address: address.host, lookup: lookup, connect: milliseconds(since: begin))
            }
            failure = .port(reason, address: address.host)
        }
        throw failure
    }

    private static func lookUp(_ host: String, _ port: UInt16) throws(Failure) -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_NUMERICSERV
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, "\(port)", &hints, &list)
        guard code == 0, let list else {
            // -5: EAI_NODATA
            throw .name(String(cString: gai_strerror(code)), isUnknown: code == EAI_NONAME || code == -5)
        }
        defer { freeaddrinfo(list) }
        return sequence(first: list, next: \.pointee.ai_next).prefix(maxAddresses)
            .compactMap { SocketAddress($0.pointee.ai_addr) }
    }

    /// Nil: it took the connection.
    private static func refusal(of address: SocketAddress, _ looking: (CInt) -> Void) -> String? {
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(address.familyNumber, kind, 0)
        guard descriptor >= 0 else { return SystemMessage.text(errno) }
        defer { close(descriptor) }
        if address.withPointer({ Glibc.connect(descriptor, $0, $1) }) != 0 {
            guard errno == EINPROGRESS else { return SystemMessage.text(errno) }
            var waited = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            var count: CInt
            repeat { count = poll(&waited, 1, connectLimit) } while count < 0 && errno == EINTR
            guard count > 0 else { return "no answer within \(connectLimit / 1000) s" }
            var number: CInt = 0
            var length = socklen_t(MemoryLayout<CInt>.size)
            getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &number, &length)
            guard number == 0 else { return SystemMessage.text(number) }
        }
        looking(descriptor)
        return nil
    }

    private static func milliseconds(since begin: UInt64) -> Double { Double(Clocks.monotonic - begin) / 1e6 }
}
