/// A device's answer to GetSystemDateAndTime, as far as it makes sense.
public struct SystemDateAndTime: Equatable, Sendable {
    public var utc: CivilTime?
    public var local: CivilTime?
    /// As the device writes it.
    public var zone: String?
    public var isDaylight: Bool

    /// - Parameter response: `GetSystemDateAndTimeResponse`.
    public init(_ response: XMLElement) {
        let answer = response.child("SystemDateAndTime") ?? response
        utc = answer.child("UTCDateTime").flatMap { Self.civil($0) }
        local = answer.child("LocalDateTime").flatMap { Self.civil($0) }
        zone = answer.text("TimeZone", "TZ").map { String($0.prefix(128)) }
        isDaylight = ["true", "1"].contains(answer.text("DaylightSavings")?.lowercased())
    }

    private static func civil(_ element: XMLElement) -> CivilTime? {
        func number(_ group: String, _ name: String) -> Int? { element.text(group, name).flatMap { Int($0) } }
        guard let year = number("Date", "Year"), let month = number("Date", "Month"), let day = number("Date", "Day"),
            let hour = number("Time", "Hour"), let minute = number("Time", "Minute")
        else { return nil }
        return CivilTime(
            year: year, month: month, day: day, hour: hour, minute: minute, second: number("Time", "Second") ?? 0)
    }
}
