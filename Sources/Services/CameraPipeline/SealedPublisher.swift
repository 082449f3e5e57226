internal import NIOCore
internal import RTMP
internal import RTMPTransport

/// What the owner of a `SealedPublisher` is notified of, on its event loop; as `RTMPPublisherDelegate`.
protocol SealedPublisherDelegate: AnyObject, Sendable {
    func publisherStarted(_ publisher: SealedPublisher)
    func publisherBecameWritable(_ publisher: SealedPublisher)
    func publisher(_ publisher: SealedPublisher, wasAskedToReconnectTo tcURL: String?)
    func publisherClosed(_ publisher: SealedPublisher, error: RTMPTransportError)
}

/// The way to a relay, for a camera: what a sealer has made goes through, and nothing else does.
///
/// The transport sends any bytes, so its connection is private here and handed to nobody, not even with a callback.
/// No other file of this module names its type.
///
/// Confined to the connection's event loop, which makes `@unchecked Sendable` true; `stop` hops there.
final class SealedPublisher: @unchecked Sendable {
    private var connection: RTMPPublisherConnection?
    private weak var delegate: (any SealedPublisherDelegate)?

    private init(_ delegate: any SealedPublisherDelegate) {
        self.delegate = delegate
    }

    /// Begins at once and returns at once, on the event loop.
    ///
    /// - Parameter congestionControl: as `RTMPTransportConfiguration.congestionControl`.
    static func connect(
        url: RTMPURL, tls: RTMPClientTLS, congestionControl: String? = nil, on eventLoop: any EventLoop,
        delegate: any SealedPublisherDelegate
    ) -> SealedPublisher {
        let publisher = SealedPublisher(delegate)
        var session = PublisherSession.Configuration()
        session.announcesReconnect = true
        var transport = RTMPTransportConfiguration()
        transport.congestionControl = congestionControl
        publisher.connection = RTMPPublisherConnection.connect(
            url: url, tls: tls, transport: transport, session: session, on: eventLoop, delegate: publisher)
        return publisher
    }

    var isWritable: Bool { connection?.isWritable ?? false }

    var metrics: RTMPTransportMetrics? { connection?.metrics }

    /// Of the connection that is open, or was the last one.
    var link: RTMPLinkFacts? { connection?.link }

    /// - Parameter done: on the event loop, with the metrics of this moment; not called where the connection is not open.
    func look(then done: @escaping @Sendable (RTMPTransportMetrics) -> Void) {
        guard let connection else { return }
        connection.look { done(connection.metrics) }
    }

    /// CLOCK_MONOTONIC in nanoseconds: what was written up to then the relay has, as far as is known.
    var deliveredUntil: UInt64? { connection?.deliveredUntil }

    /// Appends an entry, whole and in order, to the batch that `flush` sends.
    func write(_ entry: SealedEntry) {
        guard let connection else { return }
        for message in entry {
            connection.write(
                message.type, timestamp: message.timestamp, prefix: message.prefix[...], payload: message.payload[...])
        }
    }

    func flush() {
        connection?.flush()
    }

    /// Says goodbye; within 1 s. The delegate hears nothing more.
    func stop() async {
        await connection?.stop()
    }
}

extension SealedPublisher: RTMPPublisherDelegate {
    func publisherStarted(_ publisher: RTMPPublisherConnection) {
        delegate?.publisherStarted(self)
    }

    func publisherBecameWritable(_ publisher: RTMPPublisherConnection) {
        delegate?.publisherBecameWritable(self)
    }

    func publisher(_ publisher: RTMPPublisherConnection, wasAskedToReconnectTo tcURL: String?) {
        delegate?.publisher(self, wasAskedToReconnectTo: tcURL)
    }

    func publisherClosed(_ publisher: RTMPPublisherConnection, error: RTMPTransportError) {
        delegate?.publisherClosed(self, error: error)
    }
}
