/// Rows under a header, as wide as the terminal: what does not fit is cut, but never an identifier.
public struct Table: Sendable {
    public struct Column: Sendable {
        public enum Alignment: Sendable {
            case left
            case right
        }

        public var title: String
        public var alignment: Alignment
        /// Somebody copies it: never cut.
        public var isIdentifier: Bool

        /// Cells that it keeps when it is cut.
        public var minimum: Int

        public init(_ title: String, _ alignment: Alignment = .left, isIdentifier: Bool = false, minimum: Int = 0) {
            self.title = title
            self.minimum = minimum
            self.alignment = alignment
            self.isIdentifier = isIdentifier
        }
    }

    public struct Cell: Equatable, Sendable, ExpressibleByStringLiteral {
        public var text: String
        public var tone: Style.Tone

        public init(_ text: String, _ tone: Style.Tone = .plain) {
            self.text = text
            self.tone = tone
        }

        public init(stringLiteral text: String) {
            self.init(text)
        }
    }

    public var columns: [Column]
    public var rows: [[Cell]]
    /// Under the table: what there is, and how many.
    public var footer: String?

    public init(_ columns: [Column], rows: [[Cell]] = [], footer: String? = nil) {
        self.columns = columns
        self.rows = rows
        self.footer = footer
    }

    private static let gap = 2
    /// A column that is cut keeps so many cells.
    private static let narrowest = 6

    public func lines(_ style: Style, header: Bool = true) -> [String] {
        let texts = rows.map { row in
            columns.indices.map { $0 < row.count ? Style.oneLine(row[$0].text) : "" }
        }
        let widths = fitted(
            columns.indices.map { column in
                max(
                    header ? DisplayWidth.of(columns[column].title) : 0,
                    texts.map { DisplayWidth.of($0[column]) }.max() ?? 0)
            }, to: style.width)
        var lines: [String] = []
        if header {
            lines.append(line(columns.map { Cell($0.title, .strong) }, columns.map(\.title), widths, style))
        }
        for (row, text) in zip(rows, texts) { lines.append(line(row, text, widths, style)) }
        if let footer { lines.append(style.paint(footer, .faint)) }
        return lines
    }

    /// Takes from the widest columns first, never from identifiers.
    private func fitted(_ natural: [Int], to width: Int) -> [Int] {
        var widths = natural
        var excess = widths.reduce(0, +) + Self.gap * max(0, widths.count - 1) - width
        while excess > 0 {
            let candidates = widths.indices.filter {
                !columns[$0].isIdentifier && widths[$0] > max(Self.narrowest, columns[$0].minimum)
            }
            guard let widest = candidates.max(by: { widths[$0] < widths[$1] }) else { break }
            widths[widest] -= 1
            excess -= 1
        }
        return widths
    }

    private func line(_ cells: [Cell], _ texts: [String], _ widths: [Int], _ style: Style) -> String {
        var line = ""
        for column in columns.indices {
            let tone = column < cells.count ? cells[column].tone : .plain
            let text =
                columns[column].isIdentifier ? texts[column] : DisplayWidth.cut(texts[column], to: widths[column])
            let padding = String(repeating: " ", count: max(0, widths[column] - DisplayWidth.of(text)))
            let isLast = column == columns.count - 1
            if column > 0 { line += String(repeating: " ", count: Self.gap) }
            switch columns[column].alignment {
            case .left: line += style.paint(text, tone) + (isLast ? "" : padding)
            case .right: line += padding + style.paint(text, tone)
            }
        }
        while line.last == " " { line.removeLast() }
        return line
    }
}
