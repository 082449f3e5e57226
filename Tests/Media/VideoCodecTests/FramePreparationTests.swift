import CAVCodec
import Testing

@testable import VideoCodec

@Suite struct FramePreparationTests {
    private func preparation(
        _ width: Int, _ height: Int, _ change: (inout FramePreparation.Configuration) -> Void = { _ in }
    ) throws -> FramePreparation {
        var configuration = FramePreparation.Configuration(
            width: width, height: height, pixelFormats: [.yuv420p, .nv12], lineAlignment: 64)
        change(&configuration)
        return try FramePreparation(configuration)
    }

    @Test(arguments: [PixelFormat.yuv420p, .nv12])
    func `a frame that the encoder takes passes without a copy, masks and text included`(format: PixelFormat) throws {
        let preparation = try preparation(640, 360) {
            $0.masks = [PrivacyMask(x: 0, y: 0.5, width: 0.1, height: 0.1)]
            $0.overlay = TextOverlay(time: true, name: "Yard")
        }
        let frame = try VideoFrame(width: 640, height: 360, pixelFormat: format, lineAlignment: 64)
        let before = frame.memory(ofPlane: 0)?.bytes.baseAddress
        let prepared = try preparation.prepare(frame, wallClock: 0)
        let after = prepared.memory(ofPlane: 0)?.bytes.baseAddress
        let matrix = prepared.matrix
        #expect(before == after)
        #expect(preparation.copies == 0)
        #expect(matrix == .bt601)
    }

    @Test func `passes are counted`() throws {
        func copies(
            _ width: Int, _ height: Int, _ format: PixelFormat, alignment: Int = 64, isFullRange: Bool = false,
            _ change: (inout FramePreparation.Configuration) -> Void = { _ in }
        ) throws -> Int {
            let preparation = try preparation(640, 360, change)
            let frame = try VideoFrame(width: width, height: height, pixelFormat: format, lineAlignment: alignment)
            frame.isFullRange = isFullRange
            let prepared = try preparation.prepare(frame, wallClock: 0)
            let isAligned = prepared.isAligned(to: 64)
            #expect(isAligned)
            return preparation.copies
        }
        #expect(try copies(640, 360, .yuv420p) == 0)
        #expect(try copies(640, 360, .yuv420p, alignment: 1024) == 1)
        #expect(try copies(640, 360, .yuyv422) == 1)
        #expect(try copies(1280, 720, .yuyv422) == 1)
        #expect(try copies(640, 360, .yuv420p, isFullRange: true) == 1)
        #expect(try copies(640, 360, .yuvj422p) == 1)
        #expect(try copies(640, 360, .nv12) { $0.orientation.rotation = .half } == 1)
        #expect(try copies(360, 640, .nv12) { $0.orientation.rotation = .quarter } == 1)
        #expect(try copies(360, 640, .yuyv422) { $0.orientation.rotation = .quarter } == 2)
        #expect(try copies(640, 360, .yuv420p, alignment: 1024) { $0.lineAlignment = 64 } == 1)
    }

    /// Bicubic or bilinear filters would mix more than two rows.
    @Test func `YUYV of the right size takes the fast path`() throws {
        let frame = try Samples.noise(640, 36, .yuyv422)
        let rows = Samples.rows(frame, 0)
        let prepared = try preparation(640, 36).prepare(frame, wallClock: 0)
        let luma = rows.map { row in stride(from: 0, to: row.count, by: 2).map { row[$0] } }
        #expect(Samples.rows(prepared, 0) == luma)
        for (plane, offset) in [(1, 1), (2, 3)] {
            let chroma = stride(from: 0, to: 36, by: 2).map { row in
                stride(from: offset, to: 1280, by: 4).map { (Int(rows[row][$0]) + Int(rows[row + 1][$0])) }
            }
            let differences = zip(Samples.rows(prepared, plane).joined(), chroma.joined()).map { 2 * Int($0) - $1 }
            // Rounded up or down.
            #expect(differences.allSatisfy { abs($0) <= 1 })
        }
    }

