import ArgumentParser
import BoxView
import Console

struct AdoptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "adopt",
        abstract: "Set the box up from the file that somebody put on its boot partition or a stick.",
        discussion: """
            Takes DIRECTORY/watchbox.toml: objects as config import takes them, secrets in clear, name, network and SSH keys. All of \
            it is checked first. Then it is put to use, its secrets are encrypted for this box, the file is overwritten and removed, \
            and DIRECTORY/watchbox-result.txt says what was taken, or what has to be corrected. Run by root. It restarts nothing \
            itself: --json lists the units that read their files again. Ends with 8 when the file is refused, and with 4 when \
            there is none that may be taken.

              watchboxctl adopt /boot/firmware/WATCHBOX
              watchboxctl adopt /boot/firmware/WATCHBOX --dry-run
            """)

    @Argument(help: "Directory with the file, on a volume that is mounted writable.", completion: .directory)
    var directory: String

    @Flag(help: "Say what is wrong with the file, or what would change; change nothing, and write no result.")
    var dryRun = false

    @Option(help: ArgumentHelp("Directory that stands for /, for tests and images.", valueName: "directory"))
    var root = "/"

    @Option(
        help: ArgumentHelp(
            "Where it is written down by which file this box was adopted, before that is put to use.", valueName: "file"
        ))
    var record: String?

    @Flag(help: "Anybody can put the drive in: once the box is adopted, only the file of --record is taken to its end.")
    var removable = false

    @Flag(help: "Try again, after 10, 30 and 60 s, what the box could not take for a reason that may pass.")
    var retry = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if retry, dryRun { throw ValidationError("--retry has no meaning with --dry-run, which changes nothing.") }
        if removable, record == nil {
            throw ValidationError("--removable needs --record: without it nothing says whether the box is adopted.")
        }
    }

    func run() async throws {
        // Half of it is files of this machine: never here the one half, there the other.
        try output.box.requireThisMachine()
        let adoption = Adoption(
            volume: try AdoptionVolume(directory), root: root == "/" ? "" : root, client: output.client,
            record: record.map { AdoptionRecord(path: $0, isRemovable: removable) })
        let progress = ProgressLine()
        let report = try await adoption.run(isDryRun: dryRun, pauses: retry ? Adoption.pauses : []) { pause, report in
            let what = report.problem.map { "\($0.what): \($0.why)" } ?? "not taken"
            progress.step("\(what); once more in \(pause.components.seconds) s")
            try await Task.sleep(for: pause)
        }
        output.show(report, isWell: report.status == 0) { style in
            report.lines.map { style.paint($0, .plain) }
        }
        if report.status != 0 { throw ExitCode(report.status) }
    }
}
