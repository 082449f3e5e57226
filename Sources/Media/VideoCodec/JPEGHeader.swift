/// What a JPEG image says of itself before its samples (ITU-T T.81, B.2).
///
/// Read before the decoder sees the bytes: it would allocate whatever size they declare.
public struct JPEGHeader: Equatable, Sendable {
    /// In pixels.
    public let width: Int
    public let height: Int
    /// 1 (grey) or 3.
    public let components: Int

    /// More than 7680 by 4320.
    static let maxPixels = 1 << 25
    /// Of one byte. A block of 64 pixels takes a bit at the least, and with it come those of chroma.
    private static let maxPixelsPerByte = 512

    /// Needs no library.
    ///
    /// - Throws: `VideoCodecError.malformedFrame` with the reason.
    public init(_ bytes: UnsafeRawBufferPointer) throws(VideoCodecError) {
        guard bytes.count >= 4 else { throw .malformedFrame("\(bytes.count) bytes") }
        guard bytes[0] == 0xFF, bytes[1] == 0xD8 else { throw .malformedFrame("it does not begin with FF D8") }
        var position = 2
        while true {
            guard position + 4 <= bytes.count else {
                throw .malformedFrame("it ends at byte \(bytes.count), before its size")
            }
            guard bytes[position] == 0xFF else { throw .malformedFrame("no marker at byte \(position)") }
            let marker = bytes[position + 1]
            switch marker {
            case 0xFF:  // fill
                position += 1
                continue
            case 0xC0, 0xC1, 0xC2:
                self = try Self.frame(bytes, at: position + 4, length: Self.word(bytes, position + 2))
                return
            case 0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
                throw .malformedFrame("a kind of JPEG that no camera makes (marker FF \(Self.hexadecimal(marker)))")
            case 0x00...0xBF, 0xC8, 0xD0...0xD9, 0xDA:
                throw .malformedFrame(
                    "marker FF \(Self.hexadecimal(marker)) at byte \(position), before the size")
            default:
                let length = Self.word(bytes, position + 2)
                guard length >= 2 else { throw .malformedFrame("a segment of length \(length) at byte \(position)") }
                position += 2 + length
            }
        }
    }

    private init(width: Int, height: Int, components: Int) {
        self.width = width
        self.height = height
        self.components = components
    }

    private static func frame(
        _ bytes: UnsafeRawBufferPointer, at position: Int, length: Int
    ) throws(VideoCodecError) -> JPEGHeader {
        guard length >= 8, position + 6 <= bytes.count else {
            throw .malformedFrame("it ends at byte \(bytes.count), before its size")
        }
        let header = JPEGHeader(
            width: word(bytes, position + 3), height: word(bytes, position + 1), components: Int(bytes[position + 5]))
        guard bytes[position] == 8 else { throw .malformedFrame("samples of \(bytes[position]) bits, not of 8") }
        guard header.components == 1 || header.components == 3 else {
            throw .malformedFrame("\(header.components) colour components, not 1 or 3")
        }
        guard
            header.width > 0, header.height > 0, header.width <= VideoFrame.maxSide,
            header.height <= VideoFrame.maxSide, header.width * header.height <= maxPixels
        else { throw .malformedFrame("it declares \(header.width)x\(header.height) pixels") }
        guard header.width * header.height / maxPixelsPerByte <= bytes.count else {
            throw .malformedFrame(
                "it declares \(header.width)x\(header.height) pixels, which \(bytes.count) bytes cannot hold")
        }
        return header
    }

    private static func word(_ bytes: UnsafeRawBufferPointer, _ position: Int) -> Int {
        Int(bytes[position]) << 8 | Int(bytes[position + 1])
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }
}
