internal import VideoCapture
package import VideoCodec

/// What a source asks of this machine for its encoder. Tests put another machine in its place: one with a clock that
/// they turn, and with hardware that fails when they say so.
package struct EncoderMachine: Sendable {
    /// Seconds since boot.
    package var now: @Sendable () -> Double = { EncoderCache.now }
    /// Encodes with a hardware encoder, in another process.
    package var probe:
        @Sendable (_ encoder: String, _ width: Int, _ height: Int, _ rate: Double) -> EncoderProbeResult = {
            EncoderProbeChild().run(encoder: $0, width: $1, height: $2, rate: $3)
        }
    /// Frames per second of a software encoder.
    package var measure: @Sendable (EncoderTrial) throws(VideoCodecError) -> Double = {
        trial throws(VideoCodecError) in try trial.run()
    }
    package var open:
        @Sendable (VideoEncoderConfiguration, EncoderHeartbeat) throws(VideoCodecError) -> any FrameEncoder = {
            configuration, heartbeat throws(VideoCodecError) in
            try VideoEncoder(configuration, heartbeat: heartbeat)
        }

    package init() {}
}
