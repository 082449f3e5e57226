import BoxView
import Wire

/// A time as a person writes it: on a clock, or from the beginning of a film.
enum Moment: Equatable, Sendable {
    /// Milliseconds since 1970.
    case instant(Int64)
    /// Milliseconds from the beginning.
    case offset(Int64)
}

/// Reads such times. What is now, and where, it is told.
struct MomentParser {
    /// Milliseconds since 1970.
    let now: Int64
    let clock: LocalClock

    /// Why a text is no time.
    enum Fault: Error, Equatable, CustomStringConvertible {
        case form(String)
        /// The form is right, but no calendar or clock shows it.
        case noSuchTime(String)

        var description: String {
            switch self {
            case .form(let text): "'\(text)' is no time"
            case .noSuchTime(let text): "there is no such time as '\(text)'"
            }
        }
    }

    static let forms =
        "10:00 or 10:00:30 (the last time that it was), 'yesterday 10:00', 2026-11-28T10:00 with Z or +01:00 for another zone, "
        + "-10m or -2h (before now), now"

    private static let maxLength = 64

    func parse(_ written: String) throws(Fault) -> Moment {
        let (text, shown) = try Self.plain(written)
        if text == "now" { return .instant(now) }
        if let ago = try ago(text, shown) { return .instant(ago) }
        if let offset = try offset(text, shown) { return .offset(offset) }
        return .instant(try instant(text, shown))
    }

    /// `2026-11-28`, `today`, `yesterday`: from midnight to midnight by this clock, in milliseconds since 1970.
    func day(_ written: String) throws(Fault) -> (from: Int64, to: Int64) {
        let (text, shown) = try Self.plain(written)
        let midnight = try day(text[...], clock, shown)
        let (from, to) = (clock.instant(midnight), clock.instant(midnight + 86_400))
        guard CalendarTime.range.contains(from) else { throw .noSuchTime(shown) }
        return (from * 1000, to * 1000)
    }

    /// - Returns: what was meant, and what is repeated in an error.
    private static func plain(_ written: String) throws(Fault) -> (text: String, shown: String) {
        let shown = String(written.prefix(maxLength))
        guard written.utf8.count <= maxLength else { throw .form(shown) }
        let text = written.lowercased().filter(\.isASCII).trimmed
        guard text.utf8.count == written.lowercased().trimmed.utf8.count, !text.isEmpty else { throw .form(shown) }
        return (text, shown)
    }

    /// `-10m`
    private func ago(_ text: String, _ shown: String) throws(Fault) -> Int64? {
        guard text.first == "-" else { return nil }
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        guard let unit = text.last.flatMap({ units[$0] }), let number = Self.number(text.dropFirst().dropLast(), 1...9)
        else { throw .form(shown) }
        let instant = now - number * unit * 1000
        guard instant >= 0 else { throw .noSuchTime(shown) }
        return instant
    }

