internal import Cryptography
internal import FLV
internal import Media
internal import NanoTDF
internal import NanoTDFCryptography
internal import RTMP

/// A short sealed stream whose every byte is known: what goes to the relay, to be compared with what comes back.
///
/// Its key is thrown away with it. Its "frames" are random bytes: a relay that minds them would mind a real stream,
/// too.
struct ProbeStream {
    struct Message: Equatable, Sendable {
        var type: MessageType
        var timestamp: UInt32
        var body: [UInt8]
    }

    static let frameRate = 25
    static let framesPerGroup = 12

    let header: [UInt8]
    /// Metadata, sequence headers and header frame, in the order in which a camera sends them: the header frame first,
    /// or last where frames are wrapped.
    let preamble: [Message]
    /// Sealed frames in sending order, each with the count of milliseconds after the first when it is due.
    let frames: [Message]

    /// Parameter sets of a 320×180 Baseline stream.
    private static let configurationRecord: [UInt8] = [
        0x01, 0x42, 0xC0, 0x0C, 0xFF, 0xE1, 0x00, 0x19, 0x67, 0x42, 0xC0, 0x0C, 0xD9, 0x01, 0x41, 0x9F, 0x9F, 0x01,
        0x10, 0x00, 0x00, 0x03, 0x00, 0x10, 0x00, 0x00, 0x03, 0x03, 0x20, 0xF1, 0x42, 0xA4, 0x80, 0x01, 0x00, 0x05,
        0x68, 0xCB, 0x83, 0xCB, 0x20,
    ]
    /// AAC-LC, 48 kHz, stereo.
    private static let audioSpecificConfig: [UInt8] = [0x11, 0x90]

    /// - Parameters:
    ///   - seconds: of media.
    ///   - isWrapped: each item of video has the shape of a NAL unit.
    ///   - scale: how many times as large as those of a small camera frames are.
    init(seconds: Double, isWrapped: Bool = false, scale: Int = 1) throws {
        let recipient = KASRecipient(
            locator: try ResourceLocator(url: "https://relay-test.invalid/kas"),
            publicKey: try ECPrivateKey.generate(.p256).publicKey.compressed())
        let sealer = try CollectionSealer(
            recipient: recipient, policy: PlaintextPolicy().encoded(), crypto: OpenSSLCrypto())
        header = sealer.headerBytes
        let video = VideoFormat(
            codec: .h264, width: 320, height: 180, frameRate: Double(Self.frameRate),
            configurationRecord: Self.configurationRecord)
        let audio = AudioFormat(
            codec: .aac, sampleRate: 48_000, channels: 2, audioSpecificConfig: Self.audioSpecificConfig)
        var metadata = StreamMetadata(video: video, audio: audio)
        metadata.ntdfHeader = header
        let headerFrame = Message(type: .video, timestamp: 0, body: try NTDFHeaderFrame.encode(header))
        let sequenceHeaders = [
            Message(
                type: .video, timestamp: 0,
                body: VideoTagHeader(codec: .h264, isKeyFrame: true, kind: .sequenceHeader).encoded()
                    + Self.configurationRecord),
            Message(
                type: .audio, timestamp: 0,
                body: AudioTagHeader(kind: .sequenceHeader).encoded() + Self.audioSpecificConfig),
        ]
        preamble =
            [Message(type: .dataAMF0, timestamp: 0, body: metadata.encodedSetDataFrame())]
            + (isWrapped ? sequenceHeaders + [headerFrame] : [headerFrame] + sequenceHeaders)
        var frames: [Message] = []
        for index in 0..<Int(seconds * Double(Self.frameRate)) {
            let isKeyFrame = index % Self.framesPerGroup == 0
            let timestamp = UInt32(index * 1000 / Self.frameRate)
            var frame = VideoTagHeader(
                codec: .h264, isKeyFrame: isKeyFrame, kind: .codedFrame(compositionTime: 0)
            ).encoded()
            let item = try Self.item(sealer, bytes: (isKeyFrame ? 6000 : 900) * scale)
            if isWrapped {
                NALWrapper.append(
                    codec: .h264, isKeyFrame: isKeyFrame, itemByteCount: item.count, to: &frame)
            }
            frames.append(Message(type: .video, timestamp: timestamp, body: frame + item))
            frames.append(
                Message(
                    type: .audio, timestamp: timestamp,
                    body: AudioTagHeader(kind: .rawFrame).encoded() + (try Self.item(sealer, bytes: 300))))
        }
        self.frames = frames
    }

    private static func item(_ sealer: CollectionSealer, bytes: Int) throws -> [UInt8] {
        var item: [UInt8] = []
        _ = try sealer.seal(try SecureRandom.bytes(bytes)[...], into: &item)
        return item
    }
}
