internal import FoundationEssentials
internal import Media
internal import RTP
internal import RTSP
internal import VideoCodec
internal import Wire

/// One medium that is taken of what a camera offers.
struct MediaChoice: Equatable, Sendable {
    enum Kind: String, Sendable {
        case h264, hevc, mjpeg
        case aac, pcmu, pcma, opus, g726

        var isVideo: Bool { self == .h264 || self == .hevc || self == .mjpeg }
    }

    /// Its place in the session description.
    var index: Int
    var kind: Kind
    var format: PayloadFormat
    var payloadType: UInt8
    var clockRate: Int
    /// Frames per second, as promised.
    var frameRate: Double?
    /// Of AAC.
    var audioFormat: AudioFormat?
    /// Of JPEG, as promised.
    var dimensions: FrameDimensions?
    /// Of G.711.
    var channels = 1
    /// Of Opus and G.726.
    var coding: AudioEncoding?
}

/// What is taken of a camera's offer: its first video that can be published, and with it its first audio.
struct MediaSelection: Equatable, Sendable {
    var video: MediaChoice?
    var audio: MediaChoice?
    /// Why there is no audio though it was asked for; nil: there is, or the camera has none.
    var audioReason: String?
    /// Of all media, as the camera writes them.
    var offered: [String] = []

    var indices: [Int]? {
        guard let video else { return nil }
        return [video.index] + (audio.map { [$0.index] } ?? [])
    }

    /// Frames alone, of a camera that offers nothing else.
    init(video: MediaChoice) {
        self.video = video
        offered = ["video \(video.kind.rawValue)"]
    }

    init(_ description: SessionDescription, audio isRequested: Bool) {
        for (index, media) in description.media.enumerated() {
            offered += media.formats.map { "\(media.kind) \($0.encoding.isEmpty ? "\($0.payloadType)" : $0.encoding)" }
            if let obstacle = Self.obstacle(media) {
                if isRequested, media.kind == "audio" { audioReason = audioReason ?? obstacle }
                continue
            }
            switch media.kind {
            case "video" where video == nil:
                video = media.formats.lazy.compactMap { Self.video($0, media, index) }.first
            case "audio" where isRequested && audio == nil:
                audio = media.formats.lazy.compactMap { Self.audio($0, index) }.first
                if audio == nil {
                    let names = media.formats.map(Self.name)
                    audioReason =
                        "the camera's audio is \(names.joined(separator: ", ")), which is not taken. "
                        + "Choose AAC, G.711 or Opus in the camera's own settings"
                }
            default: break
            }
        }
        if audio != nil { audioReason = nil }
    }

    /// Why a medium is not taken, whatever its encoding; nil: it may be.
    private static func obstacle(_ media: SessionDescription.Media) -> String? {
        guard media.protocolName.uppercased().hasPrefix("RTP/AVP") else {
            return "the camera's audio comes by \(media.protocolName.isEmpty ? "no protocol" : media.protocolName), "
                + "which is not taken. Choose plain RTP in the camera's own settings"
        }
        if media.isBackChannel {
            return "the camera offers a loudspeaker (a=sendonly) and no microphone. "
                + "If it has one, switch its audio on in the camera's own settings"
        }
        if media.direction == .inactive {
            return "the camera's audio is switched off (a=inactive). Switch it on in the camera's own settings"
        }
        return nil
    }

    private static func video(
        _ format: SessionDescription.Format, _ media: SessionDescription.Media, _ index: Int
    ) -> MediaChoice? {
        let kind: MediaChoice.Kind
        let payload: PayloadFormat
        switch (format.encoding, format.payloadType) {
        case ("H264", _):
            kind = .h264
            payload = .h264(parameterSets: sets(format.parameters["sprop-parameter-sets"]))
        case ("H265", _), ("HEVC", _):
            kind = .hevc
            let names = ["sprop-vps", "sprop-sps", "sprop-pps"]
            let distance = Int(format.parameters["sprop-max-don-diff"] ?? "") ?? 0
            payload = .hevc(
                parameterSets: names.flatMap { sets(format.parameters[$0]) }, hasDecodingOrder: distance > 0)
        case ("JPEG", _), ("", 26):
            kind = .mjpeg
            payload = .jpeg
        default: return nil
        }
        return MediaChoice(
            index: index, kind: kind, format: payload, payloadType: format.payloadType, clockRate: format.clockRate,
            frameRate: media.frameRate,
            dimensions: media.dimensions.map { FrameDimensions(width: $0.width, height: $0.height) })
    }

