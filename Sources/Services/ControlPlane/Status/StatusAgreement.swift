internal import ControlAPI
internal import ErrorCatalog

/// Streams as their processes report them now, and the health daemon's report of some seconds ago, as one truth: one
/// screen must not call a camera live and its relay gone.
///
/// A relay that has just acknowledged a stream is there, whatever was read before. A stream that nobody has
/// acknowledged lately is not live at a relay that refuses connections.
struct StatusAgreement {
    private(set) var cameras: [CameraDocument]
    private(set) var health: HealthReport?

    init(_ cameras: [CameraDocument], _ health: HealthReport?) {
        self.cameras = cameras
        self.health = health
        guard var report = health else { return }
        let proven = cameras.filter { Self.isProven($0.stream) }
        for index in report.checks.indices where Self.isAbsent(report.checks[index]) {
            let check = report.checks[index]
            let witness = proven.first { camera in
                check.check == "relay" ? camera.stream.relay == check.object : camera.id == check.object
            }
            if let witness {
                report.checks[index].settle("\(witness.id) is acknowledged at this moment")
            } else if check.check == "relay", check.state == .fail {
                doubt(check)
            }
        }
        report.state = Self.worst(report.checks, was: report.state)
        self.health = report
    }

    /// Acknowledged lately enough to say that its relay is there.
    private static func isProven(_ stream: StreamDocument) -> Bool {
        guard stream.state == .live, let seconds = stream.acknowledgedSecondsAgo else { return false }
        return Duration.seconds(seconds) < StreamNews.settleTime
    }

    /// It reports that a relay is away, by itself or by a stream that goes there.
    private static func isAbsent(_ check: HealthCheck) -> Bool {
        guard check.state == .warn || check.state == .fail else { return false }
        switch check.check {
        case "relay": return true
        case "publish": return check.code == .relayUnreachable || check.code == .relayStalled
        default: return false
        }
    }

    private mutating func doubt(_ check: HealthCheck) {
        for index in cameras.indices {
            guard cameras[index].stream.state == .live, cameras[index].stream.relay == check.object else { continue }
            cameras[index].stream.state = .waiting
            cameras[index].stream.reason = check.evidence
            let code = check.code ?? .relayUnreachable
            cameras[index].stream.code = code
            cameras[index].stream.hint =
                check.hint ?? code.entry?.hint(camera: cameras[index].id, relay: cameras[index].stream.relay)
        }
    }

    /// Never worse than it was.
    private static func worst(_ checks: [HealthCheck], was state: HealthState) -> HealthState {
        guard state == .fail || state == .warn else { return state }
        let open = checks.filter(\.isOpen).map(\.state)
        return open.contains(.fail) ? state : open.contains(.warn) ? .warn : .ok
    }
}

extension HealthCheck {
    fileprivate mutating func settle(_ evidence: String) {
        state = .ok
        self.evidence = evidence
        code = nil
        hint = nil
    }
}
