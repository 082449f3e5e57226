import Foundation
import Glibc
import Platform
import Testing

@testable import RTSP
@testable import RTSPIngest

@Suite struct DatagramPairTests {
    /// A TCP connection on loopback, beside which the pair is made.
    private final class Connection {
        let near: Int32
        let far: Int32
        private let listener: Int32

        init() throws {
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            let near = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            (self.listener, self.near) = (listener, near)
            let any = try #require(SocketAddress(host: "127.0.0.1", port: 0))
            _ = any.withPointer { bind(listener, $0, $1) }
            listen(listener, 1)
            let address = try #require(SocketAddress.local(of: listener))
            let isConnected = address.withPointer { connect(near, $0, $1) } == 0
            far = accept(listener, nil, nil)
            try #require(isConnected)
        }

        deinit { for descriptor in [near, far, listener] { close(descriptor) } }
    }

    private func send(_ bytes: [UInt8], from address: String, to port: UInt16) throws {
        let sender = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(sender) }
        let own = try #require(SocketAddress(host: address, port: 0))
        try #require(own.withPointer { bind(sender, $0, $1) } == 0)
        let target = try #require(SocketAddress(host: "127.0.0.1", port: port))
        _ = target.withPointer { sendto(sender, bytes, bytes.count, 0, $0, $1) }
    }

    private func arrived(_ pair: DatagramPair, isControl: Bool = false) {
        var waited = pollfd(fd: isControl ? pair.control : pair.media, events: Int16(POLLIN), revents: 0)
        _ = poll(&waited, 1, 60_000)
    }

    @Test func `the ports are an even one and the next`() throws {
        let connection = try Connection()
        var pairs: [DatagramPair] = []
        for _ in 0..<20 {
            let pair = try DatagramPair(besides: connection.near)
            #expect(pair.mediaPort.isMultiple(of: 2))
            #expect(pair.controlPort == pair.mediaPort + 1)
            pairs.append(pair)
        }
        #expect(Set(pairs.map(\.mediaPort)).count == 20)
    }

    @Test func `only the camera's own packets are taken`() throws {
        let connection = try Connection()
        let pair = try DatagramPair(besides: connection.near)
        var buffer = [UInt8](repeating: 0, count: 64)
        #expect(pair.receive(isControl: false, into: &buffer) == nil)
        // All of 127.0.0.0/8 is this machine, so an unknown source is available without a network.
        try send([6, 6, 6], from: "127.0.0.2", to: pair.mediaPort)
        try send([1, 2, 3, 4], from: "127.0.0.1", to: pair.mediaPort)
        arrived(pair)
        #expect(pair.receive(isControl: false, into: &buffer) == 4)
        #expect(Array(buffer.prefix(4)) == [1, 2, 3, 4])
        #expect(pair.unknownSenders == 1)
        try send([9], from: "127.0.0.1", to: pair.controlPort)
        arrived(pair, isControl: true)
        #expect(pair.receive(isControl: true, into: &buffer) == 1)
    }

    @Test func `a smaller buffer than requested is reported`() throws {
        let connection = try Connection()
        let text = try #require(try? String(contentsOfFile: "/proc/sys/net/core/rmem_max", encoding: .utf8))
        let most = try #require(Int(text.trimmingCharacters(in: .whitespacesAndNewlines)))
        for requested in [64 << 10, most / 2, most, most * 4] {
            let pair = try DatagramPair(besides: connection.near, buffer: requested)
            #expect(pair.receiveBuffer == min(requested, most))
        }
    }

    @Test func `what is not a multicast group is refused`() throws {
        let connection = try Connection()
        for group in ["127.0.0.1", "224.0.0", "rtsp.example", "ff02::1", "255.255.255.255"] {
            let multicast = MediaTransport.Multicast(
                group: group, rtp: 5000, rtcp: 5001, timeToLive: 1, sourceAddress: nil)
            #expect(throws: PullFault.self) { try DatagramPair(multicast, besides: connection.near) }
        }
    }

    @Test func `a group is joined on the connection's interface and heard from the camera alone`() throws {
        let connection = try Connection()
        let free = try DatagramPair(besides: connection.near)
        let port = free.mediaPort
        let multicast = MediaTransport.Multicast(
            group: "239.255.77.1", rtp: port, rtcp: port + 1, timeToLive: 1, sourceAddress: nil)
        let pair = try DatagramPair(multicast, besides: connection.near)
        let sender = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(sender) }
        var interface = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
        setsockopt(sender, Int32(IPPROTO_IP), IP_MULTICAST_IF, &interface, socklen_t(MemoryLayout<in_addr>.size))
        let target = try #require(SocketAddress(host: "239.255.77.1", port: port))
        let bytes: [UInt8] = [7, 7]
        #expect(target.withPointer { sendto(sender, bytes, bytes.count, 0, $0, $1) } == 2)
        arrived(pair)
        var buffer = [UInt8](repeating: 0, count: 64)
        #expect(pair.receive(isControl: false, into: &buffer) == 2)
    }
}
