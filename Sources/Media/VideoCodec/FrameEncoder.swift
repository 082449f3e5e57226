package import Media

/// Encodes frames: what a camera's path asks of its encoder, which is `VideoEncoder` or, in tests, one that fails.
package protocol FrameEncoder: AnyObject {
    var lineAlignment: Int { get }
    var acceptedPixelFormats: [PixelFormat] { get }
    var counters: EncoderCounters { get }
    var encodeNanoseconds: EncoderTime { get }

    func encode(
        _ frame: borrowing VideoFrame, at presentationTime: MediaTime, captureInstant: UInt64?
    ) throws(VideoCodecError) -> [MediaEvent]
    func reconfigure(_ configuration: VideoEncoderConfiguration) throws(VideoCodecError)
    func requestKeyFrame()
    func finish() throws(VideoCodecError) -> [MediaEvent]
}

extension VideoEncoder: FrameEncoder {}
