internal import ErrorCatalog
internal import Glibc
internal import Platform
internal import RTSP

/// Two UDP sockets side by side: one for media, the next port for control (RFC 3550 §11). Takes packets of one host
/// only.
final class DatagramPair {
    let media: Int32
    let control: Int32
    let mediaPort: UInt16
    let controlPort: UInt16
    /// Bytes that the system lets wait in each socket: what was asked for, or less where `net.core.rmem_max` is less.
    let receiveBuffer: Int
    /// Packets of other hosts.
    private(set) var unknownSenders: UInt64 = 0
    private let source: SocketAddress
    private var mediaTarget: SocketAddress?
    private var controlTarget: SocketAddress?

    /// What a camera sends at once, at most.
    static let requestedBuffer = 4 << 20
    private static let attempts = 64

    /// An even port and the next one, of the address that the connection to the camera goes out from.
    ///
    /// - Parameters:
    ///   - connection: of the RTSP session.
    ///   - requested: bytes that must be able to wait in each socket.
    init(besides connection: Int32, buffer requested: Int = requestedBuffer) throws(PullFault) {
        guard let local = SocketAddress.local(of: connection), let peer = SocketAddress.peer(of: connection) else {
            throw PullFault(.cameraUnreachable, "the connection to the camera ended")
        }
        source = peer
        var number: Int32 = 0
        for _ in 0..<Self.attempts {
            let first = Self.socket(bound: local.with(port: 0), requested, &number)
            guard first >= 0 else { break }
            let port = SocketAddress.local(of: first)?.port ?? 0
            guard port > 0, port.isMultiple(of: 2), port < 65_535 else {
                close(first)
                continue
            }
            let second = Self.socket(bound: local.with(port: port + 1), requested, &number)
            guard second >= 0 else {
                close(first)
                continue
            }
            (media, control, mediaPort, controlPort) = (first, second, port, port + 1)
            receiveBuffer = Self.receiveBuffer(of: first)
            return
        }
        throw PullFault(
            .transportRefused, "this machine has no free pair of UDP ports (\(SystemMessage.text(number)))",
            hint: "Use TCP: watchboxctl camera edit ID --transport tcp", isTransport: true)
    }

    /// Joins a group on the interface that the connection to the camera goes out from.
    init(_ multicast: MediaTransport.Multicast, besides connection: Int32) throws(PullFault) {
        guard let local = SocketAddress.local(of: connection), let peer = SocketAddress.peer(of: connection) else {
            throw PullFault(.cameraUnreachable, "the connection to the camera ended")
        }
        guard let group = SocketAddress(host: multicast.group, port: multicast.rtp), group.isMulticast,
            group.isIPv4 == local.isIPv4, multicast.rtp > 0, multicast.rtcp > 0
        else {
            throw PullFault(
                .transportRefused, "the camera names no multicast group that can be joined", isTransport: true)
        }
        let named = multicast.sourceAddress.flatMap { SocketAddress(host: $0, port: 0) }
        source = named?.isIPv4 == group.isIPv4 ? named ?? peer : peer
        var number: Int32 = 0
        let first = Self.socket(bound: group, Self.requestedBuffer, &number, isShared: true)
        let second =
            first < 0
            ? -1 : Self.socket(bound: group.with(port: multicast.rtcp), Self.requestedBuffer, &number, isShared: true)
        guard first >= 0, second >= 0 else {
            if first >= 0 { close(first) }
            throw PullFault(
                .transportRefused,
                "the port of the multicast group cannot be used (\(SystemMessage.text(number)))",
                isTransport: true)
        }
        (media, control, mediaPort, controlPort) = (first, second, multicast.rtp, multicast.rtcp)
        receiveBuffer = Self.receiveBuffer(of: first)
        controlTarget = group.with(port: multicast.rtcp)
        for descriptor in [first, second] {
            guard Self.join(descriptor, group, local, named) else {
                let reason = SystemMessage.text(errno)
                throw PullFault(
                    .transportRefused, "the multicast group of the camera cannot be joined (\(reason))",
                    isTransport: true)
            }
        }
    }

    deinit {
        close(media)
        close(control)
    }

    /// The camera's own ports, as SETUP announced them: packets go there, so that a router in between lets its packets in.
    func connect(_ transport: MediaTransport.UDP) {
        if let port = transport.serverRTP, port > 0 { mediaTarget = source.with(port: port) }
        if let port = transport.serverRTCP, port > 0 { controlTarget = source.with(port: port) }
    }

