internal import CameraModel

/// What a camera's process says of its camera on the network, as text.
enum NetworkText {
    static func facts(_ network: NetworkStatistics) -> [(String, String)] {
        var facts: [(String, String)] = []
        let how = [
            network.url, network.transport.map { "over \($0)" }, network.authentication.map { "login \($0)" },
            network.profile.map { "profile \($0)" },
        ].compactMap(\.self)
        facts.append(("Network", ([network.state.rawValue] + how).joined(separator: ", ")))
        if let address = network.address {
            facts.append(("Reached at", network.port.map { endpoint(address, $0) } ?? address))
        }
        if let seconds = network.nextAttemptSeconds {
            facts.append(("Next attempt", "in \(Quantity.time(seconds: seconds))"))
        }
        facts.append(
            (
                "Connections",
                "\(network.connections) of \(count(network.attempts, "attempt")) brought frames"
                    + (network.stalls > 0 ? ", \(count(network.stalls, "stall"))" : "")
            ))
        if network.packets > 0 { facts.append(("RTP", packets(network))) }
        if let first = network.firstKeyFrameMilliseconds {
            facts.append(("First key frame", "\(Quantity.tenths(first)) ms after connecting"))
        }
        let timing = timing(network)
        if !timing.isEmpty { facts.append(("Time stamps", timing.joined(separator: "; "))) }
        let clock = clock(network)
        if !clock.isEmpty { facts.append(("Clock", clock.joined(separator: ", "))) }
        if let pin = network.pin { facts.append(("Certificate", pin)) }
        if network.eventCount > 0 { facts.append(("Events", "\(network.eventCount) reported by the camera")) }
        return facts
    }

    /// `192.0.2.7:554`, `[2001:db8::7]:554`.
    static func endpoint(_ address: String, _ port: Int) -> String {
        address.contains(":") ? "[\(address)]:\(port)" : "\(address):\(port)"
    }

    /// `H.264`, as people write it.
    static func codec(_ name: String) -> String {
        switch name.lowercased() {
        case "h264": "H.264"
        case "hevc", "h265": "H.265"
        case "mjpeg", "jpeg": "MJPEG"
        case "aac": "AAC"
        case "pcmu": "G.711 µ-law"
        case "pcma": "G.711 A-law"
        case "opus": "Opus"
        case "g726": "G.726"
        default: name
        }
    }

    /// `H.264 1920x1080 25 fps 4.0 Mb/s`.
    static func frame(
        codec: String?, width: Int?, height: Int?, rate: Double?, bitrate: Int? = nil
    ) -> String {
        let size = width.flatMap { width in height.map { "\(width)x\($0)" } }
        let parts = [
            codec.map { self.codec($0) }, size, rate.map { "\(number($0)) fps" },
            bitrate.map { Quantity.bitRate(Double($0)) },
        ].compactMap(\.self)
        return parts.isEmpty ? "-" : parts.joined(separator: " ")
    }

    /// `25`, `12.5`.
    static func number(_ value: Double) -> String {
        let text = Quantity.tenths(value)
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    private static func packets(_ network: NetworkStatistics) -> String {
        let counts: [(UInt64, String)] = [
            (network.packets, "packets"), (network.lost, "lost"), (network.reordered, "out of order"),
            (network.discarded, "not of this stream"), (network.damaged, "frames left out"),
            (network.timelines, "steps of its clock"),
        ]
        return counts.enumerated().filter { $0.offset == 0 || $0.element.0 > 0 }
            .map { "\($0.element.0) \($0.element.1)" }.joined(separator: ", ")
    }

    /// Of what does not follow the camera's time stamps as they are.
    private static func timing(_ network: NetworkStatistics) -> [String] {
        let timings = [("frames", network.videoTiming), ("audio", network.audioTiming)]
        return timings.compactMap { media, timing in
            switch timing?.basis {
            case nil, .camera: nil
            case .arrival: "\(media) not used, arrival times instead"
            case .corrected: "\(media) \(timing?.speed.flatMap { rate($0) } ?? "wrong"), corrected by arrival times"
            }
        }
    }

    /// `16 % slow`; nil of no speed.
    private static func rate(_ speed: Double) -> String? {
        guard speed.isFinite, speed > 0, speed < 1000 else { return nil }
        return "\(number(abs(1 - speed) * 100)) % \(speed < 1 ? "slow" : "fast")"
    }

    private static func clock(_ network: NetworkStatistics) -> [String] {
        var parts: [String] = []
        if let ahead = network.clockAheadMilliseconds, ahead.isFinite {
            let time = Quantity.time(seconds: abs(ahead) / 1000)
            parts.append("the camera's is \(time) \(ahead < 0 ? "behind" : "ahead")")
        }
        // What is that far off is reported in a text of its own.
        if let drift = network.driftPartsPerMillion, drift.isFinite, network.videoTiming?.basis != .corrected {
            parts.append("drifts \(drift < 0 ? "-" : "")\(Quantity.tenths(abs(drift))) ppm")
        }
        if let jitter = network.jitterMilliseconds { parts.append("jitter \(Quantity.tenths(jitter)) ms") }
        return parts
    }

    private static func count(_ number: UInt64, _ one: String) -> String { Quantity.count(Int(clamping: number), one) }
}
