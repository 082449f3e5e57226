extension SessionDescription {
    /// Reads what cameras send: lines of no known form are skipped, unusable values take the default, `o=`, `s=`, `c=`
    /// and `t=` may be missing or broken, and lines end with CR, LF or both.
    /// - Throws: when the bytes are not a description at all, or pass a bound.
    public static func parse(_ bytes: ArraySlice<UInt8>) throws(RTSPError) -> SessionDescription {
        guard bytes.count <= maxLength else { throw .tooLong(what: "bytes", limit: maxLength) }
        var draft = DescriptionDraft()
        let lines = bytes.split(omittingEmptySubsequences: true) {
            $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r")
        }
        for line in lines {
            guard let type = line.first, let equals = line.dropFirst().first, equals == UInt8(ascii: "=") else {
                continue
            }
            draft.add(type, CameraText.trimmed(String(decoding: line.dropFirst(2), as: UTF8.self)))
            guard draft.media.count <= maxMedia else { throw .tooLong(what: "media", limit: maxMedia) }
        }
        guard draft.isDescription else {
            throw .malformed(position: 0, reason: "it holds neither a version nor a medium")
        }
        return draft.description
    }
}

/// A description while its lines are read.
private struct DescriptionDraft {
    var isDescription = false
    var name = ""
    var control: String?
    var direction = SessionDescription.Direction.sendReceive
    var connection: String?
    var media: [MediaDraft] = []

    /// Parameters that are listed under another medium than the one whose payload type they name.
    private var strays: [UInt8: [String: String]] = [:]

    var description: SessionDescription {
        SessionDescription(
            name: name, control: control,
            media: media.map { $0.media(connection: connection, direction: direction, strays: strays) })
    }

    mutating func add(_ type: UInt8, _ value: String) {
        switch type {
        case UInt8(ascii: "v"): isDescription = true
        case UInt8(ascii: "s") where media.isEmpty: name = CameraText.printable(value, limit: 128)
        case UInt8(ascii: "m"):
            isDescription = true
            media.append(MediaDraft(value))
        case UInt8(ascii: "c"):
            guard let address = Self.address(value) else { return }
            if let last = media.indices.last { media[last].connection = address } else { connection = address }
        case UInt8(ascii: "b"):
            if let last = media.indices.last { media[last].addBandwidth(value) }
        case UInt8(ascii: "a"): addAttribute(value)
        default: break
        }
    }

    private mutating func addAttribute(_ text: String) {
        let halves = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let name = CameraText.trimmed(halves[0]).lowercased()
        let value = halves.count > 1 ? CameraText.trimmed(halves[1]) : ""
        if let last = media.indices.last {
            guard name == "fmtp" else {
                media[last].addAttribute(name, value)
                return
            }
            guard let found = MediaDraft.parameters(value) else { return }
            if media[last].names(found.type) {
                media[last].add(found.items, to: found.type)
            } else if strays.count < MediaDraft.maxFormats, strays[found.type] == nil {
                strays[found.type] = Dictionary(
                    found.items.prefix(MediaDraft.maxParameters).map { ($0.name, $0.value) },
                    uniquingKeysWith: { $1 })
            }
        } else if name == "control" {
            control = control ?? value
        } else if let direction = SessionDescription.Direction(attribute: name) {
            self.direction = direction
        }
    }

    /// `IN IP4 239.1.2.3/127/2`: the address alone.
    private static func address(_ text: String) -> String? {
        guard let last = text.split(separator: " ").last, let address = last.split(separator: "/").first else {
            return nil
        }
        let kept = CameraText.printable(address, limit: 255)
        return kept.isEmpty ? nil : kept
    }
}

private struct MediaDraft {
    static let maxFormats = 32
    static let maxParameters = 64

    var connection: String?
    private var kind: String
    private var port: UInt16
    private var protocolName: String
    private var payloadTypes: [UInt8]
    private var mappings: [UInt8: (encoding: String, clockRate: Int?, channels: Int)] = [:]
    private var parameters: [UInt8: [String: String]] = [:]
    private var control: String?
    private var direction: SessionDescription.Direction?
    private var frameRate: Double?
    private var dimensions: SessionDescription.Media.Dimensions?
    private var bandwidth: Int?

    /// `video 0 RTP/AVP 96 97`; the port may have a count behind a slash.
    init(_ line: String) {
        let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
        kind = CameraText.printable(words.first ?? "", limit: 64).lowercased()
        let portText = words.count > 1 ? words[1].prefix { $0 != "/" } : ""
        port = CameraText.number(portText, as: UInt16.self) ?? 0
        protocolName = words.count > 2 ? CameraText.printable(words[2], limit: 32).uppercased() : ""
        payloadTypes = []
        for word in words.dropFirst(3).prefix(Self.maxFormats) {
            guard let type = Self.payloadType(word), !payloadTypes.contains(type) else { continue }
            payloadTypes.append(type)
        }
    }

    private static func payloadType(_ text: some StringProtocol) -> UInt8? {
        CameraText.number(text, as: UInt8.self).flatMap { $0 < 128 ? $0 : nil }
    }

