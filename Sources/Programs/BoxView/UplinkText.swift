internal import CameraModel
internal import UplinkRate

/// How the bitrate follows the link to the relay, as text.
enum UplinkText {
    /// - Parameter changed: seconds since the encoder's last change.
    static func facts(
        _ uplink: UplinkStatistics, changed: Double?, style: Style
    ) -> [(String, String)] {
        var link = "delivers \(rate(uplink.measured)), delay \(uplink.delayMilliseconds) ms"
        if let congestionControl = uplink.congestionControl { link += ", congestion control \(congestionControl)" }
        var facts = [
            ("Target", "\(rate(uplink.target)), between \(rate(uplink.least)) and \(rate(uplink.most))"),
            ("Link", link), ("Changes", changes(uplink, changed)),
        ]
        if uplink.drops > 0 { facts.append(("Given up", "\(uplink.drops) frames that waited too long for the link")) }
        let seconds = min(UplinkStatistics.maxHistory, uplink.history.count, style.width - chartMargin)
        // A file or a program has the figures in `--json`.
        guard !style.isEndless, seconds > 1 else { return facts }
        func blocks(_ values: [Int]) -> String { Sparkline.text(values, most: uplink.most, width: seconds) }
        facts.append(("Last \(seconds) s", blocks(uplink.history.map(\.target)) + "  target"))
        facts.append(("", blocks(uplink.history.map(\.measured)) + "  delivered"))
        return facts
    }

    /// Of a line: the names of a card, and what the blocks are.
    private static let chartMargin = 28

    private static func changes(_ uplink: UplinkStatistics, _ changed: Double?) -> String {
        guard uplink.changes > 0 else { return "none" }
        let last = changed.map { ", the last \(Quantity.time(seconds: $0)) ago" } ?? ""
        return "\(uplink.changes)\(last): \(text(uplink.reason))"
    }

    private static func text(_ reason: UplinkStatistics.Reason) -> String {
        switch reason {
        case .start: "nothing is known of the link yet"
        case .congestion: "frames took too long"
        case .recovery: "back to what the link delivered before"
        case .probe: "the link may bear more"
        case .silence: "nothing was delivered for a while"
        }
    }

    private static func rate(_ bitsPerSecond: Int) -> String { Quantity.bitRate(Double(bitsPerSecond)) }
}
