internal import Cryptography
internal import Glibc
public import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import NIOTLS
public import RTMP

/// The events that a server's owner receives. All calls come on the server's event loop.
public protocol RTMPServerDelegate: AnyObject, Sendable {
    /// Answer with `acceptPublish` or `rejectPublish`, now or later.
    func connection(_ connection: RTMPServerConnection, publishRequested request: PublishRequest)
    /// Answer with `acceptPlay` or `rejectPlay`, now or later.
    func connection(_ connection: RTMPServerConnection, playRequested request: PlayRequest)
    /// Audio, video or data of a publisher.
    func connection(_ connection: RTMPServerConnection, received message: RTMPMessage)
    /// All messages of one read have been delivered.
    func connectionReadCompleted(_ connection: RTMPServerConnection)
    /// There is room again, after `isWritable` was false.
    func connectionBecameWritable(_ connection: RTMPServerConnection)
    /// The peer stopped publishing or playing; the connection may go on.
    func connectionFinished(_ connection: RTMPServerConnection)
    /// The end, exactly once for each connection that was ever reported. Nil for an orderly one.
    func connectionClosed(_ connection: RTMPServerConnection, error: RTMPTransportError?)
    /// The server is full: the youngest player, of this network or of all, that waits for a stream that no one
    /// publishes; it is closed at once.
    func idlePlayer(from network: String?) -> UInt64?
    /// The files of certificate and key changed; with an error the old ones go on serving.
    func serverChangedCertificate(error: RTMPTransportError?)
}

extension RTMPServerDelegate {
    public func idlePlayer(from network: String?) -> UInt64? { nil }
    public func serverChangedCertificate(error: RTMPTransportError?) {}
}

/// One peer of a server.
///
/// Confined to the server's event loop: every member but `id` and `address` is used there only, which is what makes
/// `@unchecked Sendable` true.
public final class RTMPServerConnection: ChannelInboundHandler, @unchecked Sendable {
    public typealias InboundIn = ByteBuffer
    public typealias OutboundOut = ByteBuffer

    private enum State { case open, draining, closed }

    /// Never used twice in one server.
    public let id: UInt64
    /// The peer's IP address.
    public let address: String
    /// What the peer's budgets are counted by: its IPv4 address, or the /64 of its IPv6 address.
    public let network: String
    public let port: Int?

    private let table: ConnectionTable
    private var session: ServerSession
    private var state = State.open
    private var context: ChannelHandlerContext?
    private var deadline: Scheduled<Void>?
    private var output: [UInt8] = []
    private let answers: PendingAnswers
    private var isFlushing = false
    private var hasMessages = false
    private var direct = DirectSend()
    public private(set) var bytesRead: UInt64 = 0
    public private(set) var bytesWritten: UInt64 = 0

    init(id: UInt64, address: String, network: String, port: Int?, table: ConnectionTable) {
        self.id = id
        self.address = address
        self.network = network
        self.port = port
        self.table = table
        answers = PendingAnswers(writeHighWater: table.configuration.writeHighWater)
        session = ServerSession(
            configuration: table.configuration.session, random: SessionMaterial.handshakeRandom(),
            digests: SessionMaterial.digests)
    }

    // MARK: The owner's decisions

    public func acceptPublish() {
        table.becamePublisher(id)
        perform(session.acceptPublish())
    }

    /// - Parameter code: for instance `NetStream.Publish.BadName`.
    public func rejectPublish(code: String, description: String) {
        perform(session.rejectPublish(code: code, description: description))
    }

    /// What is written after it follows the answer in the same batch; `flush` sends both.
    public func acceptPlay() {
        table.becamePlayer(id)
        perform(session.acceptPlay(), flushing: false)
    }

    /// There is a place for one more player of this network, and those for publishers stay free.
    public var hasRoomToPlay: Bool { table.hasRoomForPlayer(from: network) }

    /// - Parameter code: for instance `NetStream.Play.StreamNotFound`.
    public func rejectPlay(code: String, description: String) {
        perform(session.rejectPlay(code: code, description: description))
    }

