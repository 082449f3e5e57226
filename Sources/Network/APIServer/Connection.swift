internal import ControlAPI
internal import NIOCore

/// One client.
struct Connection: Sendable {
    enum Standing: Sendable {
        case admitted
        /// One too many: its first request is answered with the reason.
        case refused
        /// Far too many, or an unknown peer: closed without an answer.
        case closed
    }

    let channel: any Channel
    let peer: APIRequest.Peer
    let standing: Standing
    /// Over a Unix socket.
    let isLocal: Bool
    private let watch: NIOLoopBound<RequestWatch>

    init(
        channel: any Channel, peer: APIRequest.Peer, standing: Standing, isLocal: Bool,
        watch: NIOLoopBound<RequestWatch>
    ) {
        self.channel = channel
        self.peer = peer
        self.standing = standing
        self.isLocal = isLocal
        self.watch = watch
    }

    func requestBegan() { channel.eventLoop.execute { [watch] in watch.value.requestBegan() } }
    func requestEnded() { channel.eventLoop.execute { [watch] in watch.value.requestEnded() } }
    func streamBegan() { channel.eventLoop.execute { [watch] in watch.value.streamBegan() } }

    /// Returns when the channel has closed, or the task was cancelled.
    func gone() async { await Self.closed(channel) }

    static func closed(_ channel: any Channel) async {
        let (stream, continuation) = AsyncStream<Never>.makeStream()
        channel.closeFuture.whenComplete { _ in continuation.finish() }
        for await _ in stream {}
    }

    /// Closes the connection unless the result is cancelled in time.
    func closes(in timeout: Duration) -> Scheduled<Void> {
        channel.eventLoop.scheduleTask(in: TimeAmount(timeout)) { [channel] in channel.close(promise: nil) }
    }
}

/// Watches what no later handler sees: bytes that do not make a request.
final class RequestWatch: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private enum State {
        case quiet
        /// Some bytes of a request have come.
        case reading(deadline: Scheduled<Void>)
        /// A request is being answered.
        case busy
        /// Answered with events, for as long as the client listens.
        case streaming
    }

    private let headerTimeout: TimeAmount
    private var state = State.quiet
    private var head = HeadScanner()
    private var isInputClosed = false
    private var isOutputClosed = false

    /// For a client to read the last answer, and to close its half.
    private static let linger = TimeAmount.seconds(1)

    init(headerTimeout: TimeAmount) {
        self.headerTimeout = headerTimeout
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .quiet = state {
            let channel = context.channel
            head = HeadScanner()
            state = .reading(
                deadline: context.eventLoop.scheduleTask(in: headerTimeout) { channel.close(promise: nil) })
        }
        // Seen here and not only by the handler's first step: a machine under load is not the client's fault.
        if case .reading = state, head.ends(in: unwrapInboundIn(data).readableBytesView) { enter(.busy) }
        context.fireChannelRead(data)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // Who only listens has nothing to say, but one that has closed its half has gone, as far as HTTP knows.
        switch event {
        case ChannelEvent.inputClosed:
            isInputClosed = true
            if case .streaming = state { context.close(promise: nil) }
        case ChannelEvent.outputClosed:
            isOutputClosed = true
            let channel = context.channel
            context.eventLoop.scheduleTask(in: Self.linger) { channel.close(promise: nil) }
        default: break
        }
        // Two closed halves are not a connection, and nothing else is sure to end it.
        if isInputClosed, isOutputClosed { context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        enter(.busy)
        context.fireChannelInactive()
    }

    func requestBegan() { enter(.busy) }
    func requestEnded() { enter(.quiet) }
    func streamBegan() { enter(.streaming) }

    private func enter(_ next: State) {
        if case .reading(let deadline) = state { deadline.cancel() }
        state = next
    }
}

/// Finds the empty line after a request's headers, in whatever pieces they come.
struct HeadScanner {
    private var hasText = false
    private var lineIsEmpty = true

    /// True once the end has come. Empty lines before a request are none of it (RFC 9112 §2.2).
    mutating func ends(in bytes: some Sequence<UInt8>) -> Bool {
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\n"):
                if lineIsEmpty, hasText { return true }
                lineIsEmpty = true
            case UInt8(ascii: "\r"): break
            default:
                hasText = true
                lineIsEmpty = false
            }
        }
        return false
    }
}
