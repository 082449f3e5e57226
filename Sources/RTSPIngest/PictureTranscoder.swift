internal import CameraModel
internal import Media
internal import VideoCodec

/// A camera's JPEG pictures made into H.264, in software. Used by one thread.
final class PictureTranscoder {
    private(set) var transcoding: CameraConfiguration.Network.Transcoding
    private let decoder = JPEGDecoder()
    private var encoder: VideoEncoder?
    private var preparation: PicturePreparation?
    private var before: MediaTime?
    /// Pictures that could not be read.
    private(set) var damaged: UInt64 = 0

    static let encoders = ["libx264", "libopenh264"]
    private static let rates = 1.0...60.0

    init(_ transcoding: CameraConfiguration.Network.Transcoding) {
        self.transcoding = transcoding
    }

    /// FFmpeg's name; nil before the first picture.
    var name: String? { encoder?.choice.encoder }
    var reason: String? { encoder.map { "the camera sends JPEG pictures; \($0.choice.reason)" } }

    func requestKeyFrame() { encoder?.requestKeyFrame() }

    func use(_ transcoding: CameraConfiguration.Network.Transcoding) throws(VideoCodecError) {
        self.transcoding = transcoding
        guard let encoder else { return }
        var configuration = encoder.configuration
        configuration.bitsPerSecond = transcoding.bitrate
        configuration.keyFrameInterval = transcoding.gopSeconds
        try encoder.reconfigure(configuration)
    }

    /// - Parameter rate: pictures per second as the camera promised; without, the distance of the first two counts.
    /// - Throws: when there is no encoder, or it fails; a picture that cannot be read is counted and left out.
    func process(
        _ jpeg: [UInt8], at time: MediaTime, rate: Double?, captureInstant: UInt64
    ) throws(VideoCodecError) -> [MediaEvent] {
        let gap = before.map { Double((time - $0).nanoseconds) / 1e9 }
        before = time
        guard let rate = rate ?? gap.map({ $0 > 0 ? 1 / $0 : Self.rates.upperBound }) else { return [] }
        let prepared: RawPicture
        do throws(VideoCodecError) {
            let picture = try jpeg.span.bytes.withUnsafeBytes { (bytes) throws(VideoCodecError) in
                try decoder.decode(bytes)
            }
            // Chroma has half the size.
            let width = max(picture.width & ~1, 16)
            let height = max(picture.height & ~1, 16)
            if encoder == nil || encoder?.configuration.width != width || encoder?.configuration.height != height {
                try open(width, height, rate: min(max(rate.rounded(), Self.rates.lowerBound), Self.rates.upperBound))
            }
            guard let preparation else { return [] }
            prepared = try preparation.prepare(picture, wallClock: Monotonic.wall)
        } catch {
            if case .malformedPicture = error {
                damaged += 1
                return []
            }
            throw error
        }
        guard let encoder else { return [] }
        return try encoder.encode(prepared, at: time, captureInstant: captureInstant)
    }

    private func open(_ width: Int, _ height: Int, rate: Double) throws(VideoCodecError) {
        var configuration = VideoEncoderConfiguration(
            width: width, height: height, frameRate: rate, bitsPerSecond: transcoding.bitrate)
        configuration.keyFrameInterval = transcoding.gopSeconds
        configuration.encoders = Self.encoders
        configuration.threads = 1
        encoder = nil
        let encoder = try VideoEncoder(configuration)
        preparation = try PicturePreparation(
            PicturePreparation.Configuration(
                width: width, height: height, pixelFormats: encoder.acceptedPixelFormats))
        self.encoder = encoder
    }
}
