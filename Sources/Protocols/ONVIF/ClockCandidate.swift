/// Where the time comes from that a camera accepts in `Created`; in the order in which they are tried
/// (docs/ref/camera-notes.md, "Logins and clocks").
public enum ClockCandidate: String, Codable, Sendable, CaseIterable {
    /// UTCDateTime of GetSystemDateAndTime.
    case utc
    /// The Date header of any answer.
    case httpDate = "http-date"
    /// LocalDateTime, with the camera's time zone applied.
    case localWithZone = "local-with-zone"
    /// LocalDateTime as if it were UTC.
    case localAsUTC = "local-as-utc"
    /// This box's own clock.
    case own
}
