internal import Wire

extension CameraConfiguration.Network {
    /// Throws everything that is wrong at once; fields are named `url`, `user`, `pin` … Opens no file and no
    /// connection.
    public func validate() throws(ConfigurationError) {
        var problems: [ConfigurationProblem] = []
        check(nil) { holds, field, reason, hint in
            if !holds { problems.append(ConfigurationProblem(field: field, reason: reason, hint: hint)) }
        }
        if !problems.isEmpty { throw ConfigurationError(problems: problems) }
    }

    /// - Parameter object: path of this in the document; nil: of itself.
    func check(_ object: String?, _ expect: CameraConfiguration.Expectation) {
        func path(_ name: String) -> String { object.map { "\($0).\(name)" } ?? name }
        do throws(AddressFault) {
            try Self.check(address: url)
        } catch {
            expect(false, path("url"), error.reason, error.hint)
        }
        if let user {
            expect(
                Self.isText(user, limit: 64), path("user"),
                "is empty, has more than 64 characters, or has control characters", "Use 1 to 64 characters")
        }
        let files = [("passwordFile", passwordFile), ("memoryFile", memoryFile)]
        for case (let name, let file?) in files {
            expect(
                !file.isEmpty && file.utf8.count <= 1024 && ShownText.isPrintable(file), path(name),
                "is not a file's path", "Name a file, or leave it out")
        }
        if let pin {
            expect(
                Self.isPin(pin), path("pin"), "is not the pin of a certificate's key",
                "Use sha256//… as watchboxctl camera test shows it, or leave it out to trust the first that is seen")
        }
        expect(
            Self.snapshotRates.contains(snapshotRate), path("snapshotRate"), "is out of range",
            "Use 0.1 to 30 frames a second")
        if let profile {
            expect(
                Self.isText(profile, limit: 64), path("profile"),
                "is empty, has more than 64 characters, or has control characters",
                "Use main, sub or a profile's token: watchboxctl camera probe ADDRESS shows them")
        }
        if let rtspHost {
            expect(
                Self.isHost(rtspHost), path("rtspHost"), "is neither a name nor an IP address",
                "Use a name or an IP address, without a scheme and a port, or leave it out")
        }
        if let rtspPort {
            expect(
                (1...65_535).contains(rtspPort), path("rtspPort"), "is not a port", "Use 1 to 65535, or leave it out")
        }
        if let identity { identity.check(path("identity"), expect) }
        VideoRange.check(bitrate: transcoding.bitrate, path("transcoding"), expect)
        VideoRange.check(gopSeconds: transcoding.gopSeconds, path("transcoding"), expect)
    }

    /// Frames per second that a camera may be asked for.
    public static let snapshotRates = 0.1...30.0

    /// What is wrong when a person chooses a transport whose datagrams would carry frames unencrypted with an address
    /// that promises TLS; nil: nothing. Whoever stored it before keeps a valid configuration: the source uses TCP
    /// instead, and says so.
    public static func readable(_ transport: Transport, url: String) -> (reason: String, hint: String)? {
        guard transport != .tcp else { return nil }
        guard !isHTTP(url) else {
            return (
                "is \(transport.rawValue), and HTTP has no such thing", "Use tcp, or the camera's rtsp:// address"
            )
        }
        guard url.lowercased().hasPrefix("rtsps:") else { return nil }
        return (
            "is \(transport.rawValue): its datagrams would carry the frames unencrypted, though rtsps:// promises TLS",
            "Use tcp, which keeps the frames in the encrypted connection, or rtsp:// if they may be read on the way"
        )
    }

    /// Frames come over HTTP.
    static func isHTTP(_ url: String) -> Bool {
        ["http:", "https:"].contains { url.lowercased().hasPrefix($0) }
    }

    /// Names of settings, as a person writes them, that mean something of `onvif://` cameras alone.
    public static let onvifSettings = ["profile", "rtsp_host", "rtsp_port"]

    /// What is wrong when a person chooses one of `onvifSettings` for a camera that is not an `onvif://` one and never
    /// asked; nil: nothing.
    public static func misplaced(_ setting: String, url: String) -> (reason: String, hint: String)? {
        guard onvifSettings.contains(setting), isHTTP(url) else { return nil }
        return (
            "is of onvif:// cameras alone: an http:// address is taken as it is",
            "Leave it out, or add the camera as onvif://ADDRESS"
        )
    }

    /// What of its stream's settings a camera at `http://` has no use for, by the name that a person writes.
    ///
    /// - Parameter settings: the names that a person wrote, and none that is there by default.
    public func unused(of settings: Set<String>) -> [(setting: String, reason: String, hint: String)] {
        var found = Self.onvifSettings.compactMap { setting in
            Self.misplaced(setting, url: url).map { (setting: setting, reason: $0.reason, hint: $0.hint) }
        }
        if let problem = Self.readable(transport, url: url) {
            found.append((setting: "transport", reason: problem.reason, hint: problem.hint))
        }
        if Self.isHTTP(url), timestamps != .auto {
            found.append(
                (
                    setting: "timestamps",
                    reason: "is of rtsp:// and onvif:// cameras alone: a frame over HTTP has no clock",
                    hint: "Leave it out: such frames count as taken when they arrive"
                ))
        }
        return found.filter { settings.contains($0.setting) }
    }

    /// A character can have any number of bytes; a family's emoji has 25.
    fileprivate static func isText(_ text: String, limit: Int) -> Bool {
        !text.isEmpty && text.utf8.count <= limit * 32 && text.count <= limit && ShownText.isPrintable(text)
    }
}

extension CameraConfiguration.Network.Identity {
    fileprivate func check(_ object: String, _ expect: CameraConfiguration.Expectation) {
        typealias Network = CameraConfiguration.Network
        if let endpoint {
            expect(
                Network.isText(endpoint, limit: 256), "\(object).endpoint",
                "is empty, has more than 256 characters, or has control characters",
                "Use what the camera announces, such as urn:uuid:…, or leave it out")
        }
        if let serial {
            expect(
                Network.isText(serial, limit: 128), "\(object).serial",
                "is empty, has more than 128 characters, or has control characters", "Correct it, or leave it out")
        }
        if let mac {
            expect(
                Network.isMAC(mac), "\(object).mac", "is not a MAC address",
                "Use six pairs of digits in lower case, such as 00:11:22:aa:bb:cc, or leave it out")
        }
    }
}

extension CameraConfiguration.Network.AddressFault {
    /// Behind the name of the field.
    public var reason: String {
        switch self {
        case .length: "is empty or longer than 2048 bytes"
        case .characters: "has white space, control characters, or characters that an address cannot have"
        case .scheme: "is not the address of a network camera"
        case .host: "has no host, or one that is neither a name nor an IP address"
        case .port: "has an invalid port"
        case .credentials: "carries a user or a password"
        case .query: "has a query or a fragment where none can be"
        }
    }

    /// A sentence without a full stop.
    public var hint: String {
        switch self {
        case .length, .scheme: "Use rtsp://host/path, rtsps://host/path, onvif://host, or http://host/path for MJPEG"
        case .characters: "Write it in one piece; percent-encode what is not ASCII"
        case .host: "Use a name, an IPv4 address, or an IPv6 address in brackets"
        case .port: "Use 1 to 65535, or leave it out"
        case .credentials: "Take it out; user and password are given apart from the address"
        case .query: "Take it out; onvif:// has no query, and no address has a fragment"
        }
    }
}
