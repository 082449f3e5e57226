import ControlAPI
import ErrorCatalog
import Foundation
import TestSupport
import Testing

@testable import Doctor

struct NetworkCameraCheckTests {
    /// A port of loopback on which somebody listens.
    private final class Listener {
        let port: UInt16
        private let descriptor: CInt

        init() throws {
            descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let descriptor = self.descriptor
            let result = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    bind(descriptor, address, size) == 0 && listen(descriptor, 4) == 0
                        && getsockname(descriptor, address, &size) == 0
                }
            }
            guard result else { throw POSIXError(.EADDRINUSE) }
            port = UInt16(bigEndian: address.sin_port)
        }

        deinit { close(descriptor) }
    }

    private func tree(_ cameras: String) throws -> FixtureTree {
        let tree = try FixtureTree()
        try tree.write(
            "etc/watchbox/watchbox.toml",
            """
            relay.main = { url = "rtmp://127.0.0.1/live" }
            kas = { url = "http://127.0.0.1:9443/kas" }
            \(cameras)
            """)
        return tree
    }

    private func finding(_ cameras: String, isOffline: Bool = false) async throws -> Finding {
        let tree = try tree(cameras)
        return try await tree.finding("ipcameras", tree.environment(isOffline: isOffline))
    }

    @Test func `a camera whose port answers is well`() async throws {
        let listener = try Listener()
        let finding = try await finding("camera.yard = { source = \"rtsp://127.0.0.1:\(listener.port)/1\" }")
        #expect(finding.state == .ok, "\(finding)")
        #expect(finding.evidence.hasPrefix("yard 127.0.0.1:\(listener.port): TCP "))
    }

    @Test func `a camera whose port is closed fails by name; one that is asked by ONVIF may have another`() async throws
    {
        let (descriptor, closed) = deafPort()
        defer { close(descriptor) }
        let failed = try await finding("camera.yard = { source = \"rtsp://127.0.0.1:\(closed)/1\" }")
        #expect(failed.state == .fail && failed.code == .cameraUnreachable)
        #expect(failed.evidence.hasPrefix("yard: 127.0.0.1:\(closed) does not answer"))
        let there = try await finding("camera.gate = { source = \"onvif://127.0.0.1:\(closed)\" }")
        #expect(there == .ok("gate 127.0.0.1 is there"))
    }

    @Test func `without network cameras there is nothing to ask, and offline no camera is asked`() async throws {
        #expect(try await finding("camera.a = { source = \"test:\" }").state == .ok)
        let disabled = "camera.yard = { source = \"rtsp://127.0.0.1:1/\", active = false }"
        #expect(try await finding(disabled) == .ok("no camera of the network is set"))
        let active = "camera.yard = { source = \"rtsp://127.0.0.1:1/\" }"
        #expect(try await finding(active, isOffline: true) == .unknown("not asked (--offline)"))
    }
}
