internal import Dispatch
internal import ErrorCatalog
internal import Media
internal import VideoCodec

/// A JPEG of a coded key frame.
enum Snapshot {
    /// Off the cooperative pool: decoding and coding take as long as they take.
    private static let queue = DispatchQueue(label: "watchbox.snapshot", qos: .utility)

    static func jpeg(of keyFrame: KeyFrameTap.KeyFrame, camera: String) async throws(CodedError) -> [UInt8] {
        let result: Result<[UInt8], CodedError> = await withCheckedContinuation { continuation in
            queue.async {
                continuation.resume(returning: Result { () throws(CodedError) in try make(of: keyFrame, camera) })
            }
        }
        return try result.get()
    }

    private static func make(of keyFrame: KeyFrameTap.KeyFrame, _ camera: String) throws(CodedError) -> [UInt8] {
        do throws(VideoCodecError) {
            let decoder = try VideoDecoder(keyFrame.format)
            let coder = JPEGEncoder()
            var jpeg: [UInt8]?
            let take = { (picture: borrowing RawPicture, _: MediaTime) throws(VideoCodecError) in
                if jpeg == nil { jpeg = try coder.encode(picture) }
            }
            try decoder.decode(keyFrame.unit, take)
            try decoder.finish(take)
            if let jpeg { return jpeg }
            if let error = decoder.lastError { throw error }
        } catch {
            throw CodedError(
                .badPictures, "No picture of \(camera)", why: "its key frame cannot be decoded: \(error)",
                object: camera)
        }
        throw CodedError(
            .badPictures, "No picture of \(camera)", why: "its key frame holds none", object: camera)
    }
}
