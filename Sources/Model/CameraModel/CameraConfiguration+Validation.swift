public import FoundationEssentials
public import RTMP
internal import Settings
internal import Wire

extension CameraConfiguration {
    /// Reads and checks a JSON document.
    public static func decode(_ json: Data) throws(ConfigurationError) -> CameraConfiguration {
        let configuration: CameraConfiguration
        do {
            configuration = try JSONDecoder().decode(CameraConfiguration.self, from: json)
        } catch {
            throw ConfigurationError(error)
        }
        try configuration.validate()
        return configuration
    }

    /// Throws everything that is wrong at once, so that one look is enough to put it right. Opens no file.
    public func validate() throws(ConfigurationError) {
        var problems: [ConfigurationProblem] = []
        func expect(_ holds: Bool, _ field: String, _ reason: String, _ hint: String) {
            if !holds { problems.append(ConfigurationProblem(field: field, reason: reason, hint: hint)) }
        }

        expect(
            Names.isHyphenated(id, limit: 24), "id", "\"\(Self.printable(id))\" is not a camera ID",
            "Use 1 to 24 of a-z, 0-9 and single hyphens between them, such as front-door")
        if let streamName {
            expect(
                Names.isStreamName(streamName), "streamName", "is not a stream name",
                "Use 1 to 128 of letters, digits, and . _ -")
        }
        validateSource(expect)
        validateRelay(expect)
        checkPin(kas.publicKeyPin, of: kas.url, isSecure: "https://", "kas.publicKeyPin", expect)
        let isWeb = kas.url.hasPrefix("https://") || kas.url.hasPrefix("http://")
        expect(
            isWeb && !kas.url.contains("@") && !kas.url.contains("?"), "kas.url",
            isWeb ? "carries a user, a password or a query" : "is not an https:// URL",
            "Use https://host/kas, or http:// on this machine; a token belongs in kas.tokenFile")
        expect(
            rotation.seconds >= 1 && rotation.seconds <= 86_400, "rotation.seconds", "is out of range",
            "Use 1 to 86400; 60 is usual")
        expect(
            rotation.items >= 1 && rotation.items <= 1 << 23, "rotation.items", "is out of range",
            "Use 1 to 8388608; 1048576 is usual")
        expect(
            queue.seconds >= 0.2 && queue.seconds <= 30, "queue.seconds", "is out of range",
            "Use 0.2 to 30; 2 is usual")
        expect(
            queue.bytes >= 1 << 16 && queue.bytes <= 1 << 30, "queue.bytes", "is out of range",
            "Use 65536 to 1073741824; 16777216 is usual")
        if let duration {
            expect(
                duration > 0 && duration <= 31_536_000, "duration", "is out of range",
                "Use a positive number of seconds, or leave it out to publish until stopped")
        }
        if let frameLog { expect(!frameLog.isEmpty, "frameLog", "is empty", "Name a file, or leave it out") }
        recording?.validate(expect)
        uplink?.validate(expect)
        validatePolicy(expect)
        if !problems.isEmpty { throw ConfigurationError(problems: problems) }
    }

    private func validateSource(_ expect: Expectation) {
        switch source {
        case .file(let file):
            expect(!file.path.isEmpty, "source.file.path", "is empty", "Name a media file")
            expect(
                !(file.loop && file.pace == .unthrottled && duration == nil), "source.file.loop",
                "loops a file for ever without pacing it", "Set pace to \"real-time\", or give a duration")
        case .testPattern(let pattern):
            let field = "source.testPattern"
            VideoRange.check(width: pattern.width, height: pattern.height, field, expect)
            VideoRange.check(frameRate: pattern.frameRate, field, expect)
            VideoRange.check(bitrate: pattern.bitrate, field, expect)
            VideoRange.check(gopSeconds: pattern.gopSeconds, field, expect)
            expect(
                pattern.stallsAfter.map { $0 >= 0.1 && $0 <= 86_400 } ?? true, "source.testPattern.stallsAfter",
                "is out of range", "Use 0.1 to 86400 seconds, or leave it out")
        case .device(let device): validate(device, expect)
        case .network(let network): network.check("source.network", expect)
        }
    }

