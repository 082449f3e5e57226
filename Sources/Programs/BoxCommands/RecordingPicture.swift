import Archive
import BoxView
import Wire

/// What is recorded, as a picture: a line for each day, and in it a block for each half hour, as high as the part of it that there is.
struct RecordingPicture {
    /// A part of the time that is recorded, in milliseconds since 1970.
    struct Part: Equatable {
        var from: Int64
        var to: Int64
        var isPinned: Bool
    }

    private let parts: [(from: Int64, to: Int64)]
    /// Signs below the blocks, each with its name.
    private let marks: [(name: String, sign: String, parts: [(from: Int64, to: Int64)])]
    private let clock: LocalClock

    /// Lines at most, so that a screen holds it.
    static let maxDays = 31
    private static let label = 14
    private static let total = 9
    private static let blocks = Array("▁▂▃▄▅▆▇█")

    /// - Parameter notLive: of the parts, what did not get to the relay.
    init(_ parts: [Part], notLive: [(from: Int64, to: Int64)] = [], clock: LocalClock) {
        self.parts = Self.merged(parts)
        marks = [
            ("pinned", "^", Self.merged(parts.filter(\.isPinned))),
            ("not live", "x", Self.merged(notLive.map { Part(from: $0.from, to: $0.to, isPinned: false) })),
        ]
        self.clock = clock
    }

    func lines(_ style: Style) -> [String] {
        let (days, isCut) = days()
        guard !days.isEmpty else { return [] }
        // Half hours, or whole ones where there is no room for them.
        let cells = style.width >= Self.label + 2 + 48 + Self.total ? 48 : 24
        var lines = [style.paint(String(repeating: " ", count: Self.label + 2) + Self.scale(cells), .faint)]
        if isCut { lines.append(style.paint("  days before these are left out: name --from and --to", .faint)) }
        var previous: Int64?
        for day in days {
            // Days without anything are told where they are few, and counted where they are many.
            if let previous, day - previous > 86_400 {
                let missing = (day - previous) / 86_400 - 1
                lines.append(style.paint("  \(Quantity.count(Int(missing), "day")) without a recording", .faint))
            }
            previous = day
            lines += rows(day, cells, style)
        }
        return lines
    }

    /// Midnights by the local clock, of the newest days that have something.
    private func days() -> (days: [Int64], isCut: Bool) {
        var days: [Int64] = []
        for part in parts.reversed() {
            var day = midnight(max(part.from, part.to - 1))
            let first = midnight(part.from)
            while day >= first {
                if days.last != day {
                    guard days.count < Self.maxDays else { return (days.reversed(), true) }
                    days.append(day)
                }
                day -= 86_400
            }
        }
        return (days.reversed(), false)
    }

    private func midnight(_ milliseconds: Int64) -> Int64 {
        let instant = milliseconds / 1000
        let local = max(0, instant + clock.zone(instant).offset)
        return local - local % 86_400
    }

    /// One day: hours, blocks for its half hours, and how much there is of it.
    func day(of time: CalendarTime) -> (scale: String, blocks: String, total: String) {
        let edges = edges(CalendarTime(year: time.year, month: time.month, day: time.day).seconds ?? 0, 48)
        return (Self.scale(48), String(bar(edges)), total(edges))
    }

    /// Of the cells of a day, in milliseconds since 1970.
    private func edges(_ day: Int64, _ cells: Int) -> [Int64] {
        var edges = (0...Int64(cells)).map { clock.instant(day + $0 * 86_400 / Int64(cells)) * 1000 }
        // Where clocks are set forward, what they skip begins and ends when they are set.
        for index in (0..<cells).reversed() { edges[index] = min(edges[index], edges[index + 1]) }
        return edges
    }

    private func bar(_ edges: [Int64]) -> [Character] {
        zip(edges, edges.dropFirst()).map { Self.block(recorded($0, $1, of: parts), $1 - $0) }
    }

    private func total(_ edges: [Int64]) -> String {
        Quantity.time(seconds: Double(recorded(edges[0], edges[edges.count - 1], of: parts) / 1000))
    }

    private func rows(_ day: Int64, _ cells: Int, _ style: Style) -> [String] {
        let edges = edges(day, cells)
        let bar = bar(edges)
        let time = CalendarTime(seconds: day)
        let text = total(edges)
        var rows = [
            "\(time.weekday) \(time.dayText)  " + String(bar)
                + String(repeating: " ", count: max(1, Self.total - DisplayWidth.of(text))) + text
        ]
        for (name, sign, parts) in marks {
            let signs = (0..<cells).map { recorded(edges[$0], edges[$0 + 1], of: parts) > 0 ? sign : " " }.joined()
            guard signs.contains(sign) else { continue }
            rows.append(
                String(repeating: " ", count: Self.label - name.count) + name + "  "
                    + String(signs.reversed().drop { $0 == " " }.reversed()))
        }
        return rows.map { style.paint($0, .plain) }
    }

    /// Full only when all of it is there, and nothing only when nothing is: a short gap is seen, and so is a short recording.
    private static func block(_ recorded: Int64, _ length: Int64) -> Character {
        // No clock shows it.
        guard length > 0 else { return " " }
        guard recorded > 0 else { return "·" }
        // Seconds at the seam of two recordings are no gap.
        guard recorded < length - RecordingSpans.tolerance else { return blocks[blocks.count - 1] }
        let eighths = recorded * Int64(blocks.count) / length
        return blocks[min(Int(eighths), blocks.count - 2)]
    }

    private func recorded(_ from: Int64, _ to: Int64, of parts: [(from: Int64, to: Int64)]) -> Int64 {
        guard to > from else { return 0 }
        // The first one that ends behind `from`.
        var low = 0
        var high = parts.count
        while low < high {
            let middle = (low + high) / 2
            if parts[middle].to <= from { low = middle + 1 } else { high = middle }
        }
        var sum: Int64 = 0
        while low < parts.count, parts[low].from < to {
            sum += min(parts[low].to, to) - max(parts[low].from, from)
            low += 1
        }
        return sum
    }

    /// In the order of time, without what is there twice, and joined where only a seam is between them.
    private static func merged(_ parts: [Part]) -> [(from: Int64, to: Int64)] {
        var merged: [(from: Int64, to: Int64)] = []
        for part in parts.sorted(by: { $0.from < $1.from }) where part.to > part.from {
            if let last = merged.last, part.from <= last.to + RecordingSpans.tolerance {
                merged[merged.count - 1].to = max(last.to, part.to)
            } else {
                merged.append((part.from, part.to))
            }
        }
        return merged
    }

    /// `0     3     6 …`
    private static func scale(_ cells: Int) -> String {
        let step = cells / 8
        return stride(from: 0, to: 24, by: 3).map { hour in
            let text = String(hour)
            return text + String(repeating: " ", count: step - text.count)
        }.joined() + "24"
    }
}
