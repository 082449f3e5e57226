/// Percent-encoding (RFC 3986 §2).
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
        var url = "http://watchbox" + encoded(path, alsoAllowed: "/%!$&'()*+,;=:@")
        for (index, (name, value)) in query.enumerated() {
            url += index == 0 ? "?" : "&"
            url += encoded(name, alsoAllowed: ",") + "=" + encoded(value, alsoAllowed: ",")
        }
        return url
    }

    static func encoded(_ text: String, alsoAllowed: String) -> String {
        let hexadecimal = Array("0123456789ABCDEF".utf8)
        let allowed = Array(alsoAllowed.utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                bytes.append(byte)
            case _ where allowed.contains(byte): bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), hexadecimal[Int(byte >> 4)], hexadecimal[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
