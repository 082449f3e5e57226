internal import Console

/// `watchboxctl`, as a program of its own for a machine that is not a box, and as a second name of `watchboxd` on one: the two
/// have most of their code in common.
public enum CommandLineProgram {
    /// Whether this process was started by that name.
    public static var isCalled: Bool {
        CommandLine.arguments.first.map { $0.split(separator: "/").last == "watchboxctl" } ?? false
    }

    /// Runs the command that the arguments name, and ends the process.
    public static func run() async -> Never {
        await Program.run(
            Watchboxctl.self, outputIsResult: true, hint: { NearestCommand.hint($0, of: Watchboxctl.self) })
    }
}
