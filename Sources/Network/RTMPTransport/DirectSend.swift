internal import Glibc
internal import NIOCore

/// Sends past a channel, to its socket: one system call, without the channel's queue, promises and pipeline, as long as
/// the channel holds nothing. What the kernel does not take is the channel's again, and everything behind it.
///
/// For connections without TLS. Confined to the channel's event loop.
struct DirectSend {
    private var descriptor: CInt?
    /// Something was given to the channel, which may still hold it.
    private(set) var channelMayHold = false

    init() {}

    /// Nothing is sent past channels without a socket of their own.
    init(_ context: ChannelHandlerContext) {
        descriptor = try? context.pipeline.syncOperations
            .withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { $0 }
    }

    /// - Returns: how many of the bytes the kernel took; 0 also when the channel must be asked. An error is the
    ///   channel's to find, which meets it with what follows.
    mutating func send(_ bytes: UnsafeRawBufferPointer, past channel: any Channel) -> Int {
        guard let descriptor, channel.isActive, !holds(channel) else { return 0 }
        return max(0, Glibc.send(descriptor, bytes.baseAddress, bytes.count, CInt(MSG_DONTWAIT | MSG_NOSIGNAL)))
    }

    /// Something goes through the channel.
    mutating func passed() {
        channelMayHold = true
    }

    /// Bytes that the peer has not acknowledged, whether the channel holds them or the kernel.
    func bytesHeld(by channel: any Channel) -> Int {
        guard let descriptor, channel.isActive else { return 0 }
        var unacknowledged: CInt = 0
        // SIOCOUTQ.
        guard ioctl(descriptor, UInt(TIOCOUTQ), &unacknowledged) == 0 else { return 0 }
        return Int(unacknowledged) + (channelMayHold ? Self.buffered(channel) : 0)
    }

    /// Whether the channel has yet to send something, behind which all else must stand.
    private mutating func holds(_ channel: any Channel) -> Bool {
        guard channelMayHold else { return false }
        channelMayHold = Self.buffered(channel) != 0
        return channelMayHold
    }

    /// Bytes that the channel has yet to send.
    ///
    /// - Parameter unknown: where it does not say.
    static func buffered(_ channel: any Channel, unknown: Int = 1) -> Int {
        (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? unknown
    }
}
