internal import Glibc
internal import NIOCore

/// Options that NIO has no names for (linux/tcp.h). Every connection of ours sets them.
enum SocketOptions {
    /// Waiting frames stay in our queue, where they can still be dropped, instead of in the kernel's.
    static let notSentLowWater = ChannelOptions.socket(SocketOptionLevel(IPPROTO_TCP), SocketOptionName(25))
    /// Milliseconds until unacknowledged data end a connection: the backstop behind our own liveness probes.
    static let userTimeout = ChannelOptions.socket(SocketOptionLevel(IPPROTO_TCP), SocketOptionName(18))
    static let noDelay = ChannelOptions.socket(SocketOptionLevel(IPPROTO_TCP), SocketOptionName(TCP_NODELAY))

    static let notSentLowWaterBytes: Int = 16 << 10
    static let userTimeoutMilliseconds: Int = 10_000
}

/// The part of the kernel's `struct tcp_info` that we read. glibc's own declaration ends before these fields, hence the
/// layout by hand (linux/tcp.h; stable since Linux 4.19).
struct TCPProgress: Equatable, Sendable {
    /// Bytes that the peer's kernel acknowledged since the connection began.
    var bytesAcknowledged: UInt64
    /// Bytes behind a gap that it acknowledged selectively, to within a segment each.
    var bytesSacked: UInt64
    /// Bytes that were written since then, on their way or not.
    var bytesWritten: UInt64
    /// Bytes that were written but never put on the wire.
    var bytesNotSent: UInt32
    /// Segments on their way.
    var segmentsOutstanding: UInt32
    /// Smoothed, in microseconds.
    var roundTrip: UInt32
    /// The shortest one lately, in microseconds; 0: none yet.
    var leastRoundTrip: UInt32
    /// Bytes of the largest packet that the way takes.
    var pathMTU: UInt32

    /// Bytes that the peer's kernel has, in whatever order they came.
    var bytesDelivered: UInt64 { min(bytesAcknowledged &+ bytesSacked, bytesWritten) }

    /// 216 bytes, aligned as the kernel's structure is.
    private typealias Words = (
        UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64,
        UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64,
        UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64
    )

    /// Nil when the channel is gone or is not a TCP socket.
    static func read(from channel: any Channel, then done: @escaping @Sendable (TCPProgress?) -> Void) {
        guard let provider = channel as? any SocketOptionProvider else { return done(nil) }
        let future: EventLoopFuture<Words> = provider.unsafeGetSocketOption(
            level: SocketOptionLevel(IPPROTO_TCP), name: SocketOptionName(TCP_INFO))
        future.whenComplete { result in
            guard case .success(let words) = result else { return done(nil) }
            let progress = withUnsafeBytes(of: words) { bytes in
                let notSent = bytes.load(fromByteOffset: 144, as: UInt32.self)
                let segment = UInt64(bytes.load(fromByteOffset: 16, as: UInt32.self))
                let sacked = UInt64(bytes.load(fromByteOffset: 28, as: UInt32.self))
                let least = bytes.load(fromByteOffset: 148, as: UInt32.self)
                let sent = bytes.load(fromByteOffset: 200, as: UInt64.self)
                let sentAgain = bytes.load(fromByteOffset: 208, as: UInt64.self)
                return TCPProgress(
                    bytesAcknowledged: bytes.load(fromByteOffset: 120, as: UInt64.self),
                    bytesSacked: sacked &* segment, bytesWritten: sent &- sentAgain &+ UInt64(notSent),
                    bytesNotSent: notSent,
                    segmentsOutstanding: bytes.load(fromByteOffset: 24, as: UInt32.self),
                    roundTrip: bytes.load(fromByteOffset: 68, as: UInt32.self),
                    // The kernel's word for none is all ones.
                    leastRoundTrip: least == .max ? 0 : least,
                    pathMTU: bytes.load(fromByteOffset: 60, as: UInt32.self))
            }
            done(progress)
        }
    }
}
