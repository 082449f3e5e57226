internal import ControlAPI
internal import ErrorCatalog
internal import RTMPTransport
internal import RelayProbe

/// Figures of the network as findings; looks at nothing itself.
enum NetworkDiagnosis {
    /// Milliseconds from which on a relay's answers come late enough to be noticed.
    private static let longRoundTrip = 400.0
    /// The least that IPv6 asks of every line (RFC 8200 §5).
    private static let minMTU = 1280
    /// What a line should be able to carry beyond what cameras send: frames differ, and so do lines.
    private static let reserve = 1.5

    static func lookup(_ milliseconds: Double, host: String) -> Finding {
        milliseconds > 1000
            ? .warn(
                "\(host) is found only after \(milliseconds.tenths) ms",
                hint: "Look at the name servers: resolvectl status, or /etc/resolv.conf")
            : .ok("\(host) in \(milliseconds.tenths) ms")
    }

    static func roundTrip(_ milliseconds: Double?) -> Finding {
        guard let milliseconds else { return .unknown("the kernel reports none") }
        return milliseconds > longRoundTrip
            ? .warn(
                "\(milliseconds.tenths) ms", hint: "Use a peer that is nearer, or check what else uses the line")
            : .ok("\(milliseconds.tenths) ms")
    }

    static func pathMTU(_ bytes: Int?) -> Finding {
        guard let bytes else { return .unknown("the kernel reports none") }
        return bytes < minMTU
            ? .warn(
                "\(bytes) bytes: something on the way takes small packets only",
                hint: "Look at tunnels and the router: ip route get to this address shows an mtu")
            : .ok("\(bytes) bytes")
    }

    /// - Parameters:
    ///   - version: nil where the TLS library does not report it; nothing here speaks one below 1.2.
    ///   - end: of the certificate, seconds since 1970.
    static func trusted(_ version: String?, certificateEnd end: Int64?, now: Int64) -> Finding {
        let text = "\(version ?? "TLS 1.2 or newer"), certificate accepted"
        guard let end else { return .ok(text) }
        let days = (end - now) / 86_400
        return days < 30
            ? .warn("\(text), it ends in \(counted(Int(days), "day"))", .certificateExpires)
            : .ok("\(text), \(days) days left")
    }

    static func distrusted(_ error: RTMPTransportError) -> Finding? {
        switch error.cause {
        case .tlsFailed, .publicKeyMismatch, .tlsConfiguration, .timedOut(.tls):
            .fail("\(error.what): \(error.why)", .certificateRefused, hint: capitalised(error.hint))
        default: nil
        }
    }

    /// Something answers, but accepts no stream, or did not take it to its end.
    static func refused(_ error: RTMPTransportError) -> Finding {
        let isRefusal = if case .session = error.cause { true } else { false }
        return .fail(
            "not measured: \(error.what): \(error.why)", isRefusal ? .relayRefused : .relayUnreachable,
            hint: capitalised(error.hint))
    }

    /// - Parameters:
    ///   - needed: bits per second that cameras are set to send there.
    ///   - roundTrip: milliseconds, while the line was full.
    static func upload(_ upload: RelayLink.Upload?, needed: Double, roundTrip: Double? = nil) -> Finding {
        guard let upload else { return .fail("the relay acknowledged nothing", .relayStalled) }
        let rate = upload.bitsPerSecond
        let need = needed > 0 ? "; cameras are set to \((needed / 1e6).tenths) Mb/s" : ""
        let text =
            "\(upload.isAtLeast ? "at least " : "")\((rate / 1e6).tenths) Mb/s "
            + "(\((Double(upload.bytes) / 1e6).tenths) MB in \((upload.milliseconds / 1000).tenths) s)\(need)"
            + (roundTrip.map { ", round trip meanwhile \($0.tenths) ms" } ?? "")
        let hint = "Lower bitrate of cameras (watchboxctl camera edit ID --bitrate), or check what else uses the line"
        if rate < needed, !upload.isAtLeast { return .fail(text, hint: hint) }
        return rate < needed * reserve && !upload.isAtLeast ? .warn(text, hint: hint) : .ok(text)
    }

    static func capitalised(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }
}
