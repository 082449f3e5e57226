// What a camera says of itself goes into the status of its process, which others read every other second: it is cut to
// what they take, whatever it is.

extension NetworkStatistics {
    /// Of one device, and of the events that are kept.
    public static let maxProfiles = 16
    public static let maxEvents = 32
    /// Bytes as JSON writes them. An address that is longer is left out: half of one leads nowhere.
    public static let maxURLLength = 512
    /// Bytes as JSON writes them.
    public static let maxTextLength = 128

    /// As it may be reported: less than 48 KiB as JSON, whatever a camera said.
    ///
    /// Names are cut. Addresses, and what identifies a device or a profile, are left out when they are too long: of a
    /// cut one no one would see that it is another.
    public var bounded: NetworkStatistics {
        var result = self
        result.url = BoundedText.whole(url, Self.maxURLLength)
        result.address = address.map { BoundedText.cut($0, Self.maxTextLength) }
        result.transport = transport.map { BoundedText.cut($0, Self.maxTextLength) }
        result.authentication = authentication.map { BoundedText.cut($0, Self.maxTextLength) }
        result.pin = BoundedText.whole(pin, Self.maxTextLength)
        result.servicePin = BoundedText.whole(servicePin, Self.maxTextLength)
        result.server = server.map { BoundedText.cut($0, Self.maxTextLength) }
        result.videoCodec = videoCodec.map { BoundedText.cut($0, Self.maxTextLength) }
        result.audioCodec = audioCodec.map { BoundedText.cut($0, Self.maxTextLength) }
        result.profile = BoundedText.whole(profile, Self.maxTextLength)
        result.firstKeyFrameMilliseconds = firstKeyFrameMilliseconds.flatMap(BoundedText.finite)
        result.playToKeyFrameMilliseconds = playToKeyFrameMilliseconds.flatMap(BoundedText.finite)
        result.videoTiming?.speed = videoTiming?.speed.flatMap(BoundedText.finite)
        result.audioTiming?.speed = audioTiming?.speed.flatMap(BoundedText.finite)
        result.driftPartsPerMillion = driftPartsPerMillion.flatMap(BoundedText.finite)
        result.clockAheadMilliseconds = clockAheadMilliseconds.flatMap(BoundedText.finite)
        result.jitterMilliseconds = jitterMilliseconds.flatMap(BoundedText.finite)
        result.nextAttemptSeconds = nextAttemptSeconds.flatMap(BoundedText.finite)
        result.moves = moves.map { moves in
            Array(
                moves.filter {
                    BoundedText.whole($0.address, 64) != nil && BoundedText.whole($0.source, Self.maxURLLength) != nil
                }.prefix(Self.maxMoves))
        }
        result.device = device?.bounded(keeping: profile)
        result.events = events.suffix(Self.maxEvents).map(\.bounded)
        return result
    }
}

extension NetworkStatistics.Event {
    fileprivate var bounded: Self {
        var result = self
        result.kind = BoundedText.cut(kind, NetworkStatistics.maxTextLength)
        result.topic = BoundedText.cut(topic, NetworkStatistics.maxTextLength)
        result.source = source.map { BoundedText.cut($0, NetworkStatistics.maxTextLength) }
        return result
    }
}

extension NetworkStatistics.Device {
    private static let maxEndpointLength = 256

    /// As `NetworkStatistics.bounded`.
    ///
    /// - Parameter used: the token of a profile that stays in the list, however long that is.
    public func bounded(keeping used: String? = nil) -> Self {
        let limit = NetworkStatistics.maxTextLength
        var result = self
        result.manufacturer = manufacturer.map { BoundedText.cut($0, limit) }
        result.model = model.map { BoundedText.cut($0, limit) }
        result.firmware = firmware.map { BoundedText.cut($0, limit) }
        result.serial = BoundedText.whole(serial, limit)
        result.mac = BoundedText.whole(mac, limit)
        result.endpoint = BoundedText.whole(endpoint, Self.maxEndpointLength)
        let named = profiles.filter { BoundedText.whole($0.token, limit) != nil }
        var kept = Array(named.prefix(NetworkStatistics.maxProfiles))
        if let used, !kept.contains(where: { $0.token == used }), let profile = named.first(where: { $0.token == used })
        {
            kept[kept.count - 1] = profile
        }
        result.profiles = kept.map(\.bounded)
        return result
    }
}

