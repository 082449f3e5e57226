import Glibc
import Platform
import Synchronization

/// A Unix socket that gives each request over HTTP the same answer and hangs up.
final class AnsweringSocket: Sendable {
    struct Failure: Error { var errno: Int32 }

    private let descriptor: CInt
    private let text = Mutex("")

    var answer: String {
        get { text.withLock { $0 } }
        set { text.withLock { $0 = newValue } }
    }

    init(_ path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard bound == 0, listen(descriptor, 8) == 0 else { throw Failure(errno: errno) }
        // It ends with the listener.
        let listener = descriptor
        let isStarted = OwnThread.start { [weak self] in
            while true {
                let connection = accept(listener, nil, nil)
                if connection < 0 { break }
                self?.serve(connection)
                close(connection)
            }
            close(listener)
        }
        guard isStarted else { throw Failure(errno: EAGAIN) }
    }

    deinit { shutdown(descriptor, Int32(SHUT_RDWR)) }

    private func serve(_ connection: CInt) {
        var request: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while !request.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            let count = recv(connection, &buffer, buffer.count, 0)
            if count <= 0 { return }
            request += buffer[..<count]
        }
        let body = answer
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n"
        var rest = Array("\(head)Connection: close\r\n\r\n\(body)".utf8)[...]
        while !rest.isEmpty {
            // A reader that has had enough is not a reason for a signal.
            let count = rest.withUnsafeBytes {
                send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { return }
            rest = rest.dropFirst(count)
        }
    }
}
