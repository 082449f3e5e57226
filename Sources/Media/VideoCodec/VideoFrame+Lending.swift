internal import CAVCodec

extension VideoFrame {
    /// A frame in memory of someone else, without a copy. It may be drawn on.
    ///
    /// - Parameter planes: as many as the format has, in its order; `stride` is the distance of rows in bytes. The
    ///   memory of a plane reaches at least from its base to the last sample of its last row.
    /// - Parameter release: runs once, when no one uses the memory any more, which may be long after this frame's
    ///   end, because encoders keep references; on whatever thread lets go last. It also runs when this throws.
    public init(
        lending planes: [(base: UnsafeMutablePointer<UInt8>, stride: Int)], width: Int, height: Int,
        pixelFormat: PixelFormat, isFullRange: Bool, matrix: ColorMatrix, release: @escaping @Sendable () -> Void
    ) throws(VideoCodecError) {
        // Every plane's buffer holds it, and the last one to go runs `release`.
        let lease = MemoryLease(release)
        let layout = try Self.layout(planes.map(\.stride), width: width, height: height, pixelFormat)
        let frame = try Self.empty(width: width, height: height, pixelFormat)
        frame.isFullRange = isFullRange
        frame.matrix = matrix
        for (index, plane) in layout.enumerated() {
            let memory = planes[index]
            let count = memory.stride * (plane.rows(height: height) - 1) + plane.bytesPerRow(width: width)
            frame.setPlane(index, base: memory.base, stride: memory.stride)
            frame.setBuffer(index, try lease.buffer(memory.base, count: count))
        }
        self = frame
    }

    /// A frame in one piece of memory of someone else, its planes as `planes(pixelFormat:width:height:bytesPerLine:
    /// byteCount:)` finds them. Better than plane by plane where it is possible: an encoder then sees how far it may
    /// read.
    ///
    /// - Parameter bytes: all that belongs to the frame, with what follows its last sample.
    /// - Parameter release: as for planes.
    public init(
        lending bytes: UnsafeMutableRawBufferPointer, bytesPerLine: Int, width: Int, height: Int,
        pixelFormat: PixelFormat, isFullRange: Bool, matrix: ColorMatrix, release: @escaping @Sendable () -> Void
    ) throws(VideoCodecError) {
        let lease = MemoryLease(release)
        let places = Self.planes(
            pixelFormat: pixelFormat, width: width, height: height, bytesPerLine: bytesPerLine, byteCount: bytes.count)
        guard let places, let start = bytes.baseAddress else { throw .invalid(.lineSize, value: bytesPerLine) }
        let base = start.assumingMemoryBound(to: UInt8.self)
        _ = try Self.layout(places.map(\.stride), width: width, height: height, pixelFormat)
        let frame = try Self.empty(width: width, height: height, pixelFormat)
        frame.isFullRange = isFullRange
        frame.matrix = matrix
        for (index, place) in places.enumerated() {
            let start = base + place.offset
            frame.setPlane(index, base: start, stride: place.stride)
            frame.setBuffer(index, try lease.buffer(start, count: bytes.count - place.offset))
        }
        self = frame
    }

    private static func layout(
        _ strides: [Int], width: Int, height: Int, _ pixelFormat: PixelFormat
    ) throws(VideoCodecError) -> [PixelPlane] {
        guard (1...maxSide).contains(width) else { throw .invalid(.width, value: width) }
        guard (1...maxSide).contains(height) else { throw .invalid(.height, value: height) }
        guard let layout = pixelFormat.planes else {
            throw .unsupportedFrame(
                what: "lending memory", frame: "\(width)x\(height), format \(pixelFormat.rawValue)")
        }
        guard strides.count == layout.count else { throw .invalid(.planes, value: strides.count) }
        for (plane, stride) in zip(layout, strides) {
            guard stride >= plane.bytesPerRow(width: width), stride <= maxLineLength else {
                throw .invalid(.lineSize, value: stride)
            }
        }
        return layout
    }

    /// Without memory.
    static func empty(
        width: Int, height: Int, _ pixelFormat: PixelFormat
    ) throws(VideoCodecError) -> VideoFrame {
        let frame = try VideoFrame()
        frame.avFrame.pointee.width = Int32(clamping: width)
        frame.avFrame.pointee.height = Int32(clamping: height)
        frame.avFrame.pointee.format = pixelFormat.rawValue
        return frame
    }

