import BoxView
import Glibc
import Wire

/// What clocks on the wall show at an instant: the zone of this machine, or another.
struct LocalClock: Sendable {
    /// At an instant, in seconds since 1970: by how many seconds such clocks are ahead of UTC, and what their time is called then.
    let zone: @Sendable (Int64) -> (offset: Int64, name: String)

    /// This machine's, or that of the variable TZ.
    static let system = LocalClock { instant in
        var time = time_t(instant)
        var local = tm()
        guard localtime_r(&time, &local) != nil else { return (0, "UTC") }
        return (Int64(local.tm_gmtoff), local.tm_zone.map { String(cString: $0) } ?? "")
    }

    static func fixed(_ offset: Int64, _ name: String) -> LocalClock { LocalClock { _ in (offset, name) } }

    func civil(_ instant: Int64) -> CalendarTime { CalendarTime(seconds: instant + zone(instant).offset) }

    /// When clocks show this: the first time of two where they are set back; where they skip it, as if they had not yet been set.
    ///
    /// - Parameter local: seconds since the beginning of 1970 by that clock.
    func instant(_ local: Int64) -> Int64 { instants(local).first ?? local - zone(local - 86_400).offset }

    /// Each time that clocks show this, in their order: two where they are set back, none where they skip it.
    ///
    /// - Parameter local: seconds since the beginning of 1970 by that clock.
    func instants(_ local: Int64) -> [Int64] {
        let offsets = Set([zone(local - 86_400).offset, zone(local + 86_400).offset])
        return offsets.filter { zone(local - $0).offset == $0 }.map { local - $0 }.sorted()
    }

    /// `2026-11-28 19:22:01 CET` of milliseconds since 1970.
    func text(_ milliseconds: Int64) -> String {
        let instant = milliseconds / 1000
        let time = civil(instant)
        return "\(time.dayText) \(time.timeText) \(zone(instant).name)"
    }

    /// `19:22:01`, and the day in front of it where that is another than the other instant's.
    func brief(_ milliseconds: Int64, beside other: Int64) -> String {
        let time = civil(milliseconds / 1000)
        let reference = civil(other / 1000)
        return time.dayText == reference.dayText ? time.timeText : "\(time.dayText) \(time.timeText)"
    }
}
