import Testing

@testable import VideoCodec

@Suite struct PrivacyMaskTests {
    static let masks = [
        [PrivacyMask(x: 0, y: 0, width: 0.25, height: 0.1)],
        [PrivacyMask(x: 0.013, y: 0.017, width: 0.001, height: 0.001)],
        [PrivacyMask(x: 0.999, y: 0.999, width: 1, height: 1)],
        [PrivacyMask(x: 0.3, y: 0.29, width: 0.41, height: 0.37), PrivacyMask(x: 0.5, y: 0, width: 0.01, height: 1)],
        [PrivacyMask(x: 0, y: 0, width: 1, height: 1)],
    ]

    /// Whether any part of a square of the frame is covered, without rounding.
    private func touches(_ masks: [PrivacyMask], _ x: Range<Int>, _ y: Range<Int>, _ width: Int, _ height: Int) -> Bool
    {
        masks.contains { mask in
            let left = mask.x * Double(width)
            let top = mask.y * Double(height)
            return left < Double(x.upperBound) && left + mask.width * Double(width) > Double(x.lowerBound)
                && top < Double(y.upperBound) && top + mask.height * Double(height) > Double(y.lowerBound)
        }
    }

    /// Every sample is black where a mask touches its pixel, and as it was where none comes near.
    private func check(
        _ frame: borrowing VideoFrame, _ masks: [PrivacyMask], black: UInt8, original: [[[UInt8]]]? = nil
    ) {
        let width = frame.width
        let height = frame.height
        let planes = Samples.planes(frame)
        let layout = frame.pixelFormat.planes ?? []
        let unitX = layout.map(\.columns).max() ?? 1
        let unitY = layout.map(\.rowsPerGroup).max() ?? 1
        var leaks = 0
        var losses = 0
        for (index, plane) in layout.enumerated() {
            let size = plane.samples.count
            for (row, bytes) in planes[index].enumerated() {
                let y = (row * plane.rowsPerGroup)..<min((row + 1) * plane.rowsPerGroup, height)
                for (place, byte) in bytes.enumerated() {
                    let group = place / size
                    let x = (group * plane.columns)..<min((group + 1) * plane.columns, width)
                    let expected: UInt8
                    switch plane.samples[place % size] {
                    case .luma: expected = black
                    case .chroma: expected = 128
                    case .color: expected = 0
                    }
                    if touches(masks, x, y, width, height), byte != expected { leaks += 1 }
                    let near = touches(
                        masks, (x.lowerBound / unitX * unitX)..<(x.upperBound + unitX),
                        (y.lowerBound / unitY * unitY)..<(y.upperBound + unitY), width, height)
                    if let original, !near, byte != original[index][row][place] { losses += 1 }
                }
            }
        }
        #expect(leaks == 0, "\(frame.description), masks \(masks)")
        #expect(losses == 0, "\(frame.description), masks \(masks)")
    }

    @Test(arguments: [
        PixelFormat.yuv420p, .yuvj420p, .yuv422p, .yuvj422p, .yuv444p, .nv12, .nv21, .yuyv422, .uyvy422, .yvyu422,
        .rgb24,
        .gray8,
    ])
    func `every pixel under a mask is black, and no other`(format: PixelFormat) throws {
        for (width, height) in [(64, 36), (66, 34), (35, 17), (16, 16), (2, 2)] {
            for masks in Self.masks {
                for isFullRange in [false, true] {
                    // 200 and more is neither black nor grey.
                    var frame = try Samples.noise(width, height, format, range: 200...255)
                    frame.isFullRange = isFullRange
                    let original = Samples.planes(frame)
                    try frame.draw(masks)
                    check(
                        frame, masks, black: isFullRange || format.isAlwaysFullRange ? 0 : 16, original: original)
                }
            }
        }
    }

