internal import CameraModel
internal import ErrorCatalog
internal import Glibc
internal import Logging
internal import Media
internal import Platform
internal import Synchronization
internal import VideoCapture
internal import VideoCodec

/// One run of a `DeviceSource`, on one thread: what is open, and what is done next.
final class CaptureRun {
    private let state: SharedState
    private let camera: String
    private let durationLimit: Double?
    private let logger: Logger
    private let calls: any DeviceCalls
    private let root: String
    private let deliver: @Sendable (MediaEvent) -> Void
    private let encodingStage: EncodingStage

    private var requested: SharedState.Requested
    private var session = CaptureSession()
    private var clock = DriverClock()
    private var wallClock = WallClock()
    private var open: OpenCamera?
    /// Of the camera that was used last: another one must not take its place.
    private var identity: CaptureIdentity?
    /// Of cameras that are closed.
    private var closed = CaptureCounters()
    private var frames = FrameCounters()
    /// When other cameras were last looked for, CLOCK_MONOTONIC, nanoseconds.
    private var lookedAt: UInt64 = 0
    private static let lookInterval: UInt64 = 10_000_000_000
    /// Instant before which the camera is not asked for key frames.
    private var keyFrameRequestsFrom: UInt64 = 0
    /// Nanoseconds; a transfer over USB may take five seconds to fail.
    private static let maxRequestLength: UInt64 = 50_000_000
    private static let requestPause: UInt64 = 60_000_000_000
    private var refusal: DeviceRefusal
    private let mustEnd: @Sendable (CodedError) -> Void
    private var isOver = false
    private var reported: SourceFault?

    /// What this run itself counts.
    struct FrameCounters {
        var thinned: UInt64 = 0
        var unreadable: UInt64 = 0
        /// In a row, and when the first of them came (CLOCK_MONOTONIC, nanoseconds).
        var unreadableNow = 0
        var unreadableSince: UInt64 = 0
    }

    /// So many frames in a row, over so many nanoseconds, that could not be read: the stream is started again.
    private static let maxUnreadable = 3
    private static let maxUnreadableTime: UInt64 = 2_000_000_000
    /// Milliseconds of waiting for a frame: stops and changes are seen between.
    private static let timeout = 100

    init(
        state: SharedState, camera: String, durationLimit: Double?, logger: Logger, calls: any DeviceCalls,
        root: String, machine: EncoderMachine, mustEnd: @escaping @Sendable (CodedError) -> Void,
        deliver: @escaping @Sendable (MediaEvent) -> Void
    ) {
        self.state = state
        self.camera = camera
        self.durationLimit = durationLimit
        self.logger = logger
        self.calls = calls
        self.root = root
        self.deliver = deliver
        self.mustEnd = mustEnd
        // Next to what it knows of encoders: both are kept for the next process of this boot.
        let memory = state.requested.withLock { $0.device.encoderMemoryFile }
        refusal = DeviceRefusal(markFile: memory.map { "\($0).refused" })
        requested = state.requested.withLock { $0 }
        encodingStage = EncodingStage(
            state: state, camera: camera, logger: logger, calls: calls, root: root, machine: machine,
            mustEnd: mustEnd)
    }

    func run() throws(MediaSourceError) {
        // Also when it fails: the encoder's end is to be watched like its work.
        defer { encodingStage.end() }
        while !state.clock.isStopped, !isOver {
            let action = session.next(at: SourceClock.now)
            state.statistics.withLock { $0.attempts = session.attempts }
            do throws(SourceFault) {
                switch action {
                case .wait(let pause): _ = state.clock.wait(until: SourceClock.now &+ pause)
                case .open: try openCamera()
                case .restart: try restart()
                case .capture: try capture()
                }
            } catch {
                faulted(error)
            }
            if let failure = encodingStage.failure { throw failure }
        }
        close()
        for event in encodingStage.finish() { deliver(event) }
    }

    // MARK: - Opening

