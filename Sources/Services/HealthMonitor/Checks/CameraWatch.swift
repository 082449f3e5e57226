internal import BoxReadings
internal import CameraModel
internal import ControlAPI
internal import ErrorCatalog

/// One camera over time: what its answers mean for its stream, its source and its key, and whose fault it is.
struct CameraWatch: Sendable {
    struct Outcome: Sendable {
        var findings: [Finding]
        var trouble: EscalationLadder.Trouble?
        /// Its relay has just acknowledged a frame, this many seconds ago.
        var acknowledgedSecondsAgo: Double?
    }

    /// When its stream was last fine; before the first look: then.
    private var goodAt: UInt64
    /// When it failed to answer for the first time in a row; nil while it answers.
    private var silentSince: UInt64?
    private var lookedAt: UInt64
    /// Of its process; nil while it does not answer.
    private var delivered: UInt64?
    private var deliveredAt: UInt64
    /// As the last answer said, also over a silence: counts that went back are those of a new process.
    private var counts: (connections: UInt64, delivered: UInt64) = (0, 0)
    private var stateSince: UInt64
    private var state: CameraStatistics.State?
    private var unregisteredSince: UInt64?
    private var frozenPicture = FrozenPictureWatch()
    /// Where its USB device is, as its process said last: one that hangs reports nothing any more, and its port stays.
    private(set) var usbPort: String?

    /// Seconds for which a header may be without confirmation before it is reported.
    private static let registrationTimeout = 60.0
    /// Seconds for which a process may say `starting` beyond the threshold of failure.
    private static let startTimeout = 30.0

    init(at now: HealthInstant) {
        goodAt = now.uptime
        lookedAt = now.uptime
        deliveredAt = now.uptime
        stateSince = now.uptime
    }

    /// - Parameter phase: of its unit; nil when systemd does not report it.
    mutating func took(
        _ reading: CameraReading, camera: HealthServiceSettings.Camera, phase: UnitPhase?, at now: HealthInstant
    ) -> Outcome {
        defer { lookedAt = now.uptime }
        return switch reading {
        case .silent(let why): silent(why, camera, phase, HealthThresholds.publishSeconds, now)
        case .refused(let why): refused(why, camera)
        case .answered(let document): answered(document, camera, now)
        }
    }

    /// It is ours that the monitor may not ask: that says nothing of the camera, and a restart cannot help.
    private mutating func refused(_ why: String, _ camera: HealthServiceSettings.Camera) -> Outcome {
        state = nil
        delivered = nil
        silentSince = nil
        unregisteredSince = nil
        let evidence = "health may not ask its process: \(why)"
        return Outcome(
            findings: [CheckName.publish, .camera, .frozenPicture, .key].map {
                Finding($0, camera.id, .unknown, evidence)
            })
    }

    private mutating func silent(
        _ why: String, _ camera: HealthServiceSettings.Camera, _ phase: UnitPhase?, _ limits: HealthThresholds.Pair,
        _ now: HealthInstant
    ) -> Outcome {
        state = nil
        delivered = nil
        unregisteredSince = nil
        let since = silentSince ?? now.uptime
        silentSince = since
        let seconds = now.seconds(since: goodAt)
        let level = limits.state(seconds, was: nil, slack: 0)
        let place: String
        let code: ErrorCode
        switch phase {
        case .failed(let result): (place, code) = ("systemd has given up on its process (\(result))", .startLimit)
        case .stopped: (place, code) = ("its process does not run", .cameraStopped)
        case .changing: (place, code) = ("its process is being started or stopped", .noFrames)
        case .running, nil: (place, code) = ("its process does not answer: \(why)", .noFrames)
        }
        let evidence = "no acknowledged frame for \(seconds.tenths) s; \(place)"
        // Without frames it may have been for long, because of its relay: one answer that is missed is not a reason to
        // restart it.
        let isLost = now.seconds(since: since) >= limits.fail
        return Outcome(
            findings: [
                Finding(.publish, camera.id, level, evidence, code: code),
                Finding(.camera, camera.id, .unknown, place), Finding(.frozenPicture, camera.id, .unknown, place),
                Finding(.key, camera.id, .unknown, place),
            ], trouble: isLost ? .local(evidence) : nil)
    }