    private func validateRelay(_ expect: Expectation) {
        switch (relay.url, relay.urlFile) {
        case (nil, nil):
            expect(false, "relay.url", "is missing", "Give rtmp://host/app/stream, or a file in relay.urlFile")
        case (.some, .some):
            expect(false, "relay.urlFile", "is set together with relay.url", "Give only one of the two")
        case (let url?, nil):
            let carriesSecret = url.contains("@") || url.contains("?")
            expect(
                !carriesSecret, "relay.url", "carries a user, a password or a token",
                "Put the URL into a file that only the camera may read, and name it in relay.urlFile")
            guard !carriesSecret else { return }
            let problem = relayURLProblem(url)
            expect(problem == nil, "relay.url", problem ?? "", "Use rtmp://host/app/stream or rtmps://…")
        case (nil, let file?):
            expect(!file.isEmpty, "relay.urlFile", "is empty", "Name the file that holds the relay's URL")
        }
        checkPin(relay.publicKeyPin, of: relay.url, isSecure: "rtmps://", "relay.publicKeyPin", expect)
        let hosts = relay.redirectHosts ?? []
        expect(
            hosts.count <= RedirectHost.countLimit, "relay.redirectHosts",
            "has more than \(RedirectHost.countLimit) entries", "Take some out")
        for (index, host) in hosts.prefix(RedirectHost.countLimit).enumerated() {
            expect(
                RedirectHost(host) != nil, "relay.redirectHosts[\(index)]", "is not a host",
                "Use \"relay2.example.net\", or \"relay2.example.net:1936\"")
        }
    }

    /// - Parameter url: nil when it is a secret.
    private func checkPin(
        _ pin: String?, of url: String?, isSecure scheme: String, _ field: String, _ expect: Expectation
    ) {
        guard let pin else { return }
        expect(Network.isPin(pin), field, "is not the pin of a public key", "Use \"sha256//…\"")
        expect(
            url?.lowercased().hasPrefix(scheme) ?? true, field, "is set for a URL without TLS",
            "Use \(scheme) in the URL, or take the pin out")
    }

    private func validatePolicy(_ expect: Expectation) {
        let lists = [("dataAttributes", policy.dataAttributes), ("dissem", policy.dissem)]
        for (name, list) in lists {
            for (index, entry) in list.enumerated() {
                expect(
                    !entry.isEmpty && entry.utf8.count <= 1024, "policy.\(name)[\(index)]",
                    "is empty or longer than 1024 bytes", "Correct it, or take it out")
            }
        }
        let total = lists.reduce(0) { $0 + $1.1.reduce(0) { $0 + $1.utf8.count + 64 } }
        expect(total <= 15_000, "policy", "is longer than readers accept", "Use fewer or shorter entries")
    }

    /// - Parameter text: the relay's URL; where it names no stream, the configuration's name completes it.
    public func relayURL(_ text: String) throws(RTMPURLError) -> RTMPURL {
        do {
            return try RTMPURL(text)
        } catch .missingStreamName {
            return try RTMPURL(server: text, streamName: stream)
        }
    }

    private func relayURLProblem(_ url: String) -> String? {
        do {
            _ = try relayURL(url)
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// The text goes to a terminal.
    private static func printable(_ text: String, limit: Int = 64) -> String {
        ShownText.cleaned(text, limit: limit, replacing: "?")
    }
}

extension CameraConfiguration: CustomStringConvertible {
    /// For a log line: what and where to, without any part that could be secret (a stream key is one).
    public var description: String {
        let what =
            switch source {
            case .testPattern(let pattern):
                "test pattern \(pattern.width)x\(pattern.height) at \(pattern.frameRate)/s"
            case .file(let file): "file \(file.path)\(file.loop ? " in a loop" : ""), \(file.pace.rawValue)"
            case .device(let device):
                "device \(Self.printable(device.path, limit: 256)) as \(device.width)x\(device.height) at \(device.frameRate)/s"
            case .network(let network):
                "\(Self.printable(Network.redacted(network.url), limit: 256)) over \(network.transport.rawValue)"
            }
        return "camera \(id): \(what) to \(redactedRelay)"
    }

    private var redactedRelay: String {
        guard let url = relay.url else { return "the relay named in \(relay.urlFile ?? "(nothing)")" }
        guard !url.contains("@"), let parsed = try? relayURL(url) else { return "(a relay)" }
        return String(describing: parsed)
    }
}
