import Testing

@testable import DeviceSource

struct RateThinnerTests {
    private func admitted(requested: Double, delivered: Double?, real: Double, seconds: Double = 20) -> Int {
        var thinner = RateThinner(requested: requested, delivered: delivered)
        return (0..<Int(real * seconds)).count { number in
            // Up to a sixth of a period early or late.
            let jitter = Double((number * 7919) % 5 - 2) / 12 / real
            return thinner.admits(UInt64((100 + Double(number) / real + jitter) * 1e9))
        }
    }

    @Test(arguments: [(30.0, 15.0), (30, 20), (30, 10), (60, 25), (25, 20), (120, 30)])
    func `a camera that is faster is thinned evenly`(delivered: Double, requested: Double) {
        let count = admitted(requested: requested, delivered: delivered, real: delivered)
        #expect(abs(Double(count) / 20 - requested) <= requested * 0.03 + 0.1)
    }

    @Test func `a camera that has the rate, or nearly, passes whole`() {
        #expect(admitted(requested: 30, delivered: 30, real: 30) == 600)
        #expect(admitted(requested: 29.97, delivered: 30, real: 30) == 600)
        #expect(admitted(requested: 30, delivered: 15, real: 15) == 300)
    }

    @Test func `a camera that does not say its rate is held to what was asked`() {
        let count = admitted(requested: 10, delivered: nil, real: 30)
        #expect(abs(Double(count) / 20 - 10) <= 0.4)
    }

    @Test func `after a pause the beat begins again, without a burst`() {
        var thinner = RateThinner(requested: 10, delivered: 30)
        let milliseconds: [UInt64] = [1_000, 9_000, 9_033, 9_066, 9_100]
        let admitted = milliseconds.map { thinner.admits($0 * 1_000_000) }
        #expect(admitted == [true, true, false, false, true])
    }
}
