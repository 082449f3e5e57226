import Foundation
import Testing

@testable import VideoCodec

@Suite struct EncoderSelectorTests {
    private let node = "/dev/video11, bcm2835-codec-encode"

    private struct Answers {
        var works = true
        var speed = 1000.0
        var missing: Set<String> = []
        var probes: [String] = []
        var trials: [EncoderTrial] = []
    }

    private func select(
        _ request: EncoderRequest = EncoderRequest(width: 1280, height: 720, rate: 30, bitsPerSecond: 2_000_000),
        nodes: [String]? = nil, now: Double = 0, memory: inout EncoderCache, _ answers: inout Answers
    ) throws(VideoCodecError) -> EncoderPlan {
        var given = answers
        defer { answers = given }
        return try EncoderSelector.select(
            request, hardwareNodes: nodes ?? [node], now: now, memory: &memory,
            probe: { encoder, width, height, rate in
                given.probes.append("\(encoder) \(width)x\(height) \(Int(rate))")
                return EncoderProbeResult(
                    encoder: encoder, works: given.works, reason: given.works ? "30 frames" : "did not answer")
            },
            measure: { trial throws(VideoCodecError) in
                given.trials.append(trial)
                guard !given.missing.contains(trial.encoder) else {
                    throw .noEncoder([EncoderRejection(encoder: trial.encoder, reason: "not in this libavcodec")])
                }
                return given.speed
            })
    }

    @Test func `hardware that works is taken, and nothing is measured`() throws {
        var memory = EncoderCache(bootID: "")
        var answers = Answers()
        let plan = try select(memory: &memory, &answers)
        #expect(plan.encoder == "h264_v4l2m2m" && plan.isHardware && !plan.isHardwareOff)
        #expect(plan.limit == nil && plan.preset.isEmpty && plan.rate == 30)
        #expect(plan.reason == "h264_v4l2m2m: a probe worked: 30 frames")
        #expect(answers.probes == ["h264_v4l2m2m 1280x720 30"] && answers.trials.isEmpty)
    }

    @Test func `a second start remembers the probe`() throws {
        var memory = EncoderCache(bootID: "")
        var answers = Answers()
        _ = try select(memory: &memory, &answers)
        let plan = try select(now: 100, memory: &memory, &answers)
        #expect(plan.isHardware)
        #expect(answers.probes.count == 1)
    }

