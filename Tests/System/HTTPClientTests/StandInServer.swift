import Glibc
import Synchronization
import TestSupport

/// An HTTP server on plain sockets that answers as its script says: exactly, wrongly, slowly, or never.
final class StandInServer: Sendable {
    struct Request: Sendable {
        /// "GET /path HTTP/1.1"
        var line: String
        /// Names in lower case.
        var headers: [String: String]
        var body: [UInt8]
        /// Counts from 1; requests of one connection share it.
        var connection: Int
    }

    enum Reply: Sendable {
        /// These bytes; the connection stays open.
        case bytes([UInt8])
        /// These bytes, then the end of the connection.
        case last([UInt8])
        /// These bytes (perhaps none), and then nothing until the client goes away.
        case silence(after: [UInt8])
    }

    private struct State {
        var requests: [Request] = []
        var connections: [CInt] = []
        var accepted = 0
        var left = 0
    }

    let port: UInt16
    private let listener: CInt
    private let state = Mutex(State())
    private let script: @Sendable (Request) -> Reply

    /// - Parameter unixSocketPath: listens there instead of on a port of 127.0.0.1 that the kernel chooses.
    init(unixSocketPath: String? = nil, _ script: @escaping @Sendable (Request) -> Reply) {
        self.script = script
        (listener, port) = unixSocketPath.map { (Self.listen(at: $0), 0) } ?? Self.listen()
        Self.onThread { [self] in accept() }
    }

    var url: String { "http://127.0.0.1:\(port)" }
    var requests: [Request] { state.withLock { $0.requests } }
    /// Connections so far.
    var accepted: Int { state.withLock { $0.accepted } }
    /// Connections that the client ended.
    var left: Int { state.withLock { $0.left } }

    func stop() {
        shutdown(listener, CInt(SHUT_RDWR))
        // Within the lock: what is in the list is still open.
        state.withLock { for connection in $0.connections { shutdown(connection, CInt(SHUT_RDWR)) } }
    }

    static func answer(_ status: Int, _ body: String, headers: [String] = []) -> [UInt8] {
        let head = ["HTTP/1.1 \(status) Text", "Content-Length: \(body.utf8.count)"] + headers
        return Array((head.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
    }

    private static func listen() -> (CInt, UInt16) {
        let (descriptor, port) = deafPort()
        precondition(Glibc.listen(descriptor, 16) == 0)
        return (descriptor, port)
    }

    private static func listen(at path: String) -> CInt {
        unlink(path)
        let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                let size = socklen_t(MemoryLayout<sockaddr_un>.size)
                precondition(bind(descriptor, pointer, size) == 0 && Glibc.listen(descriptor, 16) == 0)
            }
        }
        return descriptor
    }

    private func accept() {
        while true {
            let connection = Glibc.accept(listener, nil, nil)
            guard connection >= 0 else { break }
            let number = state.withLock { state in
                state.connections.append(connection)
                state.accepted += 1
                return state.accepted
            }
            Self.onThread { [self] in
                serve(connection, number)
                state.withLock { state in
                    state.connections.removeAll { $0 == connection }
                    state.left += 1
                }
                close(connection)
            }
        }
        close(listener)
    }

    private func serve(_ connection: CInt, _ number: Int) {
        var bytes: [UInt8] = []
        while let request = Self.read(connection, number, &bytes) {
            state.withLock { $0.requests.append(request) }
            switch script(request) {
            case .bytes(let reply): Self.write(connection, reply)
            case .last(let reply): return Self.write(connection, reply)
            case .silence(let reply):
                Self.write(connection, reply)
                while Self.more(connection, &bytes) {}
                return
            }
        }
    }

    private static func read(_ connection: CInt, _ number: Int, _ bytes: inout [UInt8]) -> Request? {
        let blank = Array("\r\n\r\n".utf8)
        var end: Int?
        while end == nil {
            end = bytes.indices.first { bytes[$0...].starts(with: blank) }
            if end == nil, !more(connection, &bytes) { return nil }
        }
        guard let end else { return nil }
        var lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n").map(String.init)
        let line = lines.removeFirst()
        var headers: [String: String] = [:]
        for text in lines {
            guard let colon = text.firstIndex(of: ":") else { continue }
            headers[text[..<colon].lowercased()] = String(text[text.index(after: colon)...].drop { $0 == " " })
        }
        let length = headers["content-length"].flatMap { Int($0) } ?? 0
        while bytes.count < end + 4 + length {
            if !more(connection, &bytes) { return nil }
        }
        let body = Array(bytes[(end + 4)..<(end + 4 + length)])
        bytes.removeFirst(end + 4 + length)
        return Request(line: line, headers: headers, body: body, connection: number)
    }

    private static func more(_ connection: CInt, _ bytes: inout [UInt8]) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = recv(connection, &buffer, buffer.count, 0)
        if count > 0 { bytes += buffer.prefix(count) }
        return count > 0
    }

    private static func write(_ connection: CInt, _ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { bytes in
                send(connection, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    private static func onThread(_ work: @escaping @Sendable () -> Void) {
        final class Box {
            let work: @Sendable () -> Void
            init(_ work: @escaping @Sendable () -> Void) { self.work = work }
        }
        var thread = pthread_t()
        let result = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().work()
                return nil
            }, Unmanaged.passRetained(Box(work)).toOpaque())
        precondition(result == 0)
        pthread_detach(thread)
    }
}
