/// Chooses the encoder of a camera: hardware where a probe really works, else software, with the size and the rate that
/// this machine holds. What it learns goes into the memory, so that a restart chooses at once.
public enum EncoderSelector {
    /// - Parameter hardwareNodes: V4L2 encoders of this machine, each in words ("/dev/video11, bcm2835-codec-encode");
    ///   none: no probe is made.
    /// - Parameter now: seconds since boot (`EncoderMemory.now`).
    /// - Parameter probe: codes with a hardware encoder, in another process (`EncoderProbeChild.run`).
    /// - Parameter measure: pictures per second that a software encoder codes (`EncoderTrial.run`).
    /// - Throws: `.noEncoder` with a reason for each encoder.
    public static func select(
        _ request: EncoderRequest, hardwareNodes: [String], now: Double, memory: inout EncoderMemory,
        probe: (_ encoder: String, _ width: Int, _ height: Int, _ rate: Double) -> EncoderProbeResult,
        measure: (EncoderTrial) throws(VideoCodecError) -> Double
    ) throws(VideoCodecError) -> EncoderPlan {
        var rejections: [EncoderRejection] = []
        var offUntil: Double?
        for name in request.encoders {
            let traits = EncoderTraits(name: name)
            if traits.isM2M {
                switch hardware(
                    name, request, nodes: hardwareNodes, now: now, memory: &memory, offUntil: &offUntil, probe)
                {
                case .works(let words):
                    return plan(hardware: name, words, request, rejections)
                case .rejected(let reason):
                    rejections.append(EncoderRejection(encoder: name, reason: reason))
                }
                continue
            }
            do throws(VideoCodecError) {
                let capacity = try EncoderCapacity.plan(
                    name, request, now: now, memory: &memory, measure: measure)
                return EncoderPlan(
                    encoder: name, isHardware: false, reason: sentence(name, capacity.words, rejections),
                    width: capacity.width, height: capacity.height, rate: capacity.rate, preset: capacity.preset,
                    limit: capacity.limit, isHardwareOff: offUntil != nil,
                    hardwareOffUntil: offUntil)
            } catch .noEncoder(let reasons) {
                rejections += reasons
            } catch {
                rejections.append(EncoderRejection(encoder: name, reason: "\(error)"))
            }
        }
        throw .noEncoder(rejections)
    }

    private enum Verdict {
        case works(String)
        case rejected(String)
    }

    private static func hardware(
        _ name: String, _ request: EncoderRequest, nodes: [String], now: Double, memory: inout EncoderMemory,
        offUntil: inout Double?,
        _ probe: (_ encoder: String, _ width: Int, _ height: Int, _ rate: Double) -> EncoderProbeResult
    ) -> Verdict {
        guard !nodes.isEmpty else { return .rejected("no hardware encoder on this machine") }
        if let until = memory.hardwareIsOff(at: now) {
            offUntil = until
            // These words stand in a status for as long as the plan holds: no number that grows old.
            return .rejected("hung again and again, and is left alone for an hour after the last time")
        }
        if let known = memory.probe(of: name, width: request.width, height: request.height, now: now) {
            return known.works
                ? .works("a probe worked earlier: \(known.reason)")
                : .rejected("a probe failed earlier: \(known.reason)")
        }
        let rate = EncoderLevel.rate(for: request, name)
        let result = probe(name, request.width, request.height, rate)
        memory.note(result, width: request.width, height: request.height, now: now)
        return result.works
            ? .works("a probe worked: \(result.reason)")
            : .rejected("\(result.reason) (\(nodes.joined(separator: "; ")))")
    }

    private static func plan(
        hardware name: String, _ words: String, _ request: EncoderRequest, _ rejections: [EncoderRejection]
    ) -> EncoderPlan {
        let rate = EncoderLevel.rate(for: request, name)
        let limit =
            rate < request.rate
            ? "\(request.width)x\(request.height) at \(EncoderCapacity.words(rate)) pictures a second instead of "
                + "\(EncoderCapacity.words(request.rate)): more than the hardware encoder codes in its level (4.0)"
            : nil
        return EncoderPlan(
            encoder: name, isHardware: true, reason: sentence(name, words, rejections), width: request.width,
            height: request.height, rate: rate, limit: limit)
    }

    private static func sentence(_ name: String, _ words: String, _ rejections: [EncoderRejection]) -> String {
        (rejections.map { "\($0.encoder): \($0.reason)" } + ["\(name): \(words)"]).joined(separator: "; ")
    }
}

/// H.264's level 4.0, which hardware drivers write into the stream and libavcodec cannot change.
enum EncoderLevel {
    private static let macroblocksPerSecond = 245_760.0

    /// What was asked for, or the whole rate below it that the level allows for the size; at least 1.
    static func rate(for request: EncoderRequest, _ encoder: String) -> Double {
        guard encoder.hasPrefix("h264_") else { return request.rate }
        let macroblocks = Double(max(1, (request.width + 15) / 16)) * Double(max(1, (request.height + 15) / 16))
        let most = macroblocksPerSecond / macroblocks
        return request.rate <= most ? request.rate : max(1, most.rounded(.down))
    }
}
