/// Times as devices write them, as milliseconds since 1970.
public enum TimeText {
    /// `xs:dateTime`: `2026-11-22T03:45:00.25Z`, with `+01:00`, or with no zone (taken as UTC).
    public static func dateTime(_ text: String) -> Int64? {
        let trimmed = Array(text.trimmingSpaces.utf8)
        guard (19...48).contains(trimmed.count), trimmed[4] == 0x2D, trimmed[7] == 0x2D, trimmed[10] | 0x20 == 0x74,
            trimmed[13] == 0x3A, trimmed[16] == 0x3A, let year = number(trimmed[0..<4]),
            let month = number(trimmed[5..<7]), let day = number(trimmed[8..<10]), let hour = number(trimmed[11..<13]),
            let minute = number(trimmed[14..<16]), let second = number(trimmed[17..<19]),
            let civil = CivilTime(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
        else { return nil }
        var rest = trimmed[19...]
        var milliseconds = 0
        if rest.first == 0x2E {
            let digits = rest.dropFirst().prefix { (0x30...0x39).contains($0) }
            guard !digits.isEmpty else { return nil }
            for index in 0..<3 {
                let digit = index < digits.count ? Int(digits[digits.startIndex + index] - 0x30) : 0
                milliseconds = milliseconds * 10 + digit
            }
            rest = rest.dropFirst(1 + digits.count)
        }
        guard let offset = zoneOffset(rest) else { return nil }
        return (civil.secondsSince1970 - Int64(offset)) * 1000 + Int64(milliseconds)
    }

    /// Seconds east of Greenwich.
    private static func zoneOffset(_ zone: ArraySlice<UInt8>) -> Int? {
        if zone.isEmpty || zone.elementsEqual([0x5A]) || zone.elementsEqual([0x7A]) { return 0 }
        let bytes = Array(zone)
        guard bytes.count == 6, bytes[0] == 0x2B || bytes[0] == 0x2D, bytes[3] == 0x3A,
            let hours = number(bytes[1..<3]),
            let minutes = number(bytes[4..<6]), hours <= 14, minutes <= 59
        else { return nil }
        return (bytes[0] == 0x2D ? -1 : 1) * (hours * 3600 + minutes * 60)
    }

    /// HTTP's Date (RFC 9110 §5.6.7), in each of its three forms.
    public static func httpDate(_ text: String) -> Int64? {
        guard text.utf8.count <= 64 else { return nil }
        let parts = text.split { " ,-".contains($0) }.map(String.init)
        // Sun, 06 Nov 1994 08:49:37 GMT | Sunday, 06-Nov-94 08:49:37 GMT | Sun Nov  6 08:49:37 1994
        guard parts.count >= 5 else { return nil }
        let isOld = month(parts[1]) != nil
        guard let month = month(isOld ? parts[1] : parts[2]), let day = Int(isOld ? parts[2] : parts[1]),
            var year = Int(isOld ? parts[4] : parts[3])
        else { return nil }
        if (0..<100).contains(year) { year += year < 70 ? 2000 : 1900 }
        let clock = parts[isOld ? 3 : 4].split(separator: ":", omittingEmptySubsequences: false).map { Int($0) }
        guard clock.count == 3, let hour = clock[0], let minute = clock[1], let second = clock[2],
            let civil = CivilTime(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
        else { return nil }
        return civil.secondsSince1970 * 1000
    }

    private static func month(_ name: String) -> Int? {
        let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
        return months.firstIndex(of: name.lowercased()).map { $0 + 1 }
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        var value = 0
        for digit in digits {
            guard (0x30...0x39).contains(digit) else { return nil }
            value = value * 10 + Int(digit - 0x30)
        }
        return value
    }
}
