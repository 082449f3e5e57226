import CameraModel
import Glibc
import TestSupport
import Testing

@testable import HealthMonitor

struct PeerReadingTests {
    /// A listening socket on loopback.
    private final class Listener {
        let descriptor: CInt
        let port: UInt16

        init() {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            self.descriptor = descriptor
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let bound = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, length) == 0 && listen(descriptor, 4) == 0
                        && getsockname(descriptor, $0, &length) == 0
                }
            }
            precondition(bound)
            port = UInt16(bigEndian: address.sin_port)
        }

        deinit { close(descriptor) }
    }

    @Test func `a server that listens is reached, and a port without a listener is not`() {
        let listener = Listener()
        let peer = HealthServiceSettings.Peer(name: "main", host: "127.0.0.1", port: listener.port, tls: false)
        guard case .connected(let address, _) = PeerReading.read(peer) else {
            Issue.record("not connected")
            return
        }
        #expect(address == "127.0.0.1")
        let (descriptor, port) = deafPort()
        defer { close(descriptor) }
        let deaf = HealthServiceSettings.Peer(name: "main", host: "127.0.0.1", port: port, tls: false)
        guard case .refused(let why) = PeerReading.read(deaf) else {
            Issue.record("not refused")
            return
        }
        #expect(why.contains("127.0.0.1 port \(port)"))
    }

    @Test func `a name that cannot be is not there, or cannot be asked for`() {
        let reading = PeerReading.read(
            .init(name: "main", host: "no-such-host.invalid", port: 1935, tls: false))
        switch reading {
        case .noSuchName, .noNameServer: break
        default: Issue.record("\(reading)")
        }
    }

    @Test(arguments: [("192.168.1.1", true), ("::1", true), ("relay.example.net", false), ("1.2.3", false)])
    func `an address needs no name server`(host: String, isAddress: Bool) {
        #expect(PeerReading.isAddress(host) == isAddress)
    }
}
