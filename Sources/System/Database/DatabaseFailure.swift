internal import CSQLite
internal import Platform

/// Why a database cannot be used, as a message for a person.
public enum DatabaseFailure: Error, Equatable, Sendable {
    /// The file system has no room.
    case full(path: String)
    /// The database has reached the size that WatchBox allows it.
    case atLimit(path: String)
    case readOnly(path: String)
    /// A newer WatchBox wrote it; nothing was changed. `version` names its schema.
    case fromFuture(path: String, version: String)
    /// Found while it was open; the next start moves it aside.
    case damaged(path: String, detail: String)
    /// Another process kept it locked for longer than 5 seconds.
    case busy(path: String)
    case cannotOpen(path: String, why: String)
    /// The device or the file system reports an error.
    case device(path: String, detail: String)
    /// SQLite refused a statement: a fault of this program.
    case refused(path: String, detail: String)
}

extension DatabaseFailure: CustomStringConvertible {
    /// What happened.
    public var what: String {
        switch self {
        case .full(let path), .atLimit(let path), .readOnly(let path), .device(let path, _), .refused(let path, _):
            "\(path) could not be written"
        case .fromFuture(let path, _): "\(path) was not opened"
        case .damaged(let path, _): "\(path) is damaged"
        case .busy(let path): "\(path) is locked"
        case .cannotOpen(let path, _): "\(path) cannot be opened"
        }
    }

    /// Why it happened.
    public var why: String {
        switch self {
        case .full: "the disk is full"
        case .atLimit: "it has reached the size that WatchBox allows it"
        case .readOnly: "the file or its file system is read-only"
        case .fromFuture(_, let version): "a newer WatchBox wrote it (schema \(version)); it is unchanged"
        case .damaged(_, let detail), .device(_, let detail), .refused(_, let detail): detail
        case .busy: "another process has kept it locked for more than 5 seconds"
        case .cannotOpen(_, let why): why
        }
    }

    /// What a person does next.
    public var hint: String {
        switch self {
        case .full: "free some space, for example with `watchboxctl archive prune`; nothing that was stored is lost"
        case .atLimit: "remove what is not needed any more; nothing that was stored is lost"
        case .readOnly:
            "a file system that became read-only by itself has errors: look at `dmesg`, repair it, or replace the card"
        case .fromFuture: "install that version again, or move the file away to begin with an empty one"
        case .damaged: "restart the service: it moves the file aside, begins a new one, and says so"
        case .busy: "find the process with `fuser` and stop it"
        case .cannotOpen: "correct the path or its owner and permissions"
        case .device: "look at `dmesg` for errors of the card or disk, and replace it when there are any"
        case .refused: "report this as a bug, with the log"
        }
    }

    public var description: String { "\(what): \(why).\nNext: \(hint)" }
}

extension DatabaseFailure {
    /// What SQLite's error means for a person.
    ///
    /// SQLite distinguishes a full disk from other errors only when `write` fails; it does not when a file cannot be extended
    /// by other calls. So the file system is asked as well.
    public init(_ error: any Error, path: String) {
        if let failure = error as? DatabaseFailure {
            self = failure
            return
        }
        guard let error = error as? SQLiteError else {
            self = .cannotOpen(path: path, why: "\(error)")
            return
        }
        let detail = "SQLite: \(error.message) (\(error.code))"
        let fileSystem = FileSystem(of: path)
        self =
            switch error.primaryCode {
            case SQLITE_FULL: fileSystem.isFull ? .full(path: path) : .atLimit(path: path)
            case SQLITE_READONLY: .readOnly(path: path)
            case SQLITE_CORRUPT, SQLITE_NOTADB: .damaged(path: path, detail: detail)
            case SQLITE_BUSY, SQLITE_LOCKED: .busy(path: path)
            case SQLITE_IOERR where fileSystem.isFull: .full(path: path)
            case SQLITE_IOERR, SQLITE_CANTOPEN:
                if fileSystem.isReadOnly {
                    .readOnly(path: path)
                } else if error.primaryCode == SQLITE_IOERR {
                    .device(path: path, detail: detail)
                } else {
                    fileSystem.isFull ? .full(path: path) : .cannotOpen(path: path, why: detail)
                }
            case SQLITE_PERM, SQLITE_AUTH: .cannotOpen(path: path, why: detail)
            default: .refused(path: path, detail: detail)
            }
    }

    /// For calls of the C library.
    init(call: String, path: String, code: Int32) {
        self =
            switch code {
            case ErrorNumber.noSpace, ErrorNumber.quota: .full(path: path)
            case ErrorNumber.readOnly: .readOnly(path: path)
            case ErrorNumber.inputOutput: .device(path: path, detail: "\(call): \(SystemMessage.text(code))")
            default: .cannotOpen(path: path, why: "\(call): \(SystemMessage.text(code))")
            }
    }
}
