import ArgumentParser
import BoxView
import Console
import ControlClient
import Cryptography
import Glibc

struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Put a backup onto this box, or onto another one.",
        discussion: """
            Takes the file of watchboxctl backup, from wherever it is: with --host it stays on the laptop. All of it is checked \
            before anything is changed; secrets are encrypted anew for the box. What this box has besides stays. What a file \
            in /etc/watchbox sets stays as that file says, and is listed. Ends with 3 when something of the backup is not in \
            use afterwards.

              watchboxctl restore box.backup --dry-run
              watchboxctl restore box.backup
              watchboxctl restore box.backup --replace --passphrase-file passphrase
              watchboxctl restore box.backup --host pi@watchbox-1234.local
            """)

    @Argument(help: "File that backup made.", completion: .file())
    var file: String

    @Flag(help: "Say what would change, and change nothing.")
    var dryRun = false

    @Flag(help: "Replace objects and secrets that are there, without being asked.")
    var replace = false

    @Option(
        help: ArgumentHelp(
            "File that holds the passphrase, - for standard input; without it, it is asked for.", valueName: "file"))
    var passphraseFile: String?

    @OptionGroup var output: OutputOptions

    func run() async throws { try await run(output.client) }

    func run(_ client: ControlClient) async throws {
        // First of all: no passphrase is typed for a box that does not answer.
        let restore = try await BoxRestore(client)
        let bytes = try BackupFile.read(file, .box)
        let passphrase = try BackupPassphrase.known(file: passphraseFile)
        let backup = try BoxBackup(sealed: bytes, passphrase: passphrase, what: BoxRestore.unchanged)
        var plan = try await restore.plan(backup)
        if !dryRun {
            if !replace { try confirm(plan.report) }
            try await restore.perform(plan)
            plan.report.isDone = true
        }
        output.show(plan.report, isWell: plan.report.isWhole) { plan.report.lines($0) }
        if !plan.report.isWhole { throw ExitCode(ExitStatus.degraded.rawValue) }
    }

    /// What is lost by it is somebody's decision.
    private func confirm(_ report: RestoreReport) throws {
        guard !report.replaced.isEmpty else { return }
        let replaced = report.replaced.joined(separator: ", ")
        guard isatty(STDIN_FILENO) == 1 else {
            throw CommandFailure(
                what: BoxRestore.unchanged, why: "it would replace \(replaced)",
                hint: "look at it with --dry-run, then add --replace", status: .conflict)
        }
        // What it would do besides is worth a look before the answer.
        for line in report.lines(Style()).dropLast() { StandardError.writeLine(line) }
        try Question.confirm("Restore it? That replaces \(replaced).", flag: "--replace", isConfirmed: false)
    }
}
