internal import Wire

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

    /// Percent-decoded, as UTF-8 with invalid bytes replaced; without control characters, which a terminal would obey.
    static func decoded(_ text: Substring) -> String {
        String(ShownText.cleaned(PercentEncoding.decodeLeniently(text)).trimmingSpaces.prefix(limit))
    }
}
