import ArgumentParser
import BoxConfiguration

/// "Did you mean …?" of a mistyped command: what the argument parser calls an unexpected argument.
enum NearestCommand {
    /// The first word that no command has, with those before it, and what was meant; nil when every word is known, or
    /// nothing is near. Words behind the first option are not looked at: they may be its value.
    static func hint(_ arguments: [String], of root: any ParsableCommand.Type) -> String? {
        var command = root
        var written: [String] = []
        var meant: [String] = []
        for word in afterHost(arguments) {
            let below = command.configuration.subcommands
            // What is not a subcommand may be an argument of the default one.
            guard !below.isEmpty, command.configuration.defaultSubcommand == nil, !word.hasPrefix("-") else { break }
            let name = below.contains { names($0).contains(word) } || word == "help" ? word : nearest(word, below)
            guard let name else { break }
            written.append(word)
            meant.append(name)
            guard let next = below.first(where: { names($0).contains(name) }) else { break }
            command = next
        }
        guard written != meant else { return nil }
        return
            "There is no command '\(written.joined(separator: " "))'. Did you mean '\(meant.joined(separator: " "))'?"
    }

    /// The one option that stands before a command.
    private static func afterHost(_ arguments: [String]) -> ArraySlice<String> {
        switch arguments.first {
        case "--host": arguments.dropFirst(2)
        case let first? where first.hasPrefix("--host="): arguments.dropFirst()
        default: arguments[...]
        }
    }

    private static func nearest(_ word: String, _ commands: [any ParsableCommand.Type]) -> String? {
        var known: [String] = []
        for command in commands where command.configuration.shouldDisplay { known += names(command) }
        return NearestName.nearest(word, in: known)
    }

    private static func names(_ command: any ParsableCommand.Type) -> [String] {
        let configuration = command.configuration
        return (configuration.commandName.map { [$0] } ?? []) + configuration.aliases
    }
}
