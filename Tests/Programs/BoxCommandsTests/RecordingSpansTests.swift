import BoxView
import ControlAPI
import Testing

@testable import Archive
@testable import BoxCommands

/// What is recorded, as spans and as a picture.
struct RecordingSpansTests {
    /// 2026-11-28 00:00 UTC.
    private static let midnight: Int64 = 1_795_824_000_000
    private static let hour: Int64 = 3_600_000

    private static func recording(
        _ sequence: UInt64, _ begin: Int64, _ duration: UInt32, bytes: Int64 = 1_000_000, isPinned: Bool = false
    ) -> RecordingDirectory.Recording {
        .init(
            name: RecordingName(sequence: sequence, begin: begin, duration: duration, isPinned: isPinned), size: bytes)
    }

    @Test func `recordings that go on are one span, to 2 seconds between them`() {
        let begin = Self.midnight
        let spans = RecordingSpans([
            Self.recording(1, begin, 60_000), Self.recording(2, begin + 60_020, 60_000),
            Self.recording(3, begin + 122_020, 60_000, isPinned: true), Self.recording(4, begin + 184_021, 60_000),
            // The clock was set back by an hour, and then goes on.
            Self.recording(5, begin - 3_600_000, 60_000), Self.recording(6, begin - 3_540_500, 60_000),
        ])
        #expect(
            spans.spans == [
                .init(from: begin, to: begin + 182_020, duration: 180_000, bytes: 3_000_000, files: 3, pinned: 1),
                .init(
                    from: begin + 184_021, to: begin + 244_021, duration: 60_000, bytes: 1_000_000, files: 1, pinned: 0),
                .init(
                    from: begin - 3_600_000, to: begin - 3_480_500, duration: 120_000, bytes: 2_000_000, files: 2,
                    pinned: 0),
            ])
        #expect(spans.breaks == [.gap, .clockSetBack])
        #expect(spans.total.from == begin - 3_600_000)
        #expect(spans.total.to == begin + 244_021)
        #expect(spans.total.duration == 360_000)
    }

    @Test func `absurd names and sizes are counted, and nothing overflows`() {
        let latest: Int64 = 253_402_300_799_999
        let spans = RecordingSpans([
            Self.recording(0, 0, .max, bytes: .max), Self.recording(.max, latest, .max, bytes: .max),
            Self.recording(3, 0, 0, bytes: .max), Self.recording(4, latest, .max, bytes: -5),
        ])
        #expect(spans.total.bytes == .max)
        #expect(spans.total.files == 4)
        let parts = [0, latest, latest - 5, 1].map {
            RecordingPicture.Part(from: $0, to: $0 + Int64(UInt32.max), isPinned: true)
        }
        let lines = RecordingPicture(parts, clock: .fixed(-50_400, "X")).lines(Style(width: 100))
        #expect(lines.count <= 2 + 3 * RecordingPicture.maxDays)
    }

    @Test func `a picture has a line for each day`() {
        let day = 24 * Self.hour
        let parts: [RecordingPicture.Part] = [
            // Yesterday from 03:10 on, with a gap of five minutes at noon; today until 19:22, with a pinned minute.
            .init(from: Self.midnight - day + 190 * 60_000, to: Self.midnight - day / 2, isPinned: false),
            .init(from: Self.midnight - day / 2 + 300_000, to: Self.midnight, isPinned: false),
            .init(from: Self.midnight, to: Self.midnight + 15 * Self.hour, isPinned: false),
            .init(from: Self.midnight + 15 * Self.hour, to: Self.midnight + 15 * Self.hour + 60_000, isPinned: true),
            .init(
                from: Self.midnight + 18 * Self.hour, to: Self.midnight + 19 * Self.hour + 22 * 60_000, isPinned: false),
        ]
        let picture = RecordingPicture(parts, clock: .fixed(0, "UTC"))
        #expect(
            picture.lines(Style(width: 80)) == [
                "                0     3     6     9     12    15    18    21    24",
                "Fri 2026-11-27  ······▆█████████████████▇███████████████████████  20h 45m",
                "Sat 2026-11-28  ██████████████████████████████▁·····██▆·········  16h 23m",
                "        pinned                                ^",
            ])
        #expect(
            picture.lines(Style(width: 60)) == [
                "                0  3  6  9  12 15 18 21 24",
                "Fri 2026-11-27  ···▇████████▇███████████  20h 45m",
                "Sat 2026-11-28  ███████████████▁··█▃····  16h 23m",
                "        pinned                 ^",
            ])
    }

    @Test func `many days are the newest, and days without anything are counted`() {
        let day = 24 * Self.hour
        let lines = RecordingPicture(
            (0..<40).map {
                .init(from: Self.midnight + $0 * 2 * day, to: Self.midnight + $0 * 2 * day + Self.hour, isPinned: false)
            }, clock: .fixed(0, "UTC")
        ).lines(Style(width: 100))
        #expect(lines.count == 2 + 31 + 30)
        #expect(lines[1].contains("--from"))
        #expect(lines[3] == "  1 day without a recording")
        #expect(lines.last?.hasPrefix("Sun 2027-02-14") == true, "\(lines.last ?? "")")
    }

    @Test func `a day on which clocks are set is as long as it is`() {
        // 2026-10-25 00:00 CEST to 24:00 CET: 25 hours.
        let begin: Int64 = 1_792_879_200_000
        let lines = RecordingPicture(
            [.init(from: begin, to: begin + 25 * Self.hour, isPinned: false)], clock: MomentParserTests.berlin
        ).lines(Style(width: 80))
        #expect(lines.count == 2)
        #expect(lines.last == "Sun 2026-10-25  " + String(repeating: "█", count: 48) + "    1d 1h")
    }

    @Test func `an hour that no clock shows is blank`() {
        // 2026-03-29 00:00 CET to 24:00 CEST: 23 hours.
        let begin: Int64 = 1_774_738_800_000
        let all = RecordingPicture(
            [.init(from: begin, to: begin + 23 * Self.hour, isPinned: true)], clock: MomentParserTests.berlin
        ).lines(Style(width: 80))
        let blocks = { (count: Int) in String(repeating: "█", count: count) }
        #expect(all.dropFirst().first == "Sun 2026-03-29  \(blocks(4))  \(blocks(42))  23h 00m")
        // From 03:00 on, which is when the clock would have shown 02:00.
        let late = RecordingPicture(
            [.init(from: begin + 2 * Self.hour, to: begin + 3 * Self.hour, isPinned: false)],
            clock: MomentParserTests.berlin)
        let dots = { (count: Int) in String(repeating: "·", count: count) }
        #expect(late.lines(Style(width: 80)).last == "Sun 2026-03-29  \(dots(4))  \(blocks(2))\(dots(40))   1h 00m")
        #expect(late.lines(Style(width: 60)).last == "Sun 2026-03-29  \(dots(2)) \(blocks(1))\(dots(20))   1h 00m")
    }

    @Test func `what nobody saw live is marked, and told as long as it is`() {
        let picture = RecordingPicture(
            [.init(from: Self.midnight, to: Self.midnight + 2 * Self.hour, isPinned: false)],
            notLive: [(Self.midnight + Self.hour, Self.midnight + Self.hour + 60_000)], clock: .fixed(0, "UTC"))
        #expect(picture.lines(Style(width: 80)).last == "      not live    x")
        var found = RecordingDirectory.Listing()
        found.recordings = [
            Self.recording(1, Self.midnight, 60_000), Self.recording(2, Self.midnight + 60_000, 60_000),
            Self.recording(3, Self.midnight + 300_000, 60_000),
        ]
        var listing = RecordedListing(found, writing: 0)
        listing.liveGaps = [
            // At the seam of two recordings; a second, which is none; over a time without recordings, and not over yet.
            LiveGap(from: Self.midnight + 50_000, to: Self.midnight + 70_000),
            LiveGap(from: Self.midnight + 80_000, to: Self.midnight + 81_000),
            LiveGap(from: Self.midnight + 90_000, to: nil),
        ]
        let camera = RecordingsDocument.Camera("front", listing, hasFiles: false)
        #expect(camera.notLive.map(\.seconds) == [20, 30, 60])
        #expect(
            camera.notLive.map(\.from) == [
                "2026-11-28T00:00:50.000Z", "2026-11-28T00:01:30.000Z", "2026-11-28T00:05:00.000Z",
            ])
        let lines = RecordingsView(camera: "front", listing: listing, clock: .fixed(0, "UTC"))
            .lines(Style(width: Style.endless), header: false)
        #expect(lines.first == "front: 3m 00s in 3 recordings, 3.0 MB; 1m 50s of it not seen live", "\(lines)")
        #expect(lines.contains { $0.hasSuffix("  2  0  50 s  nothing for 3m 00s") }, "\(lines)")
        #expect(lines.last?.hasSuffix("  1  0  60 s") == true, "\(lines)")
    }

    @Test func `gaps that lie over each other, and recordings of the same time, count once`() {
        func span(_ from: Int64, _ to: Int64) -> RecordingSpans.Span {
            .init(from: from, to: to, duration: to - from, bytes: 1, files: 1, pinned: 0)
        }
        let spans = [span(0, 100_000), span(20_000, 50_000), span(200_000, 300_000)]
        let notLive = NotLive(
            spans,
            [
                LiveGap(from: 250_000, to: nil), LiveGap(from: 30_000, to: 45_000), LiveGap(from: 10_000, to: 40_000),
                LiveGap(from: 90_000, to: 210_000),
            ])
        #expect(
            notLive.parts == [
                .init(from: 10_000, to: 45_000), .init(from: 90_000, to: 100_000), .init(from: 200_000, to: 210_000),
                .init(from: 250_000, to: 300_000),
            ])
        #expect(notLive.duration == 105_000)
        #expect(spans.map { notLive.duration(within: $0) } == [45_000, 25_000, 60_000])
        let all = [LiveGap](repeating: LiveGap(from: 0, to: 253_402_300_799_999), count: 1000)
        #expect(NotLive([RecordingSpans.Span](repeating: span(5, 9000), count: 400), all).parts.count == 1)
    }

    @Test func `a document has spans, gaps and steps of the clock`() {
        var found = RecordingDirectory.Listing()
        found.recordings = [
            Self.recording(1, Self.midnight, 60_040),
            Self.recording(2, Self.midnight + 120_000, 60_000, isPinned: true),
            Self.recording(3, Self.midnight, 1000),
        ]
        found.growing = [4]
        let listing = RecordedListing(found, writing: 1)
        let camera = RecordingsDocument.Camera("front", listing, hasFiles: true)
        #expect(camera.recordsNow && camera.files == 3 && camera.pinned == 1 && camera.seconds == 121.04)
        #expect(camera.from == "2026-11-28T00:00:00.000Z" && camera.to == "2026-11-28T00:03:00.000Z")
        #expect(camera.spans.count == 3)
        #expect(
            camera.gaps == [
                .init(from: "2026-11-28T00:01:00.040Z", to: "2026-11-28T00:02:00.000Z", seconds: 59.96)
            ])
        #expect(camera.clockSteps == [.init(from: "2026-11-28T00:03:00.000Z", to: "2026-11-28T00:00:00.000Z")])
        #expect(camera.recordings?.map(\.pinned) == [false, true, false])
        #expect(camera.recordings?.first?.file == "00000001-20261128T000000000Z-60040.tdf")
        let lines = RecordingsView(camera: "front", listing: listing, clock: .fixed(3600, "CET"))
            .lines(Style(width: Style.endless), header: true)
        #expect(
            lines == [
                "front: 2m 01s in 3 recordings, 3.0 MB, 1 pinned; recording now",
                "  oldest 2026-11-28 01:00:00 CET, newest 2026-11-28 01:03:00 CET",
                "FROM                     TO                       LENGTH    SIZE  FILES  PINNED  NOT LIVE  THEN",
                "2026-11-28 01:00:00 CET  2026-11-28 01:01:00 CET    60 s  1.0 MB      1       0            nothing for 59 s",
                "2026-11-28 01:02:00 CET  2026-11-28 01:03:00 CET    60 s  1.0 MB      1       1            the clock was set back",
                "2026-11-28 01:00:00 CET  2026-11-28 01:00:01 CET   1.0 s  1.0 MB      1       0            recording now",
            ])
    }
}
