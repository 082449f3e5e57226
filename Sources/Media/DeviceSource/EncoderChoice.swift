internal import CameraModel
internal import ErrorCatalog
internal import Logging
internal import Platform
internal import Synchronization
internal import VideoCapture
internal import VideoCodec

/// Which encoder to use, from what this machine has and what was learned of it before; and what is learned now.
final class EncoderChoice: Sendable {
    private struct Knowledge {
        var memory: EncoderCache
        var file: String?
    }

    private let logger: Logger
    private let calls: any DeviceCalls
    private let root: String
    private let machine: EncoderMachine
    private let knowledge: Mutex<Knowledge>

    /// - Parameter file: where the memory is kept; nil: nowhere.
    init(file: String?, logger: Logger, calls: any DeviceCalls, root: String, machine: EncoderMachine) {
        self.logger = logger
        self.calls = calls
        self.root = root
        self.machine = machine
        let memory =
            file.map { EncoderCache.load($0) } ?? EncoderCache(bootID: EncoderCache.currentBootID)
        knowledge = Mutex(Knowledge(memory: memory, file: file))
    }

    var now: Double { machine.now() }

    var hangs: Int { knowledge.withLock { $0.memory.recentHangs(at: now) } }

    func plan(
        _ device: CameraConfiguration.Device, _ published: PublishedVideo
    ) throws(VideoCodecError) -> EncoderPlan {
        // Not under the lock: a probe takes seconds, and the one who notes a hang must never wait.
        var memory = knowledge.withLock { $0.memory }
        let plan = try EncoderSelector.select(
            Self.request(device, published), hardwareNodes: nodes, now: now, memory: &memory, probe: probe,
            measure: machine.measure)
        remember { $0 = memory }
        return plan
    }

    static func request(_ device: CameraConfiguration.Device, _ published: PublishedVideo) -> EncoderRequest {
        EncoderRequest(
            encoders: device.encoder.names, width: published.width, height: published.height, rate: published.rate,
            bitsPerSecond: device.bitrate)
    }

    /// Begins to try hardware again that `plan` passed over, while frames go on. Nil when no thread can be made.
    func retry(
        _ plan: EncoderPlan, _ device: CameraConfiguration.Device, _ published: PublishedVideo
    ) -> HardwareSearch? {
        HardwareSearch { [self] in
            var memory = knowledge.withLock { $0.memory }
            let found = EncoderSelector.retry(
                plan, Self.request(device, published), hardwareNodes: nodes, now: now, memory: &memory, probe: probe)
            remember { $0 = memory }
            return found
        }
    }

    private var nodes: [String] { CaptureNodes.encoders(root: root, calls: calls).map(\.description) }

    private func probe(_ encoder: String, _ width: Int, _ height: Int, _ rate: Double) -> EncoderProbeResult {
        logger.info("trying out \(encoder) in a process of its own")
        return machine.probe(encoder, width, height, rate)
    }

    /// It gave an error instead of a packet.
    func failed(_ plan: EncoderPlan, _ error: VideoCodecError) {
        remember { $0.noteFault(of: plan.encoder, reason: "\(error)", at: now) }
    }

    /// It does not answer, and this process is lost; the next one is to know.
    /// - Returns: what to say of it.
    func hung(_ encoder: String, camera: String) -> CodedError {
        remember { $0.noteHang(of: encoder, at: now) }
        let isOff = knowledge.withLock { $0.memory.hardwareIsOff(at: now) != nil }
        return CodedError(
            .encoderHung, "The encoder \(encoder) of \(camera) does not answer",
            why: "a frame went in a second ago and nothing comes out; such a wait in the kernel never ends",
            hint: isOff
                ? "The camera starts again with the software encoder, since this has happened again and again"
                : "The camera starts again by itself",
            object: camera)
    }

    private func remember(_ change: (inout EncoderCache) -> Void) {
        let failure: FileFailure? = knowledge.withLock { knowledge in
            change(&knowledge.memory)
            guard let file = knowledge.file else { return nil }
            do throws(FileFailure) {
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
    /// FFmpeg's names, in the order in which they are tried. After hardware that was asked for comes software: a
    /// camera that goes on, and says why it is not as asked, is worth more than one that does not.
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
