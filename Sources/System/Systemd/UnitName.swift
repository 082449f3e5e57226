internal import Wire

/// Which texts may go to PID 1 as a unit's name (systemd.unit(5)).
enum UnitName {
    private static let types: Set<String> = [
        "service", "socket", "target", "device", "mount", "automount", "swap", "timer", "path", "slice", "scope",
    ]

    private static let signs = ":_.\\@-"

    /// 1 to 255 bytes of `[A-Za-z0-9:_.\@-]`, a name, and the type at the end.
    static func isValid(_ name: String) -> Bool {
        guard Names.isPlain(name, limit: 255, signs: signs), let dot = name.lastIndex(of: "."), dot > name.startIndex,
            types.contains(String(name[name.index(after: dot)...]))
        else { return false }
        return !name.hasPrefix("@")
    }

    /// The same characters, and those that match others: `*?[]!^`.
    static func isValidPattern(_ pattern: String) -> Bool {
        Names.isPlain(pattern, limit: 255, signs: signs + "*?[]!^")
    }
}
