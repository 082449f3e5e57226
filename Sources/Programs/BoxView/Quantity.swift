/// Figures as people write them.
public enum Quantity {
    /// `0.4 s`, `41 s`, `14m 02s`, `4h 10m`, `12d 4h`.
    public static func time(seconds: Double) -> String {
        guard seconds.isFinite, seconds >= 0 else { return "-" }
        let whole = Int64(min(seconds, 1e12))
        switch whole {
        case ..<10: return "\(tenths(seconds)) s"
        case ..<100: return "\(whole) s"
        case ..<3600: return "\(whole / 60)m \(twoDigits(whole % 60))s"
        case ..<86_400: return "\(whole / 3600)h \(twoDigits(whole % 3600 / 60))m"
        default: return "\(whole / 86_400)d \(whole % 86_400 / 3600)h"
        }
    }

    /// `41 s ago`, `4h 10m ago`: whole seconds at least.
    public static func age(seconds: Int64) -> String {
        guard seconds >= 10 else { return "\(max(0, seconds)) s ago" }
        return "\(time(seconds: Double(seconds))) ago"
    }

    /// `2.1 Mb/s`
    public static func bitRate(_ bitsPerSecond: Double) -> String {
        guard bitsPerSecond.isFinite, bitsPerSecond >= 0 else { return "-" }
        return bitsPerSecond >= 1e6
            ? "\(tenths(bitsPerSecond / 1e6)) Mb/s" : "\(Int64(min(bitsPerSecond, 1e15) / 1000)) kb/s"
    }

    /// `0 B`, `640 kB`, `12.4 MB`, `1.2 GB`.
    public static func bytes(_ count: Int) -> String {
        switch count {
        case ..<1000: "\(count) B"
        case ..<1_000_000: "\(count / 1000) kB"
        case ..<1_000_000_000: "\(tenths(Double(count) / 1e6)) MB"
        default: "\(tenths(Double(count) / 1e9)) GB"
        }
    }

    public static func tenths(_ value: Double) -> String {
        guard !value.isNaN else { return "-" }
        let scaled = Int64((min(max(value, 0), 1e12) * 10).rounded())
        return "\(scaled / 10).\(scaled % 10)"
    }

    /// `1 camera`, `3 cameras`.
    public static func count(_ number: Int, _ one: String, _ many: String? = nil) -> String {
        "\(number) \(number == 1 ? one : many ?? one + "s")"
    }

    /// `2026-11-21 20:51:43Z` of seconds since 1970.
    public static func date(_ seconds: Int64) -> String {
        // Days to date after Howard Hinnant's `civil_from_days`, which needs no library and no time zone.
        let clamped = min(max(seconds, 0), 253_402_300_799)
        let days = clamped / 86_400 + 719_468
        let era = days / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shifted + 2) / 5 + 1
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let time = clamped % 86_400
        return "\(year)-\(twoDigits(month))-\(twoDigits(day)) "
            + "\(twoDigits(time / 3600)):\(twoDigits(time % 3600 / 60)):\(twoDigits(time % 60))Z"
    }

    private static func twoDigits(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
}
