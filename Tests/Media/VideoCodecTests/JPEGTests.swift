import TestSupport
import Testing

@testable import VideoCodec

@Suite struct JPEGTests {
    private func decode(_ bytes: [UInt8], _ decoder: JPEGDecoder = JPEGDecoder()) throws(VideoCodecError) -> VideoFrame
    {
        var result: Result<VideoFrameBox, VideoCodecError>?
        bytes.withUnsafeBytes { memory in
            do throws(VideoCodecError) {
                result = .success(VideoFrameBox(try decoder.decode(memory)))
            } catch { result = .failure(error) }
        }
        guard let box = try result?.get() else { throw .malformedFrame("no result") }
        return try box.frame.shared()
    }

    private final class VideoFrameBox {
        let frame: VideoFrame

        init(_ frame: consuming VideoFrame) { self.frame = frame }
    }

    /// Smooth colours, as a lens gives them.
    private func scene(_ width: Int, _ height: Int, _ format: PixelFormat = .yuvj420p) throws -> VideoFrame {
        var pixels: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width {
                pixels.append(UInt8(x * 255 / width))
                pixels.append(UInt8(y * 255 / height))
                pixels.append(UInt8((x + y) * 255 / (width + height)))
            }
        }
        let rgb = try VideoFrame(width: width, height: height, pixels: pixels)
        return try FrameScaler().scale(rgb, width: width, height: height, pixelFormat: format)
    }

    private func refusal(_ bytes: [UInt8], _ decoder: JPEGDecoder = JPEGDecoder()) -> VideoCodecError? {
        do throws(VideoCodecError) {
            _ = try decode(bytes, decoder).width
            return nil
        } catch {
            return error
        }
    }

    private func isMalformed(_ error: VideoCodecError?) -> Bool {
        if case .malformedFrame = error { true } else { false }
    }

    /// Removes the segments with this marker before the first scan.
    private func without(_ marker: UInt8, _ jpeg: [UInt8]) -> [UInt8] {
        var result = Array(jpeg.prefix(2))
        var position = 2
        while position + 4 <= jpeg.count, jpeg[position + 1] != 0xDA {
            let high = Int(jpeg[position + 2])
            let low = Int(jpeg[position + 3])
            let end = position + 2 + high * 256 + low
            if jpeg[position + 1] != marker { result.append(contentsOf: jpeg[position..<end]) }
            position = end
        }
        result.append(contentsOf: jpeg[position...])
        return result
    }

    /// Where the size stands: after FF C0, length and precision.
    private func sizePosition(_ jpeg: [UInt8]) throws -> Int {
        try #require(jpeg.indices.dropLast().first { jpeg[$0] == 0xFF && jpeg[$0 + 1] == 0xC0 }) + 5
    }

    @Test(arguments: [(640, 360), (66, 34), (35, 17), (16, 16), (8, 8), (1, 1)])
    func `what is encoded decodes to nearly the same`(width: Int, height: Int) throws {
        let original = try scene(width, height)
        let encoder = JPEGEncoder()
        var likeness: [Double] = []
        var sizes: [Int] = []
        for quality in [1, 30, 60, 85, 100] {
            let jpeg = try encoder.encode(original, quality: quality)
            let result = try decode(jpeg)
            let reported = (result.isFullRange, result.width, result.height)
            #expect(reported == (true, width, height))
            likeness.append(Samples.likeness(Samples.rows(original, 0), Samples.rows(result, 0)))
            sizes.append(jpeg.count)
        }
        // (decibels) 85 is hard to tell from the original.
        #expect(likeness[3] > 38, "\(likeness)")
        if width >= 64 {
            #expect(likeness == likeness.sorted(), "\(likeness)")
            #expect(sizes == sizes.sorted(), "\(sizes)")
        }
    }

    @Test(arguments: LentFrameTests.camera + [.yuvj422p, .yuvj444p])
    func `a snapshot can be made of any frame`(format: PixelFormat) throws {
        let original = try scene(96, 64, format)
        let jpeg = try JPEGEncoder().encode(original)
        #expect(jpeg.starts(with: [0xFF, 0xD8]) && jpeg.suffix(2) == [0xFF, 0xD9])
        let result = Samples.rows(try decode(jpeg), 0)
        let expected = Samples.rows(try scene(96, 64), 0)
        // Grey, and brightness of a range that was squeezed, lose a little.
        #expect(Samples.likeness(result, expected) > 30, "\(Samples.likeness(result, expected))")
    }

    @Test func `one encoder makes frames of several sizes`() throws {
        let encoder = JPEGEncoder()
        for (width, height) in [(64, 48), (32, 16), (64, 48), (640, 360)] {
            let header = try encoder.encode(try scene(width, height)).withUnsafeBytes { bytes throws(VideoCodecError) in
                try JPEGHeader(bytes)
            }
            #expect((header.width, header.height, header.components) == (width, height, 3))
        }
        #expect(throws: VideoCodecError.invalid(.quality, value: 0)) { try encoder.encode(try scene(8, 8), quality: 0) }
        #expect(throws: VideoCodecError.invalid(.quality, value: 101)) {
            try encoder.encode(try scene(8, 8), quality: 101)
        }
    }

    /// As many cameras' MJPEG: the standard says what tables are then meant.
    @Test func `a frame without Huffman tables decodes`() throws {
        let original = try scene(64, 48)
        let codec = try CodecContext.mjpegWithUsualTables(width: 64, height: 48)
        let jpeg = try codec.encoded(original)
        let bare = without(0xC4, jpeg)
        #expect(bare.count < jpeg.count)
        let (with, lacking) = (Samples.planes(try decode(jpeg)), Samples.planes(try decode(bare)))
        #expect(with == lacking)
    }

    @Test func `what is not a frame is refused with the reason`() throws {
        let jpeg = try JPEGEncoder().encode(try scene(320, 180))
        let position = try sizePosition(jpeg)
        func changed(_ change: (inout [UInt8]) -> Void) -> [UInt8] {
            var bytes = jpeg
            change(&bytes)
            return bytes
        }
        #expect(refusal([]) == .malformedFrame("0 bytes"))
        #expect(refusal([0, 0, 0, 0]) == .malformedFrame("it does not begin with FF D8"))
        #expect(
            refusal([0xFF, 0xD8, 0xFF, 0xD9, 0, 0]) == .malformedFrame("marker FF D9 at byte 2, before the size"))
        #expect(refusal([0xFF, 0xD8, 0xFF, 0xE0, 0, 1]) == .malformedFrame("a segment of length 1 at byte 2"))
        #expect(
            refusal([0xFF, 0xD8] + [UInt8](repeating: 0xFF, count: 100_000))
                == .malformedFrame("it ends at byte 100002, before its size"))
        #expect(isMalformed(refusal(Array(repeating: 0x55, count: 50_000))))
        // Cut anywhere, it is not whole.
        for length in [2, 20, position, position + 10, jpeg.count / 3, jpeg.count / 2, jpeg.count * 9 / 10] {
            #expect(isMalformed(refusal(Array(jpeg.prefix(length)))), "\(length) of \(jpeg.count)")
        }
        // Sizes that would take gigabytes, and sizes that so few bytes cannot hold.
        #expect(
            refusal(changed { $0.replaceSubrange(position..<(position + 4), with: [0xFF, 0xFF, 0xFF, 0xFF]) })
                == .malformedFrame("it declares 65535x65535 pixels"))
        #expect(
            refusal(changed { $0.replaceSubrange(position..<(position + 4), with: [0x10, 0x00, 0x20, 0x00]) })
                == .malformedFrame("it declares 8192x4096 pixels, which \(jpeg.count) bytes cannot hold"))
        #expect(
            refusal(changed { $0.replaceSubrange(position..<(position + 2), with: [0, 0]) })
                == .malformedFrame("it declares 320x0 pixels"))
        #expect(refusal(changed { $0[position - 1] = 12 }) == .malformedFrame("samples of 12 bits, not of 8"))
        #expect(refusal(changed { $0[position + 4] = 4 }) == .malformedFrame("4 colour components, not 1 or 3"))
        #expect(
            refusal(changed { $0[position - 4] = 0xC3 })
                == .malformedFrame("a kind of JPEG that no camera makes (marker FF C3)"))
    }

    @Test func `a second frame inside the first does not make it larger`() throws {
        let small = try JPEGEncoder().encode(try scene(64, 48))
        var large = try JPEGEncoder().encode(try scene(640, 480))
        let position = try sizePosition(large)
        large.replaceSubrange(position..<(position + 4), with: [0x40, 0x00, 0x40, 0x00])
        // Without the first one's end, so that the decoder goes on.
        var both = Array(without(0xC4, small).prefix(40))
        both.append(contentsOf: large)
        let error = refusal(both)
        #expect(isMalformed(error), "\(String(describing: error))")
    }

    @Test func `after a damaged frame the next one is whole`() throws {
        let decoder = JPEGDecoder()
        let jpeg = try JPEGEncoder().encode(try scene(320, 180))
        let expected = Samples.planes(try decode(jpeg, decoder))
        #expect(decoder.decoder == "mjpeg")
        for length in [100, 700, jpeg.count / 2] {
            #expect(isMalformed(refusal(Array(jpeg.prefix(length)), decoder)))
            #expect(Samples.planes(try decode(jpeg, decoder)) == expected)
        }
    }

    private func mutated(_ jpeg: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
        var bytes = jpeg
        let changes = Int.random(in: 1...6, using: &generator)
        for _ in 0..<changes {
            let place = Int.random(in: bytes.indices, using: &generator)
            let value = UInt8.random(in: 0...255, using: &generator)
            switch Int.random(in: 0..<5, using: &generator) {
            case 0: bytes[place] = value
            case 1: bytes[place % min(700, bytes.count)] ^= 1 << (value & 7)
            case 2: bytes.removeLast(place / 4)
            case 3:
                let piece = Array(bytes[place..<min(place + 40, bytes.count)])
                bytes.insert(contentsOf: piece, at: place)
            default:
                // A marker.
                bytes[place] = 0xFF
                if place + 1 < bytes.count { bytes[place + 1] = max(value, 0xC0) }
            }
            if bytes.count < 8 { bytes = jpeg }
        }
        return bytes
    }

    @Test(arguments: 0..<24 as Range<UInt64>)
    func `flipped bytes cost the frame and nothing else`(seed: UInt64) throws {
        let jpeg = try JPEGEncoder().encode(try scene(160, 96), quality: 60)
        var generator = SeededGenerator(seed: seed)
        let decoder = JPEGDecoder()
        var frames = 0
        for _ in 0..<60 {
            let bytes = mutated(jpeg, &generator)
            do throws(VideoCodecError) {
                let frame = try decode(bytes, decoder)
                frames += 1
                #expect(frame.width * frame.height <= JPEGHeader.maxPixels)
                guard frame.width <= 1024, frame.height <= 1024 else { continue }
                // Whatever came out can be prepared, and the mask is on it.
                let preparation = try FramePreparation(
                    FramePreparation.Configuration(
                        width: 160, height: 96, masks: [PrivacyMask(x: 0, y: 0, width: 0.5, height: 0.5)]))
                let prepared = try preparation.prepare(frame, wallClock: 0)
                #expect(Pictures.luma(prepared, x: 79, y: 47) == 16)
            } catch {
                #expect(isMalformed(error), "\(error)")
            }
        }
        #expect(refusal(jpeg, decoder) == nil)
        #expect(frames < 60)
    }

    @Test func `the quality that people know becomes libavcodec's`() {
        #expect([100, 95, 85, 75, 50, 30, 1].map { JPEGEncoder.scale(forQuality: $0) } == [1, 1, 4, 7, 13, 22, 31])
    }
}
