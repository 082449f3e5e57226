internal import ControlAPI

/// A manual page (man(7)) out of what the argument parser reports of a program (`_dumpHelp()`, ToolInfo version 0).
public enum ManualPage {
    public enum Failure: Error, Equatable {
        /// Of another argument parser than this one was written for.
        case notUnderstood
    }

    /// - Parameters:
    ///   - toolInfo: JSON.
    ///   - section: 1 for commands, 8 for daemons.
    ///   - version: of the program.
    ///   - date: `2026-11-21`.
    public static func roff(_ toolInfo: String, section: Int, version: String, date: String) throws(Failure) -> String {
        guard let tool = try? JSONDocument.decode(Tool.self, from: Array(toolInfo.utf8)), tool.serializationVersion == 0
        else { throw .notUnderstood }
        let program = tool.command
        var page = Page()
        page.line(
            ".TH \(argument(program.commandName.uppercased())) \(section) \(argument(date)) \(argument("WatchBox \(version)")) \"WatchBox\""
        )
        page.line(".nh")
        page.line(".SH NAME")
        page.text("\(program.commandName) \\- \(escaped(program.abstract ?? ""))", isEscaped: true)
        page.line(".SH SYNOPSIS")
        page.line(".B \(argument(program.commandName))")
        page.text(program.subcommands?.isEmpty == false ? "COMMAND [OPTIONS]" : "[OPTIONS]")
        if let discussion = program.discussion {
            page.line(".SH DESCRIPTION")
            page.discussion(discussion)
        }
        page.line(program.subcommands?.isEmpty == false ? ".SH COMMANDS" : ".SH OPTIONS")
        describe(program, [], into: &page)
        if section == 1 { page.exitStatus() }
        return page.lines.joined(separator: "\n") + "\n"
    }

    private static func describe(_ command: Command, _ parents: [String], into page: inout Page) {
        let path = parents + [command.commandName]
        let visible = (command.subcommands ?? []).filter { $0.shouldDisplay ?? true && $0.commandName != "help" }
        if !parents.isEmpty, visible.isEmpty || command.defaultSubcommand != nil {
            let positionals = (command.arguments ?? []).filter { $0.kind == "positional" && $0.shouldDisplay ?? true }
            page.line(".SS \(argument((path.dropFirst() + positionals.map(\.usage)).joined(separator: " ")))")
            if let abstract = command.abstract { page.text(abstract) }
            if let discussion = command.discussion {
                if !discussion.hasPrefix(" ") { page.line(".PP") }
                page.discussion(discussion)
            }
        }
        for item in command.arguments ?? [] where item.shouldDisplay ?? true && !item.isEverywhere {
            page.line(".TP")
            page.line(".B \(argument(item.heading))")
            page.text(item.explanation.isEmpty ? "\\&" : item.explanation)
        }
        for subcommand in visible { describe(subcommand, path, into: &page) }
    }

    /// One argument of a request, in quotes.
    private static func argument(_ text: String) -> String {
        "\"" + escaped(text).replacing("\"", with: "\\(dq") + "\""
    }

    private static func escaped(_ text: String) -> String {
        Style.oneLine(text).replacing("\\", with: "\\e").replacing("-", with: "\\-")
    }

    private struct Page {
        var lines: [String] = []

        mutating func line(_ text: String) { lines.append(text) }

        mutating func text(_ text: String, isEscaped: Bool = false) {
            let line = isEscaped || text == "\\&" ? text : ManualPage.escaped(text)
            // A point or an apostrophe at the beginning would be a request.
            lines.append(line.hasPrefix(".") || line.hasPrefix("'") ? "\\&" + line : line)
        }

        /// Paragraphs; lines that begin with a space are examples, and stay as they are.
        mutating func discussion(_ text: String) {
            var isExample = false
            for part in text.split(separator: "\n", omittingEmptySubsequences: false) {
                let begins = part.hasPrefix(" ") || part.hasPrefix("\t")
                if begins != isExample, !part.isEmpty {
                    if begins { lines += [".PP", ".RS 4", ".nf"] } else { lines += [".fi", ".RE", ".PP"] }
                    isExample = begins
                }
                if part.isEmpty {
                    if !isExample { lines.append(".PP") }
                } else {
                    self.text(String(part.drop { $0 == " " }))
                }
            }
            if isExample { lines += [".fi", ".RE"] }
        }

        mutating func exitStatus() {
            lines.append(".SH EXIT STATUS")
            let meanings = [
                "done", "failed", "wrong usage", "degraded (status, doctor, health)", "not found",
                "the daemon does not answer",
                "not permitted", "the remote side does not answer, or a wait was in vain", "invalid configuration",
                "conflict, or busy", "aborted by the user", "a reboot is required",
            ]
            for (status, meaning) in meanings.enumerated() {
                lines += [".TP", ".B \(status)", meaning]
            }
        }
    }

    // MARK: - ToolInfo, as much as is needed

    private struct Tool: Decodable {
        var serializationVersion: Int
        var command: Command
    }

    private struct Command: Decodable {
        var commandName: String
        var abstract: String?
        var discussion: String?
        var shouldDisplay: Bool?
        var defaultSubcommand: String?
        var subcommands: [Command]?
        var arguments: [Item]?
    }

    private struct Item: Decodable {
        struct Name: Decodable {
            var kind: String
            var name: String

            var text: String { (kind == "long" ? "--" : "-") + name }
        }

        var kind: String
        var shouldDisplay: Bool?
        var isOptional: Bool
        var isRepeating: Bool
        var names: [Name]?
        var valueName: String?
        var defaultValue: String?
        var abstract: String?
        var discussion: String?

        /// Of every command: said once, by `--help` itself.
        var isEverywhere: Bool { names?.contains { $0.name == "help" || $0.name == "version" } ?? false }

        var heading: String {
            guard kind != "positional" else { return usage }
            let value = kind == "option" ? " <\(valueName ?? "value")>" : ""
            return (names ?? []).map { $0.text + value }.joined(separator: ", ")
        }

        var usage: String {
            let text = "<\(valueName ?? "value")>" + (isRepeating ? "..." : "")
            return isOptional ? "[\(text)]" : text
        }

        var explanation: String {
            [abstract, discussion, defaultValue.map { "Default: \($0)." }].compactMap(\.self).joined(separator: " ")
        }
    }
}
