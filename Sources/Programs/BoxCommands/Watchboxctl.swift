import ArgumentParser
import Console

struct Watchboxctl: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watchboxctl", abstract: "Run a WatchBox: look, change, find out what is wrong.",
        discussion: "Begin with: watchboxctl status. When something is wrong it names the command that helps.",
        version: Version.current,
        groupedSubcommands: [
            CommandGroup(
                name: "The box:",
                subcommands: [
                    StatusCommand.self, DoctorCommand.self, NetcheckCommand.self, SetupCommand.self, AdoptCommand.self,
                    HealthCommand.self, LogsCommand.self, HookCommand.self, UpdateCommand.self,
                    BackupCommand.self, RestoreCommand.self,
                    WaitCommand.self, ExplainCommand.self,
                ]),
            CommandGroup(
                name: "Cameras and streams:",
                subcommands: [
                    CameraCommand.self, DiscoverCommand.self, StreamCommand.self, RelayCommand.self, KASCommand.self,
                    KeyCommand.self, DeviceCommand.self, PlayCommand.self, RecordingCommand.self,
                    ArchiveCommand.self,
                ]),
            CommandGroup(
                name: "Configuration and this program:",
                subcommands: [
                    ConfigCommand.self, CompletionCommand.self, VersionCommand.self, ManualCommand.self,
                ]),
        ])

    @OptionGroup var box: HostOption
}
