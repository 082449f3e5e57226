internal import CameraModel
internal import ErrorCatalog
internal import Logging
internal import Media
internal import Platform
internal import Synchronization
internal import VideoCapture
internal import VideoCodec

/// From a frame in the driver's memory to encoded units: chooses the encoder, keeps it through everything that
/// happens to the camera, and opens another one when it fails.
final class EncodingStage {
    /// Why there can be no more frames: no encoder works.
    private(set) var failure: MediaSourceError?

    private enum Path {
        case none
        case encoded(EncodedPath)
        case frames(RawFramePath)
    }

    private let state: SharedState
    private let camera: String
    private let logger: Logger
    private let choice: EncoderChoice
    private let machine: EncoderMachine
    private let mustEnd: @Sendable (CodedError) -> Void
    private let heartbeat = EncoderHeartbeat()
    private var watch: EncoderWatch?

    private var path = Path.none
    private var device: CameraConfiguration.Device?
    private var published: PublishedVideo?
    private var setup: CaptureSetup?
    private var plan: EncoderPlan?
    /// Of `plan`, where software does less than was asked for.
    private var recovery: CapacityRecovery?
    /// For hardware that was passed over; nil: none is looked for now.
    private var search: HardwareSearch?
    /// Of encoders that were closed.
    private var closed = EncoderCounters()
    /// In a row, of the encoder in use.
    private var encoderFailures = 0
    /// Of a camera that encodes itself: a key frame is requested.
    private var isCameraAsked = false
    /// When it was last reported that such a camera's frames are held back, CLOCK_MONOTONIC, nanoseconds.
    private var reportedAt: UInt64?
    private var reportedBreaks: UInt64 = 0
    private var copies = 0
    private var encodeDurations = DurationHistogram()
    private var ownDurations = DurationHistogram()
    private var threadNanoseconds: UInt64 = 0
    private var latency: UInt64?

    /// Failures in a row of a software encoder after which the process is given up.
    private static let maxFailures = 5
    /// Nanoseconds.
    private static let reportInterval: UInt64 = 60_000_000_000

    init(
        state: SharedState, camera: String, logger: Logger, calls: any DeviceCalls, root: String,
        machine: EncoderMachine, mustEnd: @escaping @Sendable (CodedError) -> Void
    ) {
        self.state = state
        self.camera = camera
        self.logger = logger
        self.mustEnd = mustEnd
        let file = state.requested.withLock { $0.device.encoderMemoryFile }
        self.machine = machine
        choice = EncoderChoice(file: file, logger: logger, calls: calls, root: root, machine: machine)
    }

    // MARK: - Settings

    /// The next frame comes as `setup` says and is to be published so. What is in use already stays, where it can.
    func use(_ device: CameraConfiguration.Device, _ published: PublishedVideo, of setup: CaptureSetup) {
        let before = (device: self.device, published: self.published)
        self.device = device
        self.published = published
        self.setup = setup
        if setup.pixelFormat.isCompressed, !setup.pixelFormat.isJPEG, device.pixelFormat == .h264 {
            if case .encoded = path { return }
            leave()
            plan = nil
            recovery = nil
            search = nil
            path = .encoded(EncodedPath())
            return
        }
        guard case .frames(let frames) = path, let plan, failure == nil else { return open() }
        guard before.device != device || before.published != published else { return }
        if let old = before.published, !plan.holds(published, before: old) {
            // Probed, or measured, before it is used; what was found earlier is remembered.
            self.plan = nil
            return open()
        }
        let changed = plan.following(published, before: before.published ?? published)
        if changed != plan { follow(changed, device, published) }
        change(frames, to: changed, device)
    }

    /// Goes on with the same encoder.
    private func change(_ frames: RawFramePath, to plan: EncoderPlan, _ device: CameraConfiguration.Device) {
        self.plan = plan
        do throws(VideoCodecError) {
            try frames.encoder.reconfigure(plan.configuration(device))
            try frames.prepare(as: preparation(device, plan, frames.encoder))
        } catch {
            logger.warning("the encoder cannot be changed and is opened again: \(error)")
            open()
        }
    }

