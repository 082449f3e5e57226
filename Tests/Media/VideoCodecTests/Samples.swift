import TestSupport

@testable import VideoCodec

/// The samples of frames, row by row without gaps: for frames in, and for comparing.
enum Samples {
    /// Every plane of a frame of noise; bytes from `range` only.
    static func noise(
        _ width: Int, _ height: Int, _ format: PixelFormat, seed: UInt64 = 1, range: ClosedRange<UInt8> = 0...255
    ) throws -> VideoFrame {
        var generator = SeededGenerator(seed: seed)
        var frame = try VideoFrame(width: width, height: height, pixelFormat: format)
        fill(&frame) { _, _, _ in UInt8.random(in: range, using: &generator) }
        return frame
    }

    /// Every byte that holds samples, from its plane, row and place in the row.
    static func fill(_ frame: inout VideoFrame, _ value: (_ plane: Int, _ row: Int, _ byte: Int) -> UInt8) {
        let width = frame.width
        let height = frame.height
        for (index, plane) in (frame.pixelFormat.planes ?? []).enumerated() {
            frame.withMutablePlane(index) { bytes, stride in
                for row in 0..<plane.rows(height: height) {
                    for byte in 0..<plane.bytesPerRow(width: width) {
                        bytes[row * stride + byte] = value(index, row, byte)
                    }
                }
            }
        }
    }

    /// The rows of a plane.
    static func rows(_ frame: borrowing VideoFrame, _ plane: Int) -> [[UInt8]] {
        guard let layout = frame.pixelFormat.planes, plane < layout.count else { return [] }
        let count = layout[plane].bytesPerRow(width: frame.width)
        let height = layout[plane].rows(height: frame.height)
        return frame.withPlane(plane) { bytes, stride in
            (0..<height).map { row in
                (0..<count).map { bytes.unsafeLoad(fromByteOffset: row * stride + $0, as: UInt8.self) }
            }
        } ?? []
    }

    static func planes(_ frame: borrowing VideoFrame) -> [[[UInt8]]] {
        var planes: [[[UInt8]]] = []
        for index in 0..<(frame.pixelFormat.planes?.count ?? 0) { planes.append(rows(frame, index)) }
        return planes
    }

    /// Peak signal to noise ratio of one plane in decibels.
    static func likeness(_ one: [[UInt8]], _ other: [[UInt8]]) -> Double {
        var sum = 0.0
        var count = 0.0
        for (left, right) in zip(one, other) {
            for (a, b) in zip(left, right) {
                let difference = Double(a) - Double(b)
                sum += difference * difference
                count += 1
            }
        }
        guard one.count == other.count, count > 0 else { return 0 }
        return sum == 0 ? 100 : 10 * logarithm(255 * 255 * count / sum)
    }

    /// Base 10, without Foundation.
    private static func logarithm(_ value: Double) -> Double {
        var rest = value
        var result = 0.0
        while rest >= 10 {
            rest /= 10
            result += 1
        }
        var step = 1.0
        for _ in 0..<20 {
            step /= 2
            rest *= rest
            if rest >= 10 {
                rest /= 10
                result += step
            }
        }
        return result
    }
}
