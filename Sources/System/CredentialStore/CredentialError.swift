internal import Glibc
internal import Platform
public import Systemd

/// Why a secret could not be stored or provided, as a message for a person. Never holds a byte of a secret.
public enum CredentialError: Error, Equatable, Sendable {
    /// A scope, a name, or the size of a secret.
    case invalid(field: String, why: String)
    /// A link, a file of another owner, or permissions that let others in.
    case unsafeFile(path: String, why: String)
    /// It does not open with this box's key: changed, moved from another name, or made by another box.
    case damaged(path: String)
    /// There are sealed secrets, and the key that sealed them is gone.
    case keyMissing(path: String)
    /// The directory for secrets in clear is on a disk.
    case notInMemory(path: String)
    /// systemd did not encrypt.
    case encryption(SystemdError)
    /// systemd did not open one for root.
    case decryption(path: String, SystemdError)
    case full(path: String)
    case readOnly(path: String)
    /// A call of the C library failed.
    case system(call: String, path: String, code: Int32)

    /// The next secret would fare no better.
    var concernsAll: Bool {
        switch self {
        case .encryption, .full, .readOnly: true
        case .invalid, .unsafeFile, .damaged, .keyMissing, .notInMemory, .decryption, .system: false
        }
    }

    init(_ failure: FileFailure) {
        self = .errno(failure.call, failure.path, failure.number)
    }

    static func errno(_ call: String, _ path: String, _ code: Int32 = Glibc.errno) -> CredentialError {
        switch code {
        case ENOSPC, EDQUOT: .full(path: path)
        case EROFS: .readOnly(path: path)
        case ELOOP: .unsafeFile(path: path, why: "it is a symbolic link")
        default: .system(call: call, path: path, code: code)
        }
    }
}

extension CredentialError: CustomStringConvertible {
    /// What happened.
    public var what: String {
        switch self {
        case .invalid(let field, _): "the \(field) is not valid"
        case .unsafeFile(let path, _): "\(path) was not used"
        case .damaged(let path), .decryption(let path, _): "the secret in \(path) cannot be opened"
        case .keyMissing(let path): "\(path) is missing"
        case .notInMemory(let path): "no secret was written to \(path)"
        case .encryption: "the secret was not stored"
        case .full(let path), .readOnly(let path): "\(path) was not written"
        case .system(let call, let path, _): "\(path): \(call) failed"
        }
    }

    /// Why it happened.
    public var why: String {
        switch self {
        case .invalid(_, let why), .unsafeFile(_, let why): why
        case .damaged: "it was changed or moved, or another box made it"
        case .keyMissing: "the secrets of this box were sealed with it and cannot be opened without it"
        case .notInMemory: "that directory is on a disk, and a secret in clear stays in memory"
        case .encryption(let error), .decryption(_, let error): "\(error)"
        case .full: "the disk is full"
        case .readOnly: "the file system is read-only"
        case .system(_, _, let code): SystemMessage.text(code)
        }
    }

    /// What a person does next.
    public var hint: String {
        switch self {
        case .invalid: "correct it and try again; nothing was changed"
        case .unsafeFile(let path, _):
            "find out who made it so, then remove it, or correct it with `chmod go= \(path)`; replace the secret if "
                + "others may have read it"
        case .damaged, .keyMissing: "enter the secret again, for example with `watchboxctl camera password`"
        case .notInMemory: "put the runtime directory on a tmpfs, as /run is"
        case .encryption, .decryption: "look at the journal of `systemd-creds`, and try again"
        case .full: "free some space, for example with `watchboxctl archive prune`; nothing that was stored is lost"
        case .readOnly:
            "a file system that became read-only by itself has errors: look at `dmesg`, repair it, or replace the card"
        case .system(_, let path, _): "check the owner and the permissions of \(path)"
        }
    }

    public var description: String { "\(what): \(why).\nNext: \(hint)" }
}