    /// From now on `plan` is what can be recovered from, and what hardware is looked for.
    private func follow(_ plan: EncoderPlan, _ device: CameraConfiguration.Device, _ published: PublishedVideo) {
        recovery = CapacityRecovery(plan, for: EncoderChoice.request(planned(device), published), at: choice.now)
        search = nil
    }

    /// What an encoder is chosen, probed and measured for, whatever the uplink bears just now.
    private func planned(_ device: CameraConfiguration.Device) -> CameraConfiguration.Device {
        var device = device
        device.bitrate = state.requested.withLock { max($0.mostBitrate, device.bitrate) }
        return device
    }

    /// Frames per second that are to be encoded; nil: all.
    var rate: Double? {
        if case .frames = path { plan?.rate } else { nil }
    }

    func requestKeyFrame() {
        switch path {
        case .none: break
        case .frames(let frames): frames.encoder.requestKeyFrame()
        case .encoded: isCameraAsked = true
        }
    }

    /// Whether the camera, which encodes itself, is to be asked for a key frame, at CLOCK_MONOTONIC in nanoseconds.
    func asksCameraForKeyFrame(at now: UInt64) -> Bool {
        var isNeeded = isCameraAsked
        isCameraAsked = false
        withEncodedPath { isNeeded = $0.wantsKeyFrame(at: now) || isNeeded }
        return isNeeded
    }

    /// Whether frames of a camera that encodes itself come, and none that a viewer can begin with, for too long.
    func lacksKeyFrame(at now: UInt64) -> Bool {
        var lacks = false
        withEncodedPath { lacks = $0.lacksKeyFrame(at: now) }
        return lacks
    }

    /// Frames are held back until a key frame comes.
    var isHoldingBack: Bool {
        if case .encoded(let encoded) = path { !encoded.gate.isOpen } else { false }
    }

    /// The camera's stream begins, once more.
    func streamBegan() {
        withEncodedPath { $0.streamBegan() }
    }

    /// A frame did not come whole out of the driver.
    func frameLost() {
        withEncodedPath { $0.frameLost() }
    }

    private func withEncodedPath(_ change: (inout EncodedPath) -> Void) {
        guard case .encoded(var encoded) = path else { return }
        // Moved out and back, so that its parameter sets are not copied.
        path = .none
        change(&encoded)
        path = .encoded(encoded)
    }

    /// With the first encoder that works.
    private func open() {
        guard let device, let published, let setup else { return }
        leave()
        do throws(VideoCodecError) {
            let plan: EncoderPlan
            if let known = self.plan {
                plan = known
            } else {
                plan = try choice.plan(planned(device), published)
                follow(plan, device, published)
            }
            self.plan = plan
            watch =
                plan.isHardware
                ? EncoderWatch(heartbeat) { [choice, camera, mustEnd] in
                    mustEnd(choice.hung(plan.encoder, camera: camera))
                } : nil
            let encoder = try machine.open(plan.configuration(device), heartbeat)
            path = .frames(try RawFramePath(encoder, preparation(device, plan, encoder)))
            logger.notice("encoding with \(plan.encoder), \(plan.width)x\(plan.height): \(plan.reason)")
            if let limit = plan.limit { logger.warning("\(limit)", metadata: ["code": "\(ErrorCode.encoderLimited)"]) }
        } catch {
            encoderFailed(error, setup)
        }
    }

    private func preparation(
        _ device: CameraConfiguration.Device, _ plan: EncoderPlan, _ encoder: any FrameEncoder
    ) -> FramePreparation.Configuration {
        FramePreparation.Configuration(
            width: plan.width, height: plan.height,
            orientation: FrameOrientation(
                rotation: .init(rawValue: device.rotation) ?? .none,
                isFlippedHorizontally: device.flip == .horizontal || device.flip == .both,
                isFlippedVertically: device.flip == .vertical || device.flip == .both),
            masks: device.masks.map { PrivacyMask(x: $0.x, y: $0.y, width: $0.width, height: $0.height) },
            overlay: TextOverlay(time: device.overlay.time, name: device.overlay.name),
            pixelFormats: encoder.acceptedPixelFormats,
            // Software takes rows as they lie.
            lineAlignment: plan.isHardware ? encoder.lineAlignment : 1,
            // libavcodec passes no colours to a V4L2 encoder: they are made those that players assume.
            matrix: plan.isHardware ? ColorMatrix.unspecified.resolved(height: plan.height) : nil)
    }