    /// `90`, `90.5`: seconds.
    private func offset(_ text: String, _ shown: String) throws(Fault) -> Int64? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, let seconds = Self.number(parts[0], 1...9) else { return nil }
        guard parts.count == 2 else { return seconds * 1000 }
        guard let fraction = Self.milliseconds(parts[1]) else { throw .form(shown) }
        return seconds * 1000 + fraction
    }

    private func instant(_ text: String, _ shown: String) throws(Fault) -> Int64 {
        let separator = text.contains(" ") ? Character(" ") : Character("t")
        // The t of "today" and "yesterday" separates nothing.
        let words =
            Self.days[text] != nil ? [text[...]] : text.split(separator: separator, omittingEmptySubsequences: false)
        guard words.count <= 2, let last = words.last, words.count == 2 || last.contains(":") || isDay(last) else {
            throw .form(shown)
        }
        if words.count == 1, last.contains(":") {
            let (time, milliseconds, zone) = try time(last, shown)
            let clock = zone.map { LocalClock.fixed($0, "") } ?? self.clock
            let today = clock.civil(now / 1000)
            guard let midnight = CalendarTime(year: today.year, month: today.month, day: today.day).seconds else {
                throw .noSuchTime(shown)
            }
            // It may not have been today yet, and clocks may have skipped it yesterday; or have shown it twice.
            let candidates = (Int64(0)...2).flatMap { clock.instants(midnight - $0 * 86_400 + time) }
                .map { $0 * 1000 + milliseconds }
            guard let latest = candidates.filter({ (0...now).contains($0) }).max() else { throw .noSuchTime(shown) }
            return latest
        }
        let (time, milliseconds, zone) = words.count == 2 ? try time(last, shown) : (0, 0, nil)
        let clock = zone.map { LocalClock.fixed($0, "") } ?? self.clock
        let midnight = try day(words[0], clock, shown)
        let instant = clock.instant(midnight + time)
        guard CalendarTime.range.contains(instant) else { throw .noSuchTime(shown) }
        return instant * 1000 + milliseconds
    }

    private static let days: [String: Int64] = ["today": 0, "yesterday": 1]

    private func isDay(_ text: Substring) -> Bool { Self.days[String(text)] != nil || text.utf8.count == 10 }

    /// When it begins, in seconds of its own clock.
    private func day(_ text: Substring, _ clock: LocalClock, _ shown: String) throws(Fault) -> Int64 {
        if let back = Self.days[String(text)] {
            let today = clock.civil(now / 1000)
            guard let midnight = CalendarTime(year: today.year, month: today.month, day: today.day).seconds,
                midnight >= back * 86_400
            else { throw .noSuchTime(shown) }
            return midnight - back * 86_400
        }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let year = Self.number(parts[0], 4...4), let month = Self.number(parts[1], 2...2),
            let day = Self.number(parts[2], 2...2)
        else { throw .form(shown) }
        guard let midnight = CalendarTime(year: year, month: month, day: day).seconds else { throw .noSuchTime(shown) }
        return midnight
    }

    /// `10:00`, `10:00:30.5`, `10:00Z`, `10:00+01:00`.
    ///
    /// - Returns: seconds since midnight, milliseconds behind them, and how far the zone is ahead of UTC, when it is said.
    private func time(
        _ text: Substring, _ shown: String
    ) throws(Fault) -> (seconds: Int64, milliseconds: Int64, zone: Int64?) {
        let zoneBegin = text.firstIndex { "z+-".contains($0) } ?? text.endIndex
        let zone = try zone(text[zoneBegin...], shown)
        let parts = text[..<zoneBegin].split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), let hour = Self.number(parts[0], 1...2),
            let minute = Self.number(parts[1], 2...2)
        else { throw .form(shown) }
        var second: Int64 = 0
        var milliseconds: Int64 = 0
        if parts.count == 3 {
            let pieces = parts[2].split(separator: ".", omittingEmptySubsequences: false)
            guard pieces.count <= 2, let whole = Self.number(pieces[0], 2...2) else { throw .form(shown) }
            second = whole
            if pieces.count == 2 {
                guard let fraction = Self.milliseconds(pieces[1]) else { throw .form(shown) }
                milliseconds = fraction
            }
        }
        guard hour < 24 && minute < 60 && second < 60 || (hour, minute, second, milliseconds) == (24, 0, 0, 0) else {
            throw .noSuchTime(shown)
        }
        return (hour * 3600 + minute * 60 + second, milliseconds, zone)
    }

    private func zone(_ text: Substring, _ shown: String) throws(Fault) -> Int64? {
        guard let sign = text.first else { return nil }
        guard sign != "z" else {
            guard text == "z" else { throw .form(shown) }
            return 0
        }
        let digits = text.dropFirst().filter { $0 != ":" }
        guard let number = Self.number(digits[...], 2...4), digits.count != 3 else { throw .form(shown) }
        let (hours, minutes) = digits.count == 2 ? (number, 0) : (number / 100, number % 100)
        guard hours <= 14, minutes < 60 else { throw .noSuchTime(shown) }
        return (sign == "-" ? -1 : 1) * (hours * 3600 + minutes * 60)
    }

    private static func milliseconds(_ fraction: Substring) -> Int64? {
        guard number(fraction, 1...9) != nil else { return nil }
        return number(Substring(fraction.prefix(3) + String(repeating: "0", count: max(0, 3 - fraction.count))), 3...3)
    }

    private static func number(_ text: Substring, _ count: ClosedRange<Int>) -> Int64? {
        guard count.contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text)
    }
}

extension String {
    /// Without spaces at both ends.
    fileprivate var trimmed: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