    @Test(arguments: FrameOrientationTests.all)
    func `masks are where they were asked for, however the frame is turned`(orientation: FrameOrientation) throws {
        let formats: [PixelFormat] = [.yuv420p, .nv12, .yuyv422, .uyvy422, .yuvj420p, .yuvj422p, .rgb24, .gray8]
        for format in formats {
            for (captureWidth, captureHeight) in [(64, 48), (48, 64), (80, 46)] {
                for masks in Self.masks {
                    let preparation = try FramePreparation(
                        FramePreparation.Configuration(
                            width: 64, height: 48, orientation: orientation, masks: masks,
                            pixelFormats: [.yuv420p, .nv12], lineAlignment: 64))
                    let frame = try Samples.noise(captureWidth, captureHeight, format, range: 200...255)
                    let prepared = try preparation.prepare(frame, wallClock: 0)
                    let isFullRange = prepared.isFullRange
                    #expect(!isFullRange)
                    check(prepared, masks, black: 16)
                    // Nothing else became black.
                    let brightest = Samples.rows(prepared, 0).map { $0.max() ?? 0 }.max() ?? 0
                    #expect(brightest > 150 || masks == Self.masks[4])
                }
            }
        }
    }

    @Test(arguments: [
        PrivacyMask(x: .nan, y: 0, width: 1, height: 1), PrivacyMask(x: 0, y: 0, width: .infinity, height: 1),
        PrivacyMask(x: -0.1, y: 0, width: 1, height: 1), PrivacyMask(x: 0, y: 1, width: 1, height: 1),
        PrivacyMask(x: 0, y: 0, width: 0, height: 1), PrivacyMask(x: 0, y: 0, width: 1, height: -1),
        PrivacyMask(x: 1, y: 0, width: 1e-7, height: 1), PrivacyMask(x: 0, y: 1, width: 1, height: 1e-7),
    ])
    func `a mask that covers nothing is refused before any frame`(mask: PrivacyMask) throws {
        func isInvalid(_ error: VideoCodecError?) -> Bool {
            if case .invalidMask = error { true } else { false }
        }
        let masks = [PrivacyMask(x: 0, y: 0, width: 1, height: 1), mask]
        let refused = #expect(throws: VideoCodecError.self) {
            try FramePreparation(FramePreparation.Configuration(width: 64, height: 48, masks: masks))
        }
        #expect(isInvalid(refused))
        var frame = try Samples.noise(64, 48, .yuv420p)
        let before = Samples.planes(frame)
        var drawn: VideoCodecError?
        do throws(VideoCodecError) { try frame.draw(masks) } catch { drawn = error }
        #expect(isInvalid(drawn))
        #expect(Samples.planes(frame) == before)
    }

    @Test(arguments: [
        PrivacyMask(x: 1.0.nextDown, y: 0, width: 1e-7, height: 1),
        PrivacyMask(x: 0, y: 1.0.nextDown, width: 1, height: 1e-7),
        PrivacyMask(x: 0, y: 0, width: 1 + 1e-7, height: 1),
        PrivacyMask(x: -0.0, y: -0.0, width: 1e-300, height: 1e-300),
    ])
    func `what the settings let through is drawn`(mask: PrivacyMask) throws {
        var frame = try Samples.noise(64, 48, .yuv420p, range: 200...255)
        try frame.draw([mask])
        let (x, y) = (mask.x > 0.5 ? 63 : 0, mask.y > 0.5 ? 47 : 0)
        #expect(Pictures.luma(frame, x: x, y: y) == 16)
    }

    @Test func `a mask may be as large as numbers go`() throws {
        var frame = try Samples.noise(64, 48, .yuv420p)
        let masks = [PrivacyMask(x: 0, y: 0, width: .greatestFiniteMagnitude, height: .greatestFiniteMagnitude)]
        try frame.draw(masks)
        check(frame, masks, black: 16)
    }

    @Test func `a frame of unknown format does not pass under masks`() throws {
        let unknown = PixelFormat(rawValue: 66)
        var frame = try VideoFrame(width: 64, height: 48, pixelFormat: unknown)
        var drawn: VideoCodecError?
        do throws(VideoCodecError) {
            try frame.draw([PrivacyMask(x: 0, y: 0, width: 1, height: 1)])
        } catch { drawn = error }
        #expect(drawn == .unsupportedFrame(what: "masking", frame: frame.description))
    }
}
