internal import Platform

/// Of the system as a whole: kernel, Debian and WatchBox, as the image was made.
public enum SystemVersion {
    /// `IMAGE_VERSION` of os-release(5); nil on a machine that was not flashed.
    public static func running(osRelease: String = "/etc/os-release") -> String? {
        guard let bytes = try? SmallFile.read(osRelease, atMost: 16 << 10) else { return nil }
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            guard line.hasPrefix("IMAGE_VERSION=") else { continue }
            let value = line.dropFirst("IMAGE_VERSION=".count).filter { $0 != "\"" }
            return value.isEmpty ? nil : String(value)
        }
        return nil
    }

    /// Which of the two systems runs, A or B, as the boot loader told the kernel; nil on a machine that was not flashed.
    public static func runningSystem(commandLine: String = "/proc/cmdline") -> String? {
        guard let bytes = try? SmallFile.read(commandLine, atMost: 16 << 10) else { return nil }
        return String(decoding: bytes, as: UTF8.self).split { $0 == " " || $0 == "\n" }
            .first { $0.hasPrefix("rauc.slot=") }.map { String($0.dropFirst("rauc.slot=".count)) }
    }

    /// Numbers in it count as numbers: 0.10 is newer than 0.9.
    public static func isOlder(_ version: String, than other: String) -> Bool {
        let (mine, theirs) = (parts(version), parts(other))
        for (one, two) in zip(mine, theirs) where one != two {
            if case .number(let first) = one, case .number(let second) = two {
                return first.count == second.count
                    ? first.lexicographicallyPrecedes(second) : first.count < second.count
            }
            return one.text.lexicographicallyPrecedes(two.text)
        }
        return mine.count < theirs.count
    }

    private enum Part: Equatable {
        /// Without leading zeros; of any length.
        case number([UInt8])
        case other([UInt8])

        var text: [UInt8] {
            switch self {
            case .number(let bytes), .other(let bytes): bytes
            }
        }
    }

    private static func parts(_ version: String) -> [Part] {
        var parts: [Part] = []
        var rest = Array(version.utf8)[...]
        while let first = rest.first {
            let isNumber = isDigit(first)
            let run = rest.prefix { isDigit($0) == isNumber }
            rest = rest.dropFirst(run.count)
            parts.append(isNumber ? .number(Array(run.drop { $0 == UInt8(ascii: "0") })) : .other(Array(run)))
        }
        return parts
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
