public import CameraModel
public import ErrorCatalog
public import Logging
public import Media
internal import ONVIF
internal import ONVIFClient
internal import Platform
internal import RTSP
internal import Synchronization
public import VideoCodec

/// A camera on the network. Its access units go on untouched; only JPEG, G.711, G.726 and Opus are encoded again, and
/// of these all but G.711, which is a table, are decoded in a child without files, network and secrets
/// (`DecoderProgram`).
///
/// One thread does it all, from the socket to the access unit; what is decoded in a child is encoded on another, so
/// that reception never waits for it. A camera that is away, or refuses, is waited for: it never ends the source.
/// Instants of capture are those at which a frame's last packet arrived: when the camera took it, only the camera
/// knows, by a clock that may be wrong.
public final class NetworkSource: LiveSource, NetworkSourceControl {
    private let network: CameraConfiguration.Network
    private let camera: String
    private let durationLimit: Double?
    private let logger: Logger
    private let state: SharedState
    private let program: DecoderProgram
    private let bootLoginPause: UInt64

    /// - Parameters:
    ///   - network: valid, see `CameraConfiguration.validate()`. Its password file is read at each attempt.
    ///   - camera: its ID, for messages.
    ///   - durationLimit: ends after this many seconds of the stream's time; nil: goes on until stopped.
    ///   - program: what decodes; this program itself, but for tests.
    public convenience init(
        _ network: CameraConfiguration.Network, camera: String, durationLimit: Double? = nil,
        program: DecoderProgram = DecoderProgram(), logger: Logger
    ) {
        self.init(
            network, camera: camera, durationLimit: durationLimit, program: program,
            bootLoginPause: PullSupervision.bootLoginPause, logger: logger)
    }

    /// - Parameter bootLoginPause: see `PullSupervision`.
    init(
        _ network: CameraConfiguration.Network, camera: String, durationLimit: Double?, program: DecoderProgram,
        bootLoginPause: UInt64, logger: Logger
    ) {
        self.bootLoginPause = bootLoginPause
        self.program = program
        self.network = network
        self.camera = camera
        self.durationLimit = durationLimit
        self.logger = logger
        state = SharedState(network)
    }

    public var capture: CaptureStatistics { state.shown }

    /// The token, as the camera expects it.
    private var profile: String? { state.statistics.withLock { $0.network?.profile } }

    public func stop() { state.wakeup.stop() }

    /// Asks the camera for a key frame where it can be asked (ONVIF), and the encoder where there is one; at most once
    /// in two seconds.
    public func requestKeyFrame() {
        state.requests.withLock { $0.isKeyFrameRequested = true }
    }

