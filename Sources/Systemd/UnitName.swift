/// Which texts may go to PID 1 as a unit's name (systemd.unit(5)).
enum UnitName {
    private static let types: Set<String> = [
        "service", "socket", "target", "device", "mount", "automount", "swap", "timer", "path", "slice", "scope",
    ]

    /// 1 to 255 bytes of `[A-Za-z0-9:_.\@-]`, a name, and the type at the end.
    static func isValid(_ name: String) -> Bool {
        guard name.utf8.count <= 255, let dot = name.lastIndex(of: "."), dot > name.startIndex,
            types.contains(String(name[name.index(after: dot)...])), !name.hasPrefix("@")
        else { return false }
        return name.utf8.allSatisfy(isPlain)
    }

    /// The same characters, and those that match others: `*?[]!^`.
    static func isValidPattern(_ pattern: String) -> Bool {
        (1...255).contains(pattern.utf8.count) && pattern.utf8.allSatisfy { isPlain($0) || "*?[]!^".utf8.contains($0) }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch UnicodeScalar(byte) {
        case "A"..."Z", "a"..."z", "0"..."9", ":", "_", ".", "\\", "@", "-": true
        default: false
        }
    }
}
