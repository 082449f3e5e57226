internal import CameraModel
internal import ErrorCatalog
internal import HTTPClient
internal import Platform
internal import RTSP

/// One attempt at a camera's stream, whatever it is spoken over. Used by one thread, which it blocks.
protocol CameraPull: AnyObject {
    var options: StreamPull.Options { get }
    /// As `NetworkStatistics` has them.
    var authentication: String { get }
    var server: String? { get }
    var counters: PullCounters { get }
    var hasAudio: Bool { get }
    /// The longest distance of key frames that was seen, nanoseconds; 0: none.
    var knownGroup: UInt64 { get }
    /// Frames per second that were measured, where the camera promises none.
    var knownRate: Double? { get }
    /// Bytes that the system lets wait for this process, where packets come as datagrams.
    var receiveBuffer: Int? { get }
    var isGetParameterRefused: Bool { get }

    /// Whose clock the times of its media come from.
    func reportTiming(_ network: inout NetworkStatistics)

    /// Until it is stopped or enough has come.
    func run() throws(PullFault)
}

extension StreamPull {
    var authentication: String { facts.authentication }
    var server: String? { facts.server }
    var hasAudio: Bool { audio != nil }
    var knownRate: Double? { nil }
    var isGetParameterRefused: Bool { facts.getParameterRefused }

    func reportTiming(_ network: inout NetworkStatistics) { network.timed(video: video, audio: audio) }
}

extension StreamPull.Options {
    /// Whether the camera's login may go where a redirect leads. A man in the middle can answer in plain text with a
    /// redirect to TLS of their own: a certificate that was never seen before proves nothing there.
    ///
    /// - Parameter origin: as it is configured, or as the camera's service reports.
    func checkLogin(at place: RTSPURL, from origin: RTSPURL) throws(PullFault) {
        guard place.isSecure, !origin.isSecure, credentials != nil, pin == nil else { return }
        throw PullFault(
            .streamRedirected,
            "the camera sends its viewers from an address without TLS on to one with it, where its certificate is not "
                + "known: no login is sent there",
            hint: "If that is right, give the encrypted address: "
                + "watchboxctl camera edit ID --source \(place.shownOrigin)…",
            ending: .person)
    }
}

extension RTSPURL {
    /// Scheme, host and port.
    fileprivate var shownOrigin: String {
        "\(service == .http ? "https" : "rtsps")://\(authority)/"
    }
}

extension RawConnection {
    /// Connects to where a camera's stream is. With TLS the certificate must be the one that is known, or is the
    /// first.
    ///
    /// - Parameter seen: the pin of a first certificate; the connection that is returned accepts no other.
    static func toCamera(
        _ url: RTSPURL, _ options: StreamPull.Options, wakeup: Wakeup, seen: (String) -> Void
    ) throws(PullFault) -> RawConnection {
        func open(_ trust: HTTPTrust?) throws(HTTPClientError) -> RawConnection {
            try RawConnection(
                Options(host: url.host, port: url.port, trust: trust, connectTimeout: options.connectTimeout),
                isCancelled: { wakeup.isStopped })
        }
        do throws(HTTPClientError) {
            guard url.isSecure else { return try open(nil) }
            if let pin = options.pin { return try open(.pinned(pin)) }
            // No login over a connection of which nothing is known: the next one shows this certificate or none.
            let first = try open(.firstUse)
            guard let pin = first.pin else {
                throw HTTPClientError.tlsFailed(host: url.host, reason: "it shows no certificate")
            }
            seen(pin)
            return try open(.pinned(pin))
        } catch {
            throw PullFault(error)
        }
    }
}