    @Test func `colours are those of the camera`() throws {
        // (red, green, blue) and what BT.601 makes of it in limited range.
        let known: [([UInt8], [UInt8])] = [
            ([255, 0, 0], [81, 90, 240]), ([0, 255, 0], [145, 54, 34]), ([0, 0, 255], [41, 240, 110]),
            ([255, 255, 255], [235, 128, 128]), ([0, 0, 0], [16, 128, 128]),
        ]
        for (color, expected) in known {
            let pixels = [[UInt8]](repeating: color, count: 64 * 48).flatMap { $0 }
            let frame = try VideoFrame(width: 64, height: 48, pixels: pixels)
            let prepared = try preparation(64, 48).prepare(frame, wallClock: 0)
            for plane in 0..<3 {
                let value = Samples.rows(prepared, plane)[10][10]
                #expect(abs(Int(value) - Int(expected[plane])) <= 1, "\(color) plane \(plane)")
            }
        }
    }

    @Test func `a matrix that was not named is named by the camera's size, and kept through scaling`() throws {
        var large = try VideoFrame(width: 1280, height: 720, pixelFormat: .yuv420p)
        Samples.fill(&large) { plane, _, _ in [81, 90, 240][plane] }
        let small = try preparation(640, 360).prepare(large, wallClock: 0)
        let matrix = small.matrix
        #expect(matrix == .bt709)
        #expect((0..<3).map { Samples.rows(small, $0)[100][100] } == [81, 90, 240])
    }

    /// What BT.601 and BT.709 make of the same colours, in the limited range.
    private static let matrices: [(bt601: [UInt8], bt709: [UInt8])] = [
        ([81, 90, 240], [63, 102, 240]), ([145, 54, 34], [173, 42, 26]), ([41, 240, 110], [32, 240, 118]),
        ([180, 128, 128], [180, 128, 128]),
    ]

    private func sample(_ frame: borrowing VideoFrame) -> [UInt8] {
        (0..<3).map { Samples.rows(frame, $0)[100][100] }
    }

    private func packed(_ values: [UInt8]) throws -> VideoFrame {
        var frame = try VideoFrame(width: 1280, height: 720, pixelFormat: .yuyv422)
        Samples.fill(&frame) { _, _, byte in values[[0, 1, 0, 2][byte % 4]] }
        frame.matrix = .bt601
        return frame
    }

