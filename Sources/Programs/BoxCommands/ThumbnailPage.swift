import BoxView
import Console
import Wire

/// A page of pictures, a part for each day, piece by piece as they are made: one file that needs no other and may load none.
struct ThumbnailPage {
    struct Tile: Equatable {
        enum Content: Equatable {
            case jpeg([UInt8])
            /// Why there is no picture.
            case nothing(String)
        }

        /// The recording's name.
        var file: String
        /// Milliseconds since 1970.
        var begin: Int64
        /// Milliseconds.
        var duration: Int64
        var isPinned: Bool
        var breaks: [ThumbnailPlan.Break]
        var content: Content
    }

    let camera: String
    let timeline: RecordingPicture
    let clock: LocalClock
    /// Of the tile before: as a calendar shows it, and as clocks are called then.
    private var day: String?
    private var zone = ""

    init(camera: String, _ timeline: RecordingPicture, _ clock: LocalClock) {
        self.camera = camera
        self.timeline = timeline
        self.clock = clock
    }

    /// Bytes of a reason.
    private static let reasonLimit = 300

    func head() -> String {
        let name = Self.escaped(camera)
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="\(Self.policy)">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(name)</title>
            <style>\(Self.style)</style>
            </head>
            <body>
            <h1>\(name)</h1>

            """
    }

    mutating func tile(_ tile: Tile) -> String {
        let instant = tile.begin / 1000
        let time = clock.civil(instant)
        let zone = clock.zone(instant).name
        var text = ""
        if day != time.dayText {
            text += (day == nil ? "" : Self.endOfDay) + heading(time, zone)
            day = time.dayText
            self.zone = zone
        }
        text += gap(tile.breaks)
        let shownTime = time.timeText + (zone == self.zone ? "" : " \(zone)")
        let picture: String
        switch tile.content {
        case .jpeg(let bytes):
            let alternative = Self.escaped("\(camera), \(clock.text(tile.begin))")
            picture = "<img src=\"data:image/jpeg;base64,\(Base64.encode(bytes))\" alt=\"\(alternative)\">"
        case .nothing(let reason):
            picture = "<p>no picture: \(Self.escaped(ShownText.line(reason, bytes: Self.reasonLimit, mark: "…")))</p>"
        }
        let length = Quantity.time(seconds: Double(tile.duration) / 1000) + (tile.isPinned ? ", pinned" : "")
        return text + """
            <figure title="\(Self.escaped(tile.file))">\(picture)<figcaption>\
            <time datetime="\(CalendarTime.iso8601(tile.begin))">\(Self.escaped(shownTime))</time> \(length)\
            </figcaption></figure>

            """
    }

    /// - Parameters:
    ///   - summary: what else there is to say of all of it.
    ///   - breaks: behind the last tile.
    func end(_ summary: String, _ breaks: [ThumbnailPlan.Break] = []) -> String {
        """
        \(gap(breaks))\(day == nil ? "" : Self.endOfDay)<footer><p>\(Self.escaped(summary))</p>
        <p>These pictures are not encrypted: whoever has this file sees them.</p></footer>
        </body>
        </html>

        """
    }

    private static let endOfDay = "</div></section>\n"

    private func heading(_ time: CalendarTime, _ zone: String) -> String {
        let (scale, blocks, total) = timeline.day(of: time)
        return """
            <section>
            <h2>\(time.weekday) \(time.dayText) <small>\(Self.escaped("\(zone), \(total) recorded"))</small></h2>
            <pre>\(Self.escaped(scale))
            \(Self.escaped(blocks))</pre>
            <div class="tiles">

            """
    }

    private func gap(_ breaks: [ThumbnailPlan.Break]) -> String {
        let gaps = breaks.filter(\.isGap)
        var texts: [String] = []
        if let first = gaps.first, let last = gaps.last {
            // Names may say any time: as whole numbers the sum may be too large.
            let seconds = gaps.reduce(0) { $0 + Double($1.to - $1.from) } / 1000
            texts.append(
                "nothing for \(Quantity.time(seconds: seconds))"
                    + (gaps.count > 1 ? " in \(gaps.count) gaps" : "")
                    + ", \(clock.text(first.from)) to \(clock.brief(last.to, beside: first.from))")
        }
        if gaps.count < breaks.count { texts.append("the clock was set back") }
        return texts.isEmpty ? "" : "<p class=\"gap\">\(Self.escaped(texts.joined(separator: "; ")))</p>\n"
    }

    /// For text and for attributes in quotation marks.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in ShownText.line(text, bytes: 4096, mark: "…").unicodeScalars {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }

    /// No script, no form, and nothing from anywhere else.
    private static let policy =
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

    private static let style = """
        :root{color-scheme:light dark;--back:#fff;--text:#1c1c1e;--faint:#68686e;--line:#d4d4d8}
        @media(prefers-color-scheme:dark){:root{--back:#17171a;--text:#e8e8ea;--faint:#9a9aa2;--line:#3a3a40}}
        body{margin:1.5rem;background:var(--back);color:var(--text);font:15px/1.4 system-ui,sans-serif}
        h2{margin:2rem 0 .3rem}small,figcaption,footer,.gap{color:var(--faint);font-size:.85rem;font-weight:normal}
        pre{margin:0 0 .8rem;overflow-x:auto;line-height:1.2}
        .tiles{display:flex;flex-wrap:wrap;gap:.8rem;align-items:stretch}
        figure{margin:0;width:16rem}figure img{display:block;width:100%;background:var(--line)}
        figure p{box-sizing:border-box;margin:0;width:100%;min-height:9rem;padding:.6rem;border:1px dashed var(--line);\
        color:var(--faint);font-size:.85rem;overflow-wrap:anywhere}
        .gap{box-sizing:border-box;margin:0;width:7rem;padding:.6rem;border:dashed var(--line);border-width:0 1px}
        """
}
