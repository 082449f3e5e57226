internal import CameraModel
internal import ControlAPI
internal import ErrorCatalog

/// What a camera's process says of its recording. Nothing restarts it for that: the stream has nothing to do with it.
enum RecordingCheck {
    private static let maxTextLength = 200

    /// Nil: it is not recorded.
    static func finding(_ recording: RecordingStatistics?, _ id: String) -> Finding? {
        guard let recording else { return nil }
        let reason = recording.reason.map { ": \($0.prefix(maxTextLength))" } ?? ""
        func finding(_ state: HealthState, _ text: String, _ code: ErrorCode? = nil) -> Finding {
            Finding(.recording, id, state, text, code: code)
        }
        switch recording.state {
        case .failing: return finding(.fail, "nothing is recorded\(reason)", recording.code ?? .recordingFailed)
        case .waitingForFrames where recording.code != nil:
            return finding(.warn, "nothing is recorded\(reason)", recording.code)
        case .waitingForKey where recording.code != nil:
            return finding(.warn, "nothing is recorded, for want of a key\(reason)", recording.code)
        case .recording where recording.code != nil:
            return finding(.warn, "it is recorded\(reason)", recording.code)
        case .waitingForKey, .waitingForFrames, .stopped:
            return finding(.ok, "it is recorded as soon as there is a frame")
        case .waitingForEvent:
            return finding(.ok, "it waits for \(recording.awaited); \(recording.files) recordings")
        case .recording:
            return finding(
                .ok, "\(recording.files) recordings, \(max(0, recording.bytes) / 1_000_000) MB of them")
        }
    }
}
