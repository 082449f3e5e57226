internal import BoxConfiguration
internal import CameraModel
internal import ControlAPI
internal import ErrorCatalog

extension DoctorCheck {
    static let recordingChecks: [DoctorCheck] = [DoctorCheck("recording", examine: recording)]

    /// Who opens it: the box itself has no key.
    ///
    /// - Parameter recoverable: cameras that have a recovery key.
    private static func opener(_ recoverable: [String], of recorded: [String]) -> String {
        let alone =
            "what is recorded opens with the KAS's keys alone; watchboxctl kas backup, where it runs, keeps them"
        guard !recoverable.isEmpty else { return alone }
        let others = recorded.filter { !recoverable.contains($0) }
        let both = "opens with the KAS's keys or its recovery key, which watchboxctl recording status names"
        return others.isEmpty
            ? "what is recorded \(both)"
            : "what is recorded of \(recoverable.joined(separator: ", ")) \(both); of \(others.joined(separator: ", ")) with "
                + "the KAS's keys alone, which watchboxctl kas backup keeps, where it runs"
    }

    /// Which cameras are recorded, and who can open that.
    private static func recording(_ context: CheckContext) async -> Finding {
        guard let settings = await context.settings() else {
            return .unknown("no configuration can be read", hint: "Run it with sudo")
        }
        let recorded = settings.cameras.filter { $0.value.record != .off && $0.value.active }.keys.sorted()
        guard !recorded.isEmpty else { return .ok("no camera is recorded") }
        let who = opener(recorded.filter { settings.cameras[$0]?.recordRecoveryKey != nil }, of: recorded)
        guard case .success(let status) = await context.status() else {
            return .ok("\(recorded.joined(separator: ", ")): \(who)")
        }
        let recordings = status.cameras.compactMap { camera in
            camera.stream.statistics?.recording.map { (camera.id, $0) }
        }
        for (id, recording) in recordings where recording.state == .failing {
            return .fail("\(id): nothing is recorded: \(recording.reason ?? "")", recording.code ?? .recordingFailed)
        }
        for (id, recording) in recordings {
            guard let code = recording.code else { continue }
            return .warn("\(id): \(recording.reason ?? "\(code)")", code)
        }
        let silent = recorded.filter { id in !recordings.contains { $0.0 == id } }
        guard silent.isEmpty else {
            return .unknown("\(silent.joined(separator: ", ")): no word of the recording; its process does not answer")
        }
        return .ok("\(recorded.joined(separator: ", ")): \(who)")
    }
}
