public import NIOCore

/// For the pipeline of a listening socket. Out of descriptors: accepts again a second later. NIO's own `AcceptBackoffHandler` leaves the socket in the selector,
/// which then returns at once and for ever.
public final class AcceptPause: ChannelInboundHandler {
    public typealias InboundIn = any Channel

    public init() {}

    public func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard error is IOError else { return context.fireErrorCaught(error) }
        let channel = context.channel
        channel.setOption(.autoRead, value: false).whenSuccess {
            channel.eventLoop.scheduleTask(in: .seconds(1)) { channel.setOption(.autoRead, value: true) }
        }
    }
}
