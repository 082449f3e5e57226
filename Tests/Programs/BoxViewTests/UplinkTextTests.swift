import CameraModel
import ControlAPI
import Testing
import UplinkRate

@testable import BoxView

/// How a bitrate that follows the link is shown.
struct UplinkTextTests {
    private let uplink = UplinkStatistics(
        target: 850_000, least: 350_000, most: 3_500_000, measured: 940_000, delayMilliseconds: 40, drops: 21,
        changes: 7, reason: .congestion, lastChange: 1, congestionControl: "bbr",
        history: (0..<60).map { second in
            second < 40
                ? .init(target: 3_500_000, measured: 3_400_000)
                : .init(target: 850_000 + 50_000 * (second - 40), measured: 940_000)
        })

    private func lines(_ uplink: UplinkStatistics?, changed: Double? = 12.5, _ style: Style) -> [String] {
        var stream = Samples.stream("front", .live)
        var statistics = CameraStatistics(camera: "front", stream: "front")
        statistics.uplink = uplink
        stream.statistics = statistics
        stream.uplinkChangedSecondsAgo = changed
        return StreamView.lines(stream, style: style)
    }

    @Test func `a stream on a screen of 100 columns`() {
        #expect(
            text(Array(lines(uplink, Style(width: 100)).suffix(6))) == #"""
                  Target       850 kb/s, between 350 kb/s and 3.5 Mb/s
                  Link         delivers 940 kb/s, delay 40 ms, congestion control bbr
                  Changes      7, the last 12 s ago: frames took too long
                  Given up     21 frames that waited too long for the link
                  Last 60 s    ████████████████████████████████████████▂▃▃▃▃▃▃▃▃▃▄▄▄▄▄▄▄▄▄▅  target
                               ████████████████████████████████████████▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃  delivered
                """#)
    }

    @Test func `a narrow screen has the newest seconds, and a file none`() {
        let narrow = lines(uplink, Style(width: 50))
        #expect(narrow.contains { $0.hasPrefix("  Last 22 s ") && $0.hasSuffix("██▂▃▃▃▃▃▃▃▃▃▄▄▄▄▄▄▄▄▄▅  target") })
        for style in [Style(width: Style.endless), Style(width: 20)] {
            #expect(!lines(uplink, style).joined().contains("█"))
        }
        #expect(lines(uplink, Style(width: Style.endless)).contains { $0.contains("850 kb/s") })
    }

    @Test func `a bitrate that never changed, and one that does not follow`() {
        let still = UplinkStatistics(target: 2_000_000, least: 200_000, most: 2_000_000)
        let shown = lines(still, changed: nil, Style(width: 100))
        #expect(shown.contains { $0.hasSuffix("Changes      none") })
        #expect(!shown.contains { $0.contains("Given up") || $0.contains("congestion control") || $0.contains("▁") })
        #expect(!lines(nil, Style(width: 100)).contains { $0.contains("Target") })
    }

    @Test(arguments: UplinkStatistics.Reason.allCases)
    func `each reason is a sentence`(reason: UplinkStatistics.Reason) {
        var uplink = uplink
        uplink.reason = reason
        let line = lines(uplink, Style(width: 100)).first { $0.contains("Changes ") }
        #expect(line?.contains(" ago: ") == true && line?.contains(reason.rawValue) == false)
    }

    @Test func `any values make blocks`() {
        #expect(Sparkline.text([0, 1, 50, 99, 100, 101, -1], most: 100, width: 60) == "▁▁▄███▁")
        #expect(Sparkline.text([.min, .max, 1], most: 1, width: 60) == "▁██")
        #expect(Sparkline.text([1, 2, 3], most: 0, width: 2) == "▁▁")
        #expect(Sparkline.text([1], most: .min, width: 2) == "▁")
        #expect(Sparkline.text([1, 2, 3], most: 3, width: -1) == "")
    }
}
