import Foundation
import Glibc
import KeyAccess
import TestSupport
import Testing
import Wire

@testable import KeyAccessServer

/// A connection from an address of its own, which reads until the service ends it.
private final class Client: Sendable {
    fileprivate let descriptor: Int32

    init?(from address: String = "127.0.0.1", port: Int) {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        // A guard against a hang, far beyond what is promised.
        var timeout = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        func call(_ port: Int, _ address: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Bool {
            var place = sockaddr_in()
            place.sin_family = sa_family_t(AF_INET)
            place.sin_port = in_port_t(port).bigEndian
            inet_pton(AF_INET, address, &place.sin_addr)
            return withUnsafePointer(to: place) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
        }
        guard call(0, address, { Glibc.bind(descriptor, $0, $1) }),
            call(port, "127.0.0.1", { Glibc.connect(descriptor, $0, $1) })
        else {
            close(descriptor)
            return nil
        }
    }

    deinit { close(descriptor) }

    @discardableResult
    func send(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    func ask(_ path: String = Route.health) async -> String {
        send("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
        return await receive()
    }

    /// What comes next; empty at the end of the connection.
    func receive() async -> String {
        await apart { [descriptor] in
            var bytes = [UInt8](repeating: 0, count: 16_384)
            let count = recv(descriptor, &bytes, bytes.count, 0)
            return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
        }
    }

    /// Whether the service ends it: an orderly end or a reset, not our timeout.
    func isEnded() async -> Bool {
        await apart { [descriptor] in
            var byte: UInt8 = 0
            let count = recv(descriptor, &byte, 1, 0)
            return count == 0 || (count < 0 && errno == ECONNRESET)
        }
    }

    /// How many of these the service ends, once it ends any.
    static func ended(_ clients: [Client]) async -> Int {
        await apart {
            var states = clients.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
            return Int(poll(&states, nfds_t(states.count), 20_000))
        }
    }
}

/// On a thread of its own: what waits for a socket would hold up the tasks that this machine has few threads for.
private func apart<R: Sendable>(_ body: @escaping @Sendable () -> R) async -> R {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: body()) }
    }
}

@Suite(.timeLimit(.minutes(15))) struct ConnectionTests {
    @Test(
        arguments: [
            ("192.0.2.1", "192.0.2.1"), ("::ffff:192.0.2.1", "192.0.2.1"), ("2001:db8:1:2::7", "2001:db8:1:2::/64"),
            ("2001:db8:1:2:ffff:1:2:3", "2001:db8:1:2::/64"), ("2001:db8:1:3::7", "2001:db8:1:3::/64"),
            ("fe80::1%eth0", "fe80:0:0:0::/64"), ("unknown", "unknown"), ("no:address", "no:address"),
        ])
    func `a network is an IPv4 address or an IPv6 64`(address: String, name: String) {
        #expect(NetworkAddress.share(ofClient: address) == name)
    }

    @Test func `a host of many addresses has the limits of one`() throws {
        let rig = try Rig { configuration, _ in configuration.addressRateLimit = .init(perSecond: 1, burst: 4) }
        func status(_ address: String) -> Int {
            rig.endpoints.answer(ServiceRequest(method: .get, path: Route.health, address: address)).status
        }
        #expect((1...6).map { status("2001:db8::\($0)") } == [200, 200, 200, 200, 429, 429])
        #expect(status("2001:db8:0:1::1") == 200)
    }

    @Test func `one address cannot take the connections of the others`() async throws {
        let rig = try Rig()
        _ = try await rig.running({ $0.maximumConnectionsPerAddress = 8 }) { port in
            let silent = (0..<9).compactMap { _ in Client(from: "127.0.0.1", port: port) }
            #expect(silent.count == 9)
            for client in silent { client.send("GET ") }
            #expect(await Client.ended(silent) == 1)
            let other = try #require(Client(from: "127.0.0.2", port: port))
            #expect(await other.ask().hasPrefix("HTTP/1.1 200 "))
        }
    }

    @Test func `who is answered gives its place to who is not`() async throws {
        let rig = try Rig()
        _ = try await rig.running({ $0.maximumConnectionsPerAddress = 4 }) { port in
            var answered: [Client] = []
            for _ in 0..<40 {
                let client = try #require(Client(from: "127.0.0.1", port: port))
                #expect(await client.ask().hasPrefix("HTTP/1.1 200 "))
                answered.append(client)
            }
            // The first ones are gone, the last one is still served.
            #expect(await answered[0].isEnded())
            #expect(await answered[39].ask().hasPrefix("HTTP/1.1 200 "))
        }
    }

    @Test func `the service has a limit in all`() async throws {
        let rig = try Rig()
        _ = try await rig.running({ $0.maximumConnections = 6 }) { port in
            let silent = (1...7).compactMap { Client(from: "127.0.0.\($0)", port: port) }
            #expect(silent.count == 7)
            for client in silent { client.send("GET ") }
            #expect(await Client.ended(silent) == 1)
        }
    }

    @Test func `a connection ends soon after its last answer`() async throws {
        let rig = try Rig()
        _ = try await rig.running(idle: HTTPConnection.Times().idle) { port in
            let client = try #require(Client(port: port))
            let start = ContinuousClock.now
            #expect(await client.ask().hasPrefix("HTTP/1.1 200 "))
            let time = await elapsed { #expect(await client.isEnded()) }
            // 2 s are promised, and 1.5 s of them to who asks again.
            #expect(time < .seconds(10))
            #expect(ContinuousClock.now - start >= .milliseconds(1500))
        }
    }

    @Test func `requests in one piece are answered in order, a wish to close is granted`() async throws {
        let rig = try Rig()
        _ = try await rig.running { port in
            let client = try #require(Client(port: port))
            let get = "GET \(Route.health) HTTP/1.1\r\nHost: x\r\n\r\n"
            client.send(
                get + "GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n"
                    + get.replacing("Host", with: "Connection: close\r\nHost"))
            var text = ""
            while case let more = await client.receive(), !more.isEmpty { text += more }
            let statuses = text.split(separator: "HTTP/1.1 ").map { String($0.prefix(3)) }
            #expect(statuses == ["200", "404", "200"])
            #expect(text.contains("connection: close"))
        }
    }

    @Test func `a client that waits to be asked for its body is asked`() async throws {
        let rig = try Rig()
        _ = try await rig.running { port in
            let client = try #require(Client(port: port))
            client.send(
                "POST \(Route.connectPublicKey) HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                    + "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n")
            #expect(await client.receive().hasPrefix("HTTP/1.1 100 "))
            client.send("{}")
            #expect(await client.receive().hasPrefix("HTTP/1.1 200 "))
        }
    }

    @Test(
        arguments: [
            ("/a?x=1&y=%7B%22k%22%3A1%7D&x=2&z", "/a", ["x": "1", "y": #"{"k":1}"#, "z": ""]),
            ("http://kas.example.net:8443/a/b?c=d", "/a/b", ["c": "d"]), ("*", "*", [:]), ("", "/", [:]),
            ("https://kas.example.net", "/", [:]), ("/?%=%4", "/", ["%": "%4"]), ("/%41", "/%41", [:]),
        ] as [(String, String, [String: String])])
    func `a request's target`(text: String, path: String, query: [String: String]) {
        let target = RequestTarget(text)
        #expect(target.path == path)
        #expect(target.query == query)
    }
}
