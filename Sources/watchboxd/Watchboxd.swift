import ArgumentParser
import Console

@main
struct Watchboxd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watchboxd",
        abstract: "The WatchBox daemon: one program, one role for each process.",
        version: Version.current,
        subcommands: [
            ControlCommand.self, CameraCommand.self, HealthCommand.self, RelayCommand.self, KASCommand.self,
            HandOverCommand.self,
            EncoderProbeCommand.self, PictureCommand.self, DecodeCommand.self, SandboxCheckCommand.self,
        ])

    static func main() async {
        await Program.run(Watchboxd.self)
    }
}
