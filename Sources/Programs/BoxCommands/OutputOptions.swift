import ArgumentParser
import BoxView
import Console
import ControlClient
import Glibc

/// Which daemon is asked, and how its answer is shown: the same for every command.
struct OutputOptions: ParsableArguments {
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case table
        /// One document on one line.
        case json
        /// One line for each row.
        case jsonl
        /// `KEY='value'` lines for a shell.
        case env
    }

    enum Color: String, CaseIterable, ExpressibleByArgument {
        case auto
        case always
        case never
    }

    @OptionGroup var box: HostOption

    @Option(help: ArgumentHelp("Socket of the control daemon.", valueName: "path"))
    var socket: String?

    @Flag(help: "Print a JSON document, on one line.")
    var json = false

    @Option(name: [.customShort("o"), .long], help: "table, json, jsonl or env.")
    var format: Format?

    @Option(help: "auto, always or never; NO_COLOR is heard.")
    var color = Color.auto

    @Flag(help: "Leave the line above a table out.")
    var noHeaders = false

    @Flag(name: .shortAndLong, help: "Print nothing when all went well: the exit status says so.")
    var quiet = false

    func validate() throws {
        if json, let format, format != .json {
            throw ValidationError("--json and --format \(format.rawValue) exclude each other.")
        }
    }

    /// For commands whose whole output is text that goes on to a file or another program.
    func refuseQuiet(_ what: String) throws {
        if quiet { throw ValidationError("\(what) is for what it prints: leave --quiet out.") }
    }

    var chosen: Format { json ? .json : format ?? .table }

    var client: ControlClient { box.client(socket: socket) }

    var style: Style { Self.style(color) }

    static func style(_ color: Color) -> Style {
        let isTerminal = isatty(STDOUT_FILENO) == 1
        let hasColor =
            switch color {
            case .always: true
            case .never: false
            case .auto: isTerminal && variable("NO_COLOR") == nil && variable("TERM") != "dumb"
            }
        return Style(
            hasColor: hasColor,
            width: isTerminal ? terminalWidth() : variable("COLUMNS").flatMap { Int($0) } ?? Style.endless)
    }

    // MARK: - Showing

    /// A document: as lines for people, whole for programs.
    ///
    /// - Parameter isWell: false for what even `--quiet` has to show.
    func show(_ document: some Encodable, isWell: Bool = true, _ lines: (Style) -> [String]) {
        if quiet, isWell { return }
        switch chosen {
        case .table: for line in lines(style) { StandardOutput.writeLine(line) }
        case .json, .jsonl: StandardOutput.writeJSON(document)
        case .env: for line in ShellVariables.lines(JSONLine.text(document)) { StandardOutput.writeLine(line) }
        }
    }

    /// A list: as a table for people, row by row for `jsonl`.
    func show(_ document: some Encodable, rows: [some Encodable], isWell: Bool = true, _ table: () -> Table) {
        show(document, rows: rows, isWell: isWell) { style in table().lines(style, header: !noHeaders) }
    }

    /// A list with lines of its own.
    func show(
        _ document: some Encodable, rows: [some Encodable], isWell: Bool = true, lines: (Style) -> [String]
    ) {
        if quiet, isWell { return }
        if chosen == .jsonl {
            for row in rows { StandardOutput.writeJSON(row) }
        } else {
            show(document, isWell: isWell, lines)
        }
    }

    /// What was done, in one message.
    func report(_ text: String, _ document: some Encodable) {
        show(document) { style in [style.paint(text, .plain)] }
    }

    private static func terminalWidth() -> Int {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}

extension StandardOutput {
    /// Of commands that know `--json` alone: a document for programs, lines for people.
    static func show(_ document: some Encodable, json: Bool, _ lines: @autoclosure () -> [String]) {
        if json { return writeJSON(document) }
        for line in lines() { writeLine(line) }
    }
}

/// The answer to a change that has no document of its own.
struct Done: Codable {
    var schema = "watchbox.done/1"
    var object: String
    var action: String
}
