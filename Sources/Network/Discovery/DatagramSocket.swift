internal import Glibc
internal import ONVIF
internal import Platform

/// A UDP socket that is never waited on. Used by one thread.
final class DatagramSocket {
    /// A call that the system refused.
    struct Failure: Error {
        var call: String
        var errno: Int32

        var text: String { "\(call): \(SystemMessage.text(errno))" }
    }

    let descriptor: Int32

    private init(_ family: Int32) throws(Failure) {
        descriptor = socket(
            family, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(call: "socket", errno: errno) }
    }

    deinit { close(descriptor) }

    /// Sends to the group on one interface, and hears the answers. The operating system would choose the interface of the
    /// default route, and cameras at another one would never be found.
    ///
    /// - Parameter address: of the interface; nil for IPv6.
    static func multicast(
        on interface: NetworkInterfaces.Interface, address: String?
    ) throws(Failure) -> DatagramSocket {
        if let address {
            let socket = try DatagramSocket(AF_INET)
            var choice = ip_mreqn()
            choice.imr_ifindex = Int32(bitPattern: interface.index)
            try socket.set(IPPROTO_IP, IP_MULTICAST_IF, &choice, "IP_MULTICAST_IF")
            var hops: Int32 = 1
            try socket.set(IPPROTO_IP, IP_MULTICAST_TTL, &hops, "IP_MULTICAST_TTL")
            guard let own = SocketAddress(host: address, port: 0) else { throw Failure(call: "bind", errno: EINVAL) }
            try socket.bind(own)
            return socket
        }
        let socket = try DatagramSocket(AF_INET6)
        try socket.setForIPv6Only()
        var index = interface.index
        try socket.set(IPPROTO_IPV6, IPV6_MULTICAST_IF, &index, "IPV6_MULTICAST_IF")
        var hops: Int32 = 1
        try socket.set(IPPROTO_IPV6, IPV6_MULTICAST_HOPS, &hops, "IPV6_MULTICAST_HOPS")
        return socket
    }

    /// For Probes to single addresses of IPv4.
    static func unicast() throws(Failure) -> DatagramSocket {
        try DatagramSocket(AF_INET)
    }

    /// Hears what is sent to the group on one interface, beside others that do the same.
    ///
    /// Bound to the group and not to all addresses: what somebody sends to another program of this machine on that port
    /// stays theirs.
    static func listener(
        on interface: NetworkInterfaces.Interface, isIPv4: Bool
    ) throws(Failure) -> DatagramSocket {
        let socket = try DatagramSocket(isIPv4 ? AF_INET : AF_INET6)
        var yes: Int32 = 1
        try socket.set(SOL_SOCKET, SO_REUSEADDR, &yes, "SO_REUSEADDR")
        if isIPv4 {
            // Linux hands a group to every socket bound to its port, wherever anybody joined it: not so here.
            var no: Int32 = 0
            try socket.set(IPPROTO_IP, multicastAll, &no, "IP_MULTICAST_ALL")
            guard let group = SocketAddress(host: DiscoveryNames.group, port: DiscoveryNames.port) else {
                throw Failure(call: "bind", errno: EINVAL)
            }
            try socket.bind(group)
            var membership = ip_mreqn()
            withUnsafeMutableBytes(of: &membership.imr_multiaddr) { $0.copyBytes(from: group.bytes) }
            membership.imr_ifindex = Int32(bitPattern: interface.index)
            try socket.set(IPPROTO_IP, IP_ADD_MEMBERSHIP, &membership, "IP_ADD_MEMBERSHIP")
            return socket
        }
        try socket.setForIPv6Only()
        guard
            let group = SocketAddress(
                host: DiscoveryNames.group6, port: DiscoveryNames.port, zone: interface.index)
        else { throw Failure(call: "bind", errno: EINVAL) }
        // With a zone: from that interface only.
        try socket.bind(group)
        var membership = ipv6_mreq()
        withUnsafeMutableBytes(of: &membership.ipv6mr_multiaddr) { $0.copyBytes(from: group.bytes) }
        membership.ipv6mr_interface = interface.index
        try socket.set(IPPROTO_IPV6, joinGroup6, &membership, "IPV6_JOIN_GROUP")
        return socket
    }

    /// Linux's numbers, the same on every processor; not all C libraries name them.
    private static let multicastAll: Int32 = 49
    private static let joinGroup6: Int32 = 20

    /// Nil when it went.
    func send(_ bytes: [UInt8], to address: SocketAddress) -> Failure? {
        let count = address.withPointer { pointer, length in
            sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), pointer, length)
        }
        return count == bytes.count ? nil : Failure(call: "send", errno: errno)
    }

    /// The next datagram that waits, and its sender; nil when there is none. What does not fit into the buffer is lost.
    func receive(into buffer: inout [UInt8]) -> (count: Int, source: SocketAddress)? {
        // An error of an earlier datagram (ICMP) is reported here, once, and is not an answer.
        for _ in 0..<8 {
            var count = 0
            let source = SocketAddress { address, length in
                count = recvfrom(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT), address, length)
                return count < 0 ? -1 : 0
            }
            if let source { return (count, source) }
            if count < 0, errno == EAGAIN { return nil }
        }
        return nil
    }

    private func setForIPv6Only() throws(Failure) {
        var yes: Int32 = 1
        try set(IPPROTO_IPV6, IPV6_V6ONLY, &yes, "IPV6_V6ONLY")
    }

    private func bind(_ address: SocketAddress) throws(Failure) {
        let result = address.withPointer { Glibc.bind(descriptor, $0, $1) }
        guard result == 0 else { throw Failure(call: "bind to \(address.host) port \(address.port)", errno: errno) }
    }

    private func set<Value>(
        _ level: some BinaryInteger, _ option: Int32, _ value: inout Value, _ name: String
    ) throws(Failure) {
        let result = withUnsafeBytes(of: &value) { bytes in
            setsockopt(descriptor, Int32(level), option, bytes.baseAddress, socklen_t(bytes.count))
        }
        guard result == 0 else { throw Failure(call: name, errno: errno) }
    }
}
