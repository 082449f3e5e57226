public import CameraModel
internal import ErrorCatalog

/// What to do about a failed test. The catalog speaks of any camera of the box; here its ID is known, or the options of
/// the command that tests an address help.
public enum StreamTestHints {
    /// Of a camera of this box.
    public static func ofCamera(_ id: String, _ report: StreamTestReport) -> StreamTestReport {
        advised(report) { line in line.hint?.replacing(" ID", with: " \(id)") }
    }

    /// Of an address.
    ///
    /// - Parameter user: that was named; nil: none.
    public static func ofAddress(_ report: StreamTestReport, user: String?, hasPassword: Bool) -> StreamTestReport {
        advised(report) { line in
            switch line.code {
            case .loginNeeded:
                user == nil
                    ? "name a user of the camera: --user USER"
                    : hasPassword
                        ? "check --user and the password" : "give the password of this user: --password-file FILE"
            case .loginRefused:
                user != nil && !hasPassword
                    ? "give the password of this user: --password-file FILE" : "check --user and the password"
            case .loginUnsupported:
                "switch Digest on in the camera; or, on a network that you trust, add --allow-basic"
            case .transportRefused: "choose another: --transport tcp"
            case .certificateChanged: "leave --pin out to see the one that it shows"
            default: line.hint
            }
        }
    }

    private static func advised(
        _ report: StreamTestReport, _ hint: (StreamTestReport.Line) -> String?
    ) -> StreamTestReport {
        var report = report
        for index in report.lines.indices where report.lines[index].hint != nil {
            report.lines[index].hint = hint(report.lines[index])
        }
        return report
    }
}