    @Test func `without a node nothing is probed, and software is taken with the reason`() throws {
        var memory = EncoderCache(bootID: "")
        var answers = Answers()
        let plan = try select(nodes: [], memory: &memory, &answers)
        #expect(plan.encoder == "libx264" && !plan.isHardware && plan.preset == "veryfast")
        #expect(
            plan.reason.hasPrefix("h264_v4l2m2m: no hardware encoder on this machine; libx264: encodes 1000 frames"))
        #expect(answers.probes.isEmpty)
    }

    @Test func `hardware that fails its probe is passed over, with its name and the reason`() throws {
        var memory = EncoderCache(bootID: "")
        var answers = Answers(works: false)
        let plan = try select(memory: &memory, &answers)
        #expect(plan.encoder == "libx264")
        #expect(plan.reason.contains("h264_v4l2m2m: did not answer (/dev/video11, bcm2835-codec-encode)"))
        _ = try select(now: 10, memory: &memory, &answers)
        #expect(answers.probes.count == 1)
        answers.works = true
        let later = try select(now: 700, memory: &memory, &answers)
        #expect(later.isHardware)
    }

    @Test func `hardware that hung again and again is left alone without a probe, and tried again later`() throws {
        var memory = EncoderCache(bootID: "")
        var answers = Answers()
        for instant in [10.0, 20, 30] { memory.noteHang(of: "h264_v4l2m2m", at: instant) }
        let plan = try select(now: 40, memory: &memory, &answers)
        #expect(plan.encoder == "libx264" && plan.isHardwareOff && plan.hardwareOffUntil == 3630)
        #expect(plan.reason.hasPrefix("h264_v4l2m2m: hung again and again, and is left alone for an hour after"))
        #expect(answers.probes.isEmpty)
        let later = try select(now: 3630, memory: &memory, &answers)
        #expect(later.isHardware && !later.isHardwareOff && later.hardwareOffUntil == nil && answers.probes.count == 1)
    }

    @Test func `hardware that failed is probed again when its time is over, and software stays as it is until then`()
        throws
    {
        var memory = EncoderCache(bootID: "")
        var answers = Answers()
        let request = EncoderRequest(width: 1280, height: 720, rate: 30, bitsPerSecond: 2_000_000)
        memory.noteFault(of: "h264_v4l2m2m", reason: "Input/output error", at: 0)
        let software = try select(now: 1, memory: &memory, &answers)
        #expect(software.encoder == "libx264" && software.isHardwareOff && software.hardwareOffUntil == 600)
        #expect(software.reason.hasPrefix("h264_v4l2m2m: failed (Input/output error)") && answers.probes.isEmpty)
        func retry(at now: Double, works: Bool) -> EncoderPlan {
            EncoderSelector.retry(
                software, request, hardwareNodes: [node], now: now, memory: &memory,
                probe: { encoder, _, _, _ in EncoderProbeResult(encoder: encoder, works: works, reason: "so it was") })
        }
        let worse = retry(at: 600, works: false)
        #expect(!worse.isHardware && worse.isHardwareOff && worse.hardwareOffUntil == 1800)
        #expect(worse.finding == software.finding && worse.preset == software.preset)
        #expect(worse.reason.hasPrefix("h264_v4l2m2m: so it was (\(node))"))
        let early = retry(at: 700, works: true)
        #expect(!early.isHardware && early.hardwareOffUntil == 1800)
        #expect(retry(at: 1800, works: true).isHardware)
    }

    @Test func `hardware whose first probe failed is tried again as well, without a warning`() throws {
        var memory = EncoderCache(bootID: "")
        var answers = Answers(works: false)
        let plan = try select(now: 5, memory: &memory, &answers)
        #expect(!plan.isHardwareOff && plan.hardwareOffUntil == 605)
    }

    @Test func `an encoder that does not open gives way to the next`() throws {
        var memory = EncoderCache(bootID: "")
        var answers = Answers(missing: ["libx264"])
        let plan = try select(nodes: [], memory: &memory, &answers)
        #expect(plan.encoder == "libopenh264")
        #expect(plan.reason.contains("this machine; libx264: not in this libavcodec; libopenh264: encodes"))
    }

    @Test func `without any encoder each one's reason is reported`() throws {
        var memory = EncoderCache(bootID: "")
        var answers = Answers(works: false, missing: ["libx264", "libopenh264"])
        let error = #expect(throws: VideoCodecError.self) { try select(memory: &memory, &answers) }
        guard case .noEncoder(let rejections) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(rejections.map(\.encoder) == VideoEncoderConfiguration.automaticEncoders)
    }

    @Test func `hardware is not asked for more than its level allows`() throws {
        var memory = EncoderCache(bootID: "")
        var answers = Answers()
        let request = EncoderRequest(width: 1920, height: 1080, rate: 60, bitsPerSecond: 8_000_000)
        let plan = try select(request, memory: &memory, &answers)
        #expect(plan.isHardware && plan.rate == 30)
        #expect(plan.limit?.contains("1920x1080 at 30 frames a second instead of 60") == true)
        #expect(answers.probes == ["h264_v4l2m2m 1920x1080 30"])
    }

    @Test func `the level is H.264's, and not asked of H.265`() throws {
        var memory = EncoderCache(bootID: "")
        var answers = Answers()
        let request = EncoderRequest(
            encoders: ["hevc_v4l2m2m"], width: 1920, height: 1080, rate: 60, bitsPerSecond: 8_000_000)
        let plan = try select(request, memory: &memory, &answers)
        #expect(plan.encoder == "hevc_v4l2m2m" && plan.rate == 60 && plan.limit == nil)
    }

    @Test func `a plan goes through JSON, and becomes a configuration`() throws {
        var memory = EncoderCache(bootID: "")
        var answers = Answers(speed: 13)
        let plan = try select(nodes: [], memory: &memory, &answers)
        #expect(plan.limit != nil && plan.preset == "ultrafast")
        #expect(try JSONDecoder().decode(EncoderPlan.self, from: JSONEncoder().encode(plan)) == plan)
        let configuration = plan.configuration(bitsPerSecond: 500_000, keyFrameInterval: 3)
        #expect(configuration.encoders == ["libx264"] && configuration.preset == "ultrafast")
        #expect(configuration.frameRate == 10 && configuration.keyFrameInterval == 3)
        #expect(configuration.width == plan.width && configuration.bitsPerSecond == 500_000)
    }

    @Test func `on this machine an encoder is found`() throws {
        var memory = EncoderCache(bootID: "")
        let request = EncoderRequest(width: 640, height: 360, rate: 15, bitsPerSecond: 1_000_000)
        let clock = ContinuousClock()
        let begin = clock.now
        let plan = try EncoderSelector.select(
            request, hardwareNodes: [], now: 0, memory: &memory,
            probe: { encoder, _, _, _ in EncoderProbeResult(encoder: encoder, works: false, reason: "") },
            measure: { trial throws(VideoCodecError) in try trial.run() })
        print("software encoder chosen in \(clock.now - begin): \(plan.reason)")
        #expect(!plan.isHardware && plan.width >= 320 && plan.rate >= 1)
        let encoder = try VideoEncoder(plan.configuration(bitsPerSecond: 500_000, keyFrameInterval: 2))
        #expect(encoder.choice.encoder == plan.encoder)
    }
}
