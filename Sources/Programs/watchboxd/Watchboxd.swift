import ArgumentParser
import BoxCommands
import Console

@main
struct Watchboxd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watchboxd",
        abstract: "The WatchBox daemon: one program, one role for each process.",
        version: Version.current,
        subcommands: [
            ControlCommand.self, CameraCommand.self, HealthCommand.self, RelayCommand.self, KASCommand.self,
            HooksCommand.self, HandOverCommand.self,
            EncoderProbeCommand.self, PictureCommand.self, DecodeCommand.self, SandboxCheckCommand.self,
        ])

    static func main() async {
        if CommandLineProgram.isCalled { await CommandLineProgram.run() }
        // The KAS answers hundreds of requests at once, on all cores.
        if CommandLine.arguments.dropFirst().first != KASCommand.configuration.commandName { ProgramPages.useOneHeap() }
        await Program.run(Watchboxd.self)
    }
}
