internal import CameraModel
internal import ErrorCatalog
internal import HTTPClient
internal import Logging
internal import Media
internal import ONVIF
internal import ONVIFClient
internal import Platform
internal import RTP
internal import RTSP
internal import Synchronization
internal import VideoCodec

/// One test of a camera, on one thread.
final class StreamTestRun: Sendable {
    private let subject: StreamTest.Subject
    private let timeout: Duration
    private let logger: Logger
    private let progress: @Sendable (StreamTestReport) -> Void
    private let state: SharedState

    /// A camera's clock that is further off is worth a warning, milliseconds.
    private static let clockTolerance: Int64 = 5_000

    init(
        _ subject: StreamTest.Subject, deadline: Duration, logger: Logger,
        progress: @escaping @Sendable (StreamTestReport) -> Void
    ) {
        self.subject = subject
        timeout = deadline
        self.logger = logger
        self.progress = progress
        var network = subject.network
        network.memoryFile = nil
        state = SharedState(network)
    }

    func cancel() { state.wakeup.stop() }

    /// What the steps write, and by when they must be done.
    private struct Log {
        var report: StreamTestReport
        var began: UInt64
        var deadline: UInt64
        /// Of the certificates that were shown.
        private var pins: [String] = []

        init(report: StreamTestReport, began: UInt64, deadline: UInt64) {
            self.report = report
            self.began = began
            self.deadline = deadline
        }

        /// The report shows a pin only when it is the camera's one: ONVIF and stream may show different certificates,
        /// and a pin in the settings counts for both.
        mutating func saw(pin: String?) {
            guard let pin, !pins.contains(pin) else { return }
            pins.append(pin)
            report.pin = pins.count == 1 ? pin : nil
            guard pins.count == 2, let place = report.lines.firstIndex(where: { $0.step == .reach }) else { return }
            report.lines[place].text +=
                "; its ONVIF service and its stream show different certificates, and each is held to its own: no pin is set"
        }

        var isLate: Bool { Clocks.monotonic >= deadline }

        mutating func add(
            _ step: StreamTestReport.Step, _ outcome: StreamTestReport.Outcome, _ text: String,
            code: ErrorCode? = nil, hint: String? = nil, milliseconds: Double? = nil
        ) {
            let now = Clocks.monotonic
            report.lines.append(
                .init(
                    step: step, outcome: outcome, milliseconds: milliseconds ?? Double(now &- began) / 1e6, text: text,
                    code: code, hint: hint))
            began = now
        }

        /// The step that is not done yet.
        var step: StreamTestReport.Step {
            StreamTestReport.Step.allCases.first { step in !report.lines.contains { $0.step == step } } ?? .keyFrame
        }
    }

    func run() -> StreamTestReport {
        let now = Clocks.monotonic
        let (seconds, attoseconds) = timeout.components
        let nanoseconds = UInt64(clamping: seconds) &* 1_000_000_000 &+ UInt64(clamping: attoseconds / 1_000_000_000)
        var log = Log(
            report: StreamTestReport(url: subject.network.url), began: now, deadline: now &+ nanoseconds)
        do throws(PullFault) {
            switch try CameraURL(subject.network.url) {
            case .stream(let text):
                let moved = CameraMoves(subject.network, state: state).key(memory) == nil ? nil : memory.movedURL
                try pull(try Self.url(moved ?? text), &log)
            case .device(let host, let port, let path):
                let text = try ask(host: host, port: port, path: path, &log)
                try pull(try Self.url(text), &log)
            }
        } catch {
            fail(error, &log)
        }
        log.report.isDone = true
        report(log)
        return Self.shown(log.report)
    }

    /// Instead of `run`, where no thread can be made for it.
    func withoutThread() -> StreamTestReport {
        let now = Clocks.monotonic
        var log = Log(report: StreamTestReport(url: subject.network.url), began: now, deadline: now)
        log.add(.reach, .failed, "nothing was tried: no thread can be made for the test", hint: "Try again later")
        log.report.isDone = true
        report(log)
        return Self.shown(log.report)
    }

    private func report(_ log: Log) { progress(Self.shown(log.report)) }

    /// Without the passwords that cameras write into their own addresses, and bounded.
    private static func shown(_ report: StreamTestReport) -> StreamTestReport {
        var shown = report
        shown.streamURL = CameraDevice.shown(report.streamURL)
        return shown.bounded
    }

    private static func url(_ text: String) throws(PullFault) -> RTSPURL {
        do throws(RTSPURLFault) {
            return try RTSPURL(stream: text)
        } catch {
            throw PullFault(.cameraProtocol, "\(error)", hint: "Check the address of the camera", ending: .person)
        }
    }

