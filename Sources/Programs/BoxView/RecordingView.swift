public import CameraModel
internal import ControlAPI
internal import ErrorCatalog

/// What cameras record, as a table, and what is wrong with it below.
public enum RecordingView {
    /// - Parameter now: milliseconds since 1970.
    public static func lines(
        _ cameras: [(camera: String, isOn: Bool, recording: RecordingStatistics?)], now: Int64, style: Style
    ) -> [String] {
        var table = Table([
            .init("CAMERA", isIdentifier: true), .init("RECORDING"), .init("FILES", .right), .init("SIZE", .right),
            .init("PINNED", .right), .init("SINCE"), .init("A DAY", .right), .init("LOST", .right),
        ])
        for (camera, isOn, recording) in cameras {
            guard let recording else {
                // Its process starts, or does not run.
                table.rows.append([.init(camera), isOn ? .init("not yet", .warning) : .init("off", .faint)])
                continue
            }
            table.rows.append([
                .init(camera), state(recording), .init("\(recording.files)"), .init(bytes(recording.bytes)),
                .init(bytes(recording.pinnedBytes)), .init(recording.oldest.map { Quantity.date($0 / 1000) } ?? "-"),
                .init(recording.bytesPerDay.map(rate) ?? "-"),
                .init(
                    "\(recording.droppedFrames)", recording.droppedFrames > 0 ? .warning : .plain),
            ])
        }
        table.footer = Quantity.count(cameras.count, "camera")
        return table.lines(style)
            + cameras.compactMap { camera, _, recording in recording.flatMap { event(of: camera, $0, now) } }
            + cameras.compactMap { camera, _, recording in
                recording?.recoveryKey.map { Style.oneLine("\(camera): opens with the recovery key \($0) as well") }
            }
            + cameras.flatMap { camera, _, recording in recording.map { trouble(of: camera, $0, style) } ?? [] }
    }

    /// Of one camera.
    static func line(_ recording: RecordingStatistics, camera: String) -> String {
        let amount =
            recording.files > 0 ? ", \(Quantity.count(recording.files, "file")), \(bytes(recording.bytes))" : ""
        let reason = recording.reason.map { ": \($0)" } ?? ""
        return state(recording).text + reason + amount + "; watchboxctl archive list \(ShellWord.quoted(camera))"
    }

    private static func state(_ recording: RecordingStatistics) -> Table.Cell {
        switch recording.state {
        case .recording: .init("on", recording.code == nil ? .good : .warning)
        case .waitingForKey: .init("waits for a key", .warning)
        case .waitingForFrames: .init("waits for frames", .warning)
        case .waitingForEvent: .init("waits for \(recording.awaited)", .good)
        case .failing: .init("fails", .bad)
        case .stopped: .init("stopped", .faint)
        }
    }

    /// Of a camera that is recorded around events; nil: there was none.
    private static func event(of camera: String, _ recording: RecordingStatistics, _ now: Int64) -> String? {
        guard let event = recording.lastEvent else { return nil }
        let (difference, overflow) = now.subtractingReportingOverflow(event.time)
        let age = overflow ? "-" : Quantity.age(seconds: difference / 1000)
        return Style.oneLine("\(camera): last event \(age): \(cause(event.cause))")
    }

    private static func cause(_ cause: RecordingStatistics.Event.Cause) -> String {
        switch cause {
        case .motion: "motion"
        case .tamper: "tampering"
        case .digitalInput: "an input"
        case .mark: "a mark"
        case .schedule: "its schedule"
        }
    }

    private static func trouble(of camera: String, _ recording: RecordingStatistics, _ style: Style) -> [String] {
        guard let reason = recording.reason else { return [] }
        let code = recording.code.map { " (\($0))" } ?? ""
        var lines = [Style.oneLine("\(camera): \(reason)\(code)")]
        if let hint = recording.code?.entry?.hint(camera: camera) { lines.append(Style.oneLine("    \(hint)")) }
        return lines
    }

    /// Of a number that somebody else's process reported.
    private static func rate(_ number: Double) -> String {
        number.isFinite && number > 0 ? bytes(Int64(min(number, 9e18))) : "-"
    }

    private static func bytes(_ count: Int64) -> String { Quantity.bytes(Int(clamping: count)) }
}
