import Foundation
import Testing

@testable import BoxCommands

/// The page of thumbnails, without a film.
struct ThumbnailPageTests {
    /// 2026-11-28 23:50 UTC.
    private static let begin: Int64 = 1_795_909_800_000
    private static let utc = LocalClock.fixed(0, "UTC")

    private static func tile(
        _ begin: Int64, _ content: ThumbnailPage.Tile.Content = .jpeg([0xFF, 0xD8, 0xFF]), file: String = "1.tdf",
        isPinned: Bool = false, breaks: [ThumbnailPlan.Break] = []
    ) -> ThumbnailPage.Tile {
        .init(file: file, begin: begin, duration: 60_000, isPinned: isPinned, breaks: breaks, content: content)
    }

    private static func page(
        _ tiles: [ThumbnailPage.Tile], clock: LocalClock = utc, summary: String = "all", camera: String = "front"
    ) -> String {
        let timeline = RecordingPicture(
            tiles.map { .init(from: $0.begin, to: $0.begin + $0.duration, isPinned: $0.isPinned) }, clock: clock)
        var page = ThumbnailPage(camera: camera, timeline, clock)
        return page.head() + tiles.map { page.tile($0) }.joined() + page.end(summary)
    }

    /// Places of texts that follow each other; nil: one is not there.
    private static func places(_ texts: [String], in page: String) -> [String.Index]? {
        var places: [String.Index] = []
        var rest = page[...]
        for text in texts {
            guard let range = rest.range(of: text) else { return nil }
            places.append(range.lowerBound)
            rest = rest[range.upperBound...]
        }
        return places
    }

    @Test func `a part for each day, with its timeline, its pictures and what is not recorded`() {
        let gap = ThumbnailPlan.Break(from: Self.begin + 60_000, to: Self.begin + 780_000)
        let page = Self.page([
            Self.tile(Self.begin, isPinned: true), Self.tile(Self.begin + 780_000, breaks: [gap]),
            Self.tile(Self.begin + 840_000, .nothing("it is damaged"), file: "3.tdf"),
        ])
        #expect(
            Self.places(
                [
                    "<title>front</title>", "<h2>Sat 2026-11-28 <small>UTC, 60 s recorded</small></h2>",
                    "0     3     6     9     12    15    18    21    24\n",
                    String(repeating: "·", count: 47) + "▁</pre>",
                    "<img src=\"data:image/jpeg;base64,/9j/\" alt=\"front, 2026-11-28 23:50:00 UTC\">",
                    "<time datetime=\"2026-11-28T23:50:00.000Z\">23:50:00</time> 60 s, pinned", "</section>",
                    "<h2>Sun 2026-11-29 <small>UTC, 2m 00s recorded</small></h2>",
                    "<p class=\"gap\">nothing for 12m 00s, 2026-11-28 23:51:00 UTC to 2026-11-29 00:03:00</p>",
                    ">00:03:00</time> 60 s<", "<figure title=\"3.tdf\"><p>no picture: it is damaged</p>",
                    ">00:04:00</time>", "</section>", "<footer><p>all</p>",
                ], in: page) != nil, "\(page)")
        #expect(page.components(separatedBy: "<section>").count == 3)
    }

    @Test func `several gaps are one, and a clock that was set back is no gap`() {
        let page = Self.page([
            Self.tile(
                Self.begin,
                breaks: [
                    .init(from: 0, to: 10_000), .init(from: 20_000, to: 30_000), .init(from: 40_000, to: 30_000),
                ]),
            Self.tile(Self.begin + 60_000, breaks: [.init(from: 40_000, to: 30_000)]),
        ])
        #expect(
            page.contains(
                ">nothing for 20 s in 2 gaps, 1970-01-01 00:00:00 UTC to 00:00:30; the clock was set back<"), "\(page)")
        #expect(page.contains("<p class=\"gap\">the clock was set back</p>"))
        // As many as a directory may have, as long as names may say.
        let longest = ThumbnailPlan.Break(from: 0, to: 253_402_300_799_999)
        let absurd = Self.page([Self.tile(Self.begin, breaks: .init(repeating: longest, count: 100_000))])
        #expect(absurd.contains("in 100000 gaps"))
    }

    @Test func `where clocks are set a time has its zone`() {
        // 2026-10-25 02:59 CEST and 02:00 CET.
        let page = Self.page(
            [Self.tile(1_792_889_940_000), Self.tile(1_792_890_000_000)], clock: MomentParserTests.berlin)
        #expect(
            Self.places(["<small>CEST, ", ">02:59:00</time>", ">02:00:00 CET</time>"], in: page) != nil, "\(page)")
    }

    @Test func `whatever texts say, they are texts`() throws {
        let hostile = "\"><script>alert('&')</script><img src=x onerror=alert(1)>\u{1B}[2J\u{202E}\n"
        let clock = LocalClock { _ in (0, hostile) }
        let page = Self.page(
            [Self.tile(Self.begin, .nothing(hostile), file: hostile), Self.tile(Self.begin + 60_000, file: hostile)],
            clock: clock, summary: hostile, camera: hostile)
        #expect(!page.contains("<script") && !page.contains("<img src=x") && !page.contains("\u{1B}"))
        #expect(page.contains("&quot;&gt;&lt;script&gt;alert(&#39;&amp;&#39;)&lt;/script&gt;"))
        // Nothing but our own elements and attributes.
        let known =
            /<!DOCTYPE html>|<\/?(html|head|meta|title|style|body|h1|h2|small|section|pre|div|figure|img|figcaption|time|p|footer)( (lang|charset|http-equiv|content|name|class|title|src|alt|datetime)="[^"<>]*")*>/
        let tags = page.matches(of: /<[^>]*>/)
        #expect(tags.count > 30)
        for tag in tags { #expect(tag.output.wholeMatch(of: known) != nil, "\(tag.output)") }
    }

    @Test func `it loads nothing, and says so to the browser before all else`() throws {
        let page = Self.page([Self.tile(Self.begin)])
        let policy =
            "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
        let place = try #require(page.range(of: "<meta http-equiv=\"Content-Security-Policy\" content=\"\(policy)\">"))
        let before = page[..<place.lowerBound]
        #expect(!before.contains("<style") && !before.contains("<title"))
        for word in ["http:", "https:", "//", "url(", "@import", "<script", "<link"] {
            #expect(!page.replacing("/9j/", with: "").contains(word), "\(word)")
        }
        #expect(page.contains("prefers-color-scheme:dark"))
    }

    @Test func `a reason has an end`() {
        let page = Self.page([Self.tile(Self.begin, .nothing(String(repeating: "x", count: 100_000)))])
        #expect(page.utf8.count < 10_000)
    }
}
