public import CameraModel
public import ErrorCatalog
internal import Glibc
public import Logging
public import Media
internal import Platform
internal import Synchronization
public import VideoCapture
internal import VideoCodec

/// A V4L2 camera of this machine, encoded, with or without audio from an ALSA device.
///
/// One thread does it all, from the driver's buffer to the access unit: it takes the newest frame that is there, so
/// that a slow encoder costs frames and never adds delay. A second one brings the audio, a third watches the encoder.
/// A camera that is away is waited for; it never ends the source.
public final class DeviceSource: LiveSource {
    private let state: SharedState
    private let camera: String
    private let durationLimit: Double?
    private let logger: Logger
    private let calls: any DeviceCalls
    private let root: String
    private let machine: EncoderMachine
    private let mustEnd: @Sendable (CodedError) -> Void

    /// - Parameters:
    ///   - device: valid, see `CameraConfiguration.validate()`.
    ///   - camera: its ID, for messages.
    ///   - durationLimit: ends after this many seconds of the stream's time; nil: goes on until stopped.
    ///   - calls: how devices are asked; this machine's own but in tests.
    ///   - root: in front of `/sys` and `/dev`, for tests.
    ///   - mustEnd: the process is to end: a call into a hardware encoder will not return, and neither will `run`, or the
    ///     device is refused until another process asks. From any thread.
    public convenience init(
        _ device: CameraConfiguration.Device, camera: String, durationLimit: Double? = nil, logger: Logger,
        calls: any DeviceCalls = MachineCalls(), root: String = "",
        mustEnd: @escaping @Sendable (CodedError) -> Void
    ) {
        self.init(
            device, camera: camera, durationLimit: durationLimit, logger: logger, calls: calls, root: root,
            machine: EncoderMachine(), mustEnd: mustEnd)
    }

    package init(
        _ device: CameraConfiguration.Device, camera: String, durationLimit: Double?, logger: Logger,
        calls: any DeviceCalls, root: String, machine: EncoderMachine,
        mustEnd: @escaping @Sendable (CodedError) -> Void
    ) {
        state = SharedState(device, lead: device.microphone == nil ? .zero : AudioTrack.lead)
        self.camera = camera
        self.durationLimit = durationLimit
        self.logger = logger
        self.calls = calls
        self.root = root
        self.machine = machine
        self.mustEnd = mustEnd
    }

    public var capture: CaptureStatistics { state.statistics.withLock { $0 } }

    public func stop() {
        state.clock.stop()
        calls.stop()
    }

    public func requestKeyFrame() { state.isKeyFrameRequested.store(true, ordering: .relaxed) }

    public func change(_ change: VideoChange) throws(CodedError) {
        do {
            try change.validate()
        } catch {
            let problem = error.problems[0]
            throw CodedError(
                .invalidValue, "\(camera) cannot be changed like that: \(problem.field) \(problem.reason)",
                hint: problem.hint,
                object: camera)
        }
        let isEncoded = state.requested.withLock { $0.device.pixelFormat == .h264 }
        guard !isEncoded || (change.width == nil && change.frameRate == nil) else {
            throw CodedError(
                .badRequest, "\(camera) cannot change that while it publishes",
                why: "the camera encodes H.264 itself, and its stream must be stopped for another size or rate",
                hint: "Restart the camera with the new settings", object: camera)
        }
        state.requested.withLock { requested in
            requested.device = requested.device.changed(by: change)
            requested.revision += 1
        }
    }

    /// What can be set at its camera, with its current values. A CSI camera is asked between two frames, and they wait for a second at most, or two when its
    /// helper hangs over the last answer; any other camera is asked beside its stream.
    ///
    /// - Throws: as the camera's state says, where it gives no frames; WB-8007 when too many ask; else what the device answered.
    public func controls(within limit: Duration = .seconds(10)) async throws(CodedError) -> DeviceControls {
        let what = "The controls of \(camera) cannot be read"
        let capture = capture
        guard capture.state == .streaming, let path = capture.device else {
            throw CodedError(
                capture.code ?? .noFrames, what, why: capture.reason ?? "it gives no frames yet", object: camera)
        }
        switch await CSICameras.isName(path) ? state.controlsQuestion.ask(within: limit) : second(path, limit) {
        case .found(.success(let controls)): return controls
        case .found(.failure(let error)):
            let fault = SourceFault.capture(error)
            throw CodedError(
                fault.code, "\(what): \(error.what)", why: error.why, hint: error.hint, object: camera)
        case .late:
            throw CodedError(
                self.capture.code ?? .noFrames, what, why: self.capture.reason ?? "its camera did not answer in time",
                object: camera)
        case .tooMany:
            throw CodedError(.busy, "\(what): too many ask for them", hint: "Try again in a second", object: camera)
        }
    }

    /// Asks by opening the node a second time: some cameras are slow to answer, and frames would wait for it.
    private func second(_ path: String, _ limit: Duration) async -> ControlsQuestion.Outcome {
        let known = capture
        let time = UInt64(max(0, limit / .nanoseconds(1)))
        return await state.controlsQuestion.ask(within: limit) {
            let isStarted = OwnThread.start { [state, calls, root] in
                state.controlsQuestion.answer { () throws(CaptureError) in
                    let device = try CaptureDevice(path: path, calls: calls, root: root)
                    defer { device.close() }
                    // Another one may have come to that node meanwhile.
                    guard device.node.card == known.card, device.node.usbPort == known.usbPort else {
                        throw .disconnected
                    }
                    return try DeviceControls(of: device, within: time)
                }
            }
            if !isStarted {
                state.controlsQuestion.answer { () throws(CaptureError) in
                    throw .refused(call: "pthread_create", errno: EAGAIN)
                }
            }
        }
    }

    public func run(_ deliver: @escaping @Sendable (MediaEvent) -> Void) throws(MediaSourceError) {
        let audio = state.requested.withLock { $0.device.microphone }.map { name in
            AudioTrack(name, state: state, logger: logger, deliver: deliver)
        }
        audio?.start()
        defer { audio?.stop() }
        let run = CaptureRun(
            state: state, camera: camera, durationLimit: durationLimit, logger: logger, calls: calls, root: root,
            machine: machine, mustEnd: mustEnd, deliver: deliver)
        defer { state.statistics.withLock { $0.state = .stopped } }
        try run.run()
    }
}