    private mutating func answered(
        _ document: CameraStatusDocument, _ camera: HealthServiceSettings.Camera, _ now: HealthInstant
    ) -> Outcome {
        let statistics = document.statistics
        let limits = HealthThresholds.publishSeconds
        silentSince = nil
        let isNewProcess = followSource(statistics, now)
        if isNewProcess { goodAt = now.uptime }
        if isNewProcess || state != statistics.state {
            state = statistics.state
            stateSince = now.uptime
        }
        followDevice(statistics.capture)
        let frames = framesFinding(statistics, camera.id, limits, now)
        let frozen = frozenPicture.took(
            document.frameUnchangedSeconds, camera.id, isNewProcess: isNewProcess, isDelivering: frames.state == .ok,
            at: now)
        let publish = publishing(document, camera.id, limits, now, frames: frames)
        var trouble = publish.trouble
        if frames.state == .fail {
            trouble =
                CaptureChecks.isForPerson(statistics.capture) ? .remote(frames.evidence) : .local(frames.evidence)
        }
        if trouble == nil, frozen.isFrozen { trouble = .frozen(frozen.finding.evidence) }
        return Outcome(
            findings: [publish.finding, frames, frozen.finding, keyFinding(document, camera.id, now)]
                + CaptureChecks.findings(statistics.capture, camera.id)
                + [RecordingCheck.finding(statistics.recording, camera.id)].compactMap(\.self),
            trouble: trouble, acknowledgedSecondsAgo: publish.acknowledged)
    }

    // MARK: The stream

    private mutating func publishing(
        _ document: CameraStatusDocument, _ id: String, _ limits: HealthThresholds.Pair, _ now: HealthInstant,
        frames: Finding
    ) -> (finding: Finding, trouble: EscalationLadder.Trouble?, acknowledged: Double?) {
        let statistics = document.statistics
        let reason = statistics.reason.map { ": \($0)" } ?? ""
        func waiting(_ text: String, _ code: ErrorCode) -> Finding {
            let seconds = now.seconds(since: goodAt)
            return Finding(
                .publish, id, limits.state(seconds, was: nil, slack: 0),
                "no acknowledged frame for \(seconds.tenths) s; \(text)\(reason)", code: code)
        }
        switch statistics.state {
        case .publishing:
            let reported = statistics.lastAcknowledged.map { Self.seconds(from: $0, to: document.instant) } ?? .infinity
            // What is older than the stream, or than our first look, is no proof of anything yet: a stream that has
            // just found its relay again was acknowledged long ago, and is not to be restarted for that.
            let age = reported < limits.warn ? reported : min(reported, now.seconds(since: max(goodAt, stateSince)))
            if frames.state != .ok {
                // Without frames there is nothing to acknowledge: the source is what is wrong.
                if let capture = statistics.capture, capture.state == .waiting {
                    return (
                        waiting(
                            "it waits for its camera: \(CaptureChecks.reason(capture))", CaptureChecks.code(capture)),
                        nil, nil
                    )
                }
                return (waiting("the source delivers none", .noFrames), nil, nil)
            }
            let level = limits.state(age, was: nil, slack: 0)
            if level == .ok {
                goodAt = now.uptime - min(UInt64(age * 1e9), now.uptime)
                let trip = statistics.roundTripNanoseconds.map { ", round trip \((Double($0) / 1e6).tenths) ms" } ?? ""
                return (
                    Finding(
                        .publish, id, .ok,
                        "last acknowledgement \(age.tenths) s ago, \(document.framesPerSecond.tenths) fps\(trip)"), nil,
                    statistics.lastAcknowledged == nil ? nil : age
                )
            }
            let finding = Finding(
                .publish, id, level, "last acknowledgement \(age.tenths) s ago, while frames are sent",
                code: .relayStalled)
            return (finding, level == .fail ? .stalled(finding.evidence) : nil, nil)
        case .waitingForKey:
            let finding = waiting("it waits for the key access server", .noKey)
            return (finding, .remote(finding.evidence), nil)
        case .connecting:
            let finding = waiting("it connects to its relay", .relayUnreachable)
            return (finding, .remote(finding.evidence), nil)
        case .waitingToReconnect:
            let finding = waiting("it waits to reach its relay again", .relayUnreachable)
            return (finding, .remote(finding.evidence), nil)
        case .starting:
            let finding = waiting("its process starts", .noFrames)
            let isLate = now.seconds(since: stateSince) >= limits.fail + Self.startTimeout
            return (finding, isLate ? .local(finding.evidence) : nil, nil)
        case .stopping, .stopped:
            let finding = waiting("its process ends", .cameraStopped)
            return (finding, nil, nil)
        case .failed:
            let finding = waiting("its process has ended for good", .cameraStopped)
            return (finding, finding.state == .fail ? .local(finding.evidence) : nil, nil)
        }
    }

