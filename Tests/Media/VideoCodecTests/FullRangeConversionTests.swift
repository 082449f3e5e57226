import Testing

@testable import VideoCodec

@Suite struct FullRangeConversionTests {
    @Test func `every value is the nearest one`() {
        let all = (0...255).map { UInt8($0) }
        var luma = [UInt8](repeating: 0, count: 256)
        var chroma = luma
        var mean = luma
        FullRangeConversion.luma(all, &luma, 256)
        FullRangeConversion.chroma(all, &chroma, 256)
        FullRangeConversion.chroma(all, all, &mean, 256)
        for value in 0...255 {
            #expect(luma[value] == UInt8((16 + Double(value) * 219 / 255).rounded()))
            #expect(chroma[value] == UInt8((128 + (Double(value) - 128) * 224 / 255).rounded()))
        }
        #expect(mean == chroma)
        // ITU-T T.871 and BT.601: black, white, and no colour.
        #expect((luma[0], luma[255], chroma[0], chroma[128], chroma[255]) == (16, 235, 16, 128, 240))
    }

    @Test func `two rows of chroma become their mean`() {
        for (one, other) in [(0, 255), (128, 128), (17, 18), (255, 254), (3, 90)] {
            var result: [UInt8] = [0]
            FullRangeConversion.chroma([UInt8(one)], [UInt8(other)], &result, 1)
            let exact = 128 + (Double(one + other) / 2 - 128) * 224 / 255
            #expect(abs(Double(result[0]) - exact) <= 0.5 + 1e-9)
        }
    }

    /// (format, its result) on our way, and libswscale's result for the same.
    @Test(arguments: [PixelFormat.yuvj420p, .yuvj422p, .yuv420p, .nv12, .yuv422p])
    func `libswscale agrees to within its rounding`(format: PixelFormat) throws {
        let (width, height) = (66, 34)
        let source = try Samples.noise(width, height, format)
        source.isFullRange = true
        source.matrix = .bt601
        let ours = try VideoFrame(
            width: width, height: height, pixelFormat: try #require(FullRangeConversion.target(of: format)),
            lineAlignment: 32)
        try FullRangeConversion.convert(source, into: ours)
        let theirs = try VideoFrame(width: width, height: height, pixelFormat: ours.pixelFormat, lineAlignment: 32)
        theirs.isFullRange = false
        theirs.matrix = .bt601
        try FrameScaler(method: .fast).scale(source, into: theirs)
        // Chroma of 4:2:2 goes through another filter there.
        let planes = format == .yuvj422p || format == .yuv422p ? 1 : ours.pixelFormat.planes?.count ?? 0
        for plane in 0..<planes {
            let differences = zip(Samples.rows(ours, plane).joined(), Samples.rows(theirs, plane).joined()).map {
                abs(Int($0) - Int($1))
            }
            #expect((differences.max() ?? 255) <= 2, "plane \(plane)")
        }
    }

    /// Black and white, and the strongest colours, in both ranges (BT.601, T.871).
    @Test(arguments: [
        PixelFormat.yuyv422, .uyvy422, .yvyu422, .nv12, .nv21, .yuv420p, .yuv422p, .yuv444p, .yuvj420p, .yuvj422p,
        .gray8,
    ])
    func `the range is right with and without scaling`(format: PixelFormat) throws {
        for (luma, chroma, expectedLuma, expectedChroma) in [
            (0, 255, 16, 240), (255, 0, 235, 16), (128, 128, 126, 128),
        ] {
            for (width, height) in [(96, 64), (64, 48), (66, 34)] {
                var source = try VideoFrame(width: width, height: height, pixelFormat: format)
                let planes = try #require(format.planes)
                Samples.fill(&source) { plane, _, byte in
                    let samples = planes[plane].samples
                    return UInt8(samples[byte % samples.count] == .luma ? luma : chroma)
                }
                source.isFullRange = true
                for formats in [[PixelFormat.yuv420p], [.nv12]] {
                    let preparation = try FramePreparation(
                        FramePreparation.Configuration(width: 64, height: 48, pixelFormats: formats))
                    let prepared = try preparation.prepare(try source.shared(), wallClock: 0)
                    let brightness = Int(Samples.rows(prepared, 0)[20][20])
                    let color = Int(Samples.rows(prepared, 1)[10][10])
                    #expect(abs(brightness - expectedLuma) <= 1, "\(width)x\(height)")
                    #expect(abs(color - (format == .gray8 ? 128 : expectedChroma)) <= 1, "\(width)x\(height)")
                }
            }
        }
    }

    @Test(arguments: [(35, 17), (2, 2), (1, 1), (640, 6)])
    func `odd sizes have their last row and column`(width: Int, height: Int) throws {
        var source = try VideoFrame(width: width, height: height, pixelFormat: .yuvj422p)
        Samples.fill(&source) { plane, _, _ in plane == 0 ? 255 : 0 }
        let target = try VideoFrame(width: width, height: height, pixelFormat: .yuv420p, lineAlignment: 32)
        try FullRangeConversion.convert(source, into: target)
        #expect(Samples.rows(target, 0).allSatisfy { $0.allSatisfy { $0 == 235 } })
        #expect(Samples.rows(target, 1).allSatisfy { $0.allSatisfy { $0 == 16 } })
        #expect(Samples.rows(target, 2).count == (height + 1) / 2)
    }
}