    private func encoderFailed(_ error: VideoCodecError, _ setup: CaptureSetup) {
        encoderFailures += 1
        logger.warning("\(plan?.encoder ?? "the encoder") failed: \(error)")
        leave()
        if let plan, plan.isHardware {
            choice.failed(plan, error)
            self.plan = nil
            return open()
        }
        // libavcodec without any encoder will not get one while this process runs.
        let isFinal = if case .noEncoder = error { true } else { plan == nil || encoderFailures >= Self.maxFailures }
        guard isFinal else { return open() }
        state.statistics.withLock { $0.code = .noEncoder }
        failure = MediaSourceError(
            what: "the frames of \(camera) cannot be encoded", why: "\(error)",
            hint: "watchboxctl camera encoders shows what this box has; Debian's libavcodec has libx264")
    }

    private func leave() {
        if case .frames(let frames) = path { closed.add(frames.encoder.counters) }
        path = .none
    }

    // MARK: - Frames

    /// - Returns: why the frame could not be read; nil when it could, whatever the encoder made of it.
    func process(
        _ frame: consuming RawFrame, at time: MediaTime, instant: UInt64, received: UInt64, wallClock: Int64,
        deliver: (MediaEvent) -> Void
    ) -> String? {
        lookForHardware()
        let cpu = Clocks.thread
        switch path {
        case .none: return nil
        case .encoded(var encoded):
            // Moved out and back, so that its parameter sets are not copied.
            path = .none
            defer { path = .encoded(encoded) }
            do throws(EncodedPath.Fault) {
                let rate = published?.rate ?? 30
                let events = try encoded.process(frame, at: time, instant: instant, rate: rate)
                if encoded.gate.breaks > reportedBreaks { reportBreaks(encoded.gate.breaks, at: received) }
                finished(events, received: received, encoding: 0, cpu: cpu, deliver)
                copies = encoded.copies
                return nil
            } catch {
                return "\(error)"
            }
        case .frames:
            // Nothing here may hold the encoder when it is to be closed.
            switch encode(frame, at: time, instant: instant, received: received, wallClock: wallClock, cpu, deliver) {
            case .done: return nil
            case .unreadable(let reason): return reason
            case .failed(let error):
                if let setup { encoderFailed(error, setup) }
                return nil
            }
        }
    }

    private func reportBreaks(_ count: UInt64, at now: UInt64) {
        reportedBreaks = count
        guard reportedAt.map({ now &- $0 >= Self.reportInterval }) ?? true else { return }
        reportedAt = now
        logger.warning(
            "a frame of \(camera) was lost between camera and driver: those that refer to it are held back until the next key frame"
        )
    }

    private enum Outcome {
        case done
        case unreadable(String)
        case failed(VideoCodecError)
    }

    private func encode(
        _ frame: consuming RawFrame, at time: MediaTime, instant: UInt64, received: UInt64, wallClock: Int64,
        _ cpu: UInt64, _ deliver: (MediaEvent) -> Void
    ) -> Outcome {
        guard case .frames(let frames) = path else { return .done }
        let inside = frames.encoderCPU
        let begin = SourceClock.now
        do throws(RawFramePath.Fault) {
            let events = try frames.process(frame, at: time, instant: instant, wallClock: wallClock)
            encoderFailures = 0
            copies = frames.copies
            let last = frames.encoder.encodeNanoseconds.last
            encodeDurations.took(last)
            finished(events, received: received, encoding: last, cpu: cpu &+ (frames.encoderCPU &- inside), deliver)
            recover(frames, encoding: last, working: SourceClock.now &- begin)
            return .done
        } catch {
            switch error {
            case .frame(let error): return .unreadable("\(error)")
            case .encoder(let error): return .failed(error)
            }
        }
    }

