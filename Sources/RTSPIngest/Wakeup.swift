internal import Glibc
internal import Synchronization

/// Ends the waiting of a source's thread, from any other thread.
final class Wakeup: Sendable {
    /// Readable once somebody has called; −1 where the kernel gave none, and then waits are cut into pieces.
    let descriptor: Int32
    private let input: Int32
    private let stopped = Atomic(false)

    /// Nanoseconds; well below the 200 ms in which a source has to stop.
    static let longestPiece: UInt64 = 100_000_000

    init() {
        var ends: [Int32] = [-1, -1]
        let result = pipe(&ends)
        descriptor = result == 0 ? ends[0] : -1
        input = result == 0 ? ends[1] : -1
        for end in ends where end >= 0 {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
    }

    deinit {
        if descriptor >= 0 {
            close(descriptor)
            close(input)
        }
    }

    var isStopped: Bool { stopped.load(ordering: .acquiring) }

    func stop() {
        stopped.store(true, ordering: .releasing)
        signal()
    }

    func signal() {
        guard input >= 0 else { return }
        var one: UInt8 = 1
        // A full pipe wakes as well.
        _ = write(input, &one, 1)
    }

    /// So that the next wait waits.
    func drain() {
        guard descriptor >= 0 else { return }
        withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { room in
            while read(descriptor, room.baseAddress, room.count) == room.count {}
        }
    }

    /// Waits until somebody calls, at most this many nanoseconds.
    func wait(_ nanoseconds: UInt64) {
        guard !isStopped else { return }
        var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let longest = descriptor >= 0 ? nanoseconds : min(nanoseconds, Self.longestPiece)
        if poll(&waited, 1, Self.milliseconds(longest)) > 0 { drain() }
    }

    /// For poll: rounded up, so that a deadline has passed when it returns.
    static func milliseconds(_ nanoseconds: UInt64) -> Int32 {
        Int32(clamping: nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 == 0 ? 0 : 1))
    }
}

/// The clock that everything here goes by.
enum Monotonic {
    /// CLOCK_MONOTONIC in nanoseconds.
    static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }

    /// CLOCK_REALTIME, nanoseconds since 1970.
    static var wall: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}
