/// Reads scopes such as `onvif://www.onvif.org/name/Front%20door`.
enum ScopeValue {
    /// Characters of a value that are shown.
    static let limit = 128

    static func isONVIF(_ scope: String) -> Bool {
        scope.lowercased().hasPrefix(DiscoveryNames.scopes)
    }

    /// The first value that is not empty, of the first category that has one.
    static func first(of categories: [String], in scopes: [String]) -> String? {
        for category in categories {
            if let value = scopes.lazy.compactMap({ value(of: category, in: $0) }).first { return value }
        }
        return nil
    }

    static func all(of category: String, in scopes: [String]) -> String? {
        var values: [String] = []
        for scope in scopes {
            guard let value = value(of: category, in: scope), !values.contains(value) else { continue }
            values.append(value)
        }
        return values.isEmpty ? nil : String(values.joined(separator: ", ").prefix(limit))
    }

    private static func value(of category: String, in scope: String) -> String? {
        guard isONVIF(scope) else { return nil }
        let rest = scope.dropFirst(DiscoveryNames.scopes.count)
        let parts = rest.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == category else { return nil }
        let text = decoded(parts[1])
        return text.isEmpty ? nil : text
    }

    /// Percent-decoded, as UTF-8 with what is none replaced; without control characters, which a terminal would obey.
    static func decoded(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%"), let value = hexadecimal(rest.prefix(2)) else {
                bytes.append(byte)
                continue
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        let characters = String(decoding: bytes, as: UTF8.self).unicodeScalars.map { scalar in
            scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format
                ? " " : Character(scalar)
        }
        return String(String(characters).trimmingSpaces.prefix(limit))
    }

    private static func hexadecimal(_ digits: Substring.UTF8View) -> UInt8? {
        guard digits.count == 2 else { return nil }
        var value: UInt8 = 0
        for digit in digits {
            let number: UInt8
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): number = digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): number = digit - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): number = digit - UInt8(ascii: "A") + 10
            default: return nil
            }
            value = value << 4 | number
        }
        return value
    }
}
