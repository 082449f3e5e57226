public import NIOCore
public import RTMP

/// The events that the owner of a player receives. All calls come on the connection's event loop.
public protocol RTMPPlayerDelegate: AnyObject, Sendable {
    /// The relay accepted the play, or a publisher is back. There may be no publisher yet.
    func playerStarted(_ player: RTMPPlayerConnection)
    /// Audio, video or data (always as type 18), in order.
    func player(_ player: RTMPPlayerConnection, received message: RTMPMessage)
    /// The publisher is gone; the connection waits for the next.
    func playerStreamEnded(_ player: RTMPPlayerConnection)
    func player(_ player: RTMPPlayerConnection, wasAskedToReconnectTo tcURL: String?)
    /// The end, exactly once. Not called after `stop()`.
    func playerClosed(_ player: RTMPPlayerConnection, error: RTMPTransportError)
}

extension RTMPPlayerDelegate {
    public func playerStreamEnded(_ player: RTMPPlayerConnection) {}
    public func player(_ player: RTMPPlayerConnection, wasAskedToReconnectTo tcURL: String?) {}
}

/// A stream on its way from a relay. When it has ended, make a new one (`ReconnectBackoff`).
///
/// Confined to `eventLoop`: members that say so are used there only, the others hop; this makes `@unchecked Sendable`
/// true.
public final class RTMPPlayerConnection: @unchecked Sendable {
    public let eventLoop: any EventLoop

    private let url: RTMPURL
    private let tls: RTMPClientTLS
    private let transport: RTMPTransportConfiguration
    private var configuration: PlayerSession.Configuration
    private var session: PlayerSession
    private var channel: ClientChannel
    private var delegate: (any RTMPPlayerDelegate)?
    private var isStopping = false

    private init(
        url: RTMPURL, tls: RTMPClientTLS, transport: RTMPTransportConfiguration,
        session configuration: PlayerSession.Configuration, eventLoop: any EventLoop,
        delegate: any RTMPPlayerDelegate
    ) {
        self.url = url
        self.tls = tls
        self.transport = transport
        self.configuration = configuration
        self.eventLoop = eventLoop
        self.delegate = delegate
        session = PlayerSession(
            url: url, configuration: configuration, random: SessionMaterial.handshakeRandom(),
            digests: SessionMaterial.digests)
        channel = ClientChannel(eventLoop: eventLoop, configuration: transport)
    }

    /// Begins at once and returns at once; the outcome is reported to `delegate`, which is held until the end.
    public static func connect(
        url: RTMPURL, tls: RTMPClientTLS = RTMPClientTLS(),
        transport: RTMPTransportConfiguration = RTMPTransportConfiguration(),
        session: PlayerSession.Configuration = PlayerSession.Configuration(),
        on eventLoop: any EventLoop = RTMPEventLoop.shared, delegate: any RTMPPlayerDelegate
    ) -> RTMPPlayerConnection {
        let player = RTMPPlayerConnection(
            url: url, tls: tls, transport: transport, session: session, eventLoop: eventLoop, delegate: delegate)
        eventLoop.execute {
            guard !player.isStopping else { return }
            player.channel.connect(to: url, tls: tls, owner: player)
        }
        return player
    }

    // MARK: On the event loop

    public var metrics: RTMPTransportMetrics { channel.metrics }
    public var status: PlayerSession.Status { session.status }

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

    private func perform(_ actions: [PlayerSession.Action]) {
        for action in actions {
            switch action {
            case .write(let bytes): channel.appendControl(bytes)
            case .playing: delegate?.playerStarted(self)
            case .message(let message): delegate?.player(self, received: message)
            case .streamEnded: delegate?.playerStreamEnded(self)
            case .reconnectRequested(let tcURL): delegate?.player(self, wasAskedToReconnectTo: tcURL)
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
        session = PlayerSession(
            url: url, configuration: configuration, random: SessionMaterial.handshakeRandom(),
            digests: SessionMaterial.digests)
        channel = ClientChannel(eventLoop: eventLoop, configuration: transport)
        channel.connect(to: url, tls: tls, owner: self)
    }

    private func end(_ error: RTMPTransportError) {
        let delegate = self.delegate
        self.delegate = nil
        delegate?.playerClosed(self, error: error)
    }
}

extension RTMPPlayerConnection: ClientChannelOwner {
    func channel(_ channel: ClientChannel, _ event: ClientChannel.Event, at now: UInt64) {
        guard channel === self.channel else { return }
        switch event {
        case .opened: perform(session.connected(at: now))
        case .received(let bytes): perform(session.received(bytes, at: now))
        case .halfClosed: perform(session.peerHalfClosed(at: now))
        case .ticked: perform(session.timePassed(at: now))
        // A player writes next to nothing; pings show whether its relay is alive.
        case .acknowledged, .observed, .becameWritable: break
        case .closed(let error):
            guard let error else { return }
            end(error)
            _ = session.transportClosed(at: now)
        }
    }
}
