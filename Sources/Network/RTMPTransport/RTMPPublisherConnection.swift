public import NIOCore
public import RTMP

/// The events that the owner of a publisher receives. All calls come on the connection's event loop.
public protocol RTMPPublisherDelegate: AnyObject, Sendable {
    /// The relay accepted the stream: metadata and media may be written.
    func publisherStarted(_ publisher: RTMPPublisherConnection)
    /// There is room again, after `isWritable` was false.
    func publisherBecameWritable(_ publisher: RTMPPublisherConnection)
    /// The relay wants us elsewhere from the next key frame on (`RTMPURL.redirected(to:)`); nil: again
    /// to the same place.
    func publisher(_ publisher: RTMPPublisherConnection, wasAskedToReconnectTo tcURL: String?)
    /// The end, exactly once. Not called after `stop()`.
    func publisherClosed(_ publisher: RTMPPublisherConnection, error: RTMPTransportError)
}

extension RTMPPublisherDelegate {
    public func publisher(_ publisher: RTMPPublisherConnection, wasAskedToReconnectTo tcURL: String?) {}
}

/// A stream on its way to a relay: from the TCP connection to `deleteStream`, with pings and deadlines, and with the
/// further connections that Adobe authentication takes. When it has ended, make a new one (`ReconnectBackoff`).
///
/// Confined to `eventLoop`: members that say so are used there only, the others hop; this makes `@unchecked Sendable`
/// true.
public final class RTMPPublisherConnection: @unchecked Sendable {
    public let eventLoop: any EventLoop

    private let url: RTMPURL
    private let tls: RTMPClientTLS
    private let transport: RTMPTransportConfiguration
    private var configuration: PublisherSession.Configuration
    private var session: PublisherSession
    private var channel: ClientChannel
    private var delegate: (any RTMPPublisherDelegate)?
    private var isStopping = false
    /// Media was written since the session last heard of it.
    private var hasNews = false

    private init(
        url: RTMPURL, tls: RTMPClientTLS, transport: RTMPTransportConfiguration,
        session configuration: PublisherSession.Configuration, eventLoop: any EventLoop,
        delegate: any RTMPPublisherDelegate
    ) {
        self.url = url
        self.tls = tls
        self.transport = transport
        self.configuration = configuration
        self.eventLoop = eventLoop
        self.delegate = delegate
        session = PublisherSession(
            url: url, configuration: configuration, random: SessionMaterial.handshakeRandom(),
            digests: SessionMaterial.digests)
        channel = ClientChannel(eventLoop: eventLoop, configuration: transport)
    }

    /// Begins at once and returns at once; the outcome is reported to `delegate`, which is held until the end.
    public static func connect(
        url: RTMPURL, tls: RTMPClientTLS = RTMPClientTLS(),
        transport: RTMPTransportConfiguration = RTMPTransportConfiguration(),
        session: PublisherSession.Configuration = PublisherSession.Configuration(),
        on eventLoop: any EventLoop = RTMPEventLoop.shared, delegate: any RTMPPublisherDelegate
    ) -> RTMPPublisherConnection {
        let publisher = RTMPPublisherConnection(
            url: url, tls: tls, transport: transport, session: session, eventLoop: eventLoop, delegate: delegate)
        eventLoop.execute {
            guard !publisher.isStopping else { return }
            publisher.channel.connect(to: url, tls: tls, owner: publisher)
        }
        return publisher
    }

    // MARK: On the event loop

    /// Published, and the connection takes more. While it is false, frames wait with the caller, who may drop them.
    public var isWritable: Bool { session.status == .publishing && channel.isWritable }

    /// Appends one message to the batch that `flush` sends. False unless published, or when it is longer than RTMP can
    /// say; check `isWritable` before, or the batch grows without bound.
    /// - Parameters:
    ///   - timestamp: DTS in milliseconds modulo 2^32.
    ///   - prefix: the first part of the body, usually the FLV tag header.
    @discardableResult
    public func write(
        _ type: MessageType, timestamp: UInt32, prefix: ArraySlice<UInt8> = [], payload: ArraySlice<UInt8>
    ) -> Bool {
        eventLoop.assertInEventLoop()
        let written = session.encode(
            type, timestamp: timestamp, prefix: prefix, payload: payload, into: &channel.output)
        hasNews = hasNews || written
        return written
    }

