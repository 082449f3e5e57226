import Glibc

/// A port of 127.0.0.1 where connecting leads to nothing.
package final class BlackHole {
    package let port: UInt16
    private let listener: CInt
    private var waiting: [CInt] = []

    /// - Parameter answersSYN: whether TCP connections are established. If not, the queue of the listener is full, and the kernel
    ///   drops what else comes.
    package init(answersSYN: Bool) {
        (listener, port) = deafPort()
        precondition(listen(listener, answersSYN ? 16 : 0) == 0)
        guard !answersSYN else { return }
        for _ in 0..<4 {
            let descriptor = socket(
                AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                    _ = connect(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            waiting.append(descriptor)
        }
    }

    deinit {
        for descriptor in waiting { close(descriptor) }
        close(listener)
    }
}

/// A port of 127.0.0.1 where every connection is refused, for as long as the descriptor is open.
package func deafPort() -> (descriptor: CInt, port: UInt16) {
    let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
            precondition(bind(descriptor, pointer, length) == 0)
            precondition(getsockname(descriptor, pointer, &length) == 0)
        }
    }
    return (descriptor, UInt16(bigEndian: address.sin_port))
}
