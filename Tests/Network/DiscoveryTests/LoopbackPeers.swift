import Glibc
import ONVIF
import Platform
import Synchronization
import Wire

@testable import Discovery

/// Addresses of 127.0.0.0/8 that no other test uses: eight of them, as a network.
struct LoopbackNetwork {
    private let base = UInt32.random(in: 0x7F40_0000...0x7FFE_0000) & ~7

    var range: String { "\(host(0))/29" }

    /// - Parameter number: 1…6 for devices.
    func host(_ number: UInt32) -> String { SocketAddress(.ipv4(base | number), port: 0).host }
}

/// A server that answers everybody the same, and remembers what it was asked.
final class TCPPeer: Sendable {
    enum Manner: Sendable {
        case answers(String)
        /// Speaks first.
        case greets(String)
        case silent
    }

    let port: UInt16
    private let descriptor: Int32
    private let manner: Manner
    private let heard = Mutex<[String]>([])

    init(_ host: String, _ manner: Manner) throws(CallError) {
        self.manner = manner
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let bound = SocketAddress(host: host, port: 0)?.withPointer { [descriptor] in bind(descriptor, $0, $1) }
        guard bound == 0, listen(descriptor, 64) == 0, let name = SocketAddress.local(of: descriptor) else {
            throw CallError(call: "listen at \(host)")
        }
        port = name.port
        let started = OwnThread.start { [descriptor] in
            while true {
                let connection = accept(descriptor, nil, nil)
                guard connection >= 0 else { break }
                _ = OwnThread.start { self.serve(connection) }
            }
            close(descriptor)
        }
        guard started else { throw CallError(call: "thread") }
    }

    /// What came, one text for each connection.
    var requests: [String] { heard.withLock { $0 } }

    func stop() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    private func serve(_ connection: Int32) {
        defer { close(connection) }
        if case .greets(let text) = manner { _ = send(connection, text, text.utf8.count, Int32(MSG_NOSIGNAL)) }
        let index = heard.withLock { heard in
            heard.append("")
            return heard.count - 1
        }
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            let text = String(decoding: buffer.prefix(count), as: UTF8.self)
            heard.withLock { $0[index] += text }
            if case .answers(let answer) = manner, text.hasSuffix("\r\n\r\n") || text.hasSuffix(">") {
                _ = send(connection, answer, answer.utf8.count, Int32(MSG_NOSIGNAL))
                if answer.hasPrefix("HTTP") { return }
            }
        }
    }
}

/// A device that answers Probes to its own address.
final class DiscoveryPeer: Sendable {
    private let descriptor: Int32

    /// - Parameter body: of the answers' envelope, such as `<d:ProbeMatches>…`.
    init(_ host: String, body: String) throws(CallError) {
        descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let bound = SocketAddress(host: host, port: 3702)?.withPointer { [descriptor] in bind(descriptor, $0, $1) }
        guard bound == 0 else { throw CallError(call: "bind to \(host) port 3702") }
        let answer = Array(TestSocket.envelope(body).utf8)
        let started = OwnThread.start { [descriptor] in
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                var source = sockaddr_in()
                var length = socklen_t(MemoryLayout<sockaddr_in>.size)
                let sent = withUnsafeMutablePointer(to: &source) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                        guard recvfrom(descriptor, &buffer, buffer.count, 0, address, &length) > 0 else { return -1 }
                        // Twice, as one library does.
                        _ = sendto(descriptor, answer, answer.count, 0, address, length)
                        return sendto(descriptor, answer, answer.count, 0, address, length)
                    }
                }
                guard sent >= 0 else { break }
            }
            close(descriptor)
        }
        guard started else { throw CallError(call: "thread") }
    }

    func stop() { shutdown(descriptor, Int32(SHUT_RDWR)) }
}

struct CallError: Error {
    var call: String
    var reason = SystemMessage.text(errno)
}

enum TestSocket {
    static func envelope(_ body: String, messageID: String = RandomUUID().description) -> String {
        "<?xml version=\"1.0\"?><S-E:Envelope xmlns:S-E=\"http://www.w3.org/2003/05/soap-envelope\" "
            + "xmlns:a=\"http://schemas.xmlsoap.org/ws/2004/08/addressing\" "
            + "xmlns:d=\"http://schemas.xmlsoap.org/ws/2005/04/discovery\"><S-E:Header><a:MessageID>uuid:\(messageID)"
            + "</a:MessageID></S-E:Header><S-E:Body>\(body)</S-E:Body></S-E:Envelope>"
    }

    static func target(_ endpoint: String, addresses: String) -> String {
        "<a:EndpointReference><a:Address>\(endpoint)</a:Address></a:EndpointReference><d:Types>x:NetworkVideoTransmitter"
            + "</d:Types><d:Scopes>onvif://www.onvif.org/name/Test</d:Scopes><d:XAddrs>\(addresses)</d:XAddrs>"
    }

    /// To the group on the loopback interface.
    static func announce(_ text: String) throws(CallError) {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var choice = ip_mreqn()
        choice.imr_ifindex = Int32(if_nametoindex("lo"))
        let bytes = Array(text.utf8)
        guard
            setsockopt(descriptor, Int32(IPPROTO_IP), IP_MULTICAST_IF, &choice, socklen_t(MemoryLayout<ip_mreqn>.size))
                == 0,
            let group = SocketAddress(host: DiscoveryNames.group, port: DiscoveryNames.port),
            group.withPointer({ sendto(descriptor, bytes, bytes.count, 0, $0, $1) }) == bytes.count
        else { throw CallError(call: "send to the group") }
    }
}