    /// Sends what was written since the last time, in one piece.
    public func flush() {
        eventLoop.assertInEventLoop()
        if hasNews {
            hasNews = false
            session.bytesWritten(at: MonotonicClock.now)
        }
        channel.flush()
    }

    public var metrics: RTMPTransportMetrics { channel.metrics }

    /// Asks the kernel now, beside the looks of `RTMPTransportConfiguration.tick`, how far the peer has what was written.
    ///
    /// - Parameter done: on the event loop; `metrics` is then of this moment. Not called where the connection is not open.
    public func look(then done: @escaping @Sendable () -> Void) {
        eventLoop.assertInEventLoop()
        channel.look(then: done)
    }

    /// Of the connection that is open, or was the last one.
    public var link: RTMPLinkFacts { channel.link }

    /// False until the relay has answered a ping: until then only TCP shows whether it is alive.
    public var relayAnswersPings: Bool { session.relayAnswersPings }

    /// CLOCK_MONOTONIC in nanoseconds: what was written up to then the relay has read, or, of one that answers no pings, its kernel has; nil:
    /// nothing is known.
    public var deliveredUntil: UInt64? { session.readUntil ?? channel.delivery.until }

    public var status: PublisherSession.Status { session.status }

    // MARK: From anywhere

    /// Says goodbye when there is somebody to say it to, and returns when the connection is closed: within 1 s in
    /// every state. The delegate hears nothing more.
    public func stop() async {
        let done = eventLoop.makePromise(of: Void.self)
        eventLoop.execute {
            self.isStopping = true
            self.delegate = nil
            self.perform(self.session.stop(at: MonotonicClock.now))
            self.channel.finish { done.succeed() }
        }
        try? await done.futureResult.get()
    }

    // MARK: What the session wants

    private func perform(_ actions: [PublisherSession.Action]) {
        for action in actions {
            switch action {
            case .write(let bytes): channel.appendControl(bytes)
            case .published: delegate?.publisherStarted(self)
            case .reconnectRequested(let tcURL): delegate?.publisher(self, wasAskedToReconnectTo: tcURL)
            case .roundTrip(let nanoseconds): channel.roundTripMeasured(nanoseconds)
            case .closed(.continueOnNewConnection(let hints)): startOver(hints)
            case .closed(let error):
                channel.finish()
                end(RTMPTransportError(.session(error)))
            }
        }
        channel.flush()
    }

    /// The chain of hints ends by itself.
    private func startOver(_ hints: ConnectHints) {
        channel.finish()
        configuration.hints = hints
        session = PublisherSession(
            url: url, configuration: configuration, random: SessionMaterial.handshakeRandom(),
            digests: SessionMaterial.digests)
        channel = ClientChannel(eventLoop: eventLoop, configuration: transport)
        channel.connect(to: url, tls: tls, owner: self)
    }

    private func end(_ error: RTMPTransportError) {
        let delegate = self.delegate
        self.delegate = nil
        delegate?.publisherClosed(self, error: error)
    }
}

extension RTMPPublisherConnection: ClientChannelOwner {
    func channel(_ channel: ClientChannel, _ event: ClientChannel.Event, at now: UInt64) {
        guard channel === self.channel else { return }
        switch event {
        case .opened: perform(session.connected(at: now))
        case .received(let bytes): perform(session.received(bytes, at: now))
        case .halfClosed: perform(session.peerHalfClosed(at: now))
        case .ticked: perform(session.timePassed(at: now))
        case .acknowledged(let outstanding): session.bytesAcknowledged(outstanding: outstanding, at: now)
        case .observed(let acknowledged, let written):
            session.transportObserved(acknowledged: acknowledged, written: written, at: now)
        case .becameWritable:
            if session.status == .publishing { delegate?.publisherBecameWritable(self) }
        case .closed(let error):
            guard let error else { return }
            // Where the connection broke says more than that it broke, unless TLS or TCP were the reason.
            end(error)
            _ = session.transportClosed(at: now)
        }
    }
}
