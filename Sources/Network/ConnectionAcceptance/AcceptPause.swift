public import NIOCore

/// For the pipeline of a listening socket. While descriptors are scarce it accepts nobody, and looks again each second. NIO's own `AcceptBackoffHandler` leaves
/// the socket in the selector, which then returns at once and for ever.
public final class AcceptPause: ChannelInboundHandler {
    public typealias InboundIn = any Channel

    private var isPaused = false

    public init() {}

    public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.fireChannelRead(data)
        if !isPaused, DescriptorReserve.isTouched { pause(context.channel) }
    }

    public func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard error is IOError else { return context.fireErrorCaught(error) }
        if !isPaused { pause(context.channel) }
    }

    private func pause(_ channel: any Channel) {
        isPaused = true
        _ = channel.setOption(.autoRead, value: false)
        goOnLater(channel)
    }

    private func goOnLater(_ channel: any Channel) {
        channel.eventLoop.assumeIsolated().scheduleTask(in: .seconds(1)) {
            guard !DescriptorReserve.isTouched else { return self.goOnLater(channel) }
            self.isPaused = false
            _ = channel.setOption(.autoRead, value: true)
        }
    }
}
