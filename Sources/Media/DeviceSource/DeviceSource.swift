public import CameraModel
public import ErrorCatalog
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

    /// What can be set at its camera. Frames go on meanwhile.
    ///
    /// - Throws: as the camera's state says, where it is not there; or what the device answered.
    public func controls(within limit: Duration = .seconds(4)) async throws(CodedError) -> DeviceControls {
        let path = state.requested.withLock { $0.device.path }
        let found: Result<DeviceControls, CaptureError>?
        if CSICameras.isName(path) {
            found = await state.controlsQuestion.ask(within: limit).map { .success($0) }
        } else {
            // A second opening: some cameras take long over each answer, and frames would wait for it.
            found = await OwnThread.value { [calls, root, device = capture.device ?? path] in
                Result { () throws(CaptureError) in
                    let device = try CaptureDevice(path: device, calls: calls, root: root)
                    defer { device.close() }
                    return DeviceControls(of: device)
                }
            }
        }
        let capture = capture
        switch found {
        case .success(let controls)?: return controls
        case .failure(let error)?:
            throw CodedError(
                capture.code ?? .noFrames, "The controls of \(camera) cannot be read: \(error.what)", why: error.why,
                hint: error.hint, object: camera)
        case nil:
            throw CodedError(
                capture.code ?? .noFrames, "The controls of \(camera) cannot be read",
                why: capture.reason ?? "its camera gives no frames, and is asked between two of them", object: camera)
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
