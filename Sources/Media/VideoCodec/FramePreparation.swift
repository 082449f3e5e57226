internal import CAVCodec

/// Makes of a captured frame the one that is encoded: converted, scaled, turned, masked, written on, in that order,
/// and each only where it is needed. A frame of which any step fails is not given out. Used by one thread at a time.
public final class FramePreparation {
    public struct Configuration: Equatable, Sendable {
        public var orientation: FrameOrientation
        /// Of the published image.
        public var masks: [PrivacyMask]
        public var overlay: TextOverlay
        /// Of the published image, after rotation; even.
        public var width: Int
        public var height: Int
        /// What the encoder takes, the preferred one first: `yuv420p`, `nv12`.
        public var pixelFormats: [PixelFormat]
        /// What the encoder requires of line sizes (`VideoEncoder.lineAlignment`); 1: anything.
        public var lineAlignment: Int
        /// Of the prepared frame, for an encoder that cannot say in the stream which it is; nil: the captured
        /// frame's.
        public var matrix: ColorMatrix?

        public init(
            width: Int, height: Int, orientation: FrameOrientation = FrameOrientation(),
            masks: [PrivacyMask] = [], overlay: TextOverlay = TextOverlay(), pixelFormats: [PixelFormat] = [.yuv420p],
            lineAlignment: Int = 1, matrix: ColorMatrix? = nil
        ) {
            self.orientation = orientation
            self.masks = masks
            self.overlay = overlay
            self.width = width
            self.height = height
            self.pixelFormats = pixelFormats
            self.lineAlignment = lineAlignment
            self.matrix = matrix
        }
    }

    public let configuration: Configuration

    /// Passes that touched every pixel of the last frame, copies and conversions; 0 for lent YU12 or NV12 of the
    /// right size, matrix and line sizes that is not turned.
    public private(set) var copies = 0

    private let scaler: FrameScaler
    /// At which vector code is at its best, of lines that are made here.
    private static let vectorAlignment = 32
    /// Of the sizes before and after turning, by pixel format.
    private var conversionPools: [PixelFormat: FramePool] = [:]
    private var pools: [PixelFormat: FramePool] = [:]
    private var stamp: TextStamp?

    /// - Throws: for masks, sizes, formats and alignments with which no frame could be prepared.
    public init(_ configuration: Configuration) throws(VideoCodecError) {
        guard configuration.width.isMultiple(of: 2) else { throw .invalid(.width, value: configuration.width) }
        guard configuration.height.isMultiple(of: 2) else { throw .invalid(.height, value: configuration.height) }
        for mask in configuration.masks { try mask.validate() }
        guard !configuration.pixelFormats.isEmpty else {
            throw .unsupportedFrame(what: "preparing", frame: "no pixel format")
        }
        for format in configuration.pixelFormats where format != .yuv420p && format != .nv12 {
            throw .unsupportedFrame(what: "preparing", frame: "format \(format.rawValue)")
        }
        let turned = configuration.orientation.swapsSides
        let alignment = max(configuration.lineAlignment, Self.vectorAlignment)
        for format in configuration.pixelFormats {
            let pool = try FramePool(
                width: configuration.width, height: configuration.height, pixelFormat: format,
                lineAlignment: alignment)
            pools[format] = pool
            conversionPools[format] =
                turned
                ? try FramePool(
                    width: configuration.height, height: configuration.width, pixelFormat: format,
                    lineAlignment: alignment) : pool
        }
        scaler = try FrameScaler(method: .fast)
        self.configuration = configuration
    }

    /// - Parameter frame: of any size and pixel format that libswscale reads. Masks and text are drawn in its own
    ///   memory where nothing else makes a copy necessary.
    /// - Parameter wallClock: of the capture, nanoseconds since 1970, UTC.
    /// - Returns: of the published size and one of `pixelFormats`, limited range, with its matrix resolved
    ///   (`VideoFrame.matrix`), which the encoder should declare.
    public func prepare(
        _ frame: consuming VideoFrame, wallClock: Int64
    ) throws(VideoCodecError) -> VideoFrame {
        copies = 0
        var current = try converted(frame)
        if !configuration.orientation.isIdentity {
            current = try turned(current, by: configuration.orientation)
        } else if !current.isAligned(to: configuration.lineAlignment) || (isDrawn && !current.isWritable) {
            current = try turned(current, by: FrameOrientation())
        }
        try current.draw(configuration.masks)
        try write(on: &current, wallClock)
        return current
    }

    private var isDrawn: Bool { !configuration.masks.isEmpty || !configuration.overlay.isEmpty }

    private func converted(_ frame: consuming VideoFrame) throws(VideoCodecError) -> VideoFrame {
        let isTurned = configuration.orientation.swapsSides
        let width = isTurned ? configuration.height : configuration.width
        let height = isTurned ? configuration.width : configuration.height
        let isScaled = frame.width != width || frame.height != height
        let requested = configuration.matrix?.resolved(height: configuration.height)
        // Red, green and blue have no matrix, and grey is grey in each.
        let hasMatrix = !frame.pixelFormat.isRGB && frame.pixelFormat != .gray8
        let assumed = ColorMatrix.unspecified.resolved(height: height)
        let captured = hasMatrix ? frame.matrix.resolved(height: frame.height) : assumed
        let matrix = requested ?? captured
        let isRecolored = hasMatrix && matrix != captured
        let isAccepted = configuration.pixelFormats.contains(frame.pixelFormat)
        if !isScaled, !isRecolored, isAccepted, !frame.isFullRange {
            frame.matrix = matrix
            frame.isFullRange = false
            return frame
        }
        copies += 1
        if !isScaled, !isRecolored, frame.isFullRange,
            let format = FullRangeConversion.target(of: frame.pixelFormat), let pool = conversionPools[format]
        {
            let limited = try pool.frame()
            limited.matrix = matrix
            limited.isFullRange = false
            try FullRangeConversion.convert(frame, into: limited)
            return limited
        }
        guard let pool = conversionPools[configuration.pixelFormats[0]] else {
            throw .unsupportedFrame(what: "preparing", frame: frame.description)
        }
        // Where it is unspecified, it is set now: two sizes would otherwise be taken for two matrices.
        if !frame.pixelFormat.isRGB { frame.matrix = hasMatrix ? captured : matrix }
        let scaled = try pool.frame()
        scaled.matrix = matrix
        scaled.isFullRange = false
        try scaler.scale(frame, into: scaled)
        return scaled
    }

    private func turned(
        _ frame: borrowing VideoFrame, by orientation: FrameOrientation
    ) throws(VideoCodecError) -> VideoFrame {
        guard let pool = pools[frame.pixelFormat] else {
            throw .unsupportedFrame(what: "turning", frame: frame.description)
        }
        let turned = try pool.frame()
        try orientation.turn(frame, into: turned)
        copies += 1
        return turned
    }

    private func write(on frame: inout VideoFrame, _ wallClock: Int64) throws(VideoCodecError) {
        guard !configuration.overlay.isEmpty else { return }
        let text = configuration.overlay.text(atUnixSeconds: TextStamp.seconds(wallClock))
        if let stamp, stamp.isFor(text, frame) {
            try frame.draw(stamp)
            return
        }
        let fresh = TextStamp(
            text, frameWidth: frame.width, frameHeight: frame.height, isFullRange: frame.isFullRange)
        stamp = fresh
        try frame.draw(fresh)
    }
}
