import Glibc
import VideoCodec

/// Frames that everybody can compare: noise that stays, and a box of other noise that moves and is never the same
/// twice. Most of a frame is like the one before, so that lossless encoding of it is quick.
struct MovingImage {
    let width: Int
    let height: Int
    /// Bytes from row to row.
    private let stride: Int
    private let noise: [UInt8]

    private static let noiseCount = 1 << 14
    private static let side = 64

    init(width: Int, height: Int, stride: Int) {
        self.width = width
        self.height = height
        self.stride = stride
        // Xorshift; the same numbers everywhere.
        var state: UInt32 = 2_463_534_242
        noise = (0..<Self.noiseCount).map { _ in
            state ^= state << 13
            state ^= state >> 17
            state ^= state << 5
            return UInt8(truncatingIfNeeded: state >> 8)
        }
    }

    /// Copies from the noise, which begins again at its end; quick in a program that is not optimised.
    private func fill(_ target: UnsafeMutablePointer<UInt8>, _ count: Int, from begin: Int) {
        noise.withUnsafeBufferPointer { noise in
            guard let base = noise.baseAddress else { return }
            var done = 0
            while done < count {
                let from = (begin + done) % Self.noiseCount
                let length = min(count - done, Self.noiseCount - from)
                memcpy(target + done, base + from, length)
                done += length
            }
        }
    }

    /// - Parameter raw: gets the samples as well, without what fills up the rows.
    func frame(_ number: Int, raw: UnsafeMutablePointer<FILE>?) throws(VideoCodecError) -> VideoFrame {
        var planes: [(base: UnsafeMutablePointer<UInt8>, stride: Int)] = []
        for plane in 0..<3 {
            let scale = plane == 0 ? 1 : 2
            let (columns, rows, stride) = (width / scale, height / scale, stride / scale)
            let base = UnsafeMutablePointer<UInt8>.allocate(capacity: stride * rows)
            for row in 0..<rows { fill(base + row * stride, stride, from: row * 977 + plane * 331) }
            let left = number * 24 % (width - Self.side + 1) / scale
            let top = number * 8 % (height - Self.side + 1) / scale
            for row in 0..<(Self.side / scale) {
                fill(base + (top + row) * stride + left, Self.side / scale, from: number * 4099 + row * 61 + plane * 13)
            }
            if let raw {
                for row in 0..<rows { fwrite(base + row * stride, 1, columns, raw) }
            }
            planes.append((base, stride))
        }
        let addresses = planes.map { UInt(bitPattern: $0.base) }
        return try VideoFrame(
            lending: planes, width: width, height: height, pixelFormat: .yuv420p, isFullRange: false,
            matrix: .unspecified
        ) {
            for address in addresses { UnsafeMutablePointer<UInt8>(bitPattern: address)?.deallocate() }
        }
    }
}