    private static func audio(_ format: SessionDescription.Format, _ index: Int) -> MediaChoice? {
        var choice = MediaChoice(
            index: index, kind: .pcmu, format: .pcmu, payloadType: format.payloadType, clockRate: format.clockRate)
        switch (format.encoding, format.payloadType) {
        case ("MPEG4-GENERIC", _):
            guard let found = aac(format) else { return nil }
            choice.kind = .aac
            choice.format = found.payload
            choice.audioFormat = found.format
        case ("PCMU", _), ("", 0), ("PCMA", _), ("", 8):
            // Besides the telephone's 8000, cameras have 16 000 and more, and two channels.
            guard AudioTranscoder.inputRates.contains(format.clockRate), (1...2).contains(format.channels) else {
                return nil
            }
            choice.channels = format.channels
            if format.encoding == "PCMA" || format.payloadType == 8 && format.encoding.isEmpty {
                choice.kind = .pcma
                choice.format = .pcma
            }
        case ("OPUS", _):
            // RFC 7587 §4.1: whatever was encoded.
            guard format.clockRate == AudioEncoding.opus.sampleRate else { return nil }
            choice.kind = .opus
            choice.format = .packets
            choice.coding = .opus
        case (let name, _) where name.hasPrefix("G726") || name.hasPrefix("AAL2-G726"):
            guard let coding = AudioEncoding(rawValue: name.lowercased()), format.channels == 1,
                format.clockRate == coding.sampleRate
            else { return nil }
            choice.kind = .g726
            choice.format = .packets
            choice.coding = coding
        default: return nil
        }
        return choice
    }

    /// For a person: with rate and channels where they are not the usual ones.
    private static func name(_ format: SessionDescription.Format) -> String {
        let name = format.encoding.isEmpty ? "type \(format.payloadType)" : format.encoding
        guard format.clockRate != 8000 || format.channels != 1 else { return name }
        return "\(name) (\(format.clockRate) Hz, \(format.channels) channel\(format.channels == 1 ? "" : "s"))"
    }

    /// RFC 3640 §4.1. A camera that leaves out `config` or the lengths has AAC-LC in the usual form.
    private static func aac(
        _ format: SessionDescription.Format
    ) -> (payload: PayloadFormat, format: AudioFormat)? {
        let parameters = format.parameters
        let isLowRate = parameters["mode"]?.lowercased() == "aac-lbr"
        func length(_ name: String, _ usual: Int) -> Int {
            let value = parameters[name].flatMap { Int($0) } ?? usual
            return (0...32).contains(value) ? value : usual
        }
        var bytes = hexadecimal(parameters["config"] ?? "")
        let configuration: AudioSpecificConfig
        do throws(MediaError) {
            if bytes.isEmpty {
                configuration = try AudioSpecificConfig(
                    samplingFrequency: format.clockRate, channels: format.channels)
                bytes = configuration.encoded()
            } else {
                configuration = try AudioSpecificConfig.parse(bytes[...])
            }
        } catch {
            return nil
        }
        guard (2...64).contains(bytes.count) else { return nil }
        return (
            .aac(
                configuration: bytes, sizeLength: length("sizelength", isLowRate ? 6 : 13),
                indexLength: length("indexlength", isLowRate ? 2 : 3),
                indexDeltaLength: length("indexdeltalength", isLowRate ? 2 : 3)),
            AudioFormat(
                codec: .aac, sampleRate: configuration.samplingFrequency, channels: configuration.channels,
                audioSpecificConfig: bytes)
        )
    }

    /// NAL units in Base64, separated by commas; what is invalid is left out. Cameras put quotes into the middle, and
    /// start codes before and behind a unit (`scottlamb/moonfire-nvr#213`).
    static func sets(_ text: String?) -> [[UInt8]] {
        guard let text else { return [] }
        return text.split(separator: ",").prefix(16).flatMap { part -> [[UInt8]] in
            var base64 = part.filter { !$0.isWhitespace && $0 != "=" && $0 != "\"" }
            base64 += String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
            guard let data = Data(base64Encoded: base64), !data.isEmpty else { return [] }
            let bytes = [UInt8](data)
            // Behind a start code that it may lack, it is a byte stream.
            let hasCode = bytes.starts(with: [0, 0, 1]) || bytes.starts(with: [0, 0, 0, 1])
            let units = AnnexB.units(in: hasCode ? bytes[...] : ([0, 0, 1] + bytes)[...])
            return units.prefix(16).map { Array($0) }
        }
    }

    /// Empty when it is invalid.
    static func hexadecimal(_ text: String) -> [UInt8] {
        text.utf8.count <= 128 ? (try? Hexadecimal.decode(text)) ?? [] : []
    }
}
