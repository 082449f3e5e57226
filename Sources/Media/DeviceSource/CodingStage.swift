internal import CameraModel
internal import ErrorCatalog
internal import Logging
internal import Media
internal import Platform
internal import Synchronization
internal import VideoCapture
internal import VideoCodec

/// From a picture in the driver's memory to coded units: chooses the encoder, keeps it through everything that happens to
/// the camera, and opens another one when it fails.
final class CodingStage {
    /// Why there can be no more pictures: no encoder works.
    private(set) var failure: MediaSourceError?

    private enum Path {
        case none
        case coded(CodedPath)
        case pictures(PicturePath)
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
    /// Of a camera that codes itself: somebody wants a key frame.
    private var isCameraAsked = false
    /// When it was last told that such a camera's pictures are held back, CLOCK_MONOTONIC, nanoseconds.
    private var toldAt: UInt64?
    private var toldBreaks: UInt64 = 0
    private var copies = 0
    private var encodeDurations = DurationHistogram()
    private var ownDurations = DurationHistogram()
    private var threadNanoseconds: UInt64 = 0
    private var latency: UInt64?

    /// Failures in a row of a software encoder after which the process is given up.
    private static let mostFailures = 5
    /// Nanoseconds.
    private static let tellInterval: UInt64 = 60_000_000_000

    init(
        state: SharedState, camera: String, logger: Logger, calls: any DeviceCalls, root: String,
        machine: EncoderMachine, mustEnd: @escaping @Sendable (CodedError) -> Void
    ) {
        self.state = state
        self.camera = camera
        self.logger = logger
        self.mustEnd = mustEnd
        let file = state.wanted.withLock { $0.device.encoderMemoryFile }
        self.machine = machine
        choice = EncoderChoice(file: file, logger: logger, calls: calls, root: root, machine: machine)
    }

    // MARK: - Settings

    /// The next picture comes as `setup` says and is to be published so. What is in use already stays, where it can.
    func use(_ device: CameraConfiguration.Device, _ published: PublishedVideo, of setup: CaptureSetup) {
        let before = (device: self.device, published: self.published)
        self.device = device
        self.published = published
        self.setup = setup
        if setup.pixelFormat.isCompressed, !setup.pixelFormat.isJPEG, device.pixelFormat == .h264 {
            if case .coded = path { return }
            leave()
            plan = nil
            recovery = nil
            search = nil
            path = .coded(CodedPath())
            return
        }
        guard case .pictures(let pictures) = path, let plan, failure == nil else { return open() }
        guard before.device != device || before.published != published else { return }
        if let old = before.published, !plan.holds(published, before: old) {
            // Probed, or measured, before it is used; what was found earlier is remembered.
            self.plan = nil
            return open()
        }
        let changed = plan.following(published, before: before.published ?? published)
        if changed != plan { follow(changed, device, published) }
        change(pictures, to: changed, device)
    }

    /// Goes on with the same encoder.
    private func change(_ pictures: PicturePath, to plan: EncoderPlan, _ device: CameraConfiguration.Device) {
        self.plan = plan
        do throws(VideoCodecError) {
            try pictures.encoder.reconfigure(plan.configuration(device))
            try pictures.prepare(as: preparation(device, plan, pictures.encoder))
        } catch {
            logger.warning("the encoder cannot be changed and is opened anew: \(error)")
            open()
        }
    }

    /// From now on `plan` is what can be recovered from, and what hardware is looked for.
    private func follow(_ plan: EncoderPlan, _ device: CameraConfiguration.Device, _ published: PublishedVideo) {
        recovery = CapacityRecovery(plan, for: EncoderChoice.request(device, published), at: choice.now)
        search = nil
    }

    /// Pictures per second that are to be encoded; nil: all.
    var rate: Double? {
        if case .pictures = path { plan?.rate } else { nil }
    }

