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

    static func isThere(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// - Parameter hint: what to do about a file that is there.
    static func requireNone(_ path: String, hint: String) throws(CommandFailure) {
        guard !isThere(path) else { throw existing(path, hint) }
    }

    /// For its owner alone, and as a whole: after a power cut there is all of it, or nothing of use.
    ///
    /// The directory is looked up once: root may write into one that is somebody else's, who could put another in its place.
    ///
    /// - Parameters:
    ///   - replaces: a plain file that is there; otherwise nothing is overwritten.
    ///   - hint: what to do about a file that is there.
    static func write(
        _ bytes: [UInt8], to path: String, replaces: Bool = false, hint: String
    ) throws(CommandFailure) {
        func unwritable(_ why: String) -> CommandFailure {
            CommandFailure(
                what: "the backup cannot be written", why: "\(path): \(why)", hint: "name another file",
                status: .failed)
        }
        let slash = path.lastIndex(of: "/")
        let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
        let parent = slash.map { String(path[...$0]) } ?? "./"
        let directory = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw unwritable(SystemMessage.text(errno)) }
        defer { close(directory) }
        var status = stat()
        if replaces, fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_mode & S_IFMT != S_IFREG {
            throw unwritable("it is no plain file")
        }
        if !replaces {
            // The name is taken first: whoever else makes such a file meanwhile keeps theirs.
            do throws(FileFailure) { try NewFile.write([], to: name, in: directory, path: path) } catch {
                throw error.isThere ? existing(path, hint) : unwritable(error.reason)
            }
        }
        do throws(FileFailure) {
            try DurableFile.replace(name, in: directory, path: parent, with: bytes, through: ".\(name).new")
        } catch {
            if !replaces { unlinkat(directory, name, 0) }
            throw unwritable(error.reason)
        }
    }

    private static func existing(_ path: String, _ hint: String) -> CommandFailure {
        CommandFailure(
            what: "nothing was backed up", why: "\(path) is there already", hint: hint, status: .usage)
    }
}
