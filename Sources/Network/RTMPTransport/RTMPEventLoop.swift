public import NIOCore
internal import NIOPosix

/// The thread on which this process does its RTMP.
///
/// One is enough: a camera moves half a megabyte a second, and a relay whose state is confined to one thread needs no
/// locks. It is made on first use and lives as long as the process.
public enum RTMPEventLoop {
    public static let shared: any EventLoop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
}

/// CLOCK_MONOTONIC in nanoseconds, the `now` of all sessions.
enum MonotonicClock {
    static var now: UInt64 { NIODeadline.now().uptimeNanoseconds }
}
