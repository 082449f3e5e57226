internal import Glibc

/// Wakes a thread that waits in `poll`, from any other.
final class WakeUp: Sendable {
    /// Readable from `ring` on, for good.
    let descriptor: Int32
    private let writing: Int32

    /// Nil when the system has no descriptors left.
    init?() {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return nil }
        descriptor = ends[0]
        writing = ends[1]
    }

    deinit {
        close(descriptor)
        close(writing)
    }

    func ring() {
        var byte: UInt8 = 1
        _ = send(writing, &byte, 1, Int32(MSG_NOSIGNAL))
    }
}
