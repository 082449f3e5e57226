import ChannelTestSupport
import Glibc
import RTMP
import Testing
import Wire

@testable import RTMPTransport

@Suite(.serialized) struct ListeningTests {
    /// The kernel shows a listening socket's backlog in the field of selectively acknowledged segments (tcp(7)).
    private func backlog(_ descriptor: CInt) -> Int? {
        var info = tcp_info()
        var length = socklen_t(MemoryLayout<tcp_info>.size)
        guard getsockopt(descriptor, CInt(IPPROTO_TCP), TCP_INFO, &info, &length) == 0 else { return nil }
        return Int(info.tcpi_sacked)
    }

    private func kernelLimit() -> Int? {
        guard let file = fopen("/proc/sys/net/core/somaxconn", "r") else { return nil }
        defer { fclose(file) }
        var buffer = [CChar](repeating: 0, count: 32)
        guard fgets(&buffer, 32, file) != nil else { return nil }
        return Int(strtol(buffer, nil, 10))
    }

    @Test func `a thousand that come at once can wait, also on a socket that was handed over`() async throws {
        let limit = try #require(kernelLimit())
        let socket = try ListeningSocket.open(host: "127.0.0.1", port: 0)
        let copy = try socket.duplicate()
        defer { Glibc.close(copy) }
        listen(copy, 16)
        let delegate = TestServer()
        let server = try await RTMPServer.bind(
            RTMPServerConfiguration(port: 0), socket: socket, on: delegate.loop, delegate: delegate)
        #expect(backlog(copy) == min(4096, limit))
        await server.close()
    }

    @Test func `no SYN of a burst is dropped while the loop is busy`() async throws {
        let server = try await TestServer.start()
        let resume = server.freeze()
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(server.port)).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var descriptors: [CInt] = []
        var connected = 0
        for _ in 0..<300 {
            let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
            // A dropped SYN is sent again after 1 s, 3 s, 7 s: for ever, as nothing accepts.
            var timeout = timeval(tv_sec: 20, tv_usec: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
            let result = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            descriptors.append(descriptor)
            guard result == 0 else { break }
            connected += 1
        }
        #expect(connected == 300)
        for descriptor in descriptors { Glibc.close(descriptor) }
        resume()
        await server.close()
    }

    @Test func `a denied network is closed before it can send anything`() async throws {
        let denied = try #require(NetworkRange("127.0.0.0/8"))
        let server = try await TestServer.start { $0.networks = NetworkRules(deny: [denied]) }
        let peer = try await RawPeer.connect(port: server.port)
        try await peer.log.next { $0 == .closed }
        #expect(server.log.all.isEmpty)
        await server.close()
        let elsewhere = try #require(NetworkRange("192.0.2.0/24"))
        let strict = try await TestServer.start { $0.networks = NetworkRules(allow: [elsewhere]) }
        let other = try await RawPeer.connect(port: strict.port)
        try await other.log.next { $0 == .closed }
        await strict.close()
    }
}
