internal import Wire

/// The URL of a request to a socket.
enum URLText {
    /// The path goes as it is given, but for what no URL can hold. Nil for a path that would name something else.
    static func url(_ path: String, _ query: [(String, String)]) -> String? {
        guard path.hasPrefix("/"), !path.utf8.contains(0), !path.lowercased().contains("%00") else { return nil }
        for part in path.split(separator: "/") {
            // Both spellings: libcurl and servers take either for the directory itself or the one above.
            let plain = part.lowercased().split(separator: "%2e", omittingEmptySubsequences: false).joined(
                separator: ".")
            if plain == "." || plain == ".." { return nil }
        }
        var url = "http://watchbox" + PercentEncoding.encode(path, alsoAllowed: "/%!$&'()*+,;=:@")
        for (index, (name, value)) in query.enumerated() {
            url += index == 0 ? "?" : "&"
            url +=
                PercentEncoding.encode(name, alsoAllowed: ",") + "=" + PercentEncoding.encode(value, alsoAllowed: ",")
        }
        return url
    }
}