    mutating func addBandwidth(_ text: String) {
        let halves = text.split(separator: ":", maxSplits: 1)
        guard halves.count == 2, let number = CameraText.number(halves[1], as: Int.self), number > 0 else { return }
        switch CameraText.trimmed(halves[0]).uppercased() {
        case "AS":
            let (bits, overflow) = number.multipliedReportingOverflow(by: 1000)
            if !overflow { bandwidth = bits }
        case "TIAS": bandwidth = bandwidth ?? number
        default: break
        }
    }

    mutating func addAttribute(_ name: String, _ value: String) {
        switch name {
        case "control": control = control ?? value
        case "rtpmap": addMapping(value)
        case "x-dimensions":
            let sides = value.split(separator: ",").compactMap { CameraText.number($0, as: Int.self) }
            if sides.count == 2, sides.allSatisfy({ (1...0xFFFF).contains($0) }) {
                dimensions = .init(width: sides[0], height: sides[1])
            }
        case "framerate", "x-framerate":
            if let rate = Double(value), rate.isFinite, rate > 0, rate <= 1000 { frameRate = rate }
        default: direction = SessionDescription.Direction(attribute: name) ?? direction
        }
    }

    /// `96 H264/90000`, `97 MPEG4-GENERIC/16000/2`.
    private mutating func addMapping(_ value: String) {
        let words = value.split(maxSplits: 1, whereSeparator: { $0 == " " || $0 == "\t" })
        guard words.count == 2, let type = Self.payloadType(words[0]), payloadTypes.contains(type) else { return }
        let parts = words[1].split(separator: "/").map { CameraText.trimmed($0) }
        guard let encoding = parts.first else { return }
        let rate = parts.count > 1 ? CameraText.number(parts[1], as: Int.self) : nil
        let channels = parts.count > 2 ? CameraText.number(parts[2], as: Int.self) : nil
        mappings[type] = (
            CameraText.printable(encoding, limit: 32).uppercased(),
            rate.flatMap { (1...10_000_000).contains($0) ? $0 : nil },
            channels.flatMap { (1...16).contains($0) ? $0 : nil } ?? 1
        )
    }

    /// `96 packetization-mode=1;sprop-parameter-sets=…,…`; nil when it names no payload type.
    static func parameters(_ value: String) -> (type: UInt8, items: [HeaderParameters.Parameter])? {
        let words = value.split(maxSplits: 1, whereSeparator: { $0 == " " || $0 == "\t" })
        guard words.count == 2, let type = payloadType(words[0]) else { return nil }
        return (type, HeaderParameters(words[1]).items)
    }

    func names(_ type: UInt8) -> Bool { payloadTypes.contains(type) }

    mutating func add(_ items: [HeaderParameters.Parameter], to type: UInt8) {
        var known = parameters[type] ?? [:]
        for item in items where known.count < Self.maxParameters { known[item.name] = item.value }
        parameters[type] = known
    }

    func media(
        connection session: String?, direction sessionDirection: SessionDescription.Direction,
        strays: [UInt8: [String: String]]
    ) -> SessionDescription.Media {
        let formats = payloadTypes.map { type in
            let fixed = Self.staticFormats[type]
            let mapping = mappings[type]
            return SessionDescription.Format(
                payloadType: type, encoding: mapping?.encoding ?? fixed?.0 ?? "",
                clockRate: mapping?.clockRate ?? fixed?.1 ?? (kind == "video" ? 90_000 : 8000),
                channels: mapping?.channels ?? fixed?.2 ?? 1, parameters: parameters[type] ?? strays[type] ?? [:])
        }
        var media = SessionDescription.Media(
            kind: kind, port: port, protocolName: protocolName, formats: formats, control: control,
            direction: direction ?? sessionDirection, hasOwnDirection: direction != nil,
            connection: connection ?? session, frameRate: frameRate, bandwidth: bandwidth)
        media.dimensions = dimensions
        return media
    }

    /// RFC 3551 tables 4 and 5, the ones that cameras were seen to use.
    private static let staticFormats: [UInt8: (String, Int, Int)] = [
        0: ("PCMU", 8000, 1), 2: ("G726-32", 8000, 1), 3: ("GSM", 8000, 1), 4: ("G723", 8000, 1), 5: ("DVI4", 8000, 1),
        8: ("PCMA", 8000, 1),
        9: ("G722", 8000, 1), 10: ("L16", 44_100, 2), 11: ("L16", 44_100, 1), 14: ("MPA", 90_000, 1),
        18: ("G729", 8000, 1), 26: ("JPEG", 90_000, 1), 31: ("H261", 90_000, 1), 32: ("MPV", 90_000, 1),
        33: ("MP2T", 90_000, 1), 34: ("H263", 90_000, 1),
    ]
}

extension SessionDescription.Direction {
    fileprivate init?(attribute: String) {
        switch attribute {
        case "sendrecv": self = .sendReceive
        case "recvonly": self = .receiveOnly
        case "sendonly": self = .sendOnly
        case "inactive": self = .inactive
        default: return nil
        }
    }
}
