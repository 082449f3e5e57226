internal import Dispatch
internal import ErrorCatalog
internal import VideoCodec

/// A JPEG of an encoded key frame.
enum Snapshot {
    /// Off the cooperative pool: decoding and encoding take as long as they take.
    private static let queue = DispatchQueue(label: "watchbox.snapshot", qos: .utility)

    static func jpeg(
        of keyFrame: KeyFrameTap.KeyFrame, camera: String, maxWidth: Int?
    ) async throws(CodedError) -> [UInt8] {
        let result: Result<[UInt8], VideoCodecError> = await withCheckedContinuation { continuation in
            queue.async {
                continuation.resume(
                    returning: Result { () throws(VideoCodecError) in
                        try FrameDecoderChild().jpeg(of: keyFrame.unit, format: keyFrame.format, maxWidth: maxWidth)
                    })
            }
        }
        do {
            return try result.get()
        } catch {
            throw CodedError(
                .badFrames, "No frame of \(camera)", why: "its key frame cannot be decoded: \(error)",
                object: camera)
        }
    }
}
