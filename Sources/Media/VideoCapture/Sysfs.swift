internal import Glibc
internal import Platform
internal import Wire

/// What the kernel says of devices, as it may be shown.
enum Sysfs {
    /// The first line without white space at its ends; nil when it cannot be read or is empty.
    static func line(_ path: String) -> String? {
        guard let bytes = try? SmallFile.read(path, atMost: 256) else { return nil }
        let line = printable(bytes.prefix { $0 != UInt8(ascii: "\n") })
        return line.isEmpty ? nil : line
    }

    /// The last part of what a symbolic link points to.
    static func target(of path: String) -> String? { SmallFile.link(path).map(lastPart) }

    /// What follows the last slash.
    static func lastPart(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? "" }

    /// With all links followed; nil when there is nothing.
    static func resolved(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// A C text in a field of fixed length, which need not end in a NUL and may hold anything.
    static func text(_ field: UnsafeRawBufferPointer) -> String { printable(field.prefix { $0 != 0 }) }

    /// Without white space at its ends; what is not printable is a question mark, so that no device writes to a terminal.
    private static func printable(_ bytes: some Sequence<UInt8>) -> String {
        let characters = ShownText.cleaned(String(decoding: Array(bytes), as: UTF8.self), replacing: "?")
        guard let first = characters.firstIndex(where: { $0 != " " }),
            let last = characters.lastIndex(where: { $0 != " " })
        else { return "" }
        return String(characters[first...last])
    }
}