extension NetworkStatistics.Profile {
    fileprivate var bounded: Self {
        var result = self
        result.name = BoundedText.cut(name, NetworkStatistics.maxTextLength)
        result.service = BoundedText.cut(service, 16)
        result.url = BoundedText.whole(url, NetworkStatistics.maxURLLength)
        result.snapshotURL = BoundedText.whole(snapshotURL, NetworkStatistics.maxURLLength)
        result.codec = codec.map { BoundedText.cut($0, 16) }
        result.rate = rate.flatMap(BoundedText.finite)
        return result
    }
}

extension CaptureStatistics {
    private static let maxMessageLength = 512

    /// Of a camera on the network, as it may be reported: see `NetworkStatistics.bounded`.
    public var boundedForNetwork: CaptureStatistics {
        var result = self
        result.reason = reason.map { BoundedText.cut($0, Self.maxMessageLength) }
        result.limit = limit.map { BoundedText.cut($0, Self.maxMessageLength) }
        result.audioReason = audioReason.map { BoundedText.cut($0, Self.maxMessageLength) }
        result.device = device.map { BoundedText.cut($0, NetworkStatistics.maxTextLength) }
        result.card = card.map { BoundedText.cut($0, NetworkStatistics.maxTextLength) }
        result.captureRate = captureRate.flatMap(BoundedText.finite)
        result.rate = rate.flatMap(BoundedText.finite)
        result.network = network?.bounded
        return result
    }
}

extension StreamTestReport {
    /// As it may be reported: see `NetworkStatistics.bounded`.
    public var bounded: StreamTestReport {
        let limit = NetworkStatistics.maxTextLength
        var result = self
        result.streamURL = BoundedText.whole(streamURL, NetworkStatistics.maxURLLength)
        result.address = address.map { BoundedText.cut($0, limit) }
        result.authentication = authentication.map { BoundedText.cut($0, limit) }
        result.server = server.map { BoundedText.cut($0, limit) }
        result.rate = rate.flatMap(BoundedText.finite)
        result.device = device?.bounded()
        for index in result.lines.indices { result.lines[index].text = BoundedText.cut(lines[index].text, 512) }
        return result
    }
}

/// Text from a camera, measured as JSON writes it.
enum BoundedText {
    private static let slash = UInt8(ascii: "/")
    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")

    private static func length(_ byte: UInt8) -> Int {
        switch byte {
        case slash, quote, backslash: 2
        case ..<0x20, 0x7F: 6
        default: 1
        }
    }

    /// Nil when it is longer, or has control characters.
    static func whole(_ text: String?, _ limit: Int) -> String? {
        guard let text, text.utf8.count <= limit else { return nil }
        var sum = 0
        for byte in text.utf8 {
            guard byte >= 0x20, byte != 0x7F else { return nil }
            sum += length(byte)
        }
        return sum <= limit ? text : nil
    }

    /// Its beginning; a blank in place of each control character.
    static func cut(_ text: String, _ limit: Int) -> String {
        if whole(text, limit) != nil { return text }
        var result = String.UnicodeScalarView()
        var sum = 0
        for scalar in text.unicodeScalars {
            let isControl = scalar.value < 0x20 || scalar.value == 0x7F
            let shown = isControl ? " " : scalar
            sum += UTF8.width(shown) == 1 ? length(UInt8(truncatingIfNeeded: shown.value)) : UTF8.width(shown)
            guard sum <= limit else { break }
            result.append(shown)
        }
        return String(result)
    }

    /// JSON has no other numbers.
    static func finite(_ number: Double) -> Double? { number.isFinite ? number : nil }
}
