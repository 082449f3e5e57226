internal import Console
public import ControlAPI
internal import ErrorCatalog

/// What the doctor found: two columns of what is short, then what needs a whole line.
public enum DoctorView {
    public static func lines(_ report: DoctorReport, style: Style) -> [String] {
        let nameWidth = report.findings.map { DisplayWidth.of(Style.oneLine($0.check)) }.max() ?? 0
        let column = (style.width - 4) / 2
        var lines: [String] = []
        var left: (text: String, width: Int)?
        func flush() {
            if let text = left?.text { lines.append("  " + text) }
            left = nil
        }
        for finding in report.findings {
            let (text, width) = line(finding, nameWidth, style)
            // A column narrower than this holds next to nothing.
            guard style.width >= 100, !style.isEndless, width <= column, finding.state == .ok else {
                flush()
                lines.append("  " + text)
                continue
            }
            if let first = left {
                lines.append("  " + first.text + String(repeating: " ", count: column - first.width) + "  " + text)
                left = nil
            } else {
                left = (text, width)
            }
        }
        flush()
        lines.append(style.paint(summary(report), .strong))
        lines += steps(report, style)
        return lines
    }

    private static func line(_ finding: DoctorFinding, _ nameWidth: Int, _ style: Style) -> (String, Int) {
        let (mark, tone): (String, Style.Tone) =
            switch finding.state {
            case .ok: ("✓", .good)
            case .warn: ("!", .warning)
            case .fail: ("✗", .bad)
            case .unknown: ("?", .faint)
            }
        let name = Style.oneLine(finding.check)
        let padding = String(repeating: " ", count: max(0, nameWidth - DisplayWidth.of(name)))
        let evidence = Style.oneLine(finding.evidence) + (finding.code.map { " (\($0))" } ?? "")
        return (
            "\(style.paint(mark, tone)) \(style.paint(name, .strong))\(padding)  \(style.paint(evidence, .plain))",
            4 + nameWidth + DisplayWidth.of(evidence)
        )
    }

    /// `1 failed, 2 warnings, 1 unknown of 23.`
    private static func summary(_ report: DoctorReport) -> String {
        var parts: [String] = []
        if report.count(.fail) > 0 { parts.append("\(report.count(.fail)) failed") }
        if report.count(.warn) > 0 { parts.append(Quantity.count(report.count(.warn), "warning")) }
        if report.count(.unknown) > 0 { parts.append("\(report.count(.unknown)) unknown") }
        return parts.isEmpty
            ? "All \(Quantity.count(report.findings.count, "check")) well."
            : "\(parts.joined(separator: ", ")) of \(report.findings.count)."
    }

    /// The worst first; the same step once.
    private static func steps(_ report: DoctorReport, _ style: Style) -> [String] {
        var seen: Set<String> = []
        var lines: [String] = []
        for state in [HealthState.fail, .warn] {
            for finding in report.findings where finding.state == state {
                guard let hint = finding.hint.map(NextStep.text), seen.insert(hint).inserted else { continue }
                lines.append("  Next for \(style.paint(finding.check, .strong)): \(style.paint(hint, .plain))")
            }
        }
        return lines
    }
}
