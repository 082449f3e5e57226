internal import Wire

/// Names that an operator wrote, as they may be shown again.
enum KeyText {
    /// At most 40 characters, none of them for a terminal to obey; nothing at all of what looks like a URL or an
    /// assignment, which can hold a secret.
    static func shown(_ name: String) -> String {
        guard !name.unicodeScalars.contains(where: { "@?=&:".unicodeScalars.contains($0) }) else { return "…" }
        let scalars = name.unicodeScalars.prefix(41).map { ShownText.isPrintable($0) && $0 != "`" ? $0 : "?" }
        let text = String(String.UnicodeScalarView(scalars.prefix(40)))
        return scalars.count > 40 ? text + "…" : text
    }

    /// A file's name, for a terminal.
    static func shownFile(_ name: String) -> String {
        ShownText.cleaned(name, limit: 255, replacing: "?")
    }
}