    // MARK: The source

    /// Since when the source owes a frame: since its last one; since the stream began, if later; and before its first
    /// frame ever, only the time counts in which the relay took the stream. A source that hangs from the start behind a
    /// relay that ends idle streams would otherwise begin again with every one of them.
    ///
    /// - Returns: the process is another one than at the last look.
    private mutating func followSource(_ statistics: CameraStatistics, _ now: HealthInstant) -> Bool {
        let frames = statistics.video.delivered
        let isNewProcess = statistics.connections < counts.connections || frames < counts.delivered
        counts = (statistics.connections, frames)
        let begins = statistics.state == .publishing && state != .publishing && state != nil
        if isNewProcess || (frames > 0 && (frames != delivered || begins)) {
            deliveredAt = now.uptime
        } else if frames == 0, state != .publishing, statistics.recording == nil {
            deliveredAt += now.uptime - min(lookedAt, now.uptime)
        }
        delivered = frames
        return isNewProcess
    }

    private mutating func followDevice(_ capture: CaptureStatistics?) {
        guard let capture else { return usbPort = nil }
        if let port = capture.usbPort, CaptureChecks.isPort(port) { usbPort = port }
    }

    private func framesFinding(
        _ statistics: CameraStatistics, _ id: String, _ limits: HealthThresholds.Pair, _ now: HealthInstant
    ) -> Finding {
        let seconds = now.seconds(since: deliveredAt)
        let level = limits.state(seconds, was: nil, slack: 0)
        if let capture = statistics.capture, capture.state == .waiting {
            // It says itself that there are none: nobody has to wait for the threshold to know it.
            return Finding(
                .camera, id, level == .fail ? .fail : .warn,
                "\(CaptureChecks.reason(capture)); no frame for \(seconds.tenths) s", code: CaptureChecks.code(capture))
        }
        if level == .ok, statistics.video.delivered > 0 {
            return Finding(.camera, id, .ok, "\(statistics.video.delivered) frames, the last \(seconds.tenths) s ago")
        }
        guard statistics.state == .publishing || statistics.recording != nil else {
            return Finding(.camera, id, .unknown, "its source is asked for frames when the relay takes the stream")
        }
        return Finding(.camera, id, level, "the source has delivered no frame for \(seconds.tenths) s", code: .noFrames)
    }

    // MARK: The key

    private mutating func keyFinding(
        _ document: CameraStatusDocument, _ id: String, _ now: HealthInstant
    ) -> Finding {
        let statistics = document.statistics
        let used = "\(document.ivUsedRatio.percent) of the collection's counter used"
        if document.ivUsedRatio >= HealthThresholds.ivUsed {
            return Finding(.key, id, .warn, used, code: .ivNearlyUsed)
        }
        if statistics.headersUnregistered > 0 {
            let since = unregisteredSince ?? now.uptime
            unregisteredSince = since
            let seconds = now.seconds(since: since)
            if seconds >= Self.registrationTimeout {
                return Finding(
                    .key, id, .warn,
                    "\(statistics.headersUnregistered) headers without the key access server's confirmation for \(seconds.tenths) s",
                    code: .headerUnregistered)
            }
        } else {
            unregisteredSince = nil
        }
        guard statistics.collection != nil else { return Finding(.key, id, .unknown, "it has no collection yet") }
        return Finding(.key, id, .ok, used)
    }

    private static func seconds(from earlier: UInt64, to later: UInt64) -> Double {
        later > earlier ? Double(later - earlier) / 1e9 : 0
    }
}
