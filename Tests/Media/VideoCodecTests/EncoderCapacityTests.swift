import Testing

@testable import VideoCodec

@Suite struct EncoderCapacityTests {
    private func plan(
        width: Int = 1280, height: Int = 720, rate: Double = 30, encoder: String = "libx264", speeds: [String: Double]
    ) throws -> (plan: EncoderCapacity, trials: [EncoderTrial]) {
        var memory = EncoderCache(bootID: "")
        var trials: [EncoderTrial] = []
        let request = EncoderRequest(width: width, height: height, rate: rate, bitsPerSecond: 2_000_000)
        let plan = try EncoderCapacity.plan(encoder, request, now: 0, memory: &memory) {
            trials.append($0)
            return speeds[$0.preset] ?? 0
        }
        return (plan, trials)
    }

    @Test func `the best preset that holds the rate with a third to spare is taken, and no more is measured`() throws {
        let (best, trials) = try plan(speeds: ["veryfast": 39])
        #expect(best.preset == "veryfast" && best.rate == 30 && best.limit == nil)
        #expect(best.width == 1280 && best.height == 720)
        #expect(trials.map(\.preset) == ["veryfast"])
        let (second, more) = try plan(speeds: ["veryfast": 38.9, "superfast": 39])
        #expect(second.preset == "superfast" && second.limit == nil)
        #expect(more.map(\.preset) == ["veryfast", "superfast"])
    }

    @Test func `all measurements together have less than half a second`() throws {
        let (_, trials) = try plan(speeds: [:])
        #expect(trials.count == 3)
        #expect(trials.map(\.seconds).reduce(0, +) <= 0.401)
    }

    @Test func `a machine that is too slow gets a lower rate first`() throws {
        let (plan, _) = try plan(speeds: ["veryfast": 10, "superfast": 15, "ultrafast": 26.5])
        #expect(plan.preset == "ultrafast" && plan.width == 1280 && plan.height == 720)
        #expect(plan.rate == 20)
        let limit = try #require(plan.limit)
        #expect(limit.contains("1280x720 at 20 frames a second instead of 1280x720 at 30"))
        #expect(limit.contains("26.5"))
    }

    @Test func `below ten frames a second the frame gets smaller`() throws {
        let (three, _) = try plan(speeds: ["ultrafast": 10])
        #expect((three.width, three.height) == (960, 540))
        #expect(three.rate == 13)
        let (half, _) = try plan(speeds: ["ultrafast": 5])
        #expect((half.width, half.height) == (640, 360))
        #expect(half.rate == 15)
        let (odd, _) = try plan(width: 1298, height: 730, speeds: ["ultrafast": 10])
        #expect(odd.width.isMultiple(of: 2) && odd.height.isMultiple(of: 2))
        #expect((odd.width, odd.height) == (972, 546))
    }

    @Test func `at worst it is half the size at what it holds, and at least one frame a second`() throws {
        let (slow, _) = try plan(speeds: ["ultrafast": 1])
        #expect((slow.width, slow.height) == (640, 360))
        #expect(slow.rate == 3)
        for nonsense in [0, -5, Double.nan, .infinity] {
            let (stuck, _) = try plan(speeds: ["ultrafast": nonsense])
            #expect(stuck.rate == 1 && stuck.width == 640)
        }
    }

    @Test func `a rate below ten that was requested is not a reason for a smaller frame`() throws {
        let (plan, _) = try plan(rate: 5, speeds: ["ultrafast": 6.6])
        #expect(plan.width == 1280 && plan.rate == 5 && plan.limit == nil)
    }

    @Test func `an encoder without presets is measured once`() throws {
        let (plan, trials) = try plan(encoder: "libopenh264", speeds: ["": 200])
        #expect(plan.preset.isEmpty && plan.limit == nil)
        #expect(trials.count == 1)
    }

    @Test func `what was measured before is not measured again`() throws {
        var memory = EncoderCache(bootID: "")
        let request = EncoderRequest(width: 1280, height: 720, rate: 30, bitsPerSecond: 2_000_000)
        var count = 0
        for _ in 0..<3 {
            let plan = try EncoderCapacity.plan("libx264", request, now: 0, memory: &memory) { _ in
                count += 1
                return 100
            }
            #expect(plan.preset == "veryfast")
        }
        #expect(count == 1)
    }

    @Test func `rates are printed with as many digits as matter`() {
        let reported = [30, 29.97, 12.34, 0.5, 123.4, 99.96, 0].map(EncoderCapacity.text)
        #expect(reported == ["30", "30", "12.3", "0.5", "123", "100", "0"])
        #expect([Double.nan, -.infinity, .infinity].map(EncoderCapacity.text) == ["0", "0", "100000000"])
    }

    @Test func `a measurement really encodes`() throws {
        let trial = EncoderTrial(
            encoder: "libx264", preset: "ultrafast", width: 320, height: 180, rate: 25, bitsPerSecond: 400_000,
            seconds: 0.05)
        #expect(try trial.run() > 0)
        // However little time there is.
        var short = trial
        short.seconds = 0
        #expect(try short.run() > 0)
    }

    @Test func `a measurement of an encoder that is not there says so`() {
        let trial = EncoderTrial(
            encoder: "no_such_encoder", preset: "", width: 320, height: 180, rate: 25, bitsPerSecond: 400_000,
            seconds: 0.05)
        let error = #expect(throws: VideoCodecError.self) { try trial.run() }
        #expect("\(String(describing: error))".contains("not in this libavcodec"))
    }
}
