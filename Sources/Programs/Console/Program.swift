public import ArgumentParser
internal import Glibc
internal import Synchronization

/// Runs a command and turns what it throws into the message and the exit status that a person, or a script, expects.
public enum Program {
    /// - Parameters:
    ///   - outputIsResult: the command is for what it prints; it fails when that cannot be written.
    ///   - hint: of arguments that are not understood: a message that helps more than the parser's; nil: it has none.
    public static func run<Command: AsyncParsableCommand>(
        _ type: Command.Type, outputIsResult: Bool = false, hint: ([String]) -> String? = { _ in nil }
    ) async -> Never {
        isOutputTheResult.store(outputIsResult, ordering: .relaxed)
        // A reader that went away is an error of one write, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        do {
            var command = try type.parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            exit(ExitStatus.ok.rawValue)
        } catch let failure as CommandFailure {
            StandardError.writeLine("error: " + failure.description.terminalSafe)
            exit(failure.status.rawValue)
        } catch {
            exit(withArgumentError: error, of: type, hint: hint)
        }
    }

    private static func exit<Command: AsyncParsableCommand>(
        withArgumentError error: any Error, of type: Command.Type, hint: ([String]) -> String?
    ) -> Never {
        if let code = error as? ExitCode { Glibc.exit(code.rawValue) }
        let message = type.fullMessage(for: error)
        if type.exitCode(for: error) == .success {
            if !message.isEmpty { StandardOutput.writeLine(message) }
            Glibc.exit(ExitStatus.ok.rawValue)
        }
        if let better = hint(Array(CommandLine.arguments.dropFirst())) {
            // How it is used stays below.
            let usage = message.split(separator: "\n", omittingEmptySubsequences: false).drop {
                !$0.hasPrefix("Usage:")
            }
            StandardError.writeLine((["Error: \(better.terminalSafe)"] + usage).joined(separator: "\n"))
        } else if !message.isEmpty {
            StandardError.writeLine(message)
        }
        Glibc.exit(ExitStatus.usage.rawValue)
    }

    private static func exit(_ status: Int32) -> Never {
        Glibc.exit(status)
    }
}
