internal import Glibc
internal import NIOCore
internal import Platform

/// A TCP socket that listens, as a descriptor: so that it can be handed to the supervisor and outlive the process.
/// Connections that are made while no process accepts wait in its backlog instead of being refused.
public struct ListeningSocket: Sendable {
    /// Owned by whoever holds the value; `RTMPServer.bind` takes it over.
    public let descriptor: CInt

    /// Connections that wait to be accepted: a thousand viewers may come at once. The kernel's `somaxconn` bounds it.
    static let backlog: CInt = 4096

    /// - Parameter descriptor: of a socket that listens, handed over by the supervisor.
    public init(descriptor: CInt) {
        self.descriptor = descriptor
    }

    /// Binds and listens.
    public static func open(host: String, port: Int) throws(RTMPTransportError) -> ListeningSocket {
        let address: NIOCore.SocketAddress
        do {
            address = try SocketAddress.makeAddressResolvingHost(host, port: port)
        } catch {
            throw RTMPTransportError(.unknownHost(host))
        }
        let family = if case .v6 = address { AF_INET6 } else { AF_INET }
        let descriptor = socket(family, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw RTMPTransportError(.bindFailed(reason())) }
        var one: CInt = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<CInt>.size))
        let result = address.withSockAddr { address, length in Glibc.bind(descriptor, address, socklen_t(length)) }
        guard result == 0, listen(descriptor, backlog) == 0 else {
            let reason = reason()
            Glibc.close(descriptor)
            throw RTMPTransportError(.bindFailed(reason))
        }
        return ListeningSocket(descriptor: descriptor)
    }

    /// It listens, and where the configuration wants it: a socket that was kept over a change of the configuration is
    /// of no use.
    public func serves(host: String, port: Int) -> Bool {
        var listens: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) == 0, listens != 0,
            let requested = try? SocketAddress.makeAddressResolvingHost(host, port: port)
        else { return false }
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let isNamed = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) == 0 }
        }
        guard isNamed else { return false }
        let family = CInt(storage.ss_family)
        let actual: NIOCore.SocketAddress? = withUnsafePointer(to: storage) { pointer in
            switch family {
            case AF_INET:
                pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { SocketAddress($0.pointee, host: "") }
            case AF_INET6:
                pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { SocketAddress($0.pointee, host: "") }
            default: nil
            }
        }
        guard let actual, actual.ipAddress == requested.ipAddress else { return false }
        return port == 0 || actual.port == port
    }

    /// NIO listens with a backlog of its own, 128, on each socket that it is given, and a supervisor may have chosen
    /// another: this one counts.
    func listenAgain() throws(RTMPTransportError) {
        guard listen(descriptor, Self.backlog) == 0 else { throw RTMPTransportError(.bindFailed(Self.reason())) }
    }

    /// A second descriptor of the same socket, for the supervisor.
    public func duplicate() throws(RTMPTransportError) -> CInt {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw RTMPTransportError(.bindFailed(Self.reason())) }
        return copy
    }

    public func close() {
        Glibc.close(descriptor)
    }

    private static func reason() -> String {
        SystemMessage.text(errno)
    }
}
