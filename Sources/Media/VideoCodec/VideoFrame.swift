package import CAVCodec

/// One uncompressed frame: the one owner of an AVFrame, which is freed when the owner ends.
public struct VideoFrame: ~Copyable {
    package let avFrame: UnsafeMutablePointer<AVFrame>

    /// The longest side that is accepted, in pixels.
    package static let maxSide = 16_384

    /// A frame with memory of its own, its content undefined.
    public init(width: Int, height: Int, pixelFormat: PixelFormat) throws(VideoCodecError) {
        avFrame = try Self.allocate(width: width, height: height, pixelFormat: pixelFormat)
    }

    /// - Parameter pixels: red, green, blue of each pixel, row by row without gaps: `width * height * 3` bytes.
    public init(width: Int, height: Int, pixels: [UInt8]) throws(VideoCodecError) {
        avFrame = try Self.allocate(width: width, height: height, pixelFormat: .rgb24, pixelBytes: pixels.count)
        let line = width * 3
        guard let memory = memory(ofPlane: 0) else { return }
        for row in 0..<height {
            UnsafeMutableRawBufferPointer(rebasing: memory.bytes[(row * memory.stride)...])
                .copyBytes(from: pixels[(row * line)..<((row + 1) * line)])
        }
    }

    /// An empty AVFrame, for a decoder or a scaler to fill.
    package init() throws(VideoCodecError) {
        avFrame = try Self.allocate()
    }

    private static func allocate() throws(VideoCodecError) -> UnsafeMutablePointer<AVFrame> {
        try Libav.load(WB_LIBRARY_AVUTIL)
        guard let avFrame = wb_av_frame_alloc() else {
            throw .failed(call: "av_frame_alloc", code: wb_averror(ENOMEM), message: "out of memory")
        }
        return avFrame
    }

    private static func allocate(
        width: Int, height: Int, pixelFormat: PixelFormat, pixelBytes: Int? = nil
    ) throws(VideoCodecError) -> UnsafeMutablePointer<AVFrame> {
        guard (1...maxSide).contains(width) else { throw .invalid(.width, value: width) }
        guard (1...maxSide).contains(height) else { throw .invalid(.height, value: height) }
        if let pixelBytes, pixelBytes != width * height * 3 { throw .invalid(.pixelCount, value: pixelBytes) }
        let avFrame = try allocate()
        avFrame.pointee.width = Int32(width)
        avFrame.pointee.height = Int32(height)
        avFrame.pointee.format = pixelFormat.rawValue
        let code = wb_av_frame_get_buffer(avFrame, 0)
        if code < 0 {
            var unused: UnsafeMutablePointer<AVFrame>? = avFrame
            wb_av_frame_free(&unused)
        }
        try Libav.check(code, "av_frame_get_buffer")
        return avFrame
    }

    deinit {
        var avFrame: UnsafeMutablePointer<AVFrame>? = avFrame
        wb_av_frame_free(&avFrame)
    }

    public var width: Int { Int(avFrame.pointee.width) }
    public var height: Int { Int(avFrame.pointee.height) }
    public var pixelFormat: PixelFormat { PixelFormat(rawValue: avFrame.pointee.format) }

    /// Whether brightness runs from 0 to 255 and colours likewise (JPEG), or from 16 to 235 (television).
    public internal(set) var isFullRange: Bool {
        get { pixelFormat.isAlwaysFullRange || avFrame.pointee.color_range == AVCOL_RANGE_JPEG }
        nonmutating set { avFrame.pointee.color_range = newValue ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG }
    }

    /// How red, green and blue became Y, U and V.
    public internal(set) var matrix: ColorMatrix {
        get { ColorMatrix(avFrame.pointee.colorspace) }
        nonmutating set { avFrame.pointee.colorspace = newValue.colorSpace }
    }

    /// "1280x720 yuv420p".
    public var description: String {
        let name = wb_av_get_pix_fmt_name(AVPixelFormat(rawValue: avFrame.pointee.format)).map { String(cString: $0) }
        return "\(width)x\(height) \(name ?? "unknown")"
    }

    /// Lends the bytes of one plane, rows `stride` bytes apart, the last one without what follows its samples; nil if
    /// there is no such plane, if it lies upside down in memory, or if the pixel format is not one of those that
    /// `PixelFormat` names.
    public borrowing func withPlane<R>(_ plane: Int, _ body: (_ bytes: RawSpan, _ stride: Int) -> R) -> R? {
        guard let memory = memory(ofPlane: plane) else { return nil }
        return body(UnsafeRawBufferPointer(memory.bytes).bytes, memory.stride)
    }

    /// Lends the bytes of one plane for drawing; the memory is this frame's alone (`makeWritable`).
    mutating func withMutablePlane(_ plane: Int, _ body: (UnsafeMutableRawBufferPointer, _ stride: Int) -> Void) {
        guard let memory = memory(ofPlane: plane) else { return }
        body(memory.bytes, memory.stride)
    }

    /// Copies the memory if someone else, such as an encoder, still holds it too.
    mutating func makeWritable() throws(VideoCodecError) {
        try Libav.check(wb_av_frame_make_writable(avFrame), "av_frame_make_writable")
    }

    /// Whether no one else, such as an encoder, holds the memory too.
    var isWritable: Bool { wb_av_frame_is_writable(avFrame) > 0 }

    func memory(ofPlane plane: Int) -> (bytes: UnsafeMutableRawBufferPointer, stride: Int)? {
        guard let planes = pixelFormat.planes, planes.indices.contains(plane) else { return nil }
        let pointers = avFrame.pointee.data
        let strides = avFrame.pointee.linesize
        let pointer = plane == 0 ? pointers.0 : plane == 1 ? pointers.1 : pointers.2
        let stride = Int(plane == 0 ? strides.0 : plane == 1 ? strides.1 : strides.2)
        // Memory of others may end with the last sample.
        let last = planes[plane].bytesPerRow(width: width)
        guard let pointer, stride >= last else { return nil }
        let count = stride * (planes[plane].rows(height: height) - 1) + last
        return (UnsafeMutableRawBufferPointer(start: pointer, count: count), stride)
    }
}

// An AVFrame is used by one thread at a time because it has one owner; libav's reference counts are atomic.
extension VideoFrame: @unchecked Sendable {}