    private func fail(_ fault: PullFault, _ log: inout Log) {
        let loginCodes: [ErrorCode] = [.loginNeeded, .loginRefused, .loginUnsupported, .accessForbidden]
        var step = log.step
        if loginCodes.contains(fault.code), step == .clock || step == .describe { step = .login }
        if step == .clock { log.add(.clock, .skipped, "not asked", milliseconds: 0) }
        if step == .clock { step = .login }
        // Between reaching and describing a login may simply not have come up.
        if step == .login, !loginCodes.contains(fault.code), log.report.lines.contains(where: { $0.step == .reach }) {
            log.add(.login, .skipped, "not asked for", milliseconds: 0)
            step = .describe
        }
        let what = state.wakeup.isStopped ? "the test was ended before this step was done" : fault.what
        log.add(step, .failed, what, code: fault.code, hint: fault.hint)
    }

    // MARK: - ONVIF

    private func ask(
        host: String, port: UInt16?, path: String?, _ log: inout Log
    ) throws(PullFault) -> String {
        var network = subject.network
        network.memoryFile = nil
        let finder = CameraFinder(network, host: host, port: port, path: path, state: state, logger: logger)
        var memory = self.memory
        let found: CameraFinder.Stream
        do throws(PullFault) {
            found = try finder.stream(password: subject.password, memory: &memory)
        } catch {
            // Who asks without a login wants to know just that.
            log.report.address = finder.shownAddress
            if error.code != .cameraUnreachable, error.code != .cameraTimeout, error.code != .cameraCertificate {
                log.add(.reach, .ok, "\(host) answers")
            }
            log.saw(pin: finder.shownPin)
            throw error
        }
        let statistics = state.statistics.withLock { $0.network }
        let learnedFacts = state.device.withLock { $0 }?.device.learnedFacts
        log.report.address = learnedFacts?.address
        log.report.device = statistics?.device
        let took = Double(Clocks.monotonic &- log.began) / 1e6
        log.add(
            .reach, .ok, "\(memory.serviceURL.map { DeviceURL.shown($0) } ?? host) answers as an ONVIF device",
            milliseconds: took)
        log.saw(pin: learnedFacts?.pin)
        let offset = learnedFacts?.clockOffsetMilliseconds ?? 0
        if abs(offset) > Self.clockTolerance {
            let seconds = abs(offset) / 1000
            log.add(
                .clock, .warning,
                "the camera's clock is \(seconds) s \(offset > 0 ? "ahead of" : "behind") this box's; logins go by it",
                hint: "Set the camera's clock, best by NTP, so that its own recordings and text are right")
        } else {
            log.add(.clock, .ok, "the camera's clock is right")
        }
        log.add(.login, .ok, "ONVIF accepts the login (\(Self.text(learnedFacts?.scheme)))")
        report(log)
        return found.url
    }

    /// What is known of the camera already.
    private var memory: CameraCache { subject.memory ?? CameraCache(url: subject.network.url) }

    private static func text(_ scheme: LoginScheme?) -> String {
        switch scheme {
        case .usernameToken: "digest token"
        case .httpDigest: "HTTP Digest"
        case .plainText: "readable password"
        case nil, .some(.none): "it asks for none"
        }
    }

    // MARK: - RTSP

    private func pull(_ url: RTSPURL, _ log: inout Log) throws(PullFault) {
        log.report.streamURL = "\(url)"
        report(log)
        do throws(PullFault) {
            try pull(url, followsRedirect: true, &log)
        } catch {
            guard let redirect = error.redirect else { throw error }
            try options(for: redirect).checkLogin(at: redirect, from: url)
            log.report.streamURL = "\(redirect)"
            try pull(redirect, followsRedirect: false, &log)
        }
    }

    private func options(for url: RTSPURL) -> StreamPull.Options {
        var options = StreamPull.Options(url: url)
        options.credentials = subject.network.user.flatMap { user in
            subject.password.map { RTSPCredentials(user: user, password: $0) }
        }
        options.pin = subject.network.pin ?? subject.memory?.pin
        return options
    }

