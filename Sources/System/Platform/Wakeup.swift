internal import Glibc
internal import Synchronization

/// Ends the waiting of a thread in `poll`, from any other thread.
public final class Wakeup: Sendable {
    /// Readable once somebody has called; −1 where the kernel gave none, and then waits are cut into pieces.
    public let descriptor: Int32
    private let input: Int32
    private let stopped = Atomic(false)

    /// Nanoseconds; well below the 200 ms in which a source has to stop.
    public static let maxPieceLength: UInt64 = 100_000_000

    public init() {
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

    /// `stop` was called.
    public var isStopped: Bool { stopped.load(ordering: .acquiring) }

    /// Ends the waiting for good.
    public func stop() {
        stopped.store(true, ordering: .releasing)
        signal()
    }

    /// Ends the waiting once.
    public func signal() {
        guard input >= 0 else { return }
        var one: UInt8 = 1
        // A full pipe wakes as well.
        _ = write(input, &one, 1)
    }

    /// So that the next wait waits.
    public func drain() {
        guard descriptor >= 0 else { return }
        withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { room in
            while read(descriptor, room.baseAddress, room.count) == room.count {}
        }
    }

    /// Waits until somebody calls, at most this many nanoseconds.
    public func wait(_ nanoseconds: UInt64) {
        guard !isStopped else { return }
        var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let longest = descriptor >= 0 ? nanoseconds : min(nanoseconds, Self.maxPieceLength)
        if poll(&waited, 1, Self.milliseconds(longest)) > 0 { drain() }
    }

    /// For poll: rounded up, so that a deadline has passed when it returns.
    public static func milliseconds(_ nanoseconds: UInt64) -> Int32 {
        Int32(clamping: nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 == 0 ? 0 : 1))
    }

    /// For a poll that waits for `descriptor` as well: until an instant; 0 when it has passed.
    public func milliseconds(until deadline: UInt64, from now: UInt64) -> Int32 {
        let longest = deadline > now ? deadline - now : 0
        return Self.milliseconds(descriptor >= 0 ? longest : min(longest, Self.maxPieceLength))
    }
}
