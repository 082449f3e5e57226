internal import BoxConfiguration
internal import CameraModel
internal import ControlAPI
internal import ErrorCatalog

extension DoctorCheck {
    static let recordingChecks: [DoctorCheck] = [DoctorCheck("recording", examine: recording)]

    /// Who opens it: the box itself has no key.
    ///
    /// - Parameter recoverable: cameras that have a recovery key.
    private static func opener(_ recoverable: [String]) -> String {
        let alone = "what is recorded opens with the KAS's keys alone"
        let kept = "; watchboxctl kas backup, where it runs, keeps them"
        guard !recoverable.isEmpty else { return alone + kept }
        // What was there before a camera got one is not wrapped for it.
        return
            "\(alone)\(kept); of \(recoverable.joined(separator: ", ")) with a recovery key as well, from when it was set: "
            + "watchboxctl recording status names it"
    }

    /// Which cameras are recorded, and who can open that.
    private static func recording(_ context: CheckContext) async -> Finding {
        guard let settings = await context.settings() else {
            return .unknown("no configuration can be read", hint: "Run it with sudo")
        }
        let recorded = settings.cameras.filter { $0.value.record != .off && $0.value.active }.keys.sorted()
        guard !recorded.isEmpty else { return .ok("no camera is recorded") }
        let who = opener(recorded.filter { settings.cameras[$0]?.recordRecoveryKey != nil })
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
