internal import FoundationEssentials

/// A small text in a file: a URL, a token.
public enum TextFile {
    /// The first line, without white space around it; at most 4096 bytes.
    public static func firstLine(of path: String) throws(CommandFailure) -> String {
        guard let data = try? Data(contentsOf: URL(filePath: path)), data.count <= 4096 else {
            throw CommandFailure(
                what: "\(path) cannot be read", why: "it is missing, not readable, or longer than 4096 bytes",
                hint: "check the path and its permissions", status: .usage)
        }
        let text = String(decoding: data, as: UTF8.self)
        let line = text.prefix { !$0.isNewline }.drop(while: \.isWhitespace)
        return String(line.reversed().drop(while: \.isWhitespace).reversed())
    }
}