    /// Announces to a player that its stream has ended; it stays connected.
    public func announceEnd() { perform(session.streamEnded()) }

    /// Announces to a player that waits that its stream is back.
    public func announceReturn() { perform(session.streamReturned()) }

    /// Asks the peer to connect again, elsewhere or, with nil, to the same address (E-RTMP v2). False when it did not
    /// announce that it understands this, or neither publishes nor plays.
    public func requestReconnect(to tcURL: String?) -> Bool {
        let (asked, actions) = session.requestReconnect(tcURL: tcURL)
        perform(actions)
        return asked
    }

    /// Ends the connection for a reason of the owner's, which is sent to the peer.
    public func end(code: String, description: String) {
        perform(session.end(code: code, description: description))
    }

    /// Makes room for another: closes without a message, so that there is nothing to wait for.
    func drop() { finish(RTMPTransportError(.tooManyConnections)) }

    /// Ends the connection because the server goes down, which is announced to the peer.
    public func close() { perform(session.stop()) }

    // MARK: Media for a player

    /// The connection takes more.
    public var isWritable: Bool {
        guard case .open = state, let context else { return false }
        return context.channel.isWritable
    }

    /// The message stream that a player plays on, and the chunk size that was announced to it: together they say which
    /// encoding of a message it can be sent (`ChunkWriter`).
    public var streamID: UInt32 { session.streamID }
    public var chunkSize: Int { session.chunkSize }

    /// Whole messages in chunks, encoded by the caller and perhaps shared with other connections.
    public func write(_ chunks: ByteBuffer) {
        guard case .open = state, let context else { return }
        sendOutput()
        pass(chunks, to: context)
    }

    /// Sends what was written. Afterwards there may be room again (`isWritable`), which is not reported.
    public func flush() {
        guard case .open = state, let context else { return }
        sendOutput()
        isFlushing = true
        context.flush()
        isFlushing = false
    }

    /// As `write` and `flush`, for who has nothing waiting: one system call, and no way through the channel, unless the
    /// peer is behind or the connection is encrypted. False, and nothing done, when something waits or there is no room.
    public func writeAtOnce(_ chunks: ByteBuffer) -> Bool {
        guard case .open = state, output.isEmpty, let context, context.channel.isActive else { return false }
        var rest = chunks
        if table.configuration.tls == nil {
            let sent = chunks.withUnsafeReadableBytes { direct.send($0, past: context.channel) }
            bytesWritten += UInt64(sent)
            rest.moveReaderIndex(forwardBy: sent)
            if rest.readableBytes == 0 { return true }
        }
        // What the kernel did not take of a message has to follow, however full the channel is.
        if rest.readableBytes == chunks.readableBytes, !context.channel.isWritable { return false }
        pass(rest, to: context)
        flush()
        return true
    }

    private func pass(_ bytes: ByteBuffer, to context: ChannelHandlerContext) {
        bytesWritten += UInt64(bytes.readableBytes)
        direct.passed()
        context.write(wrapOutboundOut(bytes), promise: nil)
    }

    /// Bytes that were written and that the peer has not acknowledged, whether the channel holds them or the kernel.
    public var bytesHeld: Int {
        guard let context else { return 0 }
        return direct.bytesHeld(by: context.channel)
    }

    // MARK: What the session wants

    private func perform(_ actions: [ServerSession.Action], flushing: Bool = true) {
        for action in actions {
            guard state == .open else { return }
            switch action {
            case .write(let bytes): output += bytes
            case .publishRequested(let request): table.delegate?.connection(self, publishRequested: request)
            case .playRequested(let request): table.delegate?.connection(self, playRequested: request)
            case .message(let message):
                hasMessages = true
                table.delegate?.connection(self, received: message)
            case .publisherFinished, .playerFinished:
                table.becameUnauthenticated(id)
                table.delegate?.connectionFinished(self)
            case .closed(let error): drain(error == .stopped ? nil : RTMPTransportError(.session(error)))
            }
        }
        if flushing { flushAnswers() }
    }

