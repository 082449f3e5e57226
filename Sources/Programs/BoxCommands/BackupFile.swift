import Console
import Cryptography
import Glibc
import Platform

/// The passphrase of a backup: from a file, or typed unseen.
enum BackupPassphrase {
    static func known(file: String?) throws(CommandFailure) -> String {
        if let given = try Secret.given(file: file) { return given }
        return try Secret.typed("Passphrase of the backup")
    }

    static func new(file: String?) throws(CommandFailure) -> String {
        if let given = try Secret.given(file: file) { return try checked(given) }
        let first = try checked(try Secret.typed("Passphrase for the backup"))
        guard try Secret.typed("The same once more").utf8.elementsEqual(first.utf8) else {
            throw CommandFailure(
                what: "nothing was backed up", why: "the two passphrases are not the same", hint: "run it again",
                status: .usage)
        }
        return first
    }

    private static func checked(_ passphrase: String) throws(CommandFailure) -> String {
        let minimum = PassphraseArchive.minPassphraseLength
        guard passphrase.utf8.count >= minimum else {
            throw CommandFailure(
                PassphraseArchive.Fault.passphraseTooShort(minimum: minimum), what: "nothing was backed up")
        }
        return passphrase
    }
}

extension CommandFailure {
    init(_ fault: PassphraseArchive.Fault, what: String) {
        let hint =
            switch fault {
            case .passphraseTooShort: "choose a longer one, such as five words"
            case .notABackup, .malformed, .unreasonableParameters: "look for another copy of the file"
            case .otherKind(.keyAccessServer): "watchboxctl kas restore FILE --state DIR"
            case .otherKind(.box): "watchboxctl restore FILE"
            case .unknownVersion: "use the version of WatchBox that made it, or a newer one"
            case .wrongPassphraseOrDamaged: "type the passphrase again; when it is right, take another copy of the file"
            }
        let isUsage = if case .passphraseTooShort = fault { true } else { false }
        self.init(what: what, why: "\(fault)", hint: hint, status: isUsage ? .usage : .failed)
    }
}

/// A backup on the disk.
enum BackupFile {
    static func read(_ path: String, _ kind: PassphraseArchive.Kind) throws(CommandFailure) -> [UInt8] {
        // Not waiting for what is no file, such as a pipe.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        let failure = errno
        defer { if file >= 0 { close(file) } }
        var status = stat()
        var why = SystemMessage.text(failure)
        if file >= 0 {
            guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                throw unreadable("\(path) is no plain file")
            }
            do throws(SmallFile.Failure) {
                return try WholeFile.read(file, limit: kind.limit)
            } catch {
                switch error {
                case .tooLong(let limit): why = "it is longer than the \(limit >> 20) MiB that a backup can have"
                case .refused(let number): why = SystemMessage.text(number)
                case .missing: why = SystemMessage.text(ENOENT)
                }
            }
        }
        throw unreadable("\(path): \(why)")
    }

    private static func unreadable(_ why: String) -> CommandFailure {
        CommandFailure(
            what: "the backup cannot be read", why: why, hint: "check the file and its permissions", status: .usage)
    }

    /// - Parameter hint: what to do about a file that is there.
    static func requireNone(_ path: String, hint: String) throws(CommandFailure) {
        guard access(path, F_OK) != 0 else { throw existing(path, hint) }
    }

    /// For its owner alone, and as a whole: after a power cut there is all of it, or nothing of use.
    ///
    /// - Parameters:
    ///   - replaces: a file that is there; otherwise nothing is overwritten.
    ///   - hint: what to do about a file that is there.
    static func write(
        _ bytes: [UInt8], to path: String, replaces: Bool = false, hint: String
    ) throws(CommandFailure) {
        func unwritable(_ failure: FileFailure) -> CommandFailure {
            CommandFailure(
                what: "the backup cannot be written", why: "\(path): \(failure.reason)", hint: "name another file",
                status: .failed)
        }
        if !replaces {
            // The name is taken first: whoever else makes such a file meanwhile keeps theirs.
            do throws(FileFailure) { try NewFile.write([], to: path) } catch {
                throw error.isThere ? existing(path, hint) : unwritable(error)
            }
        }
        do throws(FileFailure) {
            try DurableFile.replace(path, with: bytes, through: ".\(path.split(separator: "/").last ?? "").new")
        } catch {
            if !replaces { unlink(path) }
            throw unwritable(error)
        }
    }

    private static func existing(_ path: String, _ hint: String) -> CommandFailure {
        CommandFailure(
            what: "nothing was backed up", why: "\(path) is there already", hint: hint, status: .usage)
    }
}
