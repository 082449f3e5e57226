/// Draws the test pattern: colour bars above a grey ramp, a box that moves, a square that flashes at each full second,
/// and two lines of text: the time of day and the frame's number.
struct TestPatternPainter: ~Copyable {
    private let layout: Layout
    private var background: VideoFrame
    private let matrix: PatternColors

    init(width: Int, height: Int) throws(VideoCodecError) {
        let layout = Layout(width: width, height: height)
        let matrix = PatternColors(frameHeight: height)
        var background = try VideoFrame(width: width, height: height, pixelFormat: .yuv420p)
        Self.drawBackground(&background, layout, matrix)
        self.layout = layout
        self.matrix = matrix
        self.background = background
    }

    /// Draws frame `number` into `frame`, which has the painter's size.
    ///
    /// - Parameter clock: "HH:MM:SS.mmm".
    /// - Parameter isFlashing: whether the square is white.
    mutating func draw(into frame: inout VideoFrame, number: Int, clock: String, isFlashing: Bool) {
        for plane in 0..<3 {
            let rows = PixelFormat.yuv420p.rows(ofPlane: plane, height: layout.height) ?? 0
            background.withMutablePlane(plane) { source, sourceStride in
                frame.withMutablePlane(plane) { target, stride in
                    let count = min(sourceStride, stride)
                    for row in 0..<rows {
                        target[(row * stride)...].copyBytes(from: source[(row * sourceStride)...].prefix(count))
                    }
                }
            }
        }
        let box = layout.box(forFrame: number)
        Self.fill(&frame, box, matrix.color(red: 1, green: 0.55, blue: 0))
        if isFlashing { Self.fill(&frame, layout.flash, matrix.color(red: 1, green: 1, blue: 1)) }
        Self.fill(&frame, layout.panel, matrix.color(red: 0, green: 0, blue: 0))
        let digits = String(number)
        let line = "#" + String(repeating: "0", count: max(0, 8 - digits.count)) + digits
        Self.draw(clock, in: &frame, at: layout.clockOrigin, scale: layout.scale)
        Self.draw(line, in: &frame, at: layout.numberOrigin, scale: layout.scale)
    }

    private static func drawBackground(_ frame: inout VideoFrame, _ layout: Layout, _ matrix: PatternColors) {
        // At 75 % of full brightness, as television's bars.
        let bars: [(Double, Double, Double)] = [
            (1, 1, 1), (1, 1, 0), (0, 1, 1), (0, 1, 0), (1, 0, 1), (1, 0, 0), (0, 0, 1), (0, 0, 0),
        ]
        for (index, bar) in bars.enumerated() {
            let left = layout.width * index / bars.count / 2 * 2
            let right = index + 1 == bars.count ? layout.width : layout.width * (index + 1) / bars.count / 2 * 2
            fill(
                &frame, Rectangle(x: left, y: 0, width: right - left, height: layout.rampTop),
                matrix.color(red: bar.0 * 0.75, green: bar.1 * 0.75, blue: bar.2 * 0.75))
        }
        let steps = 32
        for step in 0..<steps {
            let left = layout.width * step / steps / 2 * 2
            let right = step + 1 == steps ? layout.width : layout.width * (step + 1) / steps / 2 * 2
            let grey = Double(step) / Double(steps - 1)
            fill(
                &frame,
                Rectangle(
                    x: left, y: layout.rampTop, width: right - left, height: layout.height - layout.rampTop),
                matrix.color(red: grey, green: grey, blue: grey))
        }
    }

    private static func fill(_ frame: inout VideoFrame, _ rectangle: Rectangle, _ color: PatternColors.Color) {
        fill(&frame, plane: 0, rectangle, color.y)
        let half = Rectangle(
            x: rectangle.x / 2, y: rectangle.y / 2, width: (rectangle.width + 1) / 2,
            height: (rectangle.height + 1) / 2)
        fill(&frame, plane: 1, half, color.u)
        fill(&frame, plane: 2, half, color.v)
    }

    private static func fill(_ frame: inout VideoFrame, plane: Int, _ rectangle: Rectangle, _ value: UInt8) {
        frame.withMutablePlane(plane) { bytes, stride in
            let width = min(rectangle.width, stride - rectangle.x)
            guard width > 0 else { return }
            for row in rectangle.y..<(rectangle.y + rectangle.height) {
                let start = row * stride + rectangle.x
                guard start + width <= bytes.count else { return }
                UnsafeMutableRawBufferPointer(rebasing: bytes[start..<(start + width)])
                    .initializeMemory(as: UInt8.self, repeating: value)
            }
        }
    }

