import ArgumentParser
import BoxConfiguration
import BoxView
import Console
import ControlClient
import CredentialStore
import Platform

struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "The configuration of this box with its secrets, in one file under a passphrase.",
        discussion: """
            For the day when the board breaks: watchboxctl restore puts it onto another one. Run by root, since nobody else can \
            read the secrets; keep the file and the passphrase, and not in one place. Not in it: recordings, events, the keys of \
            a KAS on this box (watchboxctl kas backup), and the keys that make this board this board. Ends with 3 when a \
            secret could not be read.

              sudo watchboxctl backup box.backup
              sudo watchboxctl backup box.backup --force --passphrase-file passphrase
            """)

    @Argument(help: "File to write, for its owner alone.", completion: .file())
    var file: String

    @Flag(help: "Replace the file when it is there.")
    var force = false

    @Option(
        help: ArgumentHelp(
            "File that holds the passphrase, - for standard input; without it, it is asked for, twice.",
            valueName: "file"))
    var passphraseFile: String?

    @Option(help: ArgumentHelp("State directory of control.", valueName: "directory"))
    var state = "/var/lib/watchbox"

    @OptionGroup var output: OutputOptions

    func run() async throws { try await run(output.client) }

    func run(_ client: ControlClient) async throws {
        // The secrets are read on this machine.
        try output.box.requireThisMachine()
        let hint = "name another file, or replace it with --force"
        if !force { try BackupFile.requireNone(file, hint: hint) }
        let what = "nothing was backed up"
        let stored: StoredSecrets
        do throws(CredentialError) { stored = try StoredSecrets(stateDirectory: state) } catch {
            throw CommandFailure(error, what: what)
        }
        let (backup, missing) = try await BoxBackup.make(
            client, secrets: stored, version: Version.current, now: Clocks.wallSeconds)
        // Asked for last: nobody types it for nothing.
        let passphrase = try BackupPassphrase.new(file: passphraseFile)
        let bytes = try backup.sealed(passphrase: passphrase)
        // What cannot be read again is not a backup.
        guard try BoxBackup(sealed: bytes, passphrase: passphrase, what: what) == backup else {
            throw CommandFailure(what: what, why: "it does not read back to what it was", hint: "run it again")
        }
        let report = try BackupReport(file: file, backup, missing)
        // The one that is there may have what this one lacks.
        if force, !report.isWhole, let lost = missing.first(where: \.isLost), BackupFile.isThere(file) {
            throw CommandFailure(
                what: "\(file) was left as it was", why: "a new one would lack \(lost.key): \(lost.why)",
                hint: "name another file, which is written all the same; or correct that first", status: .degraded)
        }
        try BackupFile.write(bytes, to: file, replaces: force, hint: hint)
        output.show(report, isWell: report.isWhole) { report.lines($0) }
        if !report.isWhole { throw ExitCode(ExitStatus.degraded.rawValue) }
    }
}

/// What a backup holds, without a secret.
struct BackupReport: Codable, Equatable {
    var schema = "watchbox.backup/1"
    var file: String
    var objects: [String]
    /// `camera.front.password`
    var secrets: [String]
    var missing: [BoxBackup.Missing]
    /// What else the box has, and what to do about it.
    var notes: [String]

    init(file: String, _ backup: BoxBackup, _ missing: [BoxBackup.Missing]) throws(CommandFailure) {
        let settings = try BoxBackup.settings(backup.configuration, what: "the backup cannot be described")
        self.file = file
        self.missing = missing
        objects = settings.storedParts().map(\.object)
        secrets = backup.secrets.keys.sorted()
        notes = backup.notes(settings)
    }

    var isWhole: Bool { !missing.contains(where: \.isLost) }

    func lines(_ style: Style) -> [String] {
        var lines = [
            "\(file): written, with \(Quantity.count(objects.count, "object")) and "
                + "\(Quantity.count(secrets.count, "secret"))."
        ]
        lines += objects.map { "    \($0)" } + secrets.map { "    \($0) (a secret)" }
        lines += missing.map { "Not in it: \($0.key): \($0.why)." }
        return (lines + notes).map { style.paint($0, .plain) }
    }
}
