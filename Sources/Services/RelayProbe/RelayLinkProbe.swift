internal import NIOCore
public import RTMP
public import RTMPTransport

/// Connects to a relay as a camera does, and measures what the line takes, with a sealed stream that nobody can open
/// and nobody plays.
public struct RelayLinkProbe: Sendable {
    /// At most what it costs: 8 MB in 3 s.
    private static let limits = UploadMeter.Limits(bytes: 8_000_000, time: 3_000_000_000)
    private static let timeout = TimeAmount.seconds(12)
    /// For what is on its way when nothing more is sent.
    private static let rest = TimeAmount.seconds(6)

    private let url: RTMPURL
    private let tls: RTMPClientTLS

    /// - Parameter url: where to publish; nobody else should be using its name.
    public init(url: RTMPURL, tls: RTMPClientTLS = RTMPClientTLS()) {
        self.url = url
        self.tls = tls
    }

    /// - Parameter measuresUpload: fills the line for up to three seconds; other streams on it may lose frames.
    /// - Throws: when there is no randomness for the stream.
    public func run(measuresUpload: Bool) async throws -> RelayLink {
        let loop = RTMPEventLoop.shared
        let stream = try ProbeStream(seconds: 2, scale: 20)
        let sender = UploadSender(stream: stream, limits: Self.limits, loop: loop)
        var transport = RTMPTransportConfiguration()
        // As often as the figures are looked at.
        transport.tick = .milliseconds(50)
        let publisher = RTMPPublisherConnection.connect(
            url: url, tls: tls, transport: transport, on: loop, delegate: sender)
        var outcome: RelayLink.Outcome
        do {
            try await sender.published(within: Self.timeout)
            if measuresUpload {
                let time = TimeAmount.nanoseconds(Int64(Self.limits.time)) + Self.rest
                outcome = .published(try await sender.measure(publisher, within: time))
            } else {
                outcome = .published(nil)
            }
        } catch {
            outcome = .failed(error as? RTMPTransportError ?? RTMPTransportError(.timedOut(.order)))
        }
        let facts = (try? await loop.submit { publisher.link }.get()) ?? RTMPLinkFacts()
        await publisher.stop()
        return RelayLink(outcome: outcome, facts: facts)
    }
}
