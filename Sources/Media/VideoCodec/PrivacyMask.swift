/// A rectangle that no one outside may see, in parts of the image's width and height, from its top left corner.
public struct PrivacyMask: Equatable, Sendable {
    public var x: Double
    public var y: Double
    public var width: Double
    public var height: Double

    public init(x: Double, y: Double, width: Double, height: Double) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    /// - Throws: `.invalidMask` unless a part of the image is covered. What reaches beyond its edges is cut.
    public func validate() throws(VideoCodecError) {
        guard x.isFinite, y.isFinite, width.isFinite, height.isFinite else {
            throw .invalidMask("\(description) is not made of numbers")
        }
        guard x >= 0, x < 1, y >= 0, y < 1 else {
            throw .invalidMask("\(description) does not begin inside the image: x and y are from 0 to below 1")
        }
        guard width > 0, height > 0 else {
            throw .invalidMask("\(description) covers nothing: width and height are above 0")
        }
    }

    /// Pixels, rounded outwards to whole samples of chroma: a pixel that is covered in part is covered.
    func pixels(width frameWidth: Int, height frameHeight: Int, columns: Int, rows: Int) -> (
        columns: Range<Int>, rows: Range<Int>
    ) {
        (
            Self.span(x, width, of: frameWidth, unit: columns),
            Self.span(y, height, of: frameHeight, unit: rows)
        )
    }

    private static func span(_ start: Double, _ length: Double, of side: Int, unit: Int) -> Range<Int> {
        // In 0...side, so that the conversions hold.
        let first = Int((start * Double(side)).rounded(.down).clamped(to: 0...Double(side - 1))) / unit * unit
        let end = Int(((start + length) * Double(side)).rounded(.up).clamped(to: 0...Double(side)))
        return first..<min(max(end + unit - 1, first + unit) / unit * unit, side)
    }
}

extension PrivacyMask: CustomStringConvertible {
    /// "0.5,0,0.25,0.1".
    public var description: String { "\(x),\(y),\(width),\(height)" }
}

extension VideoFrame {
    /// Makes rectangles black, in place; on a copy where someone else holds the memory too.
    ///
    /// - Throws: before anything is drawn, when a mask or the pixel format does not allow all of it. The frame must
    ///   then not be used.
    public mutating func draw(_ masks: [PrivacyMask]) throws(VideoCodecError) {
        guard !masks.isEmpty else { return }
        for mask in masks { try mask.validate() }
        guard let planes = pixelFormat.planes else {
            throw .unsupportedFrame(what: "masking", frame: description)
        }
        for index in planes.indices {
            guard memory(ofPlane: index) != nil else {
                throw .unsupportedFrame(what: "masking", frame: description)
            }
        }
        if !isWritable { try makeWritable() }
        let unitColumns = planes.reduce(1) { max($0, $1.columns) }
        let unitRows = planes.reduce(1) { max($0, $1.rowsPerGroup) }
        let black: UInt8 = isFullRange ? 0 : 16
        for mask in masks {
            let area = mask.pixels(width: width, height: height, columns: unitColumns, rows: unitRows)
            for (index, plane) in planes.enumerated() { fill(index, plane, area.columns, area.rows, black: black) }
        }
    }

    private func fill(_ index: Int, _ plane: PixelPlane, _ columns: Range<Int>, _ rows: Range<Int>, black: UInt8) {
        guard let memory = memory(ofPlane: index), let base = memory.bytes.baseAddress else { return }
        let size = plane.samples.count
        let left = columns.lowerBound / plane.columns * size
        let right = (columns.upperBound + plane.columns - 1) / plane.columns * size
        let firstRow = rows.lowerBound / plane.rowsPerGroup
        let endRow = (rows.upperBound + plane.rowsPerGroup - 1) / plane.rowsPerGroup
        let values = plane.samples.map { sample -> UInt8 in
            switch sample {
            case .luma: black
            case .chroma: 128
            case .color: 0
            }
        }
        let first = base + firstRow * memory.stride + left
        if values.allSatisfy({ $0 == values[0] }) {
            first.initializeMemory(as: UInt8.self, repeating: values[0], count: right - left)
        } else {
            for offset in 0..<(right - left) {
                first.storeBytes(of: values[offset % size], toByteOffset: offset, as: UInt8.self)
            }
        }
        for row in (firstRow + 1)..<max(endRow, firstRow + 1) {
            (base + row * memory.stride + left).copyMemory(from: first, byteCount: right - left)
        }
    }
}
