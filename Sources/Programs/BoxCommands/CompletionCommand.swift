import ArgumentParser
import Console

struct CompletionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completion",
        abstract: "Print a shell's completion script; names of cameras come from the daemon.",
        discussion: """
              watchboxctl completion bash > ~/.local/share/bash-completion/completions/watchboxctl
              watchboxctl completion zsh > ~/.zfunc/_watchboxctl
              watchboxctl completion fish > ~/.config/fish/completions/watchboxctl.fish
            """)

    enum Shell: String, CaseIterable, ExpressibleByArgument {
        case bash
        case zsh
        case fish

        var parser: CompletionShell {
            switch self {
            case .bash: .bash
            case .zsh: .zsh
            case .fish: .fish
            }
        }
    }

    @Argument(help: "bash, zsh or fish.")
    var shell: Shell

    func run() async throws {
        StandardOutput.writeLine(Watchboxctl.completionScript(for: shell.parser))
    }
}
