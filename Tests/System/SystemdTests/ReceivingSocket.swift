import Glibc
import Testing

/// A bound datagram socket: what PID 1 and the journal listen on.
final class ReceivingSocket: Sendable {
    /// As `$NOTIFY_SOCKET` says it.
    let path: String
    let descriptor: CInt

    init(abstract: Bool = false) throws {
        let name = "watchbox-\(getpid())-\(UInt64.random(in: 0 ... .max))"
        path = abstract ? "@\(name)" : "/tmp/\(name)"
        descriptor = socket(AF_UNIX, 2 | 0o2000000, 0)  // SOCK_DGRAM | SOCK_CLOEXEC
        try #require(descriptor >= 0)
        var address = TestAddress(path)
        try #require(address.with { bind(descriptor, $0, $1) } == 0)
        // A test that waits for what never comes fails after a minute.
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit {
        close(descriptor)
        if path.hasPrefix("/") { unlink(path) }
    }

    /// The next datagram, and the descriptor that came with it.
    func receive() throws -> (bytes: [UInt8], descriptor: CInt?) {
        var bytes = [UInt8](repeating: 0, count: 256 * 1024)
        var control = [UInt8](repeating: 0, count: 64)
        let (count, controlCount) = bytes.withUnsafeMutableBytes { bytes in
            control.withUnsafeMutableBytes { control in
                var part = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
                return withUnsafeMutablePointer(to: &part) { part in
                    var message = msghdr()
                    message.msg_iov = part
                    message.msg_iovlen = 1
                    message.msg_control = control.baseAddress
                    message.msg_controllen = control.count
                    let count = recvmsg(descriptor, &message, 0)
                    return (count, Int(message.msg_controllen))
                }
            }
        }
        try #require(count >= 0, "nothing came: errno \(errno)")
        // One cmsghdr of 16 bytes, then the descriptor.
        var passed: CInt?
        if controlCount >= 20 {
            passed = control.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 16, as: CInt.self) }
        }
        return (Array(bytes[..<count]), passed)
    }

    func receiveText() throws -> String { String(decoding: try receive().bytes, as: UTF8.self) }
}

/// `sockaddr_un` for a path, or for an abstract name with `@` in front.
struct TestAddress {
    private var bytes: [UInt8]

    init(_ path: String) {
        let name = Array(path.utf8)
        let abstract = name.first == UInt8(ascii: "@")
        let family = withUnsafeBytes(of: UInt16(AF_UNIX)) { Array($0) }
        bytes = family + (abstract ? [0] + name.dropFirst() : name + [0])
    }

    mutating func with<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
        bytes.withUnsafeBytes { body($0.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count)) }
    }
}
