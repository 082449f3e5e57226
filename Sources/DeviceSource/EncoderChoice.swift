internal import CameraModel
internal import ErrorCatalog
internal import Logging
internal import Synchronization
internal import VideoCapture
internal import VideoCodec

/// Which encoder to use, from what this machine has and what was learned of it before; and what is learned now.
final class EncoderChoice: Sendable {
    private struct Knowledge {
        var memory: EncoderMemory
        var file: String?
        /// Failed in this process: not tried again while it runs.
        var failed: [EncoderRejection] = []
    }

    private let logger: Logger
    private let calls: any DeviceCalls
    private let root: String
    private let knowledge: Mutex<Knowledge>

    /// - Parameter file: where the memory is kept; nil: nowhere.
    init(file: String?, logger: Logger, calls: any DeviceCalls, root: String) {
        self.logger = logger
        self.calls = calls
        self.root = root
        let memory =
            file.map { EncoderMemory.load($0) } ?? EncoderMemory(bootID: EncoderMemory.currentBootID)
        knowledge = Mutex(Knowledge(memory: memory, file: file))
    }

    var hangs: Int { knowledge.withLock { $0.memory.recentHangs(at: EncoderMemory.now) } }

    func plan(
        _ device: CameraConfiguration.Device, _ published: PublishedVideo
    ) throws(VideoCodecError) -> EncoderPlan {
        // Not under the lock: a probe takes seconds, and the one who notes a hang must never wait.
        var (memory, failed) = knowledge.withLock { ($0.memory, $0.failed) }
        let left = device.encoder.names.filter { name in !failed.contains { $0.encoder == name } }
        guard !left.isEmpty else { throw .noEncoder(failed) }
        let request = EncoderRequest(
            encoders: left, width: published.width, height: published.height, rate: published.rate,
            bitsPerSecond: device.bitrate)
        let nodes = CaptureNodes.encoders(root: root, calls: calls)
        var plan = try EncoderSelector.select(
            request, hardwareNodes: nodes.map(\.description), now: EncoderMemory.now, memory: &memory,
            probe: { encoder, width, height, rate in
                logger.info("trying out \(encoder) in a process of its own")
                return EncoderProbeChild().run(encoder: encoder, width: width, height: height, rate: rate)
            },
            measure: { trial throws(VideoCodecError) in try trial.run() })
        if !failed.isEmpty {
            plan.reason =
                failed.map { "\($0.encoder) failed: \($0.reason)" }.joined(separator: "; ") + "; " + plan.reason
        }
        remember { $0 = memory }
        return plan
    }

    /// It gave errors instead of packets.
    func failed(_ plan: EncoderPlan, _ error: VideoCodecError) {
        let rejection = EncoderRejection(encoder: plan.encoder, reason: "\(error)")
        let result = EncoderProbeResult(encoder: plan.encoder, works: false, reason: rejection.reason)
        knowledge.withLock { knowledge in
            guard !knowledge.failed.contains(where: { $0.encoder == plan.encoder }) else { return }
            knowledge.failed.append(rejection)
        }
        remember { $0.note(result, width: plan.width, height: plan.height, now: EncoderMemory.now) }
    }

    /// It does not answer, and this process is lost; the next one is to know.
    /// - Returns: what to say of it.
    func hung(_ encoder: String, camera: String) -> CodedError {
        remember { $0.noteHang(of: encoder, at: EncoderMemory.now) }
        let isOff = knowledge.withLock { $0.memory.hardwareIsOff(at: EncoderMemory.now) != nil }
        return CodedError(
            .encoderHung, "The encoder \(encoder) of \(camera) does not answer",
            why: "a picture went in a second ago and nothing comes out; such a wait in the kernel never ends",
            next: isOff
                ? "The camera starts again with the software encoder, since this has happened again and again"
                : "The camera starts again by itself",
            object: camera)
    }

    private func remember(_ change: (inout EncoderMemory) -> Void) {
        let failure: EncoderMemoryError? = knowledge.withLock { knowledge in
            change(&knowledge.memory)
            guard let file = knowledge.file else { return nil }
            do throws(EncoderMemoryError) {
                try knowledge.memory.store(file)
                return nil
            } catch {
                return error
            }
        }
        if let failure { logger.warning("what was learned of encoders is not kept: \(failure)") }
    }
}

extension CameraConfiguration.Device.Encoder {
    /// FFmpeg's names, in the order in which they are tried. Behind hardware that was asked for stands software: a camera
    /// that goes on, and says why it is not as asked, is worth more than one that does not.
    fileprivate var names: [String] {
        switch self {
        case .automatic, .h264v4l2m2m: VideoEncoderConfiguration.automaticEncoders
        case .hevcv4l2m2m: [rawValue, Self.libx265.rawValue]
        case .libx264, .libopenh264, .libx265: [rawValue]
        }
    }
}

extension EncoderPlan {
    func configuration(_ device: CameraConfiguration.Device) -> VideoEncoderConfiguration {
        configuration(bitsPerSecond: device.bitrate, keyFrameInterval: device.gopSeconds)
    }

    /// Whether other settings are within what was probed or measured: the same for hardware, no more for software.
    func holds(_ published: PublishedVideo, before: PublishedVideo) -> Bool {
        guard published != before else { return true }
        guard !isHardware, limit == nil else { return false }
        let held = Double(before.width) * Double(before.height) * before.rate
        return Double(published.width) * Double(published.height) * published.rate <= held
    }

    /// For other settings that it holds, with the same encoder.
    func following(_ published: PublishedVideo, before: PublishedVideo) -> EncoderPlan {
        guard published != before else { return self }
        var plan = self
        plan.width = published.width
        plan.height = published.height
        plan.rate = published.rate
        return plan
    }
}
