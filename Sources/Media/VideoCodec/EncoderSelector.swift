/// Chooses the encoder of a camera: hardware where a probe really works, else software, with the size and the rate that
/// this machine holds. What it learns goes into the memory, so that a restart chooses at once.
public enum EncoderSelector {
    /// - Parameter hardwareNodes: V4L2 encoders of this machine, each as text ("/dev/video11, bcm2835-codec-encode");
    ///   none: no probe is made.
    /// - Parameter now: seconds since boot (`EncoderCache.now`).
    /// - Parameter probe: encodes with a hardware encoder, in another process (`EncoderProbeChild.run`).
    /// - Parameter measure: frames per second that a software encoder encodes (`EncoderTrial.run`).
    /// - Throws: `.noEncoder` with a reason for each encoder.
    public static func select(
        _ request: EncoderRequest, hardwareNodes: [String], now: Double, memory: inout EncoderCache,
        probe: (_ encoder: String, _ width: Int, _ height: Int, _ rate: Double) -> EncoderProbeResult,
        measure: (EncoderTrial) throws(VideoCodecError) -> Double
    ) throws(VideoCodecError) -> EncoderPlan {
        var rejections: [EncoderRejection] = []
        var pause: Pause?
        for name in request.encoders {
            let traits = EncoderTraits(name: name)
            if traits.isM2M {
                switch hardware(name, request, nodes: hardwareNodes, now: now, memory: &memory, probe) {
                case .works(let text):
                    return plan(hardware: name, text, request, rejections)
                case .rejected(let reason, let until):
                    rejections.append(EncoderRejection(encoder: name, reason: reason))
                    pause = pause ?? until
                }
                continue
            }
            do throws(VideoCodecError) {
                let capacity = try EncoderCapacity.plan(
                    name, request, now: now, memory: &memory, measure: measure)
                return EncoderPlan(
                    encoder: name, isHardware: false, passedOver: rejections, finding: capacity.text,
                    width: capacity.width, height: capacity.height, rate: capacity.rate, preset: capacity.preset,
                    limit: capacity.limit, isHardwareOff: pause?.isOff == true, hardwareOffUntil: pause?.until)
            } catch .noEncoder(let reasons) {
                rejections += reasons
            } catch {
                rejections.append(EncoderRejection(encoder: name, reason: "\(error)"))
            }
        }
        throw .noEncoder(rejections)
    }

    /// Tries the hardware again that `plan` passed over. Software, which encodes meanwhile, is neither measured nor
    /// touched.
    ///
    /// - Parameters: as for `select`.
    /// - Returns: a plan with hardware where its probe works now; else `plan` with the time of the next try.
    public static func retry(
        _ plan: EncoderPlan, _ request: EncoderRequest, hardwareNodes: [String], now: Double,
        memory: inout EncoderCache,
        probe: (_ encoder: String, _ width: Int, _ height: Int, _ rate: Double) -> EncoderProbeResult
    ) -> EncoderPlan {
        var rejections: [EncoderRejection] = []
        var pause: Pause?
        for name in request.encoders where EncoderTraits(name: name).isM2M {
            switch hardware(name, request, nodes: hardwareNodes, now: now, memory: &memory, probe) {
            case .works(let text): return self.plan(hardware: name, text, request, rejections)
            case .rejected(let reason, let until):
                rejections.append(EncoderRejection(encoder: name, reason: reason))
                pause = pause ?? until
            }
        }
        var kept = plan
        kept.passedOver =
            rejections + plan.passedOver.filter { old in !rejections.contains { $0.encoder == old.encoder } }
        kept.isHardwareOff = pause?.isOff == true
        kept.hardwareOffUntil = pause?.until
        return kept
    }

    private enum Verdict {
        case works(String)
        /// Nil: it is not there, and no time will bring it.
        case rejected(String, Pause?)
    }

    /// For how long hardware is left alone.
    private struct Pause {
        /// Seconds since boot.
        var until: Double
        /// It worked before, so that somebody should know.
        var isOff: Bool
    }

    private static func hardware(
        _ name: String, _ request: EncoderRequest, nodes: [String], now: Double, memory: inout EncoderCache,
        _ probe: (_ encoder: String, _ width: Int, _ height: Int, _ rate: Double) -> EncoderProbeResult
    ) -> Verdict {
        guard !nodes.isEmpty else { return .rejected("no hardware encoder on this machine", nil) }
        if let pause = memory.pause(of: name, at: now) {
            return .rejected(pause.reason, Pause(until: pause.until, isOff: true))
        }
        let later = Pause(until: now + EncoderCache.failureSeconds, isOff: false)
        if let known = memory.probe(of: name, width: request.width, height: request.height, now: now) {
            return known.works
                ? .works("a probe worked earlier: \(known.reason)")
                : .rejected("a probe failed earlier: \(known.reason)", later)
        }
        let rate = EncoderLevel.rate(for: request, name)
        let result = probe(name, request.width, request.height, rate)
        memory.note(result, width: request.width, height: request.height, now: now)
        if result.works { return .works("a probe worked: \(result.reason)") }
        let reason = "\(result.reason) (\(nodes.joined(separator: "; ")))"
        guard memory.isOnProbation(name, at: now) else { return .rejected(reason, later) }
        // It failed at work, and again now: each time it is left alone for longer.
        memory.noteFault(of: name, reason: reason, at: now)
        let until = memory.pause(of: name, at: now)?.until ?? later.until
        return .rejected(reason, Pause(until: until, isOff: true))
    }

    private static func plan(
        hardware name: String, _ text: String, _ request: EncoderRequest, _ rejections: [EncoderRejection]
    ) -> EncoderPlan {
        let rate = EncoderLevel.rate(for: request, name)
        let limit =
            rate < request.rate
            ? "\(request.width)x\(request.height) at \(EncoderCapacity.text(rate)) frames a second instead of "
                + "\(EncoderCapacity.text(request.rate)): more than the hardware encoder encodes in its level (4.0)"
            : nil
        return EncoderPlan(
            encoder: name, isHardware: true, passedOver: rejections, finding: text, width: request.width,
            height: request.height, rate: rate, limit: limit)
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
