internal import CameraModel
internal import ControlAPI
internal import ErrorCatalog
internal import Systemd

/// What is reported of one stream, out of what is desired, what systemd says of the unit, and what the camera's process says
/// of itself.
struct StreamState {
    var camera: String
    var stream: String
    var relay: String?
    var isActive: Bool
    var obstacle: CodedError?
    var isStoppedByRequest: Bool
    /// Nil when systemd did not answer or knows no such unit.
    var unit: UnitState?
    /// Nil when the process did not answer.
    var process: CameraStatusDocument?

    private struct Assessment {
        var state: StreamDocument.State
        var reason: String?
        var code: ErrorCode?
        /// Nil for the catalog's text.
        var hint: String?

        init(_ state: StreamDocument.State, _ reason: String?, _ code: ErrorCode? = nil, hint: String? = nil) {
            self.state = state
            self.reason = reason
            self.code = code
            self.hint = hint
        }
    }

    var document: StreamDocument {
        var document = StreamDocument(
            camera: camera, stream: stream, state: .unknown, relay: relay, restarts: Int(unit?.restarts ?? 0),
            unit: unit?.active ?? "unknown")
        let assessment = assessment
        (document.state, document.reason, document.code) = (assessment.state, assessment.reason, assessment.code)
        document.hint = assessment.hint ?? assessment.code?.entry?.hint(camera: camera, relay: relay)
        guard let process, unit?.isUp ?? true else { return document }
        document.framesPerSecond = process.framesPerSecond
        document.bitsPerSecond = process.bitsPerSecond
        document.roundTripMilliseconds = process.statistics.roundTripNanoseconds.map { Double($0) / 1e6 }
        func secondsAgo(_ instant: UInt64) -> Double {
            instant < process.instant ? Double(process.instant - instant) / 1e9 : 0
        }
        document.acknowledgedSecondsAgo = process.statistics.lastAcknowledged.map(secondsAgo)
        document.uplinkChangedSecondsAgo = process.statistics.uplink?.lastChange.map(secondsAgo)
        document.statistics = process.statistics
        return document
    }

    private var assessment: Assessment {
        guard isActive else { return Assessment(.stopped, "the camera is disabled") }
        if let obstacle {
            return Assessment(
                .stopped, obstacle.why.map { "\(obstacle.what): \($0)" } ?? obstacle.what, obstacle.code,
                hint: obstacle.hint)
        }
        if isStoppedByRequest, unit?.isUp != true { return Assessment(.stopped, "stopped by request") }
        guard let unit else {
            return process.map(fromProcess) ?? Assessment(.unknown, "systemd does not answer", .systemManager)
        }
        switch unit.active {
        case "failed":
            let failure = unit.failure
            return Assessment(.failed, failure.text, failure.code)
        case "inactive": return Assessment(.stopped, "its unit does not run", .cameraStopped)
        case "deactivating": return Assessment(.stopped, "it is being stopped")
        case "activating" where unit.sub == "auto-restart":
            let failure = unit.failure
            return Assessment(.starting, "\(failure.text); systemd starts it again", failure.code)
        default: break
        }
        if let process { return fromProcess(process) }
        // It has said why it cannot run, and is about to end.
        if let end = unit.lastError { return Assessment(.starting, end.what, end.code) }
        if unit.active == "activating" { return Assessment(.starting, unit.statusText.isEmpty ? nil : unit.statusText) }
        return Assessment(.unknown, "its process does not answer")
    }

    /// A connection that is open is not a stream: a relay that has hung, or that the network has lost, is noticed by
    /// TCP only much later. Assessed as the health daemon does, so that both say the same.
    private func silence(_ process: CameraStatusDocument) -> Assessment? {
        let statistics = process.statistics
        guard let acknowledged = statistics.lastAcknowledged, acknowledged < process.instant,
            // Without anything sent since there is nothing to acknowledge.
            statistics.lastSent ?? process.instant > acknowledged
        else { return nil }
        let silence = Duration.nanoseconds(Int64(clamping: process.instant - acknowledged))
        guard silence >= StreamNews.settleTime else { return nil }
        // Always the same text: since when is reported separately, and a new reason would be an event of its own.
        return Assessment(.waiting, "the relay acknowledges nothing", .relayStalled)
    }

    private func fromProcess(_ process: CameraStatusDocument) -> Assessment {
        let reason = process.statistics.reason
        if process.statistics.state == .publishing, let capture = process.statistics.capture {
            switch capture.state {
            case .waiting:
                let defaultValue: ErrorCode = capture.network == nil ? .deviceMissing : .cameraUnreachable
                return Assessment(.waiting, capture.reason ?? "waits for its camera", capture.code ?? defaultValue)
            case .starting: return Assessment(.starting, capture.reason, capture.code)
            case .streaming, .stopped: break
            }
        }
        return switch process.statistics.state {
        case .publishing: silence(process) ?? Assessment(.live, nil)
        case .starting, .connecting: Assessment(.starting, reason)
        case .waitingForKey: Assessment(.waiting, reason ?? "waits for a key of the key access server", .noKey)
        case .waitingToReconnect:
            Assessment(
                .waiting, reason ?? "waits to connect to the relay again", process.statistics.code ?? .relayUnreachable)
        case .stopping, .stopped: Assessment(.stopped, reason)
        case .failed: Assessment(.failed, reason, process.statistics.code)
        }
    }
}

extension UnitState {
    /// What its process left when it could not go on: text of an attacker, perhaps, if somebody took the process over.
    /// What to do next is said by the catalog, never by such a process.
    var lastError: CodedError? {
        CodedError(endLine: statusText).map { CodedError($0.code, $0.what) }
    }

    /// Why it ended, as text, and the code for it.
    var failure: (text: String, code: ErrorCode) {
        switch result {
        case "watchdog": return ("it hung and was ended", .watchdogAbort)
        case "start-limit-hit":
            // The last of its ends stands for all of them.
            guard let error = lastError else { return ("it ended too often", .startLimit) }
            return ("it ended too often: \(error.what)", error.code)
        case "oom-kill": return ("it was ended because memory ran out", .processKilledForMemory)
        case "signal", "core-dump": return ("it was ended by signal \(execMainStatus)", .cameraStopped)
        case "exit-code":
            guard let error = lastError else { return ("it ended with status \(execMainStatus)", .cameraStopped) }
            return (error.what, error.code)
        case "timeout": return ("it did not start or stop in time", .cameraStopped)
        case "resources", "protocol": return ("systemd could not start it (\(result))", .systemManager)
        default: return ("it ended (\(Printable.text(result, limit: 32)))", .cameraStopped)
        }
    }
}