    private func finished(
        _ events: [MediaEvent], received: UInt64, encoding: UInt64, cpu: UInt64, _ deliver: (MediaEvent) -> Void
    ) {
        let now = SourceClock.now
        for event in events {
            if case .accessUnit(let unit) = event, let instant = unit.captureInstant {
                latency = now > instant ? now - instant : 0
            }
            deliver(event)
        }
        if !events.isEmpty { ownDurations.took(now &- received > encoding ? now &- received &- encoding : 0) }
        threadNanoseconds &+= Clocks.thread &- cpu
    }

    /// When software turns out to hold more than was found at the start, or less than was tried since.
    private func recover(_ frames: RawFramePath, encoding: UInt64, working: UInt64) {
        guard let plan, let device,
            var next = recovery?.encoded(
                encoding: Double(encoding) / 1e9, working: Double(working) / 1e9, at: choice.now)
        else { return }
        next.takeHardwareState(of: plan)
        logger.notice("encoding \(next.width)x\(next.height) at \(next.rate)/s from now on: \(next.finding)")
        if let limit = next.limit { logger.warning("\(limit)", metadata: ["code": "\(ErrorCode.encoderLimited)"]) }
        change(frames, to: next, device)
    }

    /// The hardware encoder was left alone for a while, which is over: it is tried out alongside the frames.
    private func lookForHardware() {
        guard case .frames = path, let plan, let device, let published else { return }
        if let search {
            guard let found = search.result else { return }
            self.search = nil
            guard found.isHardware else {
                // One that never worked is not news.
                let level = found.isHardwareOff ? Logger.Level.warning : .info
                logger.log(level: level, "hardware still does not encode: \(found.reason)")
                self.plan?.takeHardwareState(of: found)
                return
            }
            self.plan = found
            recovery = nil
            return open()
        }
        guard let until = plan.hardwareOffUntil, choice.now >= until else { return }
        search = choice.retry(plan, planned(device), published)
    }

    /// What the encoder held back.
    func finish() -> [MediaEvent] {
        // Hardware is not asked: it may never answer, and a live stream ends without its last frame as well.
        guard case .frames(let frames) = path, plan?.isHardware != true else { return [] }
        return (try? frames.encoder.finish()) ?? []
    }

    /// Closes the encoder, under its watch.
    func end() {
        leave()
        watch = nil
    }

    func count(into statistics: inout CaptureStatistics) {
        var counters = closed
        switch path {
        case .none: break
        case .encoded(let encoded):
            statistics.encoder = "passthrough"
            statistics.encoderReason = "the camera encodes H.264 itself"
            statistics.isHardwareEncoder = true
            statistics.width = encoded.size?.width
            statistics.height = encoded.size?.height
            statistics.rate = published?.rate
            statistics.limit = published?.limit
            statistics.withheld = encoded.gate.withheld
        case .frames(let frames):
            counters.add(frames.encoder.counters)
            if let plan {
                statistics.encoder = plan.encoder
                statistics.encoderReason = plan.reason
                statistics.isHardwareEncoder = plan.isHardware
                if plan.isHardwareOff, statistics.code == nil { statistics.code = .hardwareEncoderOff }
                statistics.width = plan.width
                statistics.height = plan.height
                statistics.rate = plan.rate
                let limits = [published?.limit, plan.limit].compactMap { $0 }
                statistics.limit = limits.isEmpty ? nil : limits.joined(separator: "; ")
            }
        }
        statistics.encoderErrors = counters.errors
        statistics.encoderDrops = counters.drops
        statistics.encoderOpenings = counters.openings
        statistics.encoderHangs = UInt64(choice.hangs)
        statistics.copiesPerFrame = copies
        statistics.threadNanoseconds = threadNanoseconds
        statistics.encodeDurations = encodeDurations
        statistics.ownDurations = ownDurations
        statistics.latencyNanoseconds = latency
    }
}
