/// How a frame is turned, then mirrored.
public struct FrameOrientation: Equatable, Sendable {
    /// Clockwise; the raw value is in degrees.
    public enum Rotation: Int, Equatable, Sendable, CaseIterable {
        case none = 0
        case quarter = 90
        case half = 180
        case threeQuarters = 270
    }

    public var rotation: Rotation
    /// Left and right change places, after rotation.
    public var isFlippedHorizontally: Bool
    /// Top and bottom change places, after rotation.
    public var isFlippedVertically: Bool

    public init(
        rotation: Rotation = .none, isFlippedHorizontally: Bool = false, isFlippedVertically: Bool = false
    ) {
        self.rotation = rotation
        self.isFlippedHorizontally = isFlippedHorizontally
        self.isFlippedVertically = isFlippedVertically
    }

    /// Every pixel stays where it is.
    public var isIdentity: Bool {
        switch rotation {
        case .none: !isFlippedHorizontally && !isFlippedVertically
        case .half: isFlippedHorizontally && isFlippedVertically
        case .quarter, .threeQuarters: false
        }
    }

    /// Width becomes height.
    public var swapsSides: Bool {
        rotation == .quarter || rotation == .threeQuarters
    }

    /// A turned frame, of `yuv420p` or `nv12`, whose first line size is a multiple of `lineAlignment`. Where every
    /// pixel stays, it is the same memory once more, whatever its line size.
    ///
    /// - Throws: `.unsupportedFrame` for other pixel formats.
    public func apply(
        _ frame: borrowing VideoFrame, lineAlignment: Int = 32
    ) throws(VideoCodecError) -> VideoFrame {
        if isIdentity { return try frame.shared() }
        let turned = try VideoFrame(
            width: swapsSides ? frame.height : frame.width, height: swapsSides ? frame.width : frame.height,
            pixelFormat: frame.pixelFormat, lineAlignment: lineAlignment)
        try turn(frame, into: turned)
        return turned
    }

    /// - Parameter target: of the turned size and the same pixel format.
    func turn(_ frame: borrowing VideoFrame, into target: borrowing VideoFrame) throws(VideoCodecError) {
        guard frame.pixelFormat == .yuv420p || frame.pixelFormat == .nv12, let planes = frame.pixelFormat.planes
        else { throw .unsupportedFrame(what: "turning", frame: frame.description) }
        let size = swapsSides ? (frame.height, frame.width) : (frame.width, frame.height)
        guard target.pixelFormat == frame.pixelFormat, (target.width, target.height) == size else {
            throw .frameMismatch(expected: "\(size.0)x\(size.1)", actual: target.description)
        }
        target.isFullRange = frame.isFullRange
        target.matrix = frame.matrix
        for (index, plane) in planes.enumerated() {
            guard let source = frame.memory(ofPlane: index), let destination = target.memory(ofPlane: index),
                let from = source.bytes.baseAddress, let to = destination.bytes.baseAddress
            else { throw .unsupportedFrame(what: "turning", frame: frame.description) }
            let turn = PlaneTurn(
                columns: plane.bytesPerRow(width: target.width) / plane.samples.count,
                rows: plane.rows(height: target.height), from: from, fromStride: source.stride, to: to,
                toStride: destination.stride, isColumnReversed: isColumnReversed, isRowReversed: isRowReversed)
            switch (swapsSides, plane.samples.count) {
            case (false, 1): turn.moveRows()
            case (false, _): turn.moveRowsOfPairs()
            case (true, 1): turn.transpose()
            case (true, _): turn.transposePairs()
            }
        }
    }

    /// Whether a column of the result, going right, goes the other way in the source: left, or, where sides swap, up.
    private var isColumnReversed: Bool {
        (rotation == .half || rotation == .quarter) != isFlippedHorizontally
    }

    /// Whether a row of the result, going down, goes the other way in the source: up, or, where sides swap, left.
    private var isRowReversed: Bool {
        (rotation == .half || rotation == .threeQuarters) != isFlippedVertically
    }
}