    func requestKeyFrame() {
        switch path {
        case .none: break
        case .pictures(let pictures): pictures.encoder.requestKeyFrame()
        case .coded: isCameraAsked = true
        }
    }

    /// Whether the camera, which codes itself, is to be asked for a key frame, at CLOCK_MONOTONIC in nanoseconds.
    func asksCameraForKeyFrame(at now: UInt64) -> Bool {
        var isWanted = isCameraAsked
        isCameraAsked = false
        withCodedPath { isWanted = $0.wantsKeyFrame(at: now) || isWanted }
        return isWanted
    }

    /// Whether pictures of a camera that codes itself come, and none that a viewer can begin with, for too long.
    func lacksKeyFrame(at now: UInt64) -> Bool {
        var lacks = false
        withCodedPath { lacks = $0.lacksKeyFrame(at: now) }
        return lacks
    }

    /// Pictures are held back until a key frame comes.
    var isHoldingBack: Bool {
        if case .coded(let coded) = path { !coded.gate.isOpen } else { false }
    }

    /// The camera's stream begins, once more.
    func streamBegan() {
        withCodedPath { $0.streamBegan() }
    }

    /// A picture did not come whole out of the driver.
    func pictureLost() {
        withCodedPath { $0.pictureLost() }
    }

    private func withCodedPath(_ change: (inout CodedPath) -> Void) {
        guard case .coded(var coded) = path else { return }
        // Moved out and back, so that its parameter sets are not copied.
        path = .none
        change(&coded)
        path = .coded(coded)
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
                plan = try choice.plan(device, published)
                follow(plan, device, published)
            }
            self.plan = plan
            watch =
                plan.isHardware
                ? EncoderWatch(heartbeat) { [choice, camera, mustEnd] in
                    mustEnd(choice.hung(plan.encoder, camera: camera))
                } : nil
            let encoder = try machine.open(plan.configuration(device), heartbeat)
            path = .pictures(try PicturePath(encoder, preparation(device, plan, encoder)))
            logger.notice("encoding with \(plan.encoder), \(plan.width)x\(plan.height): \(plan.reason)")
            if let limit = plan.limit { logger.warning("\(limit)", metadata: ["code": "\(ErrorCode.encoderLimited)"]) }
        } catch {
            encoderFailed(error, setup)
        }
    }

    private func preparation(
        _ device: CameraConfiguration.Device, _ plan: EncoderPlan, _ encoder: any PictureCoder
    ) -> PicturePreparation.Configuration {
        PicturePreparation.Configuration(
            width: plan.width, height: plan.height,
            orientation: PictureOrientation(
                rotation: .init(rawValue: device.rotation) ?? .none,
                isFlippedHorizontally: device.flip == .horizontal || device.flip == .both,
                isFlippedVertically: device.flip == .vertical || device.flip == .both),
            masks: device.masks.map { PrivacyMask(x: $0.x, y: $0.y, width: $0.width, height: $0.height) },
            overlay: TextOverlay(time: device.overlay.time, name: device.overlay.name),
            pixelFormats: encoder.acceptedPixelFormats,
            // Software takes rows as they lie.
            lineAlignment: plan.isHardware ? encoder.lineAlignment : 1,
            // libavcodec tells a V4L2 encoder of no colours: they are made those that players assume.
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
        let isFinal = if case .noEncoder = error { true } else { plan == nil || encoderFailures >= Self.mostFailures }
        guard isFinal else { return open() }
        state.statistics.withLock { $0.code = .noEncoder }
        failure = MediaSourceError(
            what: "the pictures of \(camera) cannot be encoded", why: "\(error)",
            next: "watchboxctl camera encoders shows what this box has; Debian's libavcodec has libx264")
    }

    private func leave() {
        if case .pictures(let pictures) = path { closed.add(pictures.encoder.counters) }
        path = .none
    }

    // MARK: - Pictures

    /// - Returns: why the picture could not be read; nil when it could, whatever the encoder made of it.
    func process(
        _ frame: consuming RawFrame, at time: MediaTime, instant: UInt64, received: UInt64, wallClock: Int64,
        deliver: (MediaEvent) -> Void
    ) -> String? {
        lookForHardware()
        let cpu = Clocks.thread
        switch path {
        case .none: return nil
        case .coded(var coded):
            // Moved out and back, so that its parameter sets are not copied.
            path = .none
            defer { path = .coded(coded) }
            do throws(CodedPath.Fault) {
                let rate = published?.rate ?? 30
                let events = try coded.process(frame, at: time, instant: instant, rate: rate)
                if coded.gate.breaks > toldBreaks { tellBreaks(coded.gate.breaks, at: received) }
                finished(events, received: received, encoding: 0, cpu: cpu, deliver)
                copies = coded.copies
                return nil
            } catch {
                return "\(error)"
            }
        case .pictures:
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

    private func tellBreaks(_ count: UInt64, at now: UInt64) {
        toldBreaks = count
        guard toldAt.map({ now &- $0 >= Self.tellInterval }) ?? true else { return }
        toldAt = now
        logger.warning(
            "a picture of \(camera) was lost between camera and driver: those that refer to it are held back until the next key frame"
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
        guard case .pictures(let pictures) = path else { return .done }
        let inside = pictures.encoderCPU
        let begin = SourceClock.now
        do throws(PicturePath.Fault) {
            let events = try pictures.process(frame, at: time, instant: instant, wallClock: wallClock)
            encoderFailures = 0
            copies = pictures.copies
            let last = pictures.encoder.encodeNanoseconds.last
            encodeDurations.took(last)
            finished(events, received: received, encoding: last, cpu: cpu &+ (pictures.encoderCPU &- inside), deliver)
            recover(pictures, encoding: last, working: SourceClock.now &- begin)
            return .done
        } catch {
            switch error {
            case .picture(let error): return .unreadable("\(error)")
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
    private func recover(_ pictures: PicturePath, encoding: UInt64, working: UInt64) {
        guard let plan, let device,
            var next = recovery?.coded(
                encoding: Double(encoding) / 1e9, working: Double(working) / 1e9, at: choice.now)
        else { return }
        next.takeHardwareState(of: plan)
        logger.notice("encoding \(next.width)x\(next.height) at \(next.rate)/s from now on: \(next.finding)")
        if let limit = next.limit { logger.warning("\(limit)", metadata: ["code": "\(ErrorCode.encoderLimited)"]) }
        change(pictures, to: next, device)
    }

    /// The hardware encoder was left alone for a while, which is over: it is tried out beside the pictures.
    private func lookForHardware() {
        guard case .pictures = path, let plan, let device, let published else { return }
        if let search {
            guard let found = search.result else { return }
            self.search = nil
            guard found.isHardware else {
                // One that never worked is no news.
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
        search = choice.retry(plan, device, published)
    }

    /// What the encoder held back.
    func finish() -> [MediaEvent] {
        // Hardware is not asked: it may never answer, and a live stream ends without its last picture as well.
        guard case .pictures(let pictures) = path, plan?.isHardware != true else { return [] }
        return (try? pictures.encoder.finish()) ?? []
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
        case .coded(let coded):
            statistics.encoder = "passthrough"
            statistics.encoderReason = "the camera codes H.264 itself"
            statistics.isHardwareEncoder = true
            statistics.width = coded.size?.width
            statistics.height = coded.size?.height
            statistics.rate = published?.rate
            statistics.limit = published?.limit
            statistics.withheld = coded.gate.withheld
        case .pictures(let pictures):
            counters.add(pictures.encoder.counters)
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
        statistics.copiesPerPicture = copies
        statistics.threadNanoseconds = threadNanoseconds
        statistics.encodeDurations = encodeDurations
        statistics.ownDurations = ownDurations
        statistics.latencyNanoseconds = latency
    }
}
