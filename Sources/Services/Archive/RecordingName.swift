internal import FoundationEssentials

/// The name of a recorded archive, which is all that there is of an index: `00000123-20261128T192201040Z-60040.tdf`, and
/// `…-60040-pinned.tdf` of one that stays.
public struct RecordingName: Equatable, Hashable, Sendable {
    /// Its place among the recordings of a camera; grows, whatever the clock does.
    public var sequence: UInt64
    /// When its first frame was captured, in milliseconds since 1970, as the box's clock said; within the years 1970 to
    /// 9999, which have four digits.
    public let begin: Int64
    /// Of its media, in milliseconds.
    public var duration: UInt32
    /// It stays until somebody lets it go.
    public var isPinned: Bool

    /// Of the file's name.
    public static let suffix = ".tdf"
    private static let pinned = "-pinned"

    /// - Parameter begin: what is outside of those years becomes the nearest of them.
    public init(sequence: UInt64, begin: Int64, duration: UInt32, isPinned: Bool = false) {
        self.sequence = sequence
        self.begin = min(max(begin, Self.times.lowerBound), Self.times.upperBound)
        self.duration = duration
        self.isPinned = isPinned
    }

    /// Nil: no recording has such a name.
    public init?(_ fileName: String) {
        guard fileName.utf8.count <= 80, fileName.hasSuffix(Self.suffix) else { return nil }
        let parts = fileName.dropLast(Self.suffix.count).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3 || parts.count == 4 && parts[3] == Self.pinned.dropFirst(),
            let sequence = Self.number(parts[0]), let begin = Self.time(parts[1]),
            let duration = Self.number(parts[2]).flatMap({ UInt32(exactly: $0) })
        else { return nil }
        self.init(sequence: sequence, begin: begin, duration: duration, isPinned: parts.count == 4)
        // One file, one name: what would be written otherwise is not one.
        guard self.fileName == fileName else { return nil }
    }

    /// Without its directory.
    public var fileName: String {
        "\(Self.stem(sequence))-\(Self.text(begin))-\(duration)\(isPinned ? Self.pinned : "")\(Self.suffix)"
    }

    /// When its media end, in milliseconds since 1970.
    public var end: Int64 { begin + Int64(duration) }

    /// Of the files of a recording that grows: the name for ``GrowingArchive``.
    public static func stem(_ sequence: UInt64) -> String {
        let digits = String(sequence)
        return String(repeating: "0", count: max(0, 8 - digits.count)) + digits
    }

    static func number(_ digits: some StringProtocol) -> UInt64? {
        guard (1...12).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return UInt64(digits)
    }

    private static let style = Date.ISO8601FormatStyle(
        dateSeparator: .omitted, dateTimeSeparator: .standard, timeSeparator: .omitted)

    static let times: ClosedRange<Int64> = 0...253_402_300_799_999

    private static func text(_ time: Int64) -> String {
        let seconds = Date(timeIntervalSince1970: Double(time / 1000)).formatted(style)
        let rest = String(time % 1000)
        return seconds.dropLast() + String(repeating: "0", count: 3 - rest.count) + rest + "Z"
    }

    private static func time(_ text: Substring) -> Int64? {
        guard text.utf8.count == 19, text.last == "Z", let rest = number(text.dropLast().suffix(3)),
            let date = try? Date(String(text.dropLast(4)) + "Z", strategy: style)
        else { return nil }
        return Int64(date.timeIntervalSince1970) * 1000 + Int64(rest)
    }
}
