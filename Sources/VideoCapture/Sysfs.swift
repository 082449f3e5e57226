internal import Glibc

/// Small files and links of the kernel's, read whole, with a bound, and never waited for.
enum Sysfs {
    /// The first line without white space at its ends; nil when it cannot be read or is empty.
    static func line(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { return nil }
        defer { _ = close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = read(descriptor, &buffer, buffer.count)
        guard count > 0 else { return nil }
        let line = printable(buffer[..<count].prefix { $0 != UInt8(ascii: "\n") })
        return line.isEmpty ? nil : line
    }

    /// Nil when it cannot be read, or is longer than `limit`.
    static func bytes(_ path: String, limit: Int) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { return nil }
        defer { _ = close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count >= 0, bytes.count + count <= limit else { return nil }
            if count == 0 { return bytes }
            bytes += buffer[..<count]
        }
    }

    static func number(_ path: String) -> Int? { line(path).flatMap { Int($0) } }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Names in a directory, sorted, at most 1024; none when it cannot be read.
    static func names(in directory: String) -> [String] {
        guard let listing = opendir(directory) else { return [] }
        defer { closedir(listing) }
        var names: [String] = []
        while names.count < 1024, let entry = readdir(listing) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { text($0) }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// The last part of what a symbolic link points to.
    static func target(of path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let capacity = buffer.count
        let count = buffer.withUnsafeMutableBytes { memory in
            memory.baseAddress.map { readlink(path, $0.assumingMemoryBound(to: CChar.self), capacity) } ?? 0
        }
        guard count > 0 else { return nil }
        return lastPart(String(decoding: buffer[..<count], as: UTF8.self))
    }

    /// What stands behind the last slash.
    static func lastPart(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? "" }

    /// With all links followed; nil when there is nothing.
    static func resolved(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// A C text in a field of fixed length, which need not end in a NUL and may hold anything.
    static func text(_ field: UnsafeRawBufferPointer) -> String { printable(field.prefix { $0 != 0 }) }

    /// Without white space at its ends; control characters are question marks, so that no device writes to a terminal.
    private static func printable(_ bytes: some Sequence<UInt8>) -> String {
        let text = String(decoding: Array(bytes), as: UTF8.self)
        var clean = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
            clean.append(isControl ? "?" : scalar)
        }
        let characters = String(clean)
        guard let first = characters.firstIndex(where: { $0 != " " }),
            let last = characters.lastIndex(where: { $0 != " " })
        else { return "" }
        return String(characters[first...last])
    }
}
