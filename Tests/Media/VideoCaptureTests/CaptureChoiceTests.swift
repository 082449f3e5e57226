import Testing

@testable import VideoCapture

struct CaptureChoiceTests {
    private func mode(_ format: FourCC, _ sizes: [(Int, Int, [Int])]) -> CaptureMode {
        CaptureMode(
            pixelFormat: format, name: "\(format)", isCompressed: format.isCompressed,
            extents: sizes.map { width, height, rates in
                .init(
                    sizes: .discrete(CaptureSize(width: width, height: height)),
                    rates: rates.isEmpty ? .unknown : .discrete(rates.map { Fraction($0) }))
            })
    }

    /// A webcam on USB 2: raw at the rates that the bus allows, MJPEG at all.
    private var webcam: [CaptureMode] {
        [
            mode(.yuyv, [(640, 480, [30, 15]), (1280, 720, [10, 5]), (1920, 1080, [5])]),
            mode(.mjpeg, [(640, 480, [30, 15]), (1280, 720, [60, 30]), (1920, 1080, [30])]),
            mode(.h264, [(1280, 720, [30]), (1920, 1080, [30])]),
        ]
    }

    private func best(
        _ modes: [CaptureMode], _ width: Int, _ height: Int, _ rate: Double, _ format: FourCC? = nil,
        limit: Int? = 24_000_000
    ) -> String? {
        let request = CaptureRequest(width: width, height: height, rate: rate, pixelFormat: format)
        let choice = CaptureChoice(request: request, rawBytesPerSecond: limit)
        return choice.candidates(modes).first.map { "\($0.pixelFormat) \($0.size) \($0.rate.value)" }
    }

    @Test func `thumbnails are taken raw, large ones as MJPEG, because the bus cannot carry them raw`() {
        #expect(best(webcam, 640, 480, 30) == "YUYV 640x480 30.0")
        #expect(best(webcam, 1280, 720, 30) == "MJPG 1280x720 30.0")
        #expect(best(webcam, 1920, 1080, 30) == "MJPG 1920x1080 30.0")
    }

    @Test func `a rate that raw frames reach on the bus keeps them raw`() {
        #expect(best(webcam, 1280, 720, 10) == "YUYV 1280x720 10.0")
        let fast = [mode(.yuyv, [(1280, 720, [30])]), mode(.mjpeg, [(1280, 720, [30])])]
        #expect(best(fast, 1280, 720, 30) == "MJPG 1280x720 30.0")
        #expect(best(fast, 1280, 720, 30, limit: nil) == "YUYV 1280x720 30.0")
        #expect(best([fast[0]], 1280, 720, 30) == "YUYV 1280x720 30.0", "better too much than nothing")
    }

    @Test func `the exact size comes before all others, then the smallest that covers it, then the largest below`() {
        #expect(best(webcam, 1000, 700, 30) == "MJPG 1280x720 30.0")
        #expect(best(webcam, 320, 240, 30) == "YUYV 640x480 30.0")
        #expect(best(webcam, 3840, 2160, 30) == "MJPG 1920x1080 30.0")
        let narrow = [mode(.yuyv, [(1280, 480, [30]), (640, 480, [30]), (800, 600, [30])])]
        #expect(best(narrow, 800, 500, 30) == "YUYV 800x600 30.0")
    }

    @Test func `the lowest rate that is enough is taken, else the highest there is`() {
        #expect(best(webcam, 1280, 720, 25) == "MJPG 1280x720 30.0")
        #expect(best(webcam, 1280, 720, 60) == "MJPG 1280x720 60.0")
        #expect(best(webcam, 1280, 720, 90) == "MJPG 1280x720 60.0")
    }

    @Test func `a rate below half of what is requested weighs more than the size`() {
        let modes = [mode(.yuyv, [(1920, 1080, [5]), (1280, 720, [30])])]
        #expect(best(modes, 1920, 1080, 30) == "YUYV 1280x720 30.0")
        #expect(best(modes, 1920, 1080, 10) == "YUYV 1920x1080 5.0")
    }

    @Test func `what costs least before the encoder is preferred`() {
        let order: [FourCC] = [.yu12, .nv12, .yuyv, .uyvy, .nv21, .rgb3, .mjpeg]
        for count in 1...order.count {
            let modes = order.suffix(count).reversed().map { mode($0, [(640, 480, [30])]) }
            #expect(best(modes, 640, 480, 30, limit: nil) == "\(order[order.count - count]) 640x480 30.0")
        }
    }

    @Test func `video that the camera encodes is taken only when it is asked for`() {
        #expect(best([webcam[2]], 1280, 720, 30) == nil)
        #expect(best(webcam, 1280, 720, 30, .h264) == "H264 1280x720 30.0")
        #expect(best(webcam, 640, 480, 30, .h264) == "H264 1280x720 30.0")
    }

    @Test func `a format that is asked for is that format, whatever the bus says; JPEG has two names`() {
        #expect(best(webcam, 1920, 1080, 5, .yuyv) == "YUYV 1920x1080 5.0")
        #expect(best(webcam, 640, 480, 30, .nv12) == nil)
        #expect(best([mode(.jpeg, [(640, 480, [30])])], 640, 480, 30, .mjpeg) == "JPEG 640x480 30.0")
    }

    @Test func `raw sensor samples and unknown codings are never taken`() throws {
        let odd = try ["RG10", "ABCD"].map { mode(try #require(FourCC($0)), [(640, 480, [30])]) }
        #expect(best(odd, 640, 480, 30) == nil)
        let vendor = try #require(FourCC("S561"))
        #expect(best(odd + [mode(vendor, [(352, 288, [30])])], 640, 480, 30) == "S561 352x288 30.0")
    }

    @Test(arguments: [
        (641, 361, "YUYV 648x368 25.0"), (640, 360, "YUYV 640x360 25.0"), (10, 10, "YUYV 48x48 25.0"),
        (9999, 9999, "YUYV 3840x2160 25.0"), (48, 9999, "YUYV 48x2160 25.0"),
    ])
    func `of a range of sizes, the least step that covers the request is taken`(
        width: Int, height: Int, expected: String
    ) {
        let range = CaptureMode.Sizes.range(
            minimum: CaptureSize(width: 48, height: 48), maximum: CaptureSize(width: 3840, height: 2160), widthStep: 8,
            heightStep: 8)
        let rates = CaptureMode.Rates.range(minimum: Fraction(1), maximum: Fraction(60))
        let modes = [
            CaptureMode(pixelFormat: .yuyv, name: "", isCompressed: false, extents: [.init(sizes: range, rates: rates)])
        ]
        #expect(best(modes, width, height, 25, limit: nil) == expected)
    }

    @Test func `where the driver lists no sizes, the requested one is tried`() {
        let modes = [
            CaptureMode(
                pixelFormat: .uyvy, name: "", isCompressed: false, extents: [.init(sizes: .unknown, rates: .unknown)])
        ]
        #expect(best(modes, 1920, 1080, 29.97, limit: nil) == "UYVY 1920x1080 29.97")
    }

    @Test func `at most eight are tried, best first, each better than the next`() {
        let many = (1...40).map { ($0 * 16, $0 * 16, [30]) }
        let request = CaptureRequest(width: 320, height: 320, rate: 30)
        let candidates = CaptureChoice(request: request, rawBytesPerSecond: nil).candidates([mode(.yuyv, many)])
        #expect(candidates.count == CaptureChoice.maxCount)
        #expect(candidates.prefix(3).map(\.size.width) == [320, 336, 352])
    }
}
