import Testing

@testable import RTSPIngest

@Suite struct FrameRateTests {
    private static let second: UInt64 = 1_000_000_000

    /// What is found out of frames that come at this rate, and how many it takes.
    private func found(rate: Double, from begin: UInt64 = 7 * second) -> (rate: Double?, frames: Int) {
        var measure = FrameRate()
        for frame in 0..<1000 {
            let now = begin + UInt64((Double(frame) / rate * 1e9).rounded())
            if let found = measure.took(at: now) { return (found, frame + 1) }
        }
        return (nil, 1000)
    }

    @Test(arguments: [(1.0, 2), (2, 2), (10, 5), (25, 11), (50, 21)])
    func `the rate is known after four tenths of a second and two frames`(rate: Double, frames: Int) throws {
        let found = found(rate: rate)
        #expect(abs(try #require(found.rate) - rate) < 0.001)
        #expect(found.frames == frames)
    }

    @Test(arguments: [(0.01, 1.0), (0.5, 1), (61, 60), (1000, 60)]) func `it is bounded`(rate: Double, known: Double) {
        #expect(found(rate: rate).rate == known)
    }

    @Test func `frames that had waited in the camera do not make it fast`() {
        var measure = FrameRate()
        for _ in 0..<5 { #expect(measure.took(at: 0) == nil) }
        #expect(measure.took(at: Self.second) == 5)
    }

    @Test func `once known it stays, and one that is known is not measured`() {
        var measure = FrameRate()
        #expect(measure.took(at: 0) == nil)
        #expect(measure.took(at: Self.second / 2) == 2)
        #expect(measure.took(at: Self.second / 2 + 1) == 2)
        var known = FrameRate()
        known.known = 12.5
        #expect(known.took(at: 0) == 12.5)
    }
}
