/// From JPEG's range (0 to 255) to television's (16 to 235, chroma to 240), and from 4:2:2 to 4:2:0 on the way, row by
/// row in one pass.
///
/// libswscale does this by way of its scaler, whose rows of 15 bits cost several times as much: at 1080p, a third of a
/// small processor.
enum FullRangeConversion {
    /// The pixel format that a full-range frame of `source` becomes; nil where libswscale must do it.
    static func target(of source: PixelFormat) -> PixelFormat? {
        switch source {
        case .yuv420p, .yuvj420p, .yuv422p, .yuvj422p: .yuv420p
        case .nv12: .nv12
        default: nil
        }
    }

    /// - Parameter target: of the same size, and of the format that `target(of:)` gives.
    static func convert(
        _ frame: borrowing VideoFrame, into target: borrowing VideoFrame
    ) throws(VideoCodecError) {
        guard
            target.pixelFormat == self.target(of: frame.pixelFormat), target.width == frame.width,
            target.height == frame.height, let from = frame.pixelFormat.planes, let to = target.pixelFormat.planes
        else { throw .frameMismatch(expected: frame.description, actual: target.description) }
        for (index, plane) in to.enumerated() {
            guard
                let source = frame.memory(ofPlane: index), let destination = target.memory(ofPlane: index),
                let fromBase = source.bytes.baseAddress, let toBase = destination.bytes.baseAddress
            else { throw .unsupportedFrame(what: "converting the range", frame: frame.description) }
            let count = plane.bytesPerRow(width: target.width)
            let sourceRows = from[index].rows(height: frame.height)
            let isHalved = sourceRows > plane.rows(height: target.height)
            for row in 0..<plane.rows(height: target.height) {
                let output = (toBase + row * destination.stride).assumingMemoryBound(to: UInt8.self)
                let first = fromBase + (isHalved ? 2 * row : row) * source.stride
                let input = UnsafePointer(first.assumingMemoryBound(to: UInt8.self))
                if index == 0 {
                    luma(input, output, count)
                } else if isHalved, 2 * row + 1 < sourceRows {
                    chroma(input, input + source.stride, output, count)
                } else {
                    chroma(input, output, count)
                }
            }
        }
    }

    // Sixteen bits hold every intermediate value, so that eight or sixteen samples are computed at once.
    // (t + (t >> 8)) >> 8 with t = n + 128 is n / 255, rounded, for every n below 65 408.

    /// 16 + y · 219 / 255.
    static func luma(_ input: UnsafePointer<UInt8>, _ output: UnsafeMutablePointer<UInt8>, _ count: Int) {
        for index in 0..<count {
            let t = UInt16(truncatingIfNeeded: input[index]) &* 219 &+ 128
            output[index] = UInt8(truncatingIfNeeded: (t &+ t &>> 8) &>> 8 &+ 16)
        }
    }

    /// 128 + (c − 128) · 224 / 255.
    static func chroma(_ input: UnsafePointer<UInt8>, _ output: UnsafeMutablePointer<UInt8>, _ count: Int) {
        for index in 0..<count {
            let t = UInt16(truncatingIfNeeded: input[index]) &* 224 &+ 4096
            output[index] = UInt8(truncatingIfNeeded: (t &+ t &>> 8) &>> 8)
        }
    }

    /// Of the mean of two rows.
    static func chroma(
        _ first: UnsafePointer<UInt8>, _ second: UnsafePointer<UInt8>, _ output: UnsafeMutablePointer<UInt8>,
        _ count: Int
    ) {
        for index in 0..<count {
            // 112 times the sum is 224 times the mean: nothing is rounded in between.
            let sum = UInt16(truncatingIfNeeded: first[index]) &+ UInt16(truncatingIfNeeded: second[index])
            let t = sum &* 112 &+ 4096
            output[index] = UInt8(truncatingIfNeeded: (t &+ t &>> 8) &>> 8)
        }
    }
}