    /// White on what is there; only brightness is written, the panel beneath has no colour.
    private static func draw(_ text: String, in frame: inout VideoFrame, at origin: (x: Int, y: Int), scale: Int) {
        var x = origin.x
        for character in text {
            for (row, dots) in BitmapFont.rows(of: character).enumerated() {
                for column in 0..<BitmapFont.glyphWidth where dots >> (BitmapFont.glyphWidth - 1 - column) & 1 == 1 {
                    let dot = Rectangle(
                        x: x + column * scale, y: origin.y + row * scale, width: scale, height: scale)
                    fill(&frame, plane: 0, dot, 235)
                }
            }
            x += (BitmapFont.glyphWidth + 1) * scale
        }
    }
}

extension TestPatternPainter {
    /// In pixels of the luma plane.
    struct Rectangle: Equatable {
        var x: Int
        var y: Int
        var width: Int
        var height: Int
    }

    /// Where everything is, for a size.
    struct Layout: Equatable {
        let width: Int
        let height: Int
        /// Pixels on a side of a letter's dot.
        let scale: Int
        let panel: Rectangle
        let clockOrigin: (x: Int, y: Int)
        let numberOrigin: (x: Int, y: Int)
        let rampTop: Int
        let flash: Rectangle
        private let boxSide: Int

        /// "HH:MM:SS.mmm".
        static let clockLength = 12

        init(width: Int, height: Int) {
            self.width = width
            self.height = height
            let cell = BitmapFont.glyphWidth + 1
            let line = BitmapFont.glyphHeight + 2
            // Six tenths of the width, if two lines then fit into the upper half.
            scale = max(1, min(width * 6 / 10 / (Self.clockLength * cell), height / 2 / (2 * line)))
            let textWidth = Self.clockLength * cell * scale
            let left = max(0, (width - textWidth) / 2) / 2 * 2
            let top = max(0, height / 6) / 2 * 2
            let margin = (2 * scale + 1) / 2 * 2
            let x = max(0, left - margin)
            let y = max(0, top - margin)
            panel = Rectangle(
                x: x, y: y, width: min(textWidth + 2 * margin, width - x),
                height: min(2 * line * scale + 2 * margin, height - y))
            clockOrigin = (left, top)
            numberOrigin = (left, top + line * scale)
            rampTop = height * 2 / 3 / 2 * 2
            boxSide = max(2, height / 8 / 2 * 2)
            flash = Rectangle(x: 0, y: 0, width: min(boxSide, width), height: min(boxSide, height))
        }

        static func == (left: Layout, right: Layout) -> Bool {
            left.width == right.width && left.height == right.height
        }

        /// Runs to and fro across the lower part, a little slower up and down than sideways.
        func box(forFrame number: Int) -> Rectangle {
            Rectangle(
                x: Self.bounce(number, step: max(2, width / 160 / 2 * 2), limit: width - boxSide),
                y: rampTop + Self.bounce(number, step: 2, limit: height - rampTop - boxSide),
                width: min(boxSide, width), height: min(boxSide, height - rampTop))
        }

        private static func bounce(_ number: Int, step: Int, limit: Int) -> Int {
            guard limit > 0 else { return 0 }
            let travelled = number.multipliedReportingOverflow(by: step).partialValue.magnitude
            let position = Int(travelled % UInt(2 * limit))
            return (position <= limit ? position : 2 * limit - position) / 2 * 2
        }
    }
}

/// Red, green and blue (0…1) as Y, U, V of limited range: BT.709 for high definition, BT.601 below, which is what
/// `VideoEncoder` declares.
struct PatternColors {
    struct Color: Equatable {
        var y: UInt8
        var u: UInt8
        var v: UInt8
    }

    private let red: Double
    private let blue: Double

    init(frameHeight: Int) {
        (red, blue) = frameHeight >= 720 ? (0.2126, 0.0722) : (0.299, 0.114)
    }

    func color(red r: Double, green g: Double, blue b: Double) -> Color {
        let y = red * r + (1 - red - blue) * g + blue * b
        return Color(
            y: sample(16 + 219 * y), u: sample(128 + 224 * (b - y) / (2 * (1 - blue))),
            v: sample(128 + 224 * (r - y) / (2 * (1 - red))))
    }

    private func sample(_ value: Double) -> UInt8 {
        UInt8(value.rounded().clamped(to: 0...255))
    }
}
