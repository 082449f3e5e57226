extension EncoderConfiguration {
    /// - Parameter element: a VideoEncoderConfiguration of Media1, or a VideoEncoder2Configuration of Media2. Nil
    ///   without a token or an encoding.
    public init?(_ element: XMLElement) {
        guard let token = element.attribute("token"), token.utf8.count <= 128, let encoding = element.text("Encoding")
        else { return nil }
        self.init(
            token: token, name: SOAPAnswer.printable(element.text("Name") ?? token, 128),
            codec: Self.codec(ofEncoding: encoding), element: element)
        size = FrameSize(element.child("Resolution"))
        let control = element.child("RateControl")
        if let limit = control?.text("FrameRateLimit").flatMap({ Double($0) }), limit > 0, limit <= 1000 {
            let interval = control?.text("EncodingInterval").flatMap { Int($0) } ?? 1
            rate = (2...1000).contains(interval) ? limit / Double(interval) : limit
        }
        if let kilobits = control?.text("BitrateLimit").flatMap({ Int($0) }), (1...10_000_000).contains(kilobits) {
            bitrate = kilobits * 1000
        }
        let length =
            element.attribute("GovLength") ?? element.text("H264", "GovLength") ?? element.text("MPEG4", "GovLength")
        gop = length.flatMap { Int($0) }.flatMap { (1...1_000_000).contains($0) ? $0 : nil }
    }

    /// FFmpeg's name of what Media1 calls `H264`, and Media2, by RTP's names, `H265` or `MPV4-ES`.
    public static func codec(ofEncoding encoding: String) -> String {
        switch encoding.uppercased() {
        case "H264": "h264"
        case "H265", "HEVC": "hevc"
        case "JPEG", "MJPEG": "mjpeg"
        case "MPEG4", "MPV4-ES": "mpeg4"
        default: SOAPAnswer.printable(encoding.lowercased(), 32)
        }
    }

    static func encoding(ofCodec codec: String, service: MediaService) -> String {
        switch codec {
        case "h264": "H264"
        case "hevc": "H265"
        case "mjpeg": "JPEG"
        case "mpeg4": service == .media2 ? "MPV4-ES" : "MPEG4"
        default: codec.uppercased()
        }
    }

    /// The element with the requested changes written into it.
    public func changed(
        for service: MediaService, codec: String? = nil, size: FrameSize? = nil, rate: Double? = nil,
        bitrate: Int? = nil, gop: Int? = nil
    ) -> XMLElement {
        var changed = element
        if let codec {
            changed.set("Encoding", Self.encoding(ofCodec: codec, service: service))
            // What is particular to the old codec would contradict the new one.
            let kept = Self.encoding(ofCodec: codec, service: service)
            changed.children.removeAll { ["H264", "MPEG4"].contains($0.name) && $0.name != kept }
            if service == .media2, codec != self.codec { changed.attributes.removeAll { $0.name == "Profile" } }
            if service == .media, codec == "h264", changed.child("H264") == nil {
                changed.set("H264", "GovLength", String(gop ?? 50))
                changed.set("H264", "H264Profile", "Main")
            }
        }
        if let size {
            changed.set("Resolution", "Width", String(size.width))
            changed.set("Resolution", "Height", String(size.height))
        }
        if let rate {
            changed.set("RateControl", "FrameRateLimit", Self.number(rate, isWhole: service == .media))
            if service == .media { changed.set("RateControl", "EncodingInterval", "1") }
        }
        if let bitrate { changed.set("RateControl", "BitrateLimit", String(max(1, bitrate / 1000))) }
        if let gop { setGOP(gop, codec ?? self.codec, service, &changed) }
        return changed
    }

    private func setGOP(_ gop: Int, _ codec: String, _ service: MediaService, _ changed: inout XMLElement) {
        switch service {
        case .media:
            if codec == "h264" || codec == "mpeg4" {
                changed.set(Self.encoding(ofCodec: codec, service: service), "GovLength", String(gop))
            }
        case .media2:
            if let index = changed.attributes.firstIndex(where: { $0.name == "GovLength" }) {
                changed.attributes[index].value = String(gop)
            } else {
                changed.attributes.append(XMLElement.Attribute(name: "GovLength", value: String(gop)))
            }
        }
    }

    static func number(_ value: Double, isWhole: Bool) -> String {
        let rounded = value.rounded()
        if isWhole || rounded == value { return String(Int(min(max(rounded, 1), 1000))) }
        return String(value)
    }
}

extension FrameSize {
    /// Nil without both numbers, or with one that no frame has.
    init?(_ element: XMLElement?) {
        guard let width = element?.text("Width").flatMap({ Int($0) }),
            let height = element?.text("Height").flatMap({ Int($0) }),
            (1...32_768).contains(width), (1...32_768).contains(height)
        else { return nil }
        self.init(width: width, height: height)
    }
}

extension XMLElement {
    /// Gives the child this text; one that is missing is appended, in the schema's namespace.
    fileprivate mutating func set(_ name: String, _ text: String) {
        if let index = children.firstIndex(where: { $0.name == name }) {
            children[index].text = text
        } else {
            children.append(XMLElement(namespace: ONVIFNames.schema, name: name, text: text))
        }
    }

    fileprivate mutating func set(_ group: String, _ name: String, _ text: String) {
        if let index = children.firstIndex(where: { $0.name == group }) {
            children[index].set(name, text)
        } else {
            var element = XMLElement(namespace: ONVIFNames.schema, name: group)
            element.set(name, text)
            // The schema's order: codecs and rate stand before the multicast address.
            let end = children.firstIndex { $0.name == "Multicast" } ?? children.endIndex
            children.insert(element, at: end)
        }
    }
}