    private func openCamera() throws(SourceFault) {
        close()
        // What was changed while there was no frame counts as well.
        requested = state.requested.withLock { $0 }
        let path = try currentPath()
        do throws(CaptureError) {
            let device = try CaptureDevice(path: path, calls: calls, root: root)
            // Between the look and the opening another one may have come.
            if let identity, !isPlace, !identity.isSame(as: device.node) { throw .disconnected }
            setControls(of: device)
            let setup = try device.negotiate(requested.device.captureRequest)
            // libcamera's ranges are those of the mode.
            if device.node.isCSI { setControls(of: device) }
            let nodes = device.node.isCSI ? [] : CaptureNodes.find(root: root, calls: calls, isOpening: false)
            identity = identity?.enriched(by: device.node) ?? CaptureIdentity(device.node, among: nodes)
            identity?.seen(nodes)
            open = OpenCamera(device: device, setup: setup)
            refusal.opened()
            try device.start(buffers: setup.buffers)
        } catch {
            throw .capture(error)
        }
        started()
    }

    /// Twice, because one control may rule another: a focus can be set once the automatic focus is off.
    private func setControls(of device: CaptureDevice) {
        var left = requested.device.controls.sorted { $0.key < $1.key }
        for isLast in [false, true] {
            left = left.filter { name, value in
                do throws(CaptureError) {
                    try device.setControl(name, to: value)
                    return false
                } catch {
                    if isLast { logger.warning("\(error)") }
                    return true
                }
            }
        }
    }

    private func restart() throws(SourceFault) {
        // A bitrate that follows its uplink changes often, and asks nothing of the device.
        let isChanged = state.requested.withLock { $0.device.captureRequest } != requested.device.captureRequest
        guard let open, !isChanged else { return session.settingsChanged(at: SourceClock.now) }
        open.device.stop()
        do { try open.device.start(buffers: open.setup.buffers) } catch { throw .capture(error) }
        started()
    }

    private func started() {
        guard let open else { return }
        let published = PublishedVideo(requested.device, from: open.setup)
        encodingStage.use(requested.device, published, of: open.setup)
        encodingStage.streamBegan()
        open.rate = encodingStage.rate
        session.started(at: SourceClock.now)
        encodingStage.requestKeyFrame()
        frames.unreadableNow = 0
        let node = open.device.node
        state.statistics.withLock { statistics in
            statistics.device = node.device
            statistics.card = node.card
            statistics.usbPort = node.usbPort
            statistics.pixelFormat = open.setup.pixelFormat.description
            statistics.captureWidth = open.setup.width
            statistics.captureHeight = open.setup.height
            statistics.captureRate = open.setup.rate
        }
    }

    /// The configured name is that of a place, and not of a camera. That of a CSI camera has both in it, connector and sensor.
    private var isPlace: Bool {
        requested.device.path.hasPrefix("/dev/v4l/by-path/") || CSICameras.isName(requested.device.path)
    }

    /// Where the camera is now: at its name, or wherever the same camera has gone. Another one that is at its name now
    /// is not taken: its frames must not go out under this one's name.
    private func currentPath() throws(SourceFault) -> String {
        let path = requested.device.path
        if path == CSICameras.scheme, let identity { return path + identity.bus }
        guard let identity, !isPlace else { return path }
        let here: CaptureNode?
        do throws(CaptureError) {
            let node = try CaptureNodes.node(at: path, root: root, calls: calls)
            if identity.isSame(as: node) { return path }
            here = node
        } catch {
            switch error {
            case .notPermitted, .busy: throw .capture(error)
            default: here = nil
            }
        }
        let nodes = CaptureNodes.find(root: root, calls: calls)
        self.identity?.seen(nodes)
        if let node = self.identity?.match(among: nodes) { return node.device }
        if let here { throw .anotherCamera(path: path, card: here.card) }
        throw .capture(.notThere(path: path))
    }

