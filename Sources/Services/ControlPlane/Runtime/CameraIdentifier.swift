internal import ErrorCatalog
internal import Wire

/// IDs from outside are checked before they become part of a path or of a unit's name.
enum CameraIdentifier {
    /// `[a-z0-9](-?[a-z0-9])*`, at most 24 characters.
    static func isValid(_ id: String) -> Bool { Names.isHyphenated(id, limit: 24) }

    static func check(_ id: String) throws(CodedError) -> String {
        guard isValid(id) else {
            throw CodedError(
                .invalidValue, "\"\(Printable.text(id, limit: 64))\" is not a camera's ID",
                why: "it becomes the name of a unit and of a file",
                hint: "Use 1 to 24 of a-z, 0-9 and single hyphens between them, such as front-door")
        }
        return id
    }
}

/// Text from outside in a message that goes to a terminal.
enum Printable {
    /// Whether it can stand in a configuration as it is.
    static func isPrintable(_ text: String, limit: Int) -> Bool {
        (1...limit).contains(text.unicodeScalars.count) && ShownText.isPrintable(text)
    }

    static func text(_ text: String, limit: Int) -> String {
        ShownText.cleaned(text, limit: limit, replacing: "?") + (text.unicodeScalars.count > limit ? "…" : "")
    }
}
