internal import Glibc

/// Frames as a camera's are, made quickly, for probes and measurements: bars that move sideways, noise that changes,
/// and a box that moves on its own.
///
/// The bars are vertical, so that rows that came out shifted are far from what went in. Rows are copied from a few
/// templates, so that painting costs little compared to encoding.
final class MovingScene {
    private let width: Int
    private let height: Int
    private let luma: [[UInt8]]
    private let blue: [[UInt8]]
    private let red: [[UInt8]]

    /// Bands of different bars, and versions of each with other noise.
    private static let bands = 8
    private static let versions = 4
    /// After so many pixels the movement begins again.
    private static let travel = 128

    init(width: Int, height: Int) {
        self.width = width
        self.height = height
        var noise = UInt32(2_463_534_242)
        func next() -> Int {
            noise ^= noise << 13
            noise ^= noise >> 17
            noise ^= noise << 5
            return Int(noise % 9) - 4
        }
        var luma: [[UInt8]] = []
        for index in 0..<(Self.bands * Self.versions) {
            var row = [UInt8](repeating: 0, count: width + Self.travel)
            for x in row.indices {
                let bar = (x / 32 + index / Self.versions * 3) % 5
                row[x] = UInt8(clamping: 40 + bar * 40 + next())
            }
            luma.append(row)
        }
        self.luma = luma
        let chroma = (width + 1) / 2 + Self.travel / 2
        blue = (0..<Self.bands).map { Self.chromaRow(chroma, bar: 16, first: $0) }
        red = (0..<Self.bands).map { Self.chromaRow(chroma, bar: 32, first: $0 * 3) }
    }

    private static func chromaRow(_ count: Int, bar: Int, first: Int) -> [UInt8] {
        var row = [UInt8](repeating: 0, count: count)
        for x in row.indices { row[x] = UInt8(clamping: 60 + (x / bar + first) % 4 * 40) }
        return row
    }

    /// The same frame for the same number, planar.
    func frame(_ number: Int) throws(VideoCodecError) -> VideoFrame {
        var frame = try VideoFrame(width: width, height: height, pixelFormat: .yuv420p)
        frame.withMutablePlane(0) { memory, stride in drawLuma(memory, stride, number) }
        frame.withMutablePlane(1) { memory, stride in drawChroma(memory, stride, number, blue) }
        frame.withMutablePlane(2) { memory, stride in drawChroma(memory, stride, number, red) }
        return frame
    }

    private func drawLuma(_ memory: UnsafeMutableRawBufferPointer, _ stride: Int, _ number: Int) {
        guard let base = memory.baseAddress else { return }
        let shift = number * 4 % Self.travel
        for row in 0..<height {
            let template = row / 16 % Self.bands * Self.versions + (row * 7 + number * 13) % Self.versions
            luma[template].withUnsafeBytes { source in
                if let start = source.baseAddress { _ = memcpy(base + row * stride, start + shift, width) }
            }
        }
        let side = max(2, height / 4)
        let left = number * 6 % max(1, width - side)
        let top = number * 2 % max(1, height - side)
        for row in top..<min(height, top + side) {
            _ = memset(base + row * stride + left, 235, min(side, width - left))
        }
    }

    private func drawChroma(
        _ memory: UnsafeMutableRawBufferPointer, _ stride: Int, _ number: Int, _ templates: [[UInt8]]
    ) {
        guard let base = memory.baseAddress else { return }
        let shift = number * 2 % (Self.travel / 2)
        for row in 0..<((height + 1) / 2) {
            templates[row / 8 % Self.bands].withUnsafeBytes { source in
                if let start = source.baseAddress { _ = memcpy(base + row * stride, start + shift, (width + 1) / 2) }
            }
        }
    }

    /// How near `frame` is to the one with this number: the peak signal-to-noise ratio of its worst plane in
    /// decibels, of every fourth row and third sample; 0 for another size or format.
    func likeness(of frame: borrowing VideoFrame, to number: Int) throws(VideoCodecError) -> Double {
        guard frame.width == width, frame.height == height, frame.pixelFormat == .yuv420p else { return 0 }
        let expected = try self.frame(number)
        var worst = 99.0
        for plane in 0..<3 {
            let columns = plane == 0 ? width : (width + 1) / 2
            let rows = plane == 0 ? height : (height + 1) / 2
            var sum = 0.0
            var count = 0.0
            let seen: Void? =
                frame.withPlane(plane) { have, haveStride in
                    expected.withPlane(plane) { want, wantStride in
                        for row in Swift.stride(from: 0, to: rows, by: 4) {
                            for column in Swift.stride(from: 0, to: columns, by: 3) {
                                let one = have.unsafeLoad(fromByteOffset: row * haveStride + column, as: UInt8.self)
                                let other = want.unsafeLoad(fromByteOffset: row * wantStride + column, as: UInt8.self)
                                let difference = Double(one) - Double(other)
                                sum += difference * difference
                                count += 1
                            }
                        }
                    }
                } ?? nil
            guard seen != nil, count > 0 else { return 0 }
            if sum > 0 { worst = min(worst, 10 * log10(255 * 255 * count / sum)) }
        }
        return worst
    }
}