    private func close() {
        guard let open else { return }
        open.device.stop()
        let counters = open.device.counters
        closed.captured += counters.captured
        closed.superseded += counters.superseded
        closed.lost += counters.lost
        closed.damaged += counters.damaged
        self.open = nil
    }

    private func faulted(_ fault: SourceFault) {
        session.faulted(fault.remedy, at: SourceClock.now)
        if case .wait = fault.remedy { close() }
        if case .person = fault.remedy { close() }
        if fault != reported {
            reported = fault
            logger.warning("\(fault.message)", metadata: ["code": "\(fault.code)"])
        }
        if case .capture(.notPermitted(let path)) = fault, refusal.refused(root + path, at: SourceClock.now) {
            mustEnd(
                CodedError(
                    .deviceNotPermitted, "\(camera) starts again: \(path) came after its unit did",
                    why:
                        "its mode and group allow it, and the unit's device rules, which are made at its start, do not",
                    hint: "If it stays so, look at DeviceAllow= of the unit: systemctl cat 'watchbox-camera@\(camera)'",
                    object: camera))
        }
        state.statistics.withLock { statistics in
            statistics.state = .waiting
            statistics.reason = fault.message
            statistics.code = fault.code
            statistics.interruptions = session.interruptions
        }
    }

    // MARK: - Frames

    private func capture() throws(SourceFault) {
        guard let open else { return session.settingsChanged(at: SourceClock.now) }
        if open.device.node.isCSI { try answerControls(open.device) }
        let frame: RawFrame?
        do { frame = try open.device.nextFrame(milliseconds: Self.timeout) } catch { throw .capture(error) }
        guard let frame else {
            count(open)
            if session.isSilent(rate: open.setup.rate, at: SourceClock.now) { throw .silent }
            return applyChanges()
        }
        // Before the frame, so that it is the first one that they count for.
        applyChanges()
        guard session.isStreaming else { return }
        try take(frame, open)
    }

    /// Nanoseconds: frames wait meanwhile, and a camera may be without them for three seconds in all.
    private static let maxControlsTime: UInt64 = 1_000_000_000

    private func answerControls(_ device: CaptureDevice) throws(SourceFault) {
        let found = state.controlsQuestion.answer { () throws(CaptureError) in
            try DeviceControls(of: device, within: Self.maxControlsTime)
        }
        // What ended the list has ended the camera as well.
        switch found {
        case .failure(.helper(let reason))?: throw .capture(.helper(reason))
        case .failure(.disconnected)?: throw .capture(.disconnected)
        default: break
        }
    }

    private func take(_ frame: consuming RawFrame, _ open: OpenCamera) throws(SourceFault) {
        let received = frame.received
        let instant = clock.instant(timestamp: frame.timestamp, received: received)
        session.frameArrived(at: received)
        wallClock.observed(wall: Clocks.wall, monotonic: SourceClock.now)
        guard open.admits(instant) else {
            frames.thinned += 1
            return count(open)
        }
        lookAround(at: received)
        state.begin(at: instant)
        guard let time = state.time(of: instant) else { return }
        if let durationLimit, Double(time.nanoseconds) / 1e9 >= durationLimit {
            isOver = true
            return
        }
        if state.isKeyFrameRequested.exchange(false, ordering: .relaxed) { encodingStage.requestKeyFrame() }
        if open.hasNewDamage { encodingStage.frameLost() }
        let outcome = encodingStage.process(
            frame, at: time, instant: instant, received: received, wallClock: wallClock.time(of: instant),
            deliver: deliver)
        // The code of the failure stays.
        guard encodingStage.failure == nil else { return }
        // Another encoder may hold another rate.
        open.rate = encodingStage.rate
        if encodingStage.asksCameraForKeyFrame(at: received) { requestKeyFrame(open.device, at: received) }
        guard let outcome else {
            if encodingStage.lacksKeyFrame(at: received) { throw .noKeyFrame }
            if !encodingStage.isHoldingBack { readable(open) }
            return count(open)
        }
        if frames.unreadableNow == 0 { frames.unreadableSince = received }
        frames.unreadable += 1
        frames.unreadableNow += 1
        count(open)
        if frames.unreadableNow >= Self.maxUnreadable,
            received &- frames.unreadableSince >= Self.maxUnreadableTime
        {
            throw .badFrames(outcome)
        }
    }

