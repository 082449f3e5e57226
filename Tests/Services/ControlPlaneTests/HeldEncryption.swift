import Foundation
import Glibc
import Synchronization

@testable import Systemd

/// Answers `io.systemd.Credentials.Encrypt`, each call only when it is let go: what comes meanwhile is under test.
final class HeldEncryption: Sendable {
    static let name = "credentials.sock"

    private let path: String
    private let listener: CInt
    private let gate = DispatchSemaphore(value: 0)
    private let asked: AsyncStream<Void>
    private let asking: AsyncStream<Void>.Continuation

    /// What a store asks; with a long timeout, because a test may be slow.
    static func client(_ path: String) -> CredentialEncryption {
        CredentialEncryption(socketPath: path, deadline: .seconds(120))
    }

    init(_ stage: ControlStage) throws {
        path = "\(stage.root)/\(Self.name)"
        (asked, asking) = AsyncStream.makeStream(of: Void.self)
        listener = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8).prefix($0.count - 1)) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard bound == 0, listen(listener, 8) == 0 else { throw POSIXError(.EADDRINUSE) }
        let (descriptor, gate, asking) = (listener, gate, asking)
        Thread.detachNewThread { Self.serve(descriptor, gate, asking) }
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    /// Returns when the next call waits.
    func isAsked() async { for await _ in asked { return } }

    /// Lets one call go.
    func release() { gate.signal() }

    private static func serve(_ listener: CInt, _ gate: DispatchSemaphore, _ asking: AsyncStream<Void>.Continuation) {
        while true {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else {
                close(listener)
                return
            }
            defer { close(connection) }
            var request: [UInt8] = []
            var part = [UInt8](repeating: 0, count: 4096)
            while !request.contains(0) {
                let count = read(connection, &part, part.count)
                guard count > 0 else { break }
                request += part[..<count]
            }
            asking.yield()
            gate.wait()
            let answer = Array(#"{"parameters":{"blob":"c2VhbGVk"}}"#.utf8) + [0]
            _ = answer.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        }
    }
}
