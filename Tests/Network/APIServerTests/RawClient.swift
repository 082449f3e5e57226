import Glibc
import Synchronization

/// A plain socket: sends what a client may not, and reads what comes, on threads of its own.
final class RawClient: Sendable {
    struct Failure: Error {
        var call: String
        var code: CInt
    }

    struct Answer {
        var status: Int
        /// Names in lower case.
        var headers: [String: String]
        var body: String
    }

    private let descriptor: CInt
    /// Came with an earlier answer.
    private let surplus = Mutex<[UInt8]>([])

    init(path: String) throws {
        descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                connect(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        // `deinit` closes.
        guard result == 0 else { throw Failure(call: "connect", code: errno) }
    }

    /// To a port of 127.0.0.1.
    init(port: UInt16) throws {
        descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = port.bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                connect(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        // `deinit` closes.
        guard result == 0 else { throw Failure(call: "connect", code: errno) }
    }

    deinit { close(descriptor) }

    /// False when the server has closed before it took everything.
    @discardableResult
    func write(_ bytes: [UInt8]) async -> Bool {
        await Self.offPool { [descriptor] in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
    }

    @discardableResult
    func write(_ text: String) async -> Bool { await write(Array(text.utf8)) }

    func endOutput() { shutdown(descriptor, CInt(SHUT_WR)) }

    /// Ends what is under way on other threads.
    func end() { shutdown(descriptor, CInt(SHUT_RDWR)) }

    /// Until the server closes, or sends a reset.
    func readToEnd() async -> String {
        let bytes = await Self.offPool { [descriptor] in
            var bytes: [UInt8] = []
            while let more = Self.receive(descriptor) { bytes += more }
            return bytes
        }
        return String(decoding: surplus.withLock { $0 } + bytes, as: UTF8.self)
    }

    /// Until this text has come; nil when the connection ends before.
    func read(until text: String) async -> String? {
        let requested = Array(text.utf8)
        let start = surplus.withLock { $0 }
        let bytes = await Self.offPool { [descriptor] () -> [UInt8]? in
            var bytes = start
            while !String(decoding: bytes, as: UTF8.self).contains(text) {
                guard let more = Self.receive(descriptor) else { return nil }
                bytes += more
            }
            return bytes
        }
        guard let bytes else { return nil }
        let end =
            bytes.indices.first { bytes[$0...].starts(with: requested) }.map { $0 + requested.count } ?? bytes.count
        surplus.withLock { $0 = Array(bytes[end...]) }
        return String(decoding: bytes[..<end], as: UTF8.self)
    }

    /// One answer that states its length; nil when the connection ends before.
    func answer() async -> Answer? {
        guard let head = await read(until: "\r\n\r\n") else { return nil }
        var lines = head.split(separator: "\r\n").map(String.init)
        let status = lines.removeFirst().split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        var headers: [String: String] = [:]
        for line in lines {
            guard let colon = line.firstIndex(of: ":") else { continue }
            headers[line[..<colon].lowercased()] = String(line[line.index(after: colon)...].drop { $0 == " " })
        }
        let length = headers["content-length"].flatMap { Int($0) } ?? 0
        let start = surplus.withLock { $0 }
        let bytes = await Self.offPool { [descriptor] () -> [UInt8]? in
            var bytes = start
            while bytes.count < length {
                guard let more = Self.receive(descriptor) else { return nil }
                bytes += more
            }
            return bytes
        }
        guard let bytes else { return nil }
        surplus.withLock { $0 = Array(bytes[length...]) }
        return Answer(status: status, headers: headers, body: String(decoding: bytes[..<length], as: UTF8.self))
    }

    func exchange(_ text: String) async -> Answer? {
        await write(text)
        return await answer()
    }

    private static func receive(_ descriptor: CInt) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count > 0 ? Array(buffer.prefix(count)) : nil
    }

    /// Blocking work may not hold the pool, on which the server's handlers run: each gets a thread.
    static func offPool<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            onThread { continuation.resume(returning: work()) }
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
