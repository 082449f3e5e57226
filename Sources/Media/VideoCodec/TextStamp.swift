/// A line of text as brightness, ready to be copied into frames of one size.
struct TextStamp: Equatable {
    let text: String
    let frameWidth: Int
    let frameHeight: Int
    let isFullRange: Bool
    /// Of the box in the frame; even, and inside it.
    let x: Int
    let y: Int
    let width: Int
    let height: Int
    /// Pixels on a side of a letter's dot.
    let scale: Int
    /// Row by row without gaps.
    let luma: [UInt8]

    /// From a letter's left edge to the next one's, in dots.
    static let advance = BitmapFont.glyphWidth + 1

    init(_ text: String, frameWidth: Int, frameHeight: Int, isFullRange: Bool) {
        self.text = text
        self.frameWidth = frameWidth
        self.frameHeight = frameHeight
        self.isFullRange = isFullRange
        let letters = Array(text.prefix(Self.maxLetters))
        // A letter takes a thirtieth of the height; less where the line would be too long. What is too long even then
        // is cut at its end.
        var scale = max(1, (frameHeight + 120) / 240)
        while scale > 1, Self.box(letters.count, scale).width + 2 * Self.margin(scale) > frameWidth { scale -= 1 }
        self.scale = scale
        let place = Self.margin(scale) / 2 * 2
        let box = Self.box(letters.count, scale)
        x = min(place, max(frameWidth - 2, 0) / 2 * 2)
        y = min(place, max(frameHeight - 2, 0) / 2 * 2)
        width = letters.isEmpty ? 0 : min(box.width, (frameWidth - x) / 2 * 2)
        height = letters.isEmpty ? 0 : min(box.height, (frameHeight - y) / 2 * 2)
        luma = Self.pixels(letters, scale, width: width, height: height, isFullRange: isFullRange)
    }

    /// Whether it serves for this text in this frame as it is.
    func isFor(_ text: String, _ frame: borrowing VideoFrame) -> Bool {
        frameWidth == frame.width && frameHeight == frame.height && isFullRange == frame.isFullRange
            && self.text == text
    }

    /// Rounded down, also before 1970.
    static func seconds(_ nanoseconds: Int64) -> Int64 {
        let whole = nanoseconds / 1_000_000_000
        return nanoseconds % 1_000_000_000 < 0 ? whole - 1 : whole
    }

    private static let maxLetters = 1_000

    private static func margin(_ scale: Int) -> Int { 2 * scale }

    private static func box(_ letters: Int, _ scale: Int) -> (width: Int, height: Int) {
        let width = letters * advance * scale - scale + 2 * margin(scale)
        let height = BitmapFont.glyphHeight * scale + 2 * margin(scale)
        return ((width + 1) / 2 * 2, (height + 1) / 2 * 2)
    }

    private static func pixels(
        _ letters: [Character], _ scale: Int, width: Int, height: Int, isFullRange: Bool
    ) -> [UInt8] {
        var luma = [UInt8](repeating: isFullRange ? 0 : 16, count: width * height)
        let light: UInt8 = isFullRange ? 255 : 235
        var left = margin(scale)
        for letter in letters {
            if left >= width { break }
            for (row, dots) in BitmapFont.rows(of: letter).enumerated() {
                for column in 0..<BitmapFont.glyphWidth where dots >> (BitmapFont.glyphWidth - 1 - column) & 1 == 1 {
                    let begin = left + column * scale
                    let end = min(begin + scale, width)
                    guard begin < end else { continue }
                    let top = margin(scale) + row * scale
                    for line in top..<max(top, min(top + scale, height)) {
                        for pixel in begin..<end { luma[line * width + pixel] = light }
                    }
                }
            }
            left += advance * scale
        }
        return luma
    }
}

extension VideoFrame {
    /// - Parameter stamp: made for this frame's size.
    mutating func draw(_ stamp: TextStamp) throws(VideoCodecError) {
        guard
            let planes = pixelFormat.planes, planes.count > 1, let bright = memory(ofPlane: 0),
            let base = bright.bytes.baseAddress
        else { throw .unsupportedFrame(what: "writing text", frame: description) }
        guard stamp.x + stamp.width <= width, stamp.y + stamp.height <= height else {
            throw .frameMismatch(expected: "\(stamp.frameWidth)x\(stamp.frameHeight)", actual: description)
        }
        if !isWritable {
            try makeWritable()
            return try draw(stamp)
        }
        guard stamp.width > 0, stamp.height > 0 else { return }
        stamp.luma.withUnsafeBytes { luma in
            guard let source = luma.baseAddress else { return }
            for row in 0..<stamp.height {
                (base + (stamp.y + row) * bright.stride + stamp.x)
                    .copyMemory(from: source + row * stamp.width, byteCount: stamp.width)
            }
        }
        for (index, plane) in planes.enumerated().dropFirst() {
            guard let memory = memory(ofPlane: index), let base = memory.bytes.baseAddress else { continue }
            let left = stamp.x / plane.columns * plane.samples.count
            let count = plane.bytesPerRow(width: stamp.width)
            let first = stamp.y / plane.rowsPerGroup
            for row in first..<(first + plane.rows(height: stamp.height)) {
                (base + row * memory.stride + left).initializeMemory(as: UInt8.self, repeating: 128, count: count)
            }
        }
    }
}
