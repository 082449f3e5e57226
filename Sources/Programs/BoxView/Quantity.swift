internal import Wire

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
        let time = CalendarTime(seconds: seconds)
        return "\(time.dayText) \(time.timeText)Z"
    }

    private static func twoDigits(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
}
