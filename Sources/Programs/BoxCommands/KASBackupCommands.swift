import ArgumentParser
import Console
import Cryptography
import KeyAccessServer
import Platform

struct KASBackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Everything that the KAS needs, in one file under a passphrase.",
        discussion: """
            Whoever loses the KAS loses every recording: keep the file and the passphrase, and not in one place. The KAS \
            may run meanwhile. With --verify a backup is restored into memory, and its keys are opened.

              watchboxctl kas backup --state DIR --output kas.backup
              watchboxctl kas backup --verify kas.backup
            """)

    private static let another = "name another --output"

    @Option(help: "State directory of the KAS.")
    var state: String?

    @Option(help: "File to write; never one that is there.")
    var output: String?

    @Option(help: "Backup to verify instead.")
    var verify: String?

    @Option(help: "File that holds the passphrase, - for standard input; without it, it is asked for.")
    var passphraseFile: String?

    @Flag(help: "Print a JSON document.")
    var json = false

    @OptionGroup(visibility: .hidden) var box: HostOption

    func validate() throws {
        guard (verify != nil) != (state != nil && output != nil), verify == nil || (state == nil && output == nil)
        else {
            throw ValidationError("Name --state and --output, or --verify.")
        }
    }

    func run() async throws {
        try box.requireThisMachine()
        if let verify {
            let passphrase = try BackupPassphrase.known(file: passphraseFile)
            let bytes = try BackupFile.read(verify, .keyAccessServer)
            let keys = try backup("the backup is of no use") {
                try StateBackup.verify(bytes, passphrase: passphrase, now: Clocks.wallSeconds)
            }
            return BackupDocument(file: verify, action: "verified", keys: keys).show(json: json)
        }
        guard let state, let output else { return }
        try BackupFile.requireNone(output, hint: Self.another)
        let passphrase = try BackupPassphrase.new(file: passphraseFile)
        let now = Clocks.wallSeconds
        let (bytes, keys) = try backup("nothing was backed up") {
            let bytes = try StateBackup.make(directory: state, passphrase: passphrase)
            // What cannot be read again is not a backup.
            return (bytes, try StateBackup.verify(bytes, passphrase: passphrase, now: now))
        }
        try BackupFile.write(bytes, to: output, hint: Self.another)
        BackupDocument(file: output, action: "written", keys: keys).show(json: json)
    }
}

struct KASRestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Put a backup into a state directory that has no keys.",
        discussion: """
            Stop the KAS before, and start it afterwards. Keys that are there are never overwritten.

              watchboxctl kas restore kas.backup --state DIR
            """)

    @Argument(help: "File that kas backup made.")
    var file: String

    @Option(help: "State directory of the KAS; made with mode 0700 if it is not there.")
    var state: String

    @Option(help: "File that holds the passphrase, - for standard input; without it, it is asked for.")
    var passphraseFile: String?

    @Flag(help: "Print a JSON document.")
    var json = false

    @OptionGroup(visibility: .hidden) var box: HostOption

    func run() async throws {
        try box.requireThisMachine()
        let bytes = try BackupFile.read(file, .keyAccessServer)
        let passphrase = try BackupPassphrase.known(file: passphraseFile)
        let keys = try backup("nothing was restored") {
            try StateBackup.restore(bytes, passphrase: passphrase, directory: state, now: Clocks.wallSeconds)
        }
        BackupDocument(file: file, action: "restored", keys: keys).show(json: json)
    }
}

private struct BackupDocument: Encodable {
    var schema = "watchbox.kas.backup/1"
    var file: String
    var action: String
    var keys: [KeyDescription]

    func show(json: Bool) {
        let text = "\(file): \(action), with the keys \(keys.map(\.kid).joined(separator: ", "))."
        StandardOutput.show(self, json: json, [text])
    }
}

private func backup<Answer>(_ what: String, _ body: () throws -> Answer) throws(CommandFailure) -> Answer {
    do {
        return try body()
    } catch let fault as PassphraseArchive.Fault {
        throw CommandFailure(fault, what: what)
    } catch {
        throw CommandFailure(
            what: what, why: "\(error)", hint: "correct that, then run it again",
            status: error is StateDirectoryError ? .notPermitted : .failed)
    }
}
