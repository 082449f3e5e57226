internal import Platform

/// A unit's file and its drop-ins, as systemd reads them.
enum UnitFiles {
    /// - Parameter directories: the first has precedence.
    /// - Returns: their contents in the order in which systemd reads them; nil when there is no such unit here: nothing is known then.
    static func read(unit: String, directories: [String]) -> [String]? {
        func text(_ path: String) -> String? {
            (try? SystemFiles.readIfPresent(path, limit: 64 << 10)).flatMap {
                $0.map { String(decoding: $0, as: UTF8.self) }
            }
        }
        guard let main = directories.lazy.compactMap({ text("\($0)/\(unit)") }).first else { return nil }
        // By file name over all directories, as systemd merges them; a directory for the name's beginning comes first.
        let stem = unit.prefix { $0 != "-" } + "-.service.d"
        var dropIns: [String: String] = [:]
        for folder in [String(stem), "\(unit).d"] {
            for directory in directories.reversed() {
                let path = "\(directory)/\(folder)"
                for name in SmallFile.names(in: path) where name.hasSuffix(".conf") {
                    dropIns[name] = text("\(path)/\(name)") ?? ""
                }
            }
        }
        return [main] + dropIns.keys.sorted().compactMap { dropIns[$0] }
    }

    /// `KEY=VALUE` lines of the section `[Service]`.
    static func assignments(_ text: String) -> [(key: String, value: String)] {
        var isService = false
        return text.split(whereSeparator: \.isNewline).compactMap { line in
            let line = line.drop { $0 == " " || $0 == "\t" }
            if line.hasPrefix("[") {
                isService = line.hasPrefix("[Service]")
                return nil
            }
            guard isService, !line.hasPrefix("#"), !line.hasPrefix(";"), let sign = line.firstIndex(of: "=") else {
                return nil
            }
            return (trimmed(line[..<sign]), trimmed(line[line.index(after: sign)...]))
        }
    }

    private static func trimmed(_ text: Substring) -> String {
        let start = text.drop { $0.isWhitespace }
        guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(start[...last])
    }
}
