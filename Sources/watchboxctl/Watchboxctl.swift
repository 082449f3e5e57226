import ArgumentParser
import Console

@main
struct Watchboxctl: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watchboxctl",
        abstract: "Work with WatchBox: play a stream, test a relay, make tokens.",
        subcommands: [PlayCommand.self, RelayCommand.self, KASCommand.self])

    static func main() async {
        await Program.run(Watchboxctl.self)
    }
}