    public func run(_ deliver: @escaping @Sendable (MediaEvent) -> Void) throws(MediaSourceError) {
        defer {
            state.change { statistics, network in
                statistics.state = .stopped
                network.nextAttemptSeconds = nil
            }
        }
        var network = network
        if let reason = CameraCache.prepare(network) {
            logger.warning("what was learned of the camera before is not used, and nothing new is kept: \(reason)")
            network.memoryFile = nil
        }
        let run: PullRun
        do throws(PullFault) {
            run = try PullRun(
                network, camera: camera, durationLimit: durationLimit, state: state, program: program,
                bootLoginPause: bootLoginPause, logger: logger,
                deliver: deliver)
        } catch {
            throw MediaSourceError(what: "\(camera) cannot be pulled", why: error.what, hint: error.hint)
        }
        try run.run()
    }

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
        let isTranscoded = state.statistics.withLock { $0.network?.videoCodec } == "mjpeg"
        guard isTranscoded, change.width == nil, change.height == nil, change.frameRate == nil else {
            throw CodedError(
                .badRequest, "\(camera) cannot change that while it publishes",
                why: isTranscoded
                    ? "size and rate are those of the camera's own frames"
                    : "the camera encodes its frames itself",
                hint: "Change the camera's own encoder: watchboxctl camera profiles \(camera) --set",
                object: camera)
        }
        state.requests.withLock { requests in
            requests.transcoding.bitrate = change.bitrate ?? requests.transcoding.bitrate
            requests.transcoding.gopSeconds = change.gopSeconds ?? requests.transcoding.gopSeconds
        }
    }

    public func announced(
        address: String, url: String?, evidence: NetworkStatistics.Move.Evidence, isKeyShared: Bool
    ) {
        // Address and URL come from the network.
        guard address.utf8.count <= 64, (url ?? "").utf8.count <= CameraURL.maxLength else { return }
        let now = Clocks.monotonic
        state.requests.withLock { requests in
            requests.announced.heard(
                .init(address: address, url: url, evidence: evidence, isKeyShared: isKeyShared),
                at: address.lowercased(), now: now)
            requests.announcements &+= 1
        }
        state.wakeup.signal()
    }

    public func observeSensors(_ observer: @escaping @Sendable (SensorEvent) -> Void) {
        state.sensors.withLock { $0 = observer }
    }

    public func test(_ progress: @escaping @Sendable (StreamTestReport) -> Void) async -> StreamTestReport {
        var subject = StreamTest.Subject(network: network, password: nil)
        // The camera's own certificates are known by now; another one is what the test has to find.
        subject.memory = CameraCache.load(network.memoryFile, for: network)
        do throws(PullFault) {
            subject.password = try network.passwordFile.map { (path) throws(PullFault) in
                try CameraPassword.read(path)
            }
        } catch {
            var report = StreamTestReport(url: network.url)
            report.lines.append(
                .init(
                    step: .login, outcome: .failed, milliseconds: 0, text: error.what, code: error.code,
                    hint: error.hint))
            report.isDone = true
            progress(report)
            return report
        }
        return await StreamTest.run(subject, logger: logger, progress: progress)
    }
}

// MARK: - What is asked of an ONVIF camera

extension NetworkSource {
    public func move(_ command: PTZCommand) async throws(CodedError) {
        let profile = self.profile
        try await ask { (device) throws(ONVIFError) in
            switch command {
            case .continuous(let pan, let tilt, let zoom, let seconds):
                try await device.move(pan: pan, tilt: tilt, zoom: zoom, seconds: seconds, profile: profile)
            case .absolute(let pan, let tilt, let zoom):
                try await device.moveTo(pan: pan, tilt: tilt, zoom: zoom, profile: profile)
            case .stop: try await device.stop(profile: profile)
            case .goTo(let preset): try await device.goTo(preset: preset, profile: profile)
            case .store(let preset): try await device.store(preset: preset, profile: profile)
            case .home: try await device.goHome(profile: profile)
            }
        }
    }

    public func presets() async throws(CodedError) -> [PTZPreset] {
        try await ask { (device) throws(ONVIFError) in try await device.presets(profile: profile) }
            .map { PTZPreset(token: $0.token, name: $0.name) }
    }

    public func encoders() async throws(CodedError) -> [CameraEncoder] {
        try await ask { (device) throws(ONVIFError) in try await device.encoders() }
    }

    public func configure(_ encoder: CameraEncoder.Change) async throws(CodedError) {
        try await ask { (device) throws(ONVIFError) in try await device.setEncoder(encoder) }
    }

    @discardableResult
    private func ask<Answer>(
        _ question: (ONVIFDevice) async throws(ONVIFError) -> Answer
    ) async throws(CodedError) -> Answer {
        let device = try device()
        do throws(ONVIFError) {
            return try await question(device)
        } catch {
            let fault = PullFault(error)
            throw CodedError(fault.code, "\(camera): \(fault.what)", hint: fault.hint, object: camera)
        }
    }

    private func device() throws(CodedError) -> ONVIFDevice {
        if let known = state.device.withLock({ $0 }) { return known.device }
        guard network.url.lowercased().hasPrefix("onvif://") else {
            throw CodedError(
                .cameraRefuses, "\(camera) cannot be asked for that",
                why: "it was added by the address of its stream, and only ONVIF knows of PTZ and encoders",
                hint: "Add it by its address instead: watchboxctl camera add onvif://ADDRESS", object: camera)
        }
        throw CodedError(
            .cameraUnreachable, "\(camera) was not reached yet", hint: "Try again in a minute", object: camera)
    }
}
