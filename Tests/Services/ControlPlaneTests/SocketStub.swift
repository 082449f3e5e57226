import Foundation
import Glibc
import Synchronization

/// A daemon on a Unix socket that answers every request with the same thing, or never.
final class SocketStub: Sendable {
    private let descriptor: CInt
    private let state = Mutex<[String]>([])

    /// First lines of the requests.
    var requests: [String] { state.withLock { $0 } }

    /// - Parameter answer: status and body; nil: takes connections and says nothing.
    init(path: String, answer: (@Sendable (_ request: String) -> (Int, String))?) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        precondition(path.utf8.count < MemoryLayout.size(ofValue: address.sun_path))
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard bound == 0, listen(descriptor, 16) == 0 else { throw POSIXError(.EADDRINUSE) }
        let listening = descriptor
        Thread.detachNewThread { [weak self] in
            while true {
                let connection = accept(listening, nil, nil)
                guard connection >= 0 else { break }
                guard let answer else { continue }
                var bytes = [UInt8](repeating: 0, count: 1 << 16)
                let count = read(connection, &bytes, bytes.count)
                let text = String(decoding: bytes[..<max(0, count)], as: UTF8.self)
                let line = text.split(separator: "\r\n").first.map(String.init) ?? ""
                self?.state.withLock { $0.append(line) }
                let (status, body) = answer(line)
                let reply =
                    "HTTP/1.1 \(status) Any\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n"
                    + "Connection: close\r\n\r\n\(body)"
                _ = reply.withCString { send(connection, $0, strlen($0), Int32(MSG_NOSIGNAL)) }
                close(connection)
            }
            close(listening)
        }
    }

    /// The thread closes it: before, its number must not be that of another test's socket.
    deinit { shutdown(descriptor, Int32(SHUT_RDWR)) }
}

/// Where a service's notifications arrive.
final class NotifySocket: Sendable {
    let path: String
    private let descriptor: CInt

    init(path: String) throws {
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard bound == 0 else { throw POSIXError(.EADDRINUSE) }
        // A test that waits for what never comes ends.
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    /// The next message; nil when there is none for a minute.
    func next() async -> String? {
        let descriptor = self.descriptor
        return await withCheckedContinuation { done in
            Thread.detachNewThread {
                var bytes = [UInt8](repeating: 0, count: 4096)
                let count = recv(descriptor, &bytes, bytes.count, 0)
                done.resume(returning: count < 0 ? nil : String(decoding: bytes[..<count], as: UTF8.self))
            }
        }
    }

    /// Messages until one of them holds this text.
    func messages(until text: String) async -> [String] {
        var messages: [String] = []
        while let message = await next() {
            messages.append(message)
            if message.contains(text) { break }
        }
        return messages
    }
}