    /// Opens the way for the camera's packets: an empty one of each kind (RFC 3550 §5.1, §6.4.2).
    func punchHole() {
        let packet: [UInt8] = [0x80] + [UInt8](repeating: 0, count: 11)
        if let mediaTarget { Self.send(packet, from: media, to: mediaTarget) }
        let report: [UInt8] = [0x80, 201, 0, 1, 0, 0, 0, 0]
        sendControl(report)
    }

    func sendControl(_ bytes: [UInt8]) {
        if let controlTarget { Self.send(bytes, from: control, to: controlTarget) }
    }

    /// - Returns: bytes of the next packet of the camera; nil when none waits.
    func receive(isControl: Bool, into buffer: inout [UInt8]) -> Int? {
        // What unknown sources send is read and thrown away, but not without an end.
        for _ in 0..<256 {
            var count = 0
            let sender = SocketAddress { address, length in
                count = buffer.withUnsafeMutableBytes { room in
                    recvfrom(
                        isControl ? control : media, room.baseAddress, room.count, Int32(MSG_DONTWAIT),
                        address, length)
                }
                return count < 0 ? -1 : 0
            }
            guard let sender else { return nil }
            if sender.isSameHost(as: source) { return count }
            unknownSenders += 1
        }
        return nil
    }

    private static func send(_ bytes: [UInt8], from descriptor: Int32, to target: SocketAddress) {
        // A report that is lost is followed by the next one.
        _ = bytes.withUnsafeBytes { content in
            target.withPointer { address, length in
                sendto(
                    descriptor, content.baseAddress, content.count,
                    Int32(MSG_DONTWAIT | MSG_NOSIGNAL), address, length)
            }
        }
    }

    /// Linux keeps twice of what was asked for, and counts its own effort with it.
    private static func receiveBuffer(of descriptor: Int32) -> Int {
        var size: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, &length) == 0 else { return 0 }
        return Int(size) / 2
    }

    private static func socket(
        bound address: SocketAddress, _ buffer: Int, _ number: inout Int32, isShared: Bool = false
    ) -> Int32 {
        let kind = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = Glibc.socket(address.familyNumber, kind, 0)
        guard descriptor >= 0 else {
            number = errno
            return -1
        }
        if isShared { setOption(descriptor, SOL_SOCKET, SO_REUSEADDR, Int32(1)) }
        setOption(descriptor, SOL_SOCKET, SO_RCVBUF, Int32(clamping: buffer))
        guard address.withPointer({ bind(descriptor, $0, $1) }) == 0 else {
            number = errno
            close(descriptor)
            return -1
        }
        return descriptor
    }

    private static func join(
        _ descriptor: Int32, _ group: SocketAddress, _ local: SocketAddress, _ sender: SocketAddress?
    ) -> Bool {
        let bytes = group.bytes
        if !group.isIPv4 {
            var request = ipv6_mreq()
            withUnsafeMutableBytes(of: &request.ipv6mr_multiaddr) { $0.copyBytes(from: bytes) }
            request.ipv6mr_interface = local.zone
            return setOption(descriptor, Int32(IPPROTO_IPV6), IPV6_JOIN_GROUP, request)
        }
        setOption(descriptor, Int32(IPPROTO_IP), IP_MULTICAST_ALL, Int32(0))
        if let sender, sender.isIPv4 {
            var request = ip_mreq_source()
            withUnsafeMutableBytes(of: &request.imr_multiaddr) { $0.copyBytes(from: bytes) }
            withUnsafeMutableBytes(of: &request.imr_interface) { $0.copyBytes(from: local.bytes) }
            withUnsafeMutableBytes(of: &request.imr_sourceaddr) { $0.copyBytes(from: sender.bytes) }
            return setOption(descriptor, Int32(IPPROTO_IP), IP_ADD_SOURCE_MEMBERSHIP, request)
        }
        var request = ip_mreq()
        withUnsafeMutableBytes(of: &request.imr_multiaddr) { $0.copyBytes(from: bytes) }
        withUnsafeMutableBytes(of: &request.imr_interface) { $0.copyBytes(from: local.bytes) }
        return setOption(descriptor, Int32(IPPROTO_IP), IP_ADD_MEMBERSHIP, request)
    }

    @discardableResult
    private static func setOption<Value>(_ descriptor: Int32, _ level: Int32, _ name: Int32, _ value: Value) -> Bool {
        withUnsafeBytes(of: value) { bytes in
            setsockopt(descriptor, level, name, bytes.baseAddress, socklen_t(bytes.count)) == 0
        }
    }
}
