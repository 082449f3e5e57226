internal import CameraModel
internal import ControlAPI
internal import ErrorCatalog
internal import Systemd

/// What is told of one stream, out of what is wanted, what systemd says of the unit, and what the camera's process says
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

    var document: StreamDocument {
        var document = StreamDocument(
            camera: camera, stream: stream, state: .unknown, relay: relay, restarts: Int(unit?.restarts ?? 0),
            unit: unit?.active ?? "unknown")
        (document.state, document.reason, document.code) = judgement
        guard let process, unit?.isUp ?? true else { return document }
        document.framesPerSecond = process.framesPerSecond
        document.bitsPerSecond = process.bitsPerSecond
        document.roundTripMilliseconds = process.statistics.roundTripNanoseconds.map { Double($0) / 1e6 }
        document.acknowledgedSecondsAgo = process.statistics.lastAcknowledged.map { acknowledged in
            acknowledged < process.instant ? Double(process.instant - acknowledged) / 1e9 : 0
        }
        document.statistics = process.statistics
        return document
    }

    private var judgement: (StreamDocument.State, reason: String?, ErrorCode?) {
        guard isActive else { return (.stopped, "the camera is disabled", nil) }
        if let obstacle {
            return (.stopped, obstacle.why.map { "\(obstacle.what): \($0)" } ?? obstacle.what, obstacle.code)
        }
        if isStoppedByRequest, unit?.isUp != true { return (.stopped, "stopped by request", nil) }
        guard let unit else { return process.map(fromProcess) ?? (.unknown, "systemd does not answer", .systemManager) }
        switch unit.active {
        case "failed": return (.failed, unit.failure.text, unit.failure.code)
        case "inactive": return (.stopped, "its unit does not run", .cameraStopped)
        case "deactivating": return (.stopped, "it is being stopped", nil)
        case "activating" where unit.sub == "auto-restart":
            return (.starting, "\(unit.failure.text); systemd starts it again", unit.failure.code)
        default: break
        }
        if let process { return fromProcess(process) }
        if unit.active == "activating" { return (.starting, unit.statusText.isEmpty ? nil : unit.statusText, nil) }
        return (.unknown, "its process does not answer", nil)
    }

    private func fromProcess(
        _ process: CameraStatusDocument
    ) -> (StreamDocument.State, reason: String?, ErrorCode?) {
        let reason = process.statistics.reason
        if process.statistics.state == .publishing, let capture = process.statistics.capture {
            switch capture.state {
            case .waiting:
                let standard: ErrorCode = capture.network == nil ? .deviceMissing : .cameraUnreachable
                return (.waiting, capture.reason ?? "waits for its camera", capture.code ?? standard)
            case .starting: return (.starting, capture.reason, capture.code)
            case .streaming, .stopped: break
            }
        }
        return switch process.statistics.state {
        case .publishing: (.live, nil, nil)
        case .starting, .connecting: (.starting, reason, nil)
        case .waitingForKey: (.waiting, reason ?? "waits for a key of the key access server", .noKey)
        case .waitingToReconnect: (.waiting, reason ?? "waits to connect to the relay again", .relayUnreachable)
        case .stopping, .stopped: (.stopped, reason, nil)
        case .failed: (.failed, reason, nil)
        }
    }
}

extension UnitState {
    /// Why it ended, in words, and the code for it.
    var failure: (text: String, code: ErrorCode) {
        switch result {
        case "watchdog": ("it hung and was ended", .watchdogAbort)
        case "start-limit-hit": ("it ended too often", .startLimit)
        case "oom-kill": ("it was ended because memory ran out", .processKilledForMemory)
        case "signal", "core-dump": ("it was ended by signal \(execMainStatus)", .cameraStopped)
        case "exit-code": ("it ended with status \(execMainStatus)", .cameraStopped)
        case "timeout": ("it did not start or stop in time", .cameraStopped)
        case "resources", "protocol": ("systemd could not start it (\(result))", .systemManager)
        default: ("it ended (\(Printable.text(result, limit: 32)))", .cameraStopped)
        }
    }
}