    private func flushAnswers() {
        let hadRoom = isWritable
        flush()
        // Room that came back during the write is reported afterwards, so that the owner is not re-entered.
        if !hadRoom, isWritable {
            context?.eventLoop.execute { if self.isWritable { self.table.delegate?.connectionBecameWritable(self) } }
        }
    }

    private func sendOutput() {
        guard !output.isEmpty, let context else { return }
        bytesWritten += UInt64(output.count)
        let promise = answers.wrote(output.count, on: context.eventLoop)
        direct.passed()
        context.write(wrapOutboundOut(ByteBuffer(bytes: output)), promise: promise)
        output = []
    }

    func timePassed(at now: UInt64) {
        guard case .open = state, hasBegun else { return }
        perform(session.timePassed(at: now))
    }

    private var hasBegun = false

    private func begin() {
        guard !hasBegun, case .open = state else { return }
        hasBegun = true
        deadline?.cancel()
        deadline = nil
        session.connected(at: MonotonicClock.now)
    }

    // MARK: Ending

    /// Sends FIN after our last messages and gives the peer a moment to read them: to close at once, with bytes of the
    /// peer unread, would make the kernel answer with RST and lose them.
    private func drain(_ error: RTMPTransportError?) {
        guard state == .open else { return }
        flush()
        report(error)
        state = .draining
        guard let context else { return finish() }
        context.close(mode: .output, promise: nil)
        deadline?.cancel()
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(table.configuration.drain)) {
            self.finish()
        }
    }

    private var wasReported = false

    private func report(_ error: RTMPTransportError?) {
        guard !wasReported else { return }
        wasReported = true
        table.delegate?.connectionClosed(self, error: error)
    }

    private func finish(_ error: RTMPTransportError? = nil) {
        guard state != .closed else { return }
        let wasOpen = state == .open
        state = .closed
        deadline?.cancel()
        deadline = nil
        output = []
        if wasOpen {
            if hasBegun {
                for action in session.transportClosed(at: MonotonicClock.now) {
                    if action == .publisherFinished || action == .playerFinished {
                        table.delegate?.connectionFinished(self)
                    }
                }
            }
            report(error)
        }
        if let context {
            // Past the TLS handler, which would wait for the peer's farewell.
            if let tls = try? context.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self) {
                tls.close(promise: nil)
            } else {
                context.close(promise: nil)
            }
        }
        table.remove(self)
    }

    // MARK: Events of the channel

    public func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        direct = DirectSend(context)
        if context.channel.isActive { channelActive(context: context) }
    }

    public func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        direct = DirectSend()
        finish()
    }

    public func channelActive(context: ChannelHandlerContext) {
        guard table.configuration.tls != nil else { return begin() }
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(table.configuration.tlsDeadline)) {
            self.finish(RTMPTransportError(.timedOut(.tls)))
        }
    }

    public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        guard case .open = state else { return }
        if let error = answers.fault { return finish(error) }
        begin()
        bytesRead += UInt64(bytes.readableBytes)
        perform(session.received(Array(bytes.readableBytesView)[...], at: MonotonicClock.now))
    }

    public func channelReadComplete(context: ChannelHandlerContext) {
        guard hasMessages else { return }
        hasMessages = false
        table.delegate?.connectionReadCompleted(self)
    }

    public func channelWritabilityChanged(context: ChannelHandlerContext) {
        guard !isFlushing, isWritable else { return }
        table.delegate?.connectionBecameWritable(self)
    }

    public func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case TLSUserEvent.handshakeCompleted: begin()
        case ChannelEvent.inputClosed:
            guard state == .open, hasBegun else { return finish() }
            perform(session.peerHalfClosed(at: MonotonicClock.now))
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    public func channelInactive(context: ChannelHandlerContext) {
        finish(RTMPTransportError(.connectionLost("the client closed the connection")))
    }

    public func errorCaught(context: ChannelHandlerContext, error: any Error) {
        finish(hasBegun ? FailureReason.open(error) : FailureReason.securing(error))
    }
}
