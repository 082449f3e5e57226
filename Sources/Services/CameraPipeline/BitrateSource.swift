internal import CameraModel
internal import ErrorCatalog
internal import Media
internal import UplinkRate
internal import VideoCodec

/// A source whose encoder takes another bitrate while it runs, and nothing else.
protocol BitrateSource: MediaSource {
    /// From the next frame on. From any thread; waits for nothing.
    func setBitsPerSecond(_ bitsPerSecond: Int)
}

extension TestPatternSource: BitrateSource {}

extension MediaSource {
    /// Waits for nothing.
    ///
    /// - Throws: WB-1004 for what is out of range, WB-8006 when this source cannot change so; nothing changes then.
    func ask(_ change: VideoChange, camera: String) throws(CodedError) {
        if let source = self as? any LiveSource { return try source.change(change) }
        var rest = change
        rest.bitrate = nil
        guard let source = self as? any BitrateSource, rest.isEmpty, let bitrate = change.bitrate else {
            throw CodedError(
                .badRequest, "\(camera) cannot change that while it publishes",
                why: "its source has no encoder that could", hint: "Restart the camera with the new settings",
                object: camera)
        }
        guard (16_000...200_000_000).contains(bitrate) else {
            throw CodedError(
                .invalidValue, "\(bitrate) bits per second are not possible", hint: "Use 16000 to 200000000",
                object: camera)
        }
        source.setBitsPerSecond(bitrate)
    }

    /// Nil where no encoder of this source takes another bitrate.
    ///
    /// - Parameter most: as configured, bits per second.
    func followingBitrate(_ most: Int, camera: String) -> EncoderBitrate? {
        guard self is any BitrateSource || self is any LiveSource else { return nil }
        return EncoderBitrate(most, kind: { self.encoderKind }) { (change) throws(CodedError) in
            try self.ask(change, camera: camera)
        }
    }

    private var encoderKind: EncoderPace.Kind {
        let encoder = (self as? TestPatternSource)?.encoderChoice?.encoder ?? (self as? any LiveSource)?.capture.encoder
        return encoder.map(VideoEncoder.followsRate) ?? true ? .live : .reopened
    }
}
