internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import NIOTLS
internal import RTMP

/// What a client's session gets to know of its channel. All calls come on the channel's event loop.
protocol ClientChannelOwner: AnyObject {
    func channel(_ channel: ClientChannel, _ event: ClientChannel.Event, at now: UInt64)
}

/// The socket of a publisher or a player: connects, secures, reads always, writes in batches, and ends in bounded time
/// in every state.
///
/// Confined to `eventLoop`: every member is used there only, which is what makes `@unchecked Sendable` true.
final class ClientChannel: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    enum Event {
        /// Connected, and with `rtmps` also verified.
        case opened
        case received(ArraySlice<UInt8>)
        /// The peer sends no more; it may still read.
        case halfClosed
        case ticked
        /// TCP made progress; `outstanding` says whether it still has something to deliver.
        case acknowledged(outstanding: Bool)
        /// A look at TCP, at each tick: bytes handed to it, and bytes of these that the peer's kernel has.
        case observed(acknowledged: UInt64, written: UInt64)
        /// There is room again, after `isWritable` was false.
        case becameWritable
        /// The end; exactly once. Nil when the owner ended it.
        case closed(RTMPTransportError?)
    }

    private enum State {
        case idle, connecting, securing, open
        /// Our side is done; what the peer still sends is thrown away.
        case draining
        case closed
    }

    let eventLoop: any EventLoop
    let configuration: RTMPTransportConfiguration
    private(set) var metrics = RTMPTransportMetrics()
    /// What the session wants to send; a batch goes out at `flush`.
    var output: [UInt8] = []
    /// How much of it is control output, which does not wait for `isWritable`.
    private var controlOutput = 0
    private let answers: PendingAnswers

    private(set) var link = RTMPLinkFacts()
    private var state = State.idle
    private var owner: (any ClientChannelOwner)?
    private var tls: RTMPClientTLS?
    private var channel: (any Channel)?
    private var context: ChannelHandlerContext?
    private var deadline: Scheduled<Void>?
    private var ticker: RepeatedTask?
    private var buffer = ByteBuffer()
    private var direct = DirectSend()
    private var isFlushing = false
    private var whenClosed: [() -> Void] = []

    init(eventLoop: any EventLoop, configuration: RTMPTransportConfiguration) {
        self.eventLoop = eventLoop
        self.configuration = configuration
        answers = PendingAnswers(writeHighWater: configuration.writeHighWater)
    }

    // MARK: Beginning

    func connect(to url: RTMPURL, tls: RTMPClientTLS, owner: any ClientChannelOwner) {
        eventLoop.preconditionInEventLoop()
        guard case .idle = state else { return }
        self.owner = owner
        state = .connecting
        var tlsHandler: NIOSSLClientHandler?
        if url.scheme == .rtmps {
            do throws(RTMPTransportError) {
                tlsHandler = try tls.makeHandler(serverName: url.host)
                self.tls = tls
            } catch {
                // Not now: the caller has not got its connection object yet.
                return eventLoop.execute { self.fail(error) }
            }
        } else if tls.publicKeyPin != nil {
            let error = RTMPTransportError(.tlsConfiguration("a public key is pinned, but the URL is not rtmps"))
            return eventLoop.execute { self.fail(error) }
        }
        deadline = schedule(after: configuration.connectDeadline) { self.fail(RTMPTransportError(.timedOut(.connect))) }
        let highWater = configuration.writeHighWater
        let congestionControl = configuration.congestionControl
        let bootstrap = ClientBootstrap(group: eventLoop)
            .connectTimeout(TimeAmount(configuration.connectDeadline))
            .channelOption(.allowRemoteHalfClosure, value: true)
            .channelOption(SocketOptions.noDelay, value: 1)
            .channelOption(SocketOptions.notSentLowWater, value: SocketOptions.notSentLowWaterBytes)
            .channelOption(SocketOptions.userTimeout, value: SocketOptions.userTimeoutMilliseconds)
            .channelOption(
                .writeBufferWaterMark, value: .init(low: max(1, highWater / 2), high: max(2, highWater)))
        // The handler is used on the one loop that everything here is confined to.
        let handlers = NIOLoopBound<(NIOSSLClientHandler?, ClientChannel)>((tlsHandler, self), eventLoop: eventLoop)
        bootstrap
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let congestionControl { CongestionControl.use(congestionControl, on: channel) }
                    let (tls, handler) = handlers.value
                    if let tls { try channel.pipeline.syncOperations.addHandler(tls) }
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
            }
            .connect(host: url.host, port: Int(url.port))
            .whenComplete { result in self.connected(result, host: url.host) }
    }

    private func connected(_ result: Result<any Channel, any Error>, host: String) {
        switch (result, state) {
        case (.success(let channel), .connecting):
            self.channel = channel
            deadline?.cancel()
            if tls == nil {
                open()
            } else {
                state = .securing
                deadline = schedule(after: configuration.tlsDeadline) {
                    self.fail(RTMPTransportError(.timedOut(.tls)))
                }
                // A handshake on loopback may be over before connect's own future is.
                if tlsWasVerified { open() }
            }
        case (.success(let channel), _):
            // Stopped while connecting.
            channel.close(promise: nil)
        case (.failure(let error), .connecting):
            fail(FailureReason.connecting(error, host: host))
        case (.failure, _):
            break
        }
    }

    private var tlsWasVerified = false

    /// Of the connection that is open, or was the last one.
    private(set) var delivery = DeliveryMark()

    private func open() {
        deadline?.cancel()
        deadline = nil
        state = .open
        ticker = eventLoop.scheduleRepeatedTask(
            initialDelay: TimeAmount(configuration.tick), delay: TimeAmount(configuration.tick)
        ) { [weak self] _ in self?.tick() }
        if let channel {
            CongestionControl.read(from: channel) { [weak self] name in self?.link.congestionControl = name }
        }
        emit(.opened)
        flush()
    }

    private func tick() {
        guard case .open = state, let channel else { return }
        emit(.ticked)
        flush()
        TCPProgress.read(from: channel) { [weak self] progress in
            guard let self, let progress else { return }
            let advanced = progress.bytesAcknowledged > self.metrics.bytesAcknowledged
            self.metrics.bytesAcknowledged = progress.bytesAcknowledged
            self.metrics.bytesNotSent = progress.bytesNotSent
            self.metrics.tcpRoundTrip = UInt64(progress.roundTrip) * 1000
            self.link.roundTrip = self.metrics.tcpRoundTrip
            if progress.pathMTU > 0 { self.link.pathMTU = Int(progress.pathMTU) }
            guard case .open = self.state else { return }
            self.looked(progress, channel)
            self.delivery.observed(
                acknowledged: progress.bytesAcknowledged, written: progress.bytesWritten,
                at: NIODeadline.now().uptimeNanoseconds)
            let outstanding = progress.segmentsOutstanding > 0 || progress.bytesNotSent > 0 || !channel.isWritable
            self.observed(progress.bytesAcknowledged, outstanding: outstanding)
            guard advanced else { return }
            self.emit(.acknowledged(outstanding: outstanding))
        }
    }

    /// A look at TCP beside those of the ticks, for who follows the link more closely: what it shows is in `metrics`. Not reported where
    /// the connection is gone.
    func look(then done: @escaping @Sendable () -> Void) {
        guard case .open = state, let channel else { return }
        TCPProgress.read(from: channel) { [weak self] progress in
            guard let self, let progress, case .open = self.state else { return }
            self.looked(progress, channel)
            done()
        }
    }

    /// What the ticks compare with the tick before, which `look` must not change, is none of it.
    private func looked(_ progress: TCPProgress, _ channel: any Channel) {
        // What was selectively acknowledged is known by segments, of which some are short.
        metrics.bytesDelivered = max(metrics.bytesDelivered, progress.bytesDelivered)
        let here = output.count + DirectSend.buffered(channel, unknown: 0)
        metrics.bytesOutstanding = progress.bytesWritten - progress.bytesDelivered &+ UInt64(here)
        metrics.leastRoundTrip = UInt64(progress.leastRoundTrip) * 1000
    }

    /// TLS adds bytes that we do not count: there, everything is delivered when nothing is outstanding.
    private func observed(_ acknowledged: UInt64, outstanding: Bool) {
        let written = metrics.bytesWritten
        let delivered = tls != nil ? (outstanding ? 0 : written) : acknowledged
        emit(.observed(acknowledged: delivered, written: written))
    }

    // MARK: Writing

    /// The connection takes more; false before it is open and while it holds its fill.
    var isWritable: Bool {
        guard case .open = state, let channel else { return false }
        return channel.isWritable && output.count < configuration.writeHighWater
    }

    /// Appends control output to the batch.
    func appendControl(_ bytes: [UInt8]) {
        output += bytes
        controlOutput += bytes.count
    }

    /// Hands `output` to the socket in one piece.
    func flush() {
        guard !output.isEmpty, let context, let channel else { return }
        let wasFull = output.count >= configuration.writeHighWater
        let hadRoom = channel.isWritable
        let sent = tls == nil ? output.withUnsafeBytes { direct.send($0, past: channel) } : 0
        metrics.bytesWritten += UInt64(output.count)
        if sent < output.count {
            // Its storage is used again as soon as the last batch has left it.
            buffer.clear(minimumCapacity: output.count - sent)
            buffer.writeBytes(output[sent...])
            isFlushing = true
            let promise = controlOutput > 0 ? answers.wrote(controlOutput, on: eventLoop) : nil
            direct.passed()
            context.writeAndFlush(wrapOutboundOut(buffer), promise: promise)
            isFlushing = false
        }
        controlOutput = 0
        output.removeAll(keepingCapacity: output.capacity <= 1 << 20)
        // Room that came back during the write is reported afterwards, so that the owner is not re-entered.
        if wasFull || !hadRoom, isWritable {
            eventLoop.execute { if self.isWritable { self.emit(.becameWritable) } }
        }
    }

    func roundTripMeasured(_ nanoseconds: UInt64) {
        metrics.pingRoundTrip = nanoseconds
    }

    // MARK: Ending

    /// The session has written all it had: sends what is left, then closes.
    func finish() {
        switch state {
        case .open:
            flush()
            drain()
        case .idle, .connecting, .securing:
            closeNow(nil)
        case .draining, .closed:
            break
        }
    }

    /// Like `finish`, and reports when it is over: at once when it was, and within `stopDeadline` in any case.
    func finish(whenClosed done: @escaping () -> Void) {
        if case .closed = state { return done() }
        whenClosed.append(done)
        finish()
    }

    /// Something broke: no farewell.
    func fail(_ error: RTMPTransportError) {
        closeNow(error)
    }

    private func drain() {
        state = .draining
        ticker?.cancel()
        context?.close(mode: .output, promise: nil)
        deadline = schedule(after: min(configuration.drain, configuration.stopDeadline)) { self.closeNow(nil) }
    }

    private func closeNow(_ error: RTMPTransportError?) {
        if case .closed = state { return }
        state = .closed
        deadline?.cancel()
        ticker?.cancel()
        ticker = nil
        output = []
        buffer = ByteBuffer()
        closeSocket()
        let owner = self.owner
        self.owner = nil
        owner?.channel(self, .closed(error), at: MonotonicClock.now)
        let waiting = whenClosed
        whenClosed = []
        for done in waiting { done() }
    }

    /// Past the TLS handler, which would wait for the peer's farewell.
    private func closeSocket() {
        guard let channel else { return }
        self.channel = nil
        if let tls = try? channel.pipeline.syncOperations.context(handlerType: NIOSSLClientHandler.self) {
            tls.close(promise: nil)
        } else {
            channel.close(promise: nil)
        }
    }

    private func schedule(after delay: Duration, _ task: @escaping () -> Void) -> Scheduled<Void> {
        let bound = NIOLoopBound(task, eventLoop: eventLoop)
        return eventLoop.scheduleTask(in: TimeAmount(delay)) { bound.value() }
    }

    // MARK: Events of the channel

    private func emit(_ event: Event) {
        owner?.channel(self, event, at: MonotonicClock.now)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        direct = DirectSend(context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        direct = DirectSend()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        guard case .open = state else { return }
        if let error = answers.fault { return fail(error) }
        metrics.bytesRead += UInt64(bytes.readableBytes)
        emit(.received(Array(bytes.readableBytesView)[...]))
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        flush()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        guard !isFlushing, isWritable else { return }
        emit(.becameWritable)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case TLSUserEvent.handshakeCompleted:
            let handler = try? context.pipeline.syncOperations.handler(type: NIOSSLClientHandler.self)
            let certificate = handler?.peerCertificate
            link.tlsVersion = handler?.tlsVersion.map(Self.name)
            link.certificateEnd = certificate.map { Int64($0.notValidAfter) }
            guard tls?.accepts(certificate) ?? false else { return fail(RTMPTransportError(.publicKeyMismatch)) }
            tlsWasVerified = true
            if case .securing = state { open() }
        case ChannelEvent.inputClosed:
            switch state {
            case .open:
                emit(.halfClosed)
                flush()
            case .draining: closeNow(nil)
            case .securing: fail(FailureReason.closedWhileSecuring)
            case .idle, .connecting, .closed: break
            }
        default:
            context.fireUserInboundEventTriggered(event)
        }
    }

    private static func name(_ version: TLSVersion) -> String {
        switch version {
        case .tlsv1: "TLS 1.0"
        case .tlsv11: "TLS 1.1"
        case .tlsv12: "TLS 1.2"
        case .tlsv13: "TLS 1.3"
        @unknown default: "TLS"
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        switch state {
        case .draining: closeNow(nil)
        case .securing: fail(FailureReason.closedWhileSecuring)
        case .open, .connecting, .idle:
            fail(RTMPTransportError(.connectionLost("the server closed the connection")))
        case .closed: break
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch state {
        case .draining: closeNow(nil)
        case .securing, .connecting, .idle: fail(FailureReason.securing(error))
        // A server that ends TLS without saying so ends it all the same.
        case .open: fail(FailureReason.open(error))
        case .closed: break
        }
    }
}
