internal import Console

/// How something is shown: colours only where somebody asked for them, and never as the only sign.
public struct Style: Equatable, Sendable {
    /// What a part of a line means.
    public enum Tone: Equatable, Sendable {
        case plain
        case good
        case bad
        case warning
        case faint
        case strong
    }

    public var hasColor: Bool
    /// Cells of a line.
    public var width: Int

    public init(hasColor: Bool = false, width: Int = 80) {
        self.hasColor = hasColor
        self.width = min(max(20, width), Self.endless)
    }

    /// Of a file or another program: columns are as wide as what is in them, nothing is cut, and a line holds one thing.
    public static let endless = 1_000_000

    /// It is not looked at on a screen.
    public var isEndless: Bool { width >= Self.endless }

    /// A part of a line that is so much narrower.
    func indented(by cells: Int) -> Style {
        isEndless ? self : Style(hasColor: hasColor, width: width - cells)
    }

    /// The text with its tone; control characters are made visible first, since names come from anybody.
    public func paint(_ text: String, _ tone: Tone) -> String {
        let safe = Self.oneLine(text)
        guard hasColor, let code = Self.code(tone) else { return safe }
        return "\u{1B}[\(code)m\(safe)\u{1B}[0m"
    }

    private static func code(_ tone: Tone) -> String? {
        switch tone {
        case .plain: nil
        case .good: "32"
        case .bad: "31"
        case .warning: "33"
        case .faint: "2"
        case .strong: "1"
        }
    }

    /// Control characters escaped, line feeds and tabs included.
    public static func oneLine(_ text: String) -> String {
        text.terminalSafe.replacing("\n", with: "\\n").replacing("\t", with: " ")
    }
}
