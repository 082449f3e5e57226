internal import Console
public import ControlAPI
public import ErrorCatalog
internal import Settings

public enum HealthView {
    /// The line and the exit status of a Nagios plug-in. What was acknowledged is not a problem, as everywhere.
    public static func nagios(_ report: HealthReport) -> (line: String, status: Int32) {
        let open = report.checks.filter(\.isOpen)
        let isKnown = report.checks.contains { $0.state != .unknown }
        let (word, status): (String, Int32) =
            if open.contains(where: { $0.state == .fail }) {
                ("CRITICAL", 2)
            } else if !open.isEmpty {
                ("WARNING", 1)
            } else {
                isKnown ? ("OK", 0) : ("UNKNOWN", 3)
            }
        let text =
            open.isEmpty
            ? Quantity.count(report.checks.count, "check")
            : open.map { "\($0.check)\($0.object.map { " \($0)" } ?? "")" }.joined(separator: ", ")
        return ("WATCHBOX \(word) - " + Style.oneLine(text), status)
    }

    public static func table(_ report: HealthReport) -> Table {
        var table = Table([
            .init("", isIdentifier: true), .init("CHECK", isIdentifier: true), .init("OBJECT"), .init("SINCE"),
            .init("EVIDENCE"), .init("CODE", isIdentifier: true),
        ])
        for check in report.checks {
            let mark: Table.Cell =
                switch check.state {
                case .ok: .init("✓ ok", .good)
                case .warn: .init("! warn", .warning)
                case .fail: .init("✗ fail", .bad)
                case .unknown: .init("? unknown", .faint)
                }
            table.rows.append([
                mark, .init(check.check), .init(check.object ?? "-"),
                .init(Quantity.age(seconds: report.time - check.since), .faint),
                .init(check.isAcknowledged ? "acknowledged: \(check.evidence)" : check.evidence),
                .init(check.code.map { "\($0)" } ?? ""),
            ])
        }
        let used = report.ladder.steps.filter { $0.used > 0 }.map { "\($0.level) \($0.used)/\($0.allowed)" }
        table.footer =
            "\(Quantity.count(report.checks.count, "check"))"
            + (used.isEmpty ? "" : "; recoveries in their budgets: \(used.joined(separator: ", "))")
        return table
    }

    public static func table(_ history: HealthHistoryDocument) -> Table {
        var table = Table([
            .init("TIME", isIdentifier: true), .init("KIND"), .init("CHECK", isIdentifier: true), .init("OBJECT"),
            .init("WHAT"), .init("CODE", isIdentifier: true),
        ])
        for event in history.events {
            table.rows.append([
                .init(Quantity.date(event.time), .faint), .init(event.level ?? event.kind), .init(event.check),
                .init(event.object ?? "-"), .init(event.text),
                .init(event.code.map { "\($0)" } ?? ""),
            ])
        }
        table.footer = Quantity.count(history.events.count, "event")
        return table
    }
}

public enum ConfigurationView {
    /// What each change will restart, before anything happens.
    public static func lines(_ diff: ConfigurationDiff, style: Style) -> [String] {
        guard !diff.changes.isEmpty else { return ["Nothing differs from generation \(diff.fromGeneration)."] }
        var lines: [String] = []
        for change in diff.changes {
            let mark: (String, Style.Tone) =
                switch change.kind {
                case .added: ("+", .good)
                case .removed: ("-", .bad)
                case .changed: ("~", .warning)
                }
            let who = change.affects.isEmpty ? "" : " " + change.affects.joined(separator: ", ")
            let action = change.action == .none ? "nothing restarts" : change.action.rawValue + who
            lines.append(
                "\(style.paint(mark.0, mark.1)) \(style.paint(change.object, .strong))  → \(style.paint(action, .plain))"
            )
            lines += change.details.map { "    " + style.paint($0, .plain) }
        }
        if let generation = diff.toGeneration { lines.append("Applied: generation \(generation).") }
        if let seconds = diff.confirmWithinSeconds {
            lines.append("It is taken back in \(seconds) s unless you run: watchboxctl config confirm")
        }
        return lines
    }

    public static func lines(_ validation: ValidationDocument, style: Style) -> [String] {
        var lines = validation.issues.map { issue in
            let place = [issue.file, issue.line.map(String.init)].compactMap { $0 }.joined(separator: ":")
            return "\(style.paint("✗", .bad)) \(style.paint(place.isEmpty ? "(store)" : place, .strong))  "
                + style.paint("\(issue.key) \(issue.reason). \(issue.hint)", .plain) + "  \(issue.code)"
        }
        let files = Quantity.count(validation.files.count, "file")
        lines.append(
            validation.isValid
                ? "\(files) valid" : "\(files), \(Quantity.count(validation.issues.count, "problem")): not applied")
        return lines
    }

    public static func table(_ document: GenerationListDocument) -> Table {
        var table = Table([
            .init("GENERATION", .right, isIdentifier: true), .init(""), .init("TIME", isIdentifier: true),
            .init("CAMERAS", .right), .init("CAUSE"),
        ])
        for generation in document.generations {
            table.rows.append([
                .init("\(generation.number)"), .init(generation.isCurrent ? "● runs" : "", .good),
                .init(Quantity.date(generation.time)), .init("\(generation.cameras)"), .init(generation.cause),
            ])
        }
        table.footer = Quantity.count(document.generations.count, "generation")
        return table
    }
}

public enum LogView {
    public static func line(_ line: LogLine, style: Style, explain: Bool = false) -> [String] {
        let tone: Style.Tone =
            switch line.level {
            case "emergency", "alert", "critical", "error": .bad
            case "warning": .warning
            case "debug": .faint
            default: .plain
            }
        let who = line.camera ?? line.unit?.replacing("watchbox-", with: "").replacing(".service", with: "") ?? "-"
        let code = line.code.map { " \($0)" } ?? ""
        var lines = [
            "\(style.paint(Quantity.date(line.time / 1_000_000), .faint)) \(style.paint(who, .strong)) "
                + style.paint(line.level + code, tone) + " \(style.paint(line.message, .plain))"
        ]
        if explain, let entry = line.code?.entry {
            lines.append(
                "    " + style.paint("\(entry.title). \(entry.cause) Next: \(NextStep.text(entry.hint))", .faint))
        }
        return lines
    }
}

public enum ExplanationView {
    public static func lines(_ entry: CatalogEntry, style: Style) -> [String] {
        [
            "\(style.paint("\(entry.code)", .strong))  \(style.paint(entry.title, .strong))  (\(entry.severity.rawValue))",
            "", "  \(entry.cause)", "", "  What WatchBox does:  \(entry.selfHealing)",
            "  What you can do:     \(entry.hint)",
        ]
    }
}