    private func pull(_ url: RTSPURL, followsRedirect: Bool, _ log: inout Log) throws(PullFault) {
        var options = options(for: url)
        if url.isSecure, options.pin == nil, !subject.trustsFirstCertificate {
            throw PullFault(
                .cameraCertificate, "the camera's certificate has not been accepted yet",
                hint: "Add the camera, or accept its certificate: watchboxctl camera edit ID --accept-certificate")
        }
        switch subject.network.transport {
        case .tcp: options.transport = .tcp
        case .udp: options.transport = .udp
        case .multicast: options.transport = .multicast
        }
        // As the stream does it.
        if url.isSecure { options.transport = .tcp }
        options.audio = subject.network.audio
        // As the pull itself: readable only for where the settings say that it is.
        options.allowsBasic =
            subject.network.allowsBasic && CameraMoves(subject.network, state: state).isConfigured(url.host)
        options.snapshotRate = subject.network.snapshotRate
        options.followsRedirect = followsRedirect
        var steps = log
        var isOver = false
        var lacksKeyFrame = false
        var current: (any CameraPull)?
        let handle = { [self] (event: StreamPull.Event, now: UInt64) in
            // Frames that came in one piece with the last one that was needed.
            guard !isOver else { return }
            if case .lacksKeyFrame = event { lacksKeyFrame = true }
            isOver = took(event, current, &steps, at: now)
        }
        let isDone = { isOver || steps.isLate }
        let pull: any CameraPull =
            switch url.service {
            case .rtsp: StreamPull(options, wakeup: state.wakeup, isOver: isDone, handle: handle)
            case .http: HTTPPull(options, wakeup: state.wakeup, isOver: isDone, handle: handle)
            }
        current = pull
        defer {
            current = nil
            log = steps
        }
        try pull.run()
        guard !isOver else { return }
        log = steps
        if lacksKeyFrame, !state.wakeup.isStopped {
            throw PullFault(
                .noKeyFrame,
                "frames arrive, but no key frame came within \(timeout.components.seconds) s; a stream waits for one "
                    + "for \(FreezeWatch.longestGroup / 1_000_000_000) s")
        }
        throw PullFault(
            .cameraTimeout,
            state.wakeup.isStopped ? "the test was ended" : "the test took longer than \(timeout.components.seconds) s"
        )
    }

    /// - Returns: whether all is known.
    private func took(
        _ event: StreamPull.Event, _ pull: (any CameraPull)?, _ log: inout Log, at now: UInt64
    ) -> Bool {
        switch event {
        case .certificateSeen(let pin): log.saw(pin: kept(pin))
        case .connected(let address, let pin):
            log.report.address = address
            log.report.port = pull.map { Int($0.options.url.port) }
            log.saw(pin: kept(pin))
            if !log.report.lines.contains(where: { $0.step == .reach }) {
                log.add(.reach, .ok, "\(address) answers" + (pin == nil ? "" : ", encrypted"))
                log.add(.clock, .skipped, "the address of a stream has no clock", milliseconds: 0)
            }
            report(log)
        case .described(let selection):
            described(selection, pull, &log)
            report(log)
        case .playing, .needsKeyFrame, .lacksKeyFrame, .ticked: break
        case .unit(let choice, let unit):
            guard choice.kind.isVideo, unit.encoded.isKeyFrame else { return false }
            return frameArrived(choice, unit, pull, &log)
        }
        return false
    }

    private func kept(_ pin: String?) -> String? {
        (try? CameraURL(subject.network.url))?.hasCertificate == true ? pin : nil
    }

    private func described(_ selection: MediaSelection, _ pull: (any CameraPull)?, _ log: inout Log) {
        guard let video = selection.video else { return }
        log.report.authentication = pull?.authentication
        log.report.server = pull?.server
        log.report.videoCodec = video.kind.rawValue
        log.report.audioCodec = selection.audio?.kind.rawValue
        log.report.rate = video.frameRate
        let scheme = pull?.authentication ?? "none"
        if !log.report.lines.contains(where: { $0.step == .login }) {
            log.add(
                .login, .ok,
                scheme == "none" ? "the camera asks for no login" : "the camera accepts the login (\(scheme))",
                milliseconds: 0)
        }
        let audio = selection.audio.map { " and \($0.kind.rawValue)" } ?? " without audio"
        if let reason = selection.audioReason {
            log.add(.describe, .warning, "\(video.kind.rawValue) without audio: \(reason)", code: .audioMissing)
        } else {
            log.add(.describe, .ok, video.kind.rawValue + audio)
        }
    }

    private func frameArrived(
        _ choice: MediaChoice, _ unit: MediaTrack.Unit, _ pull: (any CameraPull)?, _ log: inout Log
    ) -> Bool {
        if let format = unit.encoded.format {
            log.report.width = format.width
            log.report.height = format.height
            log.report.rate = format.frameRate ?? log.report.rate
        } else if choice.kind == .mjpeg {
            // The next one may be whole.
            guard let header = Self.header(unit.encoded.data) else { return false }
            log.report.width = header.width
            log.report.height = header.height
        }
        log.report.authentication = pull?.authentication ?? log.report.authentication
        log.report.isUsable = true
        let size = [log.report.width, log.report.height].compactMap { $0.map { "\($0)" } }.joined(separator: "x")
        log.add(.keyFrame, .ok, "a key frame came" + (size.isEmpty ? "" : ": \(size) \(choice.kind.rawValue)"))
        return true
    }

    /// An unknown device's frame is measured, and not decoded: this runs with the rights of the control process as well.
    static func header(_ jpeg: [UInt8]) -> JPEGHeader? {
        do throws(VideoCodecError) {
            return try jpeg.span.bytes.withUnsafeBytes { (bytes) throws(VideoCodecError) in try JPEGHeader(bytes) }
        } catch {
            return nil
        }
    }
}
