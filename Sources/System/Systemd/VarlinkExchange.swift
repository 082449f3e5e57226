internal import CSystemd
internal import Glibc
internal import Platform

/// One call over a varlink socket: JSON and a NUL in each direction, everything before one deadline. Blocks.
struct VarlinkExchange: ~Copyable {
    private let socket: CInt
    private let deadline: ContinuousClock.Instant
    private let purpose: String

    init(socketPath: String, deadline: ContinuousClock.Instant, purpose: String) throws(SystemdError) {
        guard let address = UnixAddress(socketPath) else { throw .invalid("socket path \(socketPath)") }
        let socket = Glibc.socket(
            AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue), 0)
        guard socket >= 0 else { throw .system(call: "socket", errno: errno) }
        guard address.withSocketAddress({ connect(socket, $0, $1) }) == 0 else {
            let number = errno
            close(socket)
            // A Unix socket has no half-way state: a full queue says EAGAIN.
            throw number == EAGAIN
                ? .unavailable("\(purpose): too many wait before us") : .failed("connect", number, purpose)
        }
        self.socket = socket
        self.deadline = deadline
        self.purpose = purpose
    }

    deinit { close(socket) }

    mutating func send(_ bytes: [UInt8]) throws(SystemdError) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress! + sent, $0.count - sent, CInt(MSG_NOSIGNAL))
            }
            if count > 0 { sent += count } else { try waitOrThrow("send", POLLOUT) }
        }
    }

    /// The answer without its NUL. Anything behind the NUL is not ours.
    mutating func receive(limit: Int) throws(SystemdError) -> [UInt8] {
        var answer: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = part.withUnsafeMutableBytes { recv(socket, $0.baseAddress, $0.count, 0) }
            if count == 0 { throw .unavailable("\(purpose): systemd hung up") }
            if count < 0 {
                try waitOrThrow("recv", POLLIN)
                continue
            }
            if let end = part[..<count].firstIndex(of: 0) {
                guard answer.count + end <= limit else { break }
                return answer + part[..<end]
            }
            answer.append(contentsOf: part[..<count])
            guard answer.count <= limit else { break }
        }
        throw .invalid("\(purpose): answer longer than \(limit) bytes")
    }

    /// After a call that returned -1.
    private func waitOrThrow(_ call: String, _ event: CInt) throws(SystemdError) {
        let number = errno
        if number == EINTR { return }
        guard number == EAGAIN else { throw .failed(call, number, purpose) }
        let left = deadline - .now
        guard left > .zero else { throw .timedOut(purpose) }
        var watched = pollfd(fd: socket, events: Int16(event), revents: 0)
        poll(&watched, 1, CInt(clamping: left.microseconds / 1000 + 1))
    }
}
