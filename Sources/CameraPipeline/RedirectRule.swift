internal import CameraModel
internal import ErrorCatalog
internal import RTMP

/// Whether a camera goes where its relay sends it (`NetConnection.Connect.ReconnectRequest`, E-RTMP v2).
///
/// A relay is a stranger: it may not make the box connect to other machines of its network, nor hand the stream key to
/// somebody else. So it is obeyed to the host of the operator's URL, and to hosts that the operator named; there to the
/// port of that URL, to the scheme's default port, or to the port that was named. TLS is never lowered.
///
/// Says a refusal once, however often a relay asks.
struct RedirectRule: Sendable {
    enum Decision: Equatable, Sendable {
        /// Connect here next. Elsewhere than the operator's URL only as long as that works.
        case follow(RTMPURL)
        /// To the operator's URL; with what is to be said of it, the first time.
        case home(CodedError?)
    }

    /// Bytes of a `tcUrl` that are looked at.
    private static let longestTarget = 2048

    private let allowed: [RedirectHost]
    private let camera: String
    private var hasRefused = false

    /// - Parameter allowed: what the operator set; what is no host counts for nothing.
    init(allowed: [String], camera: String) {
        self.allowed = allowed.prefix(RedirectHost.countLimit).compactMap(RedirectHost.init)
        self.camera = camera
    }

    /// - Parameters:
    ///   - target: the `tcUrl` of the request, absolute or relative; nil: another connection to the same place.
    ///   - current: where the camera is.
    ///   - home: the operator's URL.
    mutating func asked(toMoveTo target: String?, from current: RTMPURL, home: RTMPURL) -> Decision {
        guard let target, !target.isEmpty else { return .follow(current) }
        guard target.utf8.count <= Self.longestTarget, var url = current.redirected(to: target) else {
            return refuse("its address cannot be read, or would leave TLS")
        }
        guard url.scheme == .rtmps || home.scheme == .rtmp else { return refuse("its address would leave TLS") }
        let isHome = RedirectHost.canonical(url.host) == RedirectHost.canonical(home.host)
        guard isHome || allowed.contains(where: { $0.host == RedirectHost.canonical(url.host) }) else {
            return refuse("\(Self.printable(url.host)) is not its own host, and not among those that are allowed")
        }
        guard permits(url, isHome: isHome, home) else {
            return refuse("port \(url.port) of \(Self.printable(url.host)) is not among those that are allowed")
        }
        url.credentials = isHome ? home.credentials : nil
        url.streamName = home.streamName
        return .follow(url)
    }

    private func permits(_ url: RTMPURL, isHome: Bool, _ home: RTMPURL) -> Bool {
        let usual = url.port == home.port || url.port == url.scheme.defaultPort
        let named = allowed.filter { $0.host == RedirectHost.canonical(url.host) }
        return named.contains { $0.port.map { $0 == url.port } ?? usual } || isHome && usual
    }

    private mutating func refuse(_ why: String) -> Decision {
        defer { hasRefused = true }
        guard !hasRefused else { return .home(nil) }
        return .home(
            CodedError(
                .relayRedirects, "The relay sends this camera elsewhere, which is not followed", why: why,
                object: camera))
    }

    /// A stranger's words, fit for a log line.
    private static func printable(_ text: String) -> String {
        String(text.unicodeScalars.prefix(64).map { $0.value > 0x20 && $0.value < 0x7F ? Character($0) : "?" })
    }
}
