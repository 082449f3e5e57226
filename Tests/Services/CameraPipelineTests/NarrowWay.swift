import Dispatch
import Foundation
import Glibc
import Synchronization

/// A way to a port of 127.0.0.1 through which so many bytes a second pass towards it, and all that comes back.
final class NarrowWay: Sendable {
    let port: Int
    private let target: UInt16
    private let listener: CInt
    private let bytesPerSecond: Atomic<Int>
    private let isOpen = Atomic(true)

    /// Little room in the kernel, so that what does not pass is seen by who sends it.
    private static let room: CInt = 8 << 10

    init(to port: Int, bitsPerSecond: Int) throws {
        target = UInt16(port)
        bytesPerSecond = Atomic(bitsPerSecond / 8)
        listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        var room = Self.room
        setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &room, socklen_t(MemoryLayout<CInt>.size))
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        var address = Self.address(0)
        let listener = listener
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 16) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard isBound else { throw Listener.Failed() }
        self.port = Int(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread { self.accept() }
    }

    /// 0: nothing passes.
    func become(bitsPerSecond: Int) { bytesPerSecond.store(bitsPerSecond / 8, ordering: .relaxed) }

    func close() {
        isOpen.store(false, ordering: .relaxed)
        shutdown(listener, CInt(SHUT_RDWR))
    }

    private func accept() {
        while true {
            let near = Glibc.accept(listener, nil, nil)
            guard near >= 0 else { break }
            let far = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
            var address = Self.address(target)
            let isConnected = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(far, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            guard isConnected else {
                Glibc.close(near)
                Glibc.close(far)
                continue
            }
            let both = DispatchGroup()
            for (source, sink) in [(near, far), (far, near)] {
                both.enter()
                Thread.detachNewThread {
                    self.pass(from: source, to: sink, isNarrow: source == near)
                    both.leave()
                }
            }
            both.notify(queue: .global()) {
                Glibc.close(near)
                Glibc.close(far)
            }
        }
        Glibc.close(listener)
    }

    private func pass(from source: CInt, to sink: CInt, isNarrow: Bool) {
        var buffer = [UInt8](repeating: 0, count: 1024)
        var due = DispatchTime.now()
        while isOpen.load(ordering: .relaxed) {
            let rate = isNarrow ? bytesPerSecond.load(ordering: .relaxed) : .max
            if rate == 0 {
                usleep(2_000)
                due = .now()
                continue
            }
            let count = recv(source, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            var sent = 0
            while sent < count {
                let taken = buffer[sent..<count].withUnsafeBytes {
                    send(sink, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
                }
                guard taken > 0 else { break }
                sent += taken
            }
            guard isNarrow else { continue }
            // An idle way saves nothing up.
            due = max(due, .now() - .milliseconds(20)) + .nanoseconds(Int(Double(count) / Double(rate) * 1e9))
            while isOpen.load(ordering: .relaxed), DispatchTime.now() < due { usleep(1_000) }
        }
        shutdown(sink, CInt(SHUT_RDWR))
        shutdown(source, CInt(SHUT_RDWR))
    }

    private static func address(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }
}
