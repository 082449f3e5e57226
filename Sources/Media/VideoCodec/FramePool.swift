internal import CAVCodec

/// Gives frames of one kind, again in the memory of those that have ended: a live stream then costs no page faults.
/// Frames may outlive it, and end on any thread.
final class FramePool {
    let width: Int
    let height: Int
    let pixelFormat: PixelFormat
    private let strides: [Int]
    private let offsets: [Int]
    private var pool: OpaquePointer?

    /// Vector code reads and writes beyond the last sample.
    private static let padding = 64
    /// Encoders read whole macroblocks, also below the last row.
    private static let paddingRows = 16

    init(width: Int, height: Int, pixelFormat: PixelFormat, lineAlignment: Int) throws(VideoCodecError) {
        guard (1...VideoFrame.maxSide).contains(width) else { throw .invalid(.width, value: width) }
        guard (1...VideoFrame.maxSide).contains(height) else { throw .invalid(.height, value: height) }
        guard (1...4096).contains(lineAlignment), lineAlignment & (lineAlignment - 1) == 0 else {
            throw .invalid(.lineAlignment, value: lineAlignment)
        }
        guard
            let planes = pixelFormat.planes,
            let strides = pixelFormat.strides(width: width, lineAlignment: lineAlignment)
        else {
            throw .unsupportedFrame(
                what: "aligning lines", frame: "\(width)x\(height), format \(pixelFormat.rawValue)")
        }
        self.width = width
        self.height = height
        self.pixelFormat = pixelFormat
        self.strides = strides
        var offsets: [Int] = []
        var size = 0
        for (plane, stride) in zip(planes, strides) {
            offsets.append(size)
            size += stride * plane.rows(height: height)
        }
        self.offsets = offsets
        try Libav.load(WB_LIBRARY_AVUTIL)
        pool = wb_av_buffer_pool_init(size + Self.paddingRows * strides[0] + Self.padding, nil)
        guard pool != nil else { throw Self.outOfMemory }
    }

    deinit {
        wb_av_buffer_pool_uninit(&pool)
    }

    /// Its content is undefined.
    func frame() throws(VideoCodecError) -> VideoFrame {
        let frame = try VideoFrame.empty(width: width, height: height, pixelFormat)
        guard let buffer = wb_av_buffer_pool_get(pool), let base = buffer.pointee.data else { throw Self.outOfMemory }
        let size = Int(buffer.pointee.size)
        let holder = PoolBuffer(buffer)
        let lease = MemoryLease { holder.end() }
        for index in strides.indices {
            frame.setPlane(index, base: base + offsets[index], stride: strides[index])
            // To the end of the memory: encoders see by it how far they may read.
            frame.setBuffer(
                index, try lease.buffer(base + offsets[index], count: size - offsets[index]))
        }
        return frame
    }

    private static var outOfMemory: VideoCodecError {
        .failed(call: "av_buffer_pool_get", code: wb_averror(ENOMEM), message: "out of memory")
    }
}

/// A reference to memory of a pool, which is let go once, by whoever was the last to use the frame.
private struct PoolBuffer: @unchecked Sendable {
    // libav's reference counts are atomic.
    private let buffer: UnsafeMutablePointer<AVBufferRef>

    init(_ buffer: UnsafeMutablePointer<AVBufferRef>) {
        self.buffer = buffer
    }

    func end() {
        var buffer: UnsafeMutablePointer<AVBufferRef>? = buffer
        wb_av_buffer_unref(&buffer)
    }
}