    @Test func `an encoder that cannot name a matrix gets the one that players assume`() throws {
        let preparation = try preparation(1280, 720) { $0.matrix = .unspecified }
        for (captured, expected) in Self.matrices {
            let prepared = try preparation.prepare(packed(captured), wallClock: 0)
            let matrix = prepared.matrix
            #expect(matrix == .bt709)
            #expect(zip(sample(prepared), expected).allSatisfy { abs(Int($0) - Int($1)) <= 3 }, "\(sample(prepared))")
            // Of one size and format, where libswscale would rather copy.
            var planar = try VideoFrame(width: 1280, height: 720, pixelFormat: .yuv420p)
            Samples.fill(&planar) { plane, _, _ in captured[plane] }
            planar.matrix = .bt601
            let recolored = try preparation.prepare(planar, wallClock: 0)
            #expect(
                zip(sample(recolored), expected).allSatisfy { abs(Int($0) - Int($1)) <= 3 }, "\(sample(recolored))")
        }
    }

    @Test func `a JPEG becomes BT.709 where that is asked for`() throws {
        // BT.601's red in the full range.
        var frame = try VideoFrame(width: 1280, height: 720, pixelFormat: .yuvj422p)
        Samples.fill(&frame) { plane, _, _ in [76, 85, 255][plane] }
        frame.isFullRange = true
        frame.matrix = .bt601
        let prepared = try preparation(1280, 720) { $0.matrix = .bt709 }.prepare(frame, wallClock: 0)
        let isFullRange = prepared.isFullRange
        #expect(!isFullRange)
        #expect(zip(sample(prepared), [63, 102, 240]).allSatisfy { abs(Int($0) - $1) <= 3 }, "\(sample(prepared))")
    }

    @Test func `the matrix that is asked for costs nothing where it is there`() throws {
        let preparation = try preparation(1280, 720) { $0.matrix = .bt601 }
        let packedFrame = try preparation.prepare(packed([81, 90, 240]), wallClock: 0)
        #expect(sample(packedFrame) == [81, 90, 240] && preparation.copies == 1)
        let planar = try VideoFrame(width: 1280, height: 720, pixelFormat: .yuv420p, lineAlignment: 64)
        planar.matrix = .bt601
        let before = planar.memory(ofPlane: 0)?.bytes.baseAddress
        let prepared = try preparation.prepare(planar, wallClock: 0)
        let after = prepared.memory(ofPlane: 0)?.bytes.baseAddress
        #expect(before == after && preparation.copies == 0)
        // Grey is grey in each.
        var grey = try VideoFrame(width: 1280, height: 720, pixelFormat: .gray8)
        Samples.fill(&grey) { _, _, _ in 180 }
        grey.isFullRange = false
        grey.matrix = .bt709
        let encoded = try preparation.prepare(grey, wallClock: 0)
        let matrix = encoded.matrix
        #expect(matrix == .bt601 && sample(encoded).dropFirst() == [128, 128])
    }

    @Test func `frames are alike whichever way they were scaled`() throws {
        let source = try Pattern.frame(3, width: 640, height: 360)
        let reference = Samples.rows(
            try FrameScaler().scale(source, width: 320, height: 180, pixelFormat: .yuv420p), 0)
        for format in [PixelFormat.nv12, .yuyv422, .uyvy422, .yuvj422p, .rgb24] {
            let captured = try FrameScaler().scale(source, width: 640, height: 360, pixelFormat: format)
            captured.isFullRange = format == .yuvj422p
            let prepared = try preparation(320, 180).prepare(captured, wallClock: 0)
            #expect(Samples.likeness(Samples.rows(prepared, 0), reference) > 30, "format \(format)")
        }
    }

    @Test func `memory that an encoder still reads is not drawn on`() throws {
        let preparation = try preparation(64, 48) { $0.masks = [PrivacyMask(x: 0, y: 0, width: 1, height: 1)] }
        let frame = try Samples.noise(64, 48, .yuv420p, range: 200...255)
        let held = try frame.shared()
        let prepared = try preparation.prepare(frame, wallClock: 0)
        #expect(Samples.rows(prepared, 0).allSatisfy { $0.allSatisfy { $0 == 16 } })
        #expect(Samples.rows(held, 0).allSatisfy { $0.allSatisfy { $0 >= 200 } })
        #expect(preparation.copies == 1)
    }

    @Test func `a configuration that cannot work is refused`() {
        func refusal(_ change: (inout FramePreparation.Configuration) -> Void) -> VideoCodecError? {
            do throws(VideoCodecError) {
                var configuration = FramePreparation.Configuration(width: 64, height: 48)
                change(&configuration)
                _ = try FramePreparation(configuration)
                return nil
            } catch {
                return error
            }
        }
        #expect(refusal { _ in } == nil)
        #expect(refusal { $0.width = 63 } == .invalid(.width, value: 63))
        #expect(refusal { $0.height = 0 } == .invalid(.height, value: 0))
        #expect(refusal { $0.lineAlignment = 100 } == .invalid(.lineAlignment, value: 100))
        #expect(refusal { $0.pixelFormats = [] } != nil)
        #expect(refusal { $0.pixelFormats = [.yuyv422] } != nil)
    }

    /// Whatever libavutil can allocate: a frame comes out masked, or not at all.
    @Test func `no pixel format gets past a mask`() throws {
        let preparation = try preparation(64, 48) { $0.masks = [PrivacyMask(x: 0, y: 0, width: 1, height: 1)] }
        var prepared = 0
        var refused = 0
        for format in (0..<220).map({ PixelFormat(rawValue: $0) }) {
            do throws(VideoCodecError) {
                let frame = try VideoFrame(width: 64, height: 48, pixelFormat: format)
                try zero(frame)
                let result = try preparation.prepare(frame, wallClock: 0)
                let planes = Samples.planes(result)
                #expect([.yuv420p, .nv12].contains(result.pixelFormat))
                #expect(planes[0].allSatisfy { $0.allSatisfy { $0 == 16 } })
                #expect(planes.dropFirst().allSatisfy { $0.allSatisfy { $0.allSatisfy { $0 == 128 } } })
                prepared += 1
            } catch {
                refused += 1
            }
        }
        #expect(prepared > 50)
        #expect(refused > 5)
    }

    /// libswscale reads palettes and floating point numbers, which must not be of chance.
    private func zero(_ frame: borrowing VideoFrame) throws(VideoCodecError) {
        let buffers = frame.avFrame.pointee.buf
        for buffer in [buffers.0, buffers.1, buffers.2, buffers.3] {
            guard let buffer, let data = buffer.pointee.data else { continue }
            data.update(repeating: 0, count: Int(buffer.pointee.size))
        }
    }
}
