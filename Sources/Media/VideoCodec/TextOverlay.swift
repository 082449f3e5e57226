internal import Glibc

/// Text that is burnt into the top left corner of frames.
public struct TextOverlay: Equatable, Sendable {
    /// Date and time of day of the capture, in this machine's local time.
    public var time: Bool
    /// Nil: none.
    public var name: String?

    public init(time: Bool = false, name: String? = nil) {
        self.time = time
        self.name = name
    }

    public var isEmpty: Bool { !time && (name ?? "").isEmpty }

    /// "2026-11-22 13:05:59 Front door".
    ///
    /// - Parameter seconds: since 1970, UTC.
    func text(atUnixSeconds seconds: Int64) -> String {
        [time ? Self.dateAndTime(seconds) : "", name ?? ""].filter { !$0.isEmpty }.joined(separator: " ")
    }

    private static func dateAndTime(_ seconds: Int64) -> String {
        var moment = time_t(seconds)
        var local = tm()
        // Fails for years that no `tm` holds.
        guard localtime_r(&moment, &local) != nil else { return "" }
        func digits(_ value: Int32, _ count: Int) -> String {
            let text = String(value)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        let year = Int64(local.tm_year) + 1900
        let date = "\(digits(Int32(clamping: year), 4))-\(digits(local.tm_mon + 1, 2))-\(digits(local.tm_mday, 2))"
        return "\(date) \(digits(local.tm_hour, 2)):\(digits(local.tm_min, 2)):\(digits(local.tm_sec, 2))"
    }
}

extension VideoFrame {
    /// Burns text in, light on dark, in place; on a copy where someone else holds the memory too.
    ///
    /// - Parameter wallClock: of the capture, nanoseconds since 1970, UTC.
    /// - Throws: `.unsupportedFrame` for a pixel format without planes of its own for brightness and colour.
    public mutating func draw(_ overlay: TextOverlay, wallClock: Int64) throws(VideoCodecError) {
        guard !overlay.isEmpty else { return }
        let stamp = TextStamp(
            overlay.text(atUnixSeconds: TextStamp.seconds(wallClock)), frameWidth: width, frameHeight: height,
            isFullRange: isFullRange)
        try draw(stamp)
    }
}
