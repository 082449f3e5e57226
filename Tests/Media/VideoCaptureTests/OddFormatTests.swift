import TestSupport
import Testing

@testable import VideoCapture

struct OddFormatTests {
    private func convert(_ name: String, _ bytes: [UInt8], width: Int, height: Int) throws -> [UInt8] {
        let format = try #require(FourCC(name))
        let setup = CaptureSetup(
            pixelFormat: format, width: width, height: height, bytesPerLine: 0, imageBytes: bytes.count, rate: 30)
        let converter = try OddFormatConverter(for: format)
        return try bytes.withUnsafeBytes { bytes in try converter.convert(bytes, setup) }
    }

    @Test func `two lines of luma and one of chroma become planes`() throws {
        // M420: line, line, then U V U V … for both.
        let (width, height) = (64, 48)
        var bytes: [UInt8] = []
        for pair in 0..<height / 2 {
            for line in 0..<2 {
                for column in 0..<width { bytes.append(UInt8(pair * 4 + line * 2 + column)) }
            }
            for column in 0..<width / 2 {
                bytes.append(UInt8(100 + pair + column))
                bytes.append(UInt8(150 + pair + column))
            }
        }
        let frame = try convert("M420", bytes, width: width, height: height)
        #expect(frame.count == width * height * 3 / 2)
        let chroma = width * height
        for row in 0..<height {
            let line = frame[(row * width)..<((row + 1) * width)]
            #expect(line.elementsEqual((0..<width).map { UInt8(row * 2 + $0) }), "\(row)")
        }
        for row in 0..<height / 2 {
            for (plane, base) in [(0, 100), (1, 150)] {
                let begin = chroma + plane * chroma / 4 + row * width / 2
                let line = frame[begin..<(begin + width / 2)]
                #expect(line.elementsEqual((0..<width / 2).map { UInt8(base + row + $0) }), "\(row)")
            }
        }
    }

    @Test func `pixels of four bytes become luma`() throws {
        // BGRX: a white line, a black line, …
        let lines = (0..<48).map { [UInt8](repeating: $0 % 2 == 0 ? 255 : 0, count: 64 * 4) }
        let frame = try convert("XR24", lines.flatMap(\.self), width: 64, height: 48)
        #expect(frame.count == 64 * 48 * 3 / 2 && frame[0] > 220 && frame[64] < 30)
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func `noise in any of the formats is a frame or an error`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let (width, height) = [(160, 120), (64, 48), (176, 144), (320, 240)][Int(seed)]
        let noise = generator.bytes(width * height * 5 + 64)
        for format in OddFormatConverter.formats.sorted(by: { $0.rawValue < $1.rawValue }) {
            let converter = try OddFormatConverter(for: format)
            for count in [1, 7, 64, width * height, noise.count] {
                let setup = CaptureSetup(
                    pixelFormat: format, width: width, height: height, bytesPerLine: Int(generator.next() >> 33),
                    imageBytes: count, rate: 30)
                do {
                    let frame = try noise.withUnsafeBytes { bytes in
                        try converter.convert(UnsafeRawBufferPointer(rebasing: bytes[..<count]), setup)
                    }
                    #expect(frame.count == width * height * 3 / 2)
                } catch {
                    let refusal = try #require(error as? CaptureError)
                    #expect(refusal.remedy == .person && !refusal.why.isEmpty)
                }
            }
        }
    }

    @Test func `half a frame is refused, with a message`() throws {
        #expect { try convert("M420", [UInt8](repeating: 1, count: 10), width: 64, height: 48) } throws: { error in
            guard case .notConvertible(_, let reason)? = error as? CaptureError else { return false }
            return !reason.isEmpty
        }
    }

    @Test func `formats that are never decoded, and sensors' raw samples, are refused`() throws {
        for name in ["ABCD", "RG10", "O511"] {
            let format = try #require(FourCC(name))
            #expect(throws: CaptureError.notConvertible(format, "Nothing on this machine decodes that format.")) {
                try OddFormatConverter(for: format)
            }
        }
    }

    @Test(arguments: [(641, 480), (640, 481), (0, 480), (640, -2), (100_000, 480), (32, 32)])
    func `a size that the library does not decode safely is refused`(width: Int, height: Int) throws {
        #expect(throws: (any Error).self) { try convert("M420", [1, 2, 3], width: width, height: height) }
    }
}
