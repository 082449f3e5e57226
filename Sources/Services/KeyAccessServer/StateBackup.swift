internal import Cryptography
internal import Glibc

/// Everything that a KAS needs, in one file under a passphrase: who loses the KAS without it loses every recording.
public enum StateBackup {
    /// What is wrong with the state directory; what is wrong with the backup itself is a `PassphraseArchive.Fault`.
    public enum Fault: Error, Equatable, Sendable {
        /// There are keys already.
        case stateHasKeys(path: String)
        case noKeys(path: String)
    }

    private static let indexName = "keys.json"
    /// As long as all of them together: signed registrations under long names come to more than 64 MiB.
    static let fileLimit = PassphraseArchive.Kind.keyAccessServer.limit

    /// - Parameter directory: of a KAS that may run.
    /// - Returns: the encrypted file.
    public static func make(directory path: String, passphrase: String) throws -> [UInt8] {
        try make(directory: path, passphrase: passphrase, cost: PassphraseArchive.Cost())
    }

    static func make(directory path: String, passphrase: String, cost: PassphraseArchive.Cost) throws -> [UInt8] {
        let directory = try StateDirectory(existing: path)
        let archive = try directory.locked {
            var files: [PassphraseArchive.File] = []
            for name in try directory.names() where PassphraseArchive.isName(name) {
                guard let bytes = try directory.read(name, limit: fileLimit) else { continue }
                files.append(.init(name: name, bytes: bytes))
            }
            return PassphraseArchive(files: files)
        }
        guard archive.files.contains(where: { $0.name == indexName }) else { throw Fault.noKeys(path: path) }
        return try archive.sealed(as: .keyAccessServer, passphrase: Array(passphrase.utf8), cost: cost)
    }

    /// Writes a backup's files into a directory that has no keys, and opens the keys.
    ///
    /// - Parameter path: made with mode 0700 if it isn't there.
    /// - Returns: the keys that are there now.
    @discardableResult
    public static func restore(
        _ bytes: [UInt8], passphrase: String, directory path: String, now: Int64
    ) throws -> [KeyDescription] {
        let archive = try PassphraseArchive(
            sealed: bytes, kind: .keyAccessServer, passphrase: Array(passphrase.utf8))
        guard let index = archive.files.first(where: { $0.name == indexName }) else {
            throw PassphraseArchive.Fault.malformed("it holds no keys")
        }
        let directory = try StateDirectory(path: path)
        try directory.locked {
            // The index comes last: without it what is there are no keys, and restoring can begin again.
            guard directory.stamp(indexName) == 0 else { throw Fault.stateHasKeys(path: path) }
            for file in archive.files where file.name != indexName { try directory.write(file.name, file.bytes) }
            try directory.write(index.name, index.bytes)
        }
        let store = try KeyStore(directory: path, now: now)
        _ = try AccessRegister(store: store)
        return store.descriptions
    }

    /// Restores into a temporary directory, in memory where there is such a place, and removes it.
    public static func verify(_ bytes: [UInt8], passphrase: String, now: Int64) throws -> [KeyDescription] {
        let parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
        var template = Array("\(parent)/watchbox-kas-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw StateDirectoryError.system(call: "mkdtemp", path: parent, code: errno)
        }
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer {
            if let directory = try? StateDirectory(existing: path) {
                for name in (try? directory.names()) ?? [] { directory.remove(name) }
            }
            rmdir(path)
        }
        return try restore(bytes, passphrase: passphrase, directory: path, now: now)
    }
}

extension StateBackup.Fault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .stateHasKeys(let path):
            "\(path) holds keys already; restoring would destroy them. Name an empty directory, or move that one away."
        case .noKeys(let path): "\(path) holds no keys. Name the --state directory of the KAS."
        }
    }
}
