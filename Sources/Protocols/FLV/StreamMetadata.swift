public import AMF0
public import Media
internal import Wire

/// `onMetaData`: what a stream says of itself, and, for an encrypted one, the NanoTDF header of the current collection.
///
/// Reading takes what it understands and ignores the rest; who must hand on everything hands on the bytes.
public struct StreamMetadata: Equatable, Sendable {
    /// Pixels.
    public var width: Int?
    public var height: Int?
    /// Frames per second.
    public var frameRate: Double?
    public var videoCodec: VideoCodec?
    public var audioCodec: AudioCodec?
    /// kbit/s.
    public var videoDataRate: Double?
    /// kbit/s.
    public var audioDataRate: Double?
    /// Samples per second.
    public var audioSampleRate: Int?
    public var audioChannels: Int?
    public var encoder: String?
    /// Bytes of the NanoTDF header; base64 on the wire.
    public var ntdfHeader: [UInt8]?
    /// The header of the collection that will probably come next, so that its key can be asked for ahead.
    public var nextNTDFHeader: [UInt8]?
    /// Seconds from one collection to the next, as planned.
    public var rotationSeconds: Double?

    public init(
        width: Int? = nil, height: Int? = nil, frameRate: Double? = nil, videoCodec: VideoCodec? = nil,
        audioCodec: AudioCodec? = nil, videoDataRate: Double? = nil, audioDataRate: Double? = nil,
        audioSampleRate: Int? = nil, audioChannels: Int? = nil, encoder: String? = nil, ntdfHeader: [UInt8]? = nil,
        nextNTDFHeader: [UInt8]? = nil, rotationSeconds: Double? = nil
    ) {
        self.width = width
        self.height = height
        self.frameRate = frameRate
        self.videoCodec = videoCodec
        self.audioCodec = audioCodec
        self.videoDataRate = videoDataRate
        self.audioDataRate = audioDataRate
        self.audioSampleRate = audioSampleRate
        self.audioChannels = audioChannels
        self.encoder = encoder
        self.ntdfHeader = ntdfHeader
        self.nextNTDFHeader = nextNTDFHeader
        self.rotationSeconds = rotationSeconds
    }

    /// What the formats say; rates of data, encoder and header are the caller's.
    public init(video: VideoFormat?, audio: AudioFormat?) {
        self.init(
            width: video?.width, height: video?.height, frameRate: video?.frameRate, videoCodec: video?.codec,
            audioCodec: audio?.codec, audioSampleRate: audio?.sampleRate, audioChannels: audio?.channels)
    }

    /// The body of a data message (type 18): `@setDataFrame`, `onMetaData`, ECMA array, with the header as its last
    /// entry. HEVC is named by its FourCC as a number (Enhanced RTMP).
    public func encodedSetDataFrame() -> [UInt8] {
        AMF0.encode([.string("@setDataFrame"), .string("onMetaData"), .ecmaArray(object())])
    }

    private func object() -> AMF0Object {
        var object = AMF0Object()
        func number(_ key: String, _ value: Double?) {
            if let value { object[key] = .number(value) }
        }
        number("width", width.map(Double.init))
        number("height", height.map(Double.init))
        number("framerate", frameRate)
        number("videocodecid", videoCodec.map { $0 == .h264 ? Double($0.legacyID) : Double($0.fourCC) })
        number("videodatarate", videoDataRate)
        number("audiocodecid", audioCodec.map { _ in 10 })
        number("audiodatarate", audioDataRate)
        if audioCodec != nil {
            number("audiosamplerate", audioSampleRate.map(Double.init))
            number("audiosamplesize", 16)
            if let audioChannels { object["stereo"] = .boolean(audioChannels > 1) }
        }
        if let encoder { object["encoder"] = .string(encoder) }
        number("ntdf_rotation", rotationSeconds)
        if let nextNTDFHeader { object["ntdf_next_header"] = .string(Base64.encode(nextNTDFHeader)) }
        if let ntdfHeader { object["ntdf_header"] = .string(Base64.encode(ntdfHeader)) }
        return object
    }
}

extension StreamMetadata {
    /// Reads a data message or script tag, with or without `@setDataFrame`, object or ECMA array.
    ///
    /// - Returns: nil when it is another data message, as `|RtmpSampleAccess`.
    public static func parse(
        _ body: ArraySlice<UInt8>, limits: AMF0Limits = .data
    ) throws(FLVError) -> StreamMetadata? {
        var values: ArraySlice<AMF0Value>
        do {
            values = try AMF0.decode(body, limits: limits)[...]
        } catch {
            throw .amf0(error)
        }
        if values.first?.stringValue == "@setDataFrame" { values = values.dropFirst() }
        guard values.first?.stringValue == "onMetaData", let object = values.dropFirst().first?.objectValue else {
            return nil
        }
        return try StreamMetadata(object)
    }

    private init(_ object: AMF0Object) throws(FLVError) {
        self.init(
            width: Self.integer(object["width"], below: 65_536),
            height: Self.integer(object["height"], below: 65_536),
            frameRate: Self.positive(object["framerate"] ?? object["fps"]),
            videoCodec: object["videocodecid"].flatMap(Self.videoCodec),
            audioCodec: object["audiocodecid"].flatMap(Self.audioCodec),
            videoDataRate: Self.positive(object["videodatarate"]),
            audioDataRate: Self.positive(object["audiodatarate"]),
            audioSampleRate: Self.integer(object["audiosamplerate"], below: 16_777_216),
            audioChannels: Self.integer(object["audiochannels"], below: 256)
                ?? object["stereo"]?.booleanValue.map { $0 ? 2 : 1 },
            encoder: object["encoder"]?.stringValue)
        rotationSeconds = Self.positive(object["ntdf_rotation"])
        // Only a hint: one that cannot be read costs nothing else.
        nextNTDFHeader = object["ntdf_next_header"]?.stringValue.flatMap { try? Base64.decode($0) }
        guard let text = object["ntdf_header"]?.stringValue, !text.isEmpty else { return }
        do {
            ntdfHeader = try Base64.decode(text)
        } catch {
            throw .invalidMetadata(.ntdfHeader)
        }
    }

    /// A number that a double says exactly enough; nil where there is none, it is not positive, or too large.
    private static func integer(_ value: AMF0Value?, below limit: Double) -> Int? {
        guard let number = value?.numberValue, number >= 1, number < limit else { return nil }
        return Int(number)
    }

    private static func positive(_ value: AMF0Value?) -> Double? {
        guard let number = value?.numberValue, number > 0, number.isFinite else { return nil }
        return number
    }

    /// Numbers (FLV's id, or the FourCC as a number) and names: the Arkavo app writes `avc1`.
    private static func videoCodec(_ value: AMF0Value) -> VideoCodec? {
        switch value.stringValue {
        case "avc1", "h264": return .h264
        case "hvc1", "hev1", "hevc": return .hevc
        case .some: return nil
        case nil: break
        }
        guard let number = value.numberValue, let id = UInt32(exactly: number) else { return nil }
        return VideoCodec(fourCC: id) ?? UInt8(exactly: id).flatMap(VideoCodec.init(legacyID:))
    }

    private static func audioCodec(_ value: AMF0Value) -> AudioCodec? {
        if let name = value.stringValue { return name == "mp4a" || name == "aac" ? .aac : nil }
        guard let number = value.numberValue else { return nil }
        return number == 10 || number == Double(FourCC.mp4a) ? .aac : nil
    }
}
