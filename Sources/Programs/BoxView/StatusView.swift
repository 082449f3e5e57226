internal import CameraModel
internal import Console
public import ControlAPI
internal import ErrorCatalog
internal import Settings

/// One screen about the box: what is wrong comes first, the command that helps last.
public enum StatusView {
    public static func lines(_ status: BoxStatus, style: Style) -> [String] {
        var lines = [headline(status, style), "  " + summary(status, style), ""]
        lines += cameras(status.cameras).lines(style.indented(by: 2)).map { $0.isEmpty ? $0 : "  " + $0 }
        lines.append("")
        for (name, text) in facts(status) { lines.append("  \(name)  \(style.paint(text, .plain))") }
        for camera in status.cameras {
            guard let limit = camera.stream.statistics?.capture?.limit else { continue }
            lines.append(
                "  \(style.paint("!", .warning)) \(style.paint(camera.id, .strong))  \(style.paint(limit, .plain))")
        }
        for check in troubles(status.health) {
            let mark = check.state == .fail ? style.paint("✗", .bad) : style.paint("!", .warning)
            let object = check.object.map { " \($0)" } ?? ""
            let code = check.code.map { "  \($0)" } ?? ""
            lines.append(
                "  \(mark) \(style.paint(check.check + object, .strong))  \(style.paint(check.evidence, .plain))\(code)"
            )
        }
        for object in status.quarantined ?? [] {
            lines.append(
                "  \(style.paint("✗", .bad)) \(style.paint(object.object, .strong))  "
                    + style.paint("quarantined: \(object.reason). \(object.hint)", .plain)
                    + "  \(ErrorCode.objectQuarantined)")
        }
        let hint = status.hint.map { "Next: \(NextStep.text($0))" } ?? "All is well"
        lines.append("  \(style.paint(hint, .strong))  \(Quantity.count(status.cameras.count, "camera"))")
        return lines
    }

    private static func headline(_ status: BoxStatus, _ style: Style) -> String {
        let state =
            switch status.state {
            case .ok: style.paint("OK", .good)
            case .degraded: style.paint("DEGRADED", .bad) + style.paint(status.reason.map { ": \($0)" } ?? "", .plain)
            }
        let dot = style.paint("●", status.state == .ok ? .good : .bad)
        return "\(dot) \(style.paint(status.name, .strong))  \(state)  "
            + style.paint("WatchBox \(status.version)", .faint)
    }

    private static func summary(_ status: BoxStatus, _ style: Style) -> String {
        var parts = ["Up \(Quantity.time(seconds: Double(status.uptimeSeconds)))"]
        switch status.isClockSynchronised {
        case true?: parts.append("clock synchronised")
        case false?: parts.append("clock NOT synchronised")
        case nil: parts.append("clock unknown")
        }
        parts.append("generation \(status.generation)")
        if let problem = status.configurationProblem { parts.append("LAST GOOD CONFIGURATION: \(problem)") }
        if status.recoveriesToday > 0 { parts.append("recovered \(status.recoveriesToday)x today") }
        if status.rebootRequired { parts.append("reboot required") }
        return style.paint(parts.joined(separator: " · "), .plain)
    }

    static func cameras(_ cameras: [CameraDocument]) -> Table {
        var table = Table([
            .init("CAMERA", isIdentifier: true), .init("NAME"), .init("SOURCE"), .init("RATE", .right),
            .init("BITS", .right), .init("ACK", .right), stateColumn(cameras.map(\.stream)),
        ])
        for camera in cameras {
            let stream = camera.stream
            table.rows.append([
                .init(camera.id), .init(camera.name == camera.id ? "" : camera.name), .init(camera.source, .faint),
                .init(stream.framesPerSecond.map { "\(Quantity.tenths($0)) fps" } ?? "-"),
                .init(stream.bitsPerSecond.map(Quantity.bitRate) ?? "-"),
                .init(stream.acknowledgedSecondsAgo.map { Quantity.time(seconds: $0) } ?? "-"), state(of: stream),
            ])
        }
        return table
    }

    /// Its reason may be cut, the code before it never.
    static func stateColumn(_ streams: [StreamDocument]) -> Table.Column {
        let widths = streams.map { stream in
            var short = stream
            short.reason = nil
            let width = DisplayWidth.of(state(of: short).text)
            return stream.reason == nil ? width : width + 2
        }
        return Table.Column("STATE", minimum: widths.max() ?? 0)
    }

    /// A dot, a word, and why.
    static func state(of stream: StreamDocument) -> Table.Cell {
        let because = [stream.code?.description, stream.reason].compactMap { $0 }.joined(separator: " ")
        let tail = because.isEmpty ? "" : " \(because)"
        return switch stream.state {
        case .live: .init("● live", .good)
        case .starting: .init("○ starting" + tail, .warning)
        case .waiting: .init("○ waiting" + tail, .warning)
        case .stopped: .init("○ stopped" + tail, .faint)
        case .failed: .init("✗ failed" + tail, .bad)
        case .unknown: .init("? unknown" + tail, .warning)
        }
    }

    private static func facts(_ status: BoxStatus) -> [(String, String)] {
        let relays = status.relays.map { relay in "\(relay.name) \(relay.url ?? "(its URL is a secret)")" }
        let encoders = status.cameras.compactMap { camera in
            camera.stream.statistics?.capture.flatMap(CaptureText.encoder).map { "\(camera.id) \($0)" }
        }
        let coding = encoders.isEmpty ? [] : [("Encode", encoders.joined(separator: ", "))]
        return [
            ("Relay ", relays.isEmpty ? "none is set" : relays.joined(separator: ", ")),
            ("KAS   ", KeyAccessText.line(status.keyAccess)),
            ("Keys  ", "NanoTDF AES-256-GCM; secrets are protected by \(status.secretProtection)"),
        ] + coding + [
            ("Health", status.health.map { summary(of: $0) } ?? "unknown: the health daemon does not answer")
        ]
    }

    private static func summary(of health: HealthReport) -> String {
        var counts: [HealthState: Int] = [:]
        for check in health.checks { counts[check.state, default: 0] += 1 }
        return HealthState.allCases.filter { counts[$0] != nil }.map { "\(counts[$0] ?? 0) \($0.rawValue)" }
            .joined(separator: ", ")
    }

    private static func troubles(_ health: HealthReport?) -> [HealthCheck] {
        (health?.checks ?? []).filter(\.isOpen)
            .sorted { ($0.state == .fail ? 0 : 1, $0.check) < ($1.state == .fail ? 0 : 1, $1.check) }
    }
}
