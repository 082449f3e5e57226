internal import Wire

/// Whether a client (a camera, a viewer, a relay that hands streams on) goes where its relay sends it
/// (`NetConnection.Connect.ReconnectRequest`, E-RTMP v2).
///
/// A relay is not trusted: it may not make the client connect to other machines of its network, nor hand the stream key
/// to anyone else. So it is obeyed to the host of the operator's URL, and to hosts that the operator named; there to
/// the port of that URL, to the scheme's default port, or to the port that was named. TLS is never lowered. A host that
/// the operator named gets the stream key, but not user and password, and must satisfy the same pin.
///
/// A place that did not take the stream is not gone to again for ten minutes. A refusal is news once an hour.
public struct RedirectRule: Sendable {
    public enum Destination: Equatable, Sendable {
        /// The operator's URL, as it reads by then.
        case home
        /// As long as that works.
        case elsewhere(RTMPURL)

        /// Nil: home.
        public var place: RTMPURL? {
            switch self {
            case .home: nil
            case .elsewhere(let url): url
            }
        }
    }

    public enum Decision: Equatable, Sendable {
        case move(Destination)
        /// Stay; said before within the hour unless it `isNews`. `why` is for a person, printable ASCII.
        case refuse(why: String, isNews: Bool)
    }

    private struct Refused: Error {
        var why: String
    }

    private struct Place: Hashable {
        var host: String
        var port: UInt16

        init(_ url: RTMPURL) {
            host = RedirectHost.canonical(url.host)
            port = url.port
        }
    }

    /// Bytes of a `tcUrl` that are looked at.
    private static let maxTargetLength = 2048
    /// Nanoseconds of streaming after which a client follows without a pause.
    private static let minStay: UInt64 = 2_000_000_000
    /// Nanoseconds for which a place that failed is not gone to.
    public static let failureLasts: UInt64 = 600_000_000_000
    /// Nanoseconds for which the same refusal is not news.
    public static let newsLasts: UInt64 = 3_600_000_000_000
    /// Refusals that are news within an hour: a relay may think of a new target each time.
    public static let maxNews = 8

    private let allowed: [RedirectHost]
    /// When each refusal was said.
    private var said: [String: UInt64] = [:]
    private var failures: [Place: UInt64] = [:]

    /// - Parameter allowed: what the operator set; what is not a host counts for nothing.
    public init(allowed: [String]) {
        self.allowed = allowed.prefix(RedirectHost.countLimit).compactMap(RedirectHost.init)
    }

    /// - Parameters:
    ///   - target: the `tcUrl` of the request, absolute or relative; nil: another connection to the same place.
    ///   - current: where the client is.
    ///   - home: the operator's URL.
    ///   - now: CLOCK_MONOTONIC in nanoseconds.
    public mutating func asked(
        toMoveTo target: String?, from current: RTMPURL, home: RTMPURL, at now: UInt64
    ) -> Decision {
        do throws(Refused) {
            let url: RTMPURL
            if let target, !target.isEmpty {
                guard target.utf8.count <= Self.maxTargetLength, let read = current.redirected(to: target) else {
                    throw Refused(why: "its address cannot be read, or would leave TLS")
                }
                url = read
            } else if current.scheme == home.scheme, Place(current) == Place(home) {
                return .move(.home)
            } else {
                url = current
            }
            let permitted = try check(url, home: home)
            if permitted.tcURL == home.tcURL { return .move(.home) }
            if let failed = failures[Place(permitted)], now < failed &+ Self.failureLasts {
                throw Refused(why: "\(permitted.authority) did not take the stream a short time ago")
            }
            return .move(.elsewhere(permitted))
        } catch {
            return refusal(error.why, at: now)
        }
    }

    /// A permitted `target` with the key, user and password that `home` has by now; nil when it is no longer permitted.
    public func renewed(_ target: RTMPURL, home: RTMPURL) -> RTMPURL? {
        try? check(target, home: home)
    }

    /// How soon a client follows that streamed for `stay` nanoseconds where it was asked: relays that send everybody
    /// away at once must not be asked in a tight loop.
    public static func pace(after stay: UInt64) -> RetryClass {
        stay >= minStay ? .immediately : .transient
    }

    /// A connection ended. Where the client was sent is left for home, which is not to blame for how it ended there.
    /// - Parameters:
    ///   - place: where the client was sent; nil: it was at home.
    ///   - stay: nanoseconds of streaming there. What ends after `goodStream` may be as good again the next time.
    /// - Returns: how soon home is tried.
    public mutating func ended(
        _ retry: RetryClass, at place: RTMPURL?, after stay: UInt64,
        goodStream: UInt64 = ReconnectBackoff.Configuration().goodStream, now: UInt64
    ) -> RetryClass {
        guard let place, retry != .never else { return retry }
        if stay < goodStream { failed(place, at: now) }
        return .transient
    }

    /// The client was sent to `target`, and it did not take the stream.
    public mutating func failed(_ target: RTMPURL, at now: UInt64) {
        failures = failures.filter { now < $0.value &+ Self.failureLasts }
        // As many as there are hosts: then the oldest is forgotten.
        if failures.count >= RedirectHost.countLimit, let oldest = failures.min(by: { $0.value < $1.value }) {
            failures[oldest.key] = nil
        }
        failures[Place(target)] = now
    }

    private func check(_ target: RTMPURL, home: RTMPURL) throws(Refused) -> RTMPURL {
        var url = target
        guard url.scheme == .rtmps || home.scheme == .rtmp else { throw Refused(why: "its address would leave TLS") }
        // Strings compare by what they look like, host names by their bytes: to Unicode, the Kelvin sign is a K.
        guard url.host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw Refused(why: "\(ShownText.ascii(url.host, limit: 64)) is not the name of a host")
        }
        let host = RedirectHost.canonical(url.host)
        let named = allowed.filter { $0.host == host }
        let isHome = RedirectHost.canonical(home.host).utf8.elementsEqual(host.utf8)
        guard isHome || !named.isEmpty else {
            throw Refused(
                why: "\(ShownText.ascii(url.host, limit: 64)) is not its own host, and not among those that are allowed"
            )
        }
        let isUsual = url.port == home.port || url.port == url.scheme.defaultPort
        guard isHome && isUsual || named.contains(where: { $0.port.map { $0 == url.port } ?? isUsual }) else {
            throw Refused(
                why: "port \(url.port) of \(ShownText.ascii(url.host, limit: 64)) is not among those that are allowed")
        }
        url.host = isHome ? home.host : host
        url.credentials = isHome ? home.credentials : nil
        url.streamName = home.streamName
        return url
    }

    private mutating func refusal(_ why: String, at now: UInt64) -> Decision {
        said = said.filter { now < $0.value &+ Self.newsLasts }
        let isNews = said[why] == nil && said.count < Self.maxNews
        if isNews { said[why] = now }
        return .refuse(why: why, isNews: isNews)
    }
}
