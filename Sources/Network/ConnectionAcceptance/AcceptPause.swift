public import NIOCore

/// For the pipeline of a listening socket. While descriptors are scarce it accepts nobody, and looks again each second. NIO's own `AcceptBackoffHandler` leaves
/// the socket in the selector, which then returns at once and for ever.
public final class AcceptPause: ChannelInboundHandler {
    public typealias InboundIn = any Channel

    public init() {}

    public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.fireChannelRead(data)
        if DescriptorReserve.isTouched { Self.pause(context.channel) }
    }

    public func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard error is IOError else { return context.fireErrorCaught(error) }
        Self.pause(context.channel)
    }

    private static func pause(_ channel: any Channel) {
        channel.setOption(.autoRead, value: false).whenSuccess { goOnLater(channel) }
    }

    private static func goOnLater(_ channel: any Channel) {
        channel.eventLoop.scheduleTask(in: .seconds(1)) {
            guard !DescriptorReserve.isTouched else { return goOnLater(channel) }
            _ = channel.setOption(.autoRead, value: true)
        }
    }
}