    /// A camera that takes long over the request is left alone for a while: frames wait meanwhile, and are lost.
    private func requestKeyFrame(_ device: CaptureDevice, at now: UInt64) {
        guard now >= keyFrameRequestsFrom else { return }
        let begin = SourceClock.now
        device.requestKeyFrame()
        if SourceClock.now &- begin > Self.maxRequestLength { keyFrameRequestsFrom = now &+ Self.requestPause }
    }

    /// Another camera with the same serial number may have come: then the number says nothing any more.
    private func lookAround(at now: UInt64) {
        guard now &- lookedAt >= Self.lookInterval, !isPlace else { return }
        lookedAt = now
        identity?.seen(CaptureNodes.find(root: root, calls: calls, isOpening: false))
    }

    /// A frame came that is one: only now the camera is there.
    private func readable(_ open: OpenCamera) {
        frames.unreadableNow = 0
        state.statistics.withLock { statistics in
            statistics.state = .streaming
            statistics.reason = nil
            statistics.code = nil
        }
        guard reported != nil else { return }
        reported = nil
        logger.notice("the camera is there again: \(open.device.node.device), \(open.setup.text)")
    }

    private func applyChanges() {
        let newest = state.requested.withLock { $0 }
        guard newest.revision != requested.revision, let open else { return }
        let before = requested.device
        requested = newest
        let request = newest.device.captureRequest
        // What the camera already delivers can be scaled and thinned without a gap; more of it, or another shape, must
        // be asked for.
        let isEnough =
            open.setup.width >= request.width && open.setup.height >= request.height
            && open.setup.rate >= request.rate * 0.95 && PublishedVideo.isSameShape(request, open.setup)
        guard isEnough || before.captureRequest == request else {
            return session.settingsChanged(at: SourceClock.now)
        }
        let published = PublishedVideo(newest.device, from: open.setup)
        encodingStage.use(newest.device, published, of: open.setup)
        open.rate = encodingStage.rate
    }

    /// Into the statistics.
    private func count(_ open: OpenCamera) {
        let counters = open.device.counters
        state.statistics.withLock { statistics in
            statistics.captured = closed.captured + counters.captured
            statistics.superseded = closed.superseded + counters.superseded
            statistics.lost = closed.lost + counters.lost
            statistics.damaged = closed.damaged + counters.damaged + frames.unreadable
            statistics.thinned = frames.thinned
            statistics.clockSteps = clock.steps + wallClock.steps
            statistics.interruptions = session.interruptions
            statistics.wallClockDriftMilliseconds = Double(wallClock.drift) / 1e6
            encodingStage.count(into: &statistics)
        }
    }
}

extension CaptureSetup {
    /// Of raw frames the newest counts; of encoded ones every one does, so there is room for a while.
    fileprivate var buffers: Int { pixelFormat.isVideo ? 8 : 4 }
}

/// A camera with its stream.
final class OpenCamera {
    let device: CaptureDevice
    let setup: CaptureSetup
    private(set) var thinner = RateThinner(requested: 0, delivered: nil)

    /// Frames per second that are requested of it; nil: all.
    var rate: Double? {
        didSet {
            guard rate != oldValue else { return }
            thinner = RateThinner(requested: rate ?? 0, delivered: setup.rate)
        }
    }

    private var damaged: UInt64 = 0

    init(device: CaptureDevice, setup: CaptureSetup) {
        self.device = device
        self.setup = setup
    }

    /// Whether frames came damaged since this was last asked.
    var hasNewDamage: Bool {
        defer { damaged = device.counters.damaged }
        return device.counters.damaged != damaged
    }

    func admits(_ instant: UInt64) -> Bool { thinner.admits(instant) }
}