    /// Where the planes lie in one piece of memory, as V4L2 lays them out: one after the other without gaps, the line
    /// sizes of the later ones the exact part of the first.
    ///
    /// - Returns: offset and distance of rows of each plane; nil when they do not fit into `byteCount` bytes, or a row
    ///   does not fit into its line.
    public static func planes(
        pixelFormat: PixelFormat, width: Int, height: Int, bytesPerLine: Int, byteCount: Int
    ) -> [(offset: Int, stride: Int)]? {
        guard
            let layout = pixelFormat.planes, (1...maxSide).contains(width), (1...maxSide).contains(height),
            (1...maxLineLength).contains(bytesPerLine)
        else { return nil }
        var places: [(offset: Int, stride: Int)] = []
        var offset = 0
        var end = 0
        for plane in layout {
            let stride = layout.count > 1 ? plane.stride(forFirst: bytesPerLine) : bytesPerLine
            guard stride >= plane.bytesPerRow(width: width) else { return nil }
            places.append((offset, stride))
            let rows = plane.rows(height: height)
            end = offset + stride * (rows - 1) + plane.bytesPerRow(width: width)
            offset += stride * rows
        }
        return end <= byteCount ? places : nil
    }

    /// A frame with memory of its own, its content undefined.
    ///
    /// - Parameter lineAlignment: a power of two up to 4096, of which the first plane's line size is a multiple. Chroma
    ///   lines are the exact part of it: encoders of V4L2 are given frames by libavcodec without a look at line sizes.
    public init(
        width: Int, height: Int, pixelFormat: PixelFormat, lineAlignment: Int
    ) throws(VideoCodecError) {
        let pool = try FramePool(
            width: width, height: height, pixelFormat: pixelFormat, lineAlignment: lineAlignment)
        self = try pool.frame()
    }

    /// The same memory once more: no pixel is copied. Whoever draws afterwards draws on a copy, in both frames.
    public borrowing func shared() throws(VideoCodecError) -> VideoFrame {
        let other = try VideoFrame()
        try Libav.check(wb_av_frame_ref(other.avFrame, avFrame), "av_frame_ref")
        return other
    }

    /// Whether a line of the first plane is as long as `lineAlignment` makes it and no longer, and chroma's the exact
    /// part of it; always for 1.
    public func isAligned(to lineAlignment: Int) -> Bool {
        guard lineAlignment > 1 else { return true }
        guard let strides = pixelFormat.strides(width: width, lineAlignment: lineAlignment) else { return false }
        for (index, stride) in strides.enumerated() {
            guard memory(ofPlane: index)?.stride == stride else { return false }
        }
        return true
    }

    /// A line size above is not a frame's, and would not fit into libav's.
    static let maxLineLength = 1 << 24

    func setPlane(_ index: Int, base: UnsafeMutablePointer<UInt8>, stride: Int) {
        let line = Int32(clamping: stride)
        switch index {
        case 0:
            avFrame.pointee.data.0 = base
            avFrame.pointee.linesize.0 = line
        case 1:
            avFrame.pointee.data.1 = base
            avFrame.pointee.linesize.1 = line
        default:
            avFrame.pointee.data.2 = base
            avFrame.pointee.linesize.2 = line
        }
    }

    /// Each plane has one, which begins where the plane does: libavcodec's V4L2 encoders, where a driver needs separate
    /// planes (YM12, NM12), copy from there, without a look at the plane or whether there is a buffer at all.
    func setBuffer(_ index: Int, _ buffer: UnsafeMutablePointer<AVBufferRef>) {
        switch index {
        case 0: avFrame.pointee.buf.0 = buffer
        case 1: avFrame.pointee.buf.1 = buffer
        default: avFrame.pointee.buf.2 = buffer
        }
    }
}

/// Runs a closure when its last holder lets go.
final class MemoryLease: Sendable {
    private let release: @Sendable () -> Void

    init(_ release: @escaping @Sendable () -> Void) {
        self.release = release
    }

    deinit {
        release()
    }

    /// A buffer that holds the lease.
    func buffer(
        _ base: UnsafeMutablePointer<UInt8>, count: Int
    ) throws(VideoCodecError) -> UnsafeMutablePointer<AVBufferRef> {
        let opaque = Unmanaged.passRetained(self).toOpaque()
        guard let buffer = wb_av_buffer_create(base, count, Self.end, opaque, 0) else {
            Unmanaged<MemoryLease>.fromOpaque(opaque).release()
            throw .failed(call: "av_buffer_create", code: wb_averror(ENOMEM), message: "out of memory")
        }
        return buffer
    }

    /// As libav calls it.
    private static let end: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt8>?) -> Void = {
        opaque, _ in
        if let opaque { Unmanaged<MemoryLease>.fromOpaque(opaque).release() }
    }
}
