import Testing

@testable import AudioCapture

@Suite struct DriftLoopTests {
    @Test func `however late a block is, what is corrected stays below what is heard`() {
        for sign in [1.0, -1] {
            var loop = DriftLoop()
            for _ in 0..<1000 { loop.update(error: sign * 5, seconds: 0.01) }
            #expect(loop.correction == sign * 0.002)
            // A long fault of one direction is not a clock: the memory of it ends where crystals do.
            #expect(loop.integral == sign * 0.001)
            for _ in 0..<10_000 { loop.update(error: 0, seconds: 0.01) }
            #expect(loop.correction == sign * 0.001)
        }
    }

    /// 300 ppm, blocks of 10 ms: after three minutes the loop reads as the device counts, and nothing is late any more.
    @Test func `a device's clock is followed`() {
        let drift = 0.0003
        var loop = DriftLoop()
        var error = 0.0
        var worst = 0.0
        for _ in 0..<20_000 {
            error += (drift - loop.correction) * 0.01
            loop.update(error: error, seconds: 0.01)
            worst = max(worst, error)
        }
        #expect(abs(loop.correction - drift) < 1e-6 && abs(error) < 1e-5)
        // 300 ppm / (e * speed).
        #expect((0.0010...0.0012).contains(worst), "\(worst)")
    }
}
