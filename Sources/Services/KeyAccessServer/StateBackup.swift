internal import Glibc

/// Everything that a KAS needs, in one file under a passphrase: who loses the KAS without it loses every recording.
public enum StateBackup {
    public enum Fault: Error, Equatable, Sendable {
        /// There are keys already.
        case stateHasKeys(path: String)
        case noKeys(path: String)
        case notABackup
        /// A newer program made it.
        case unknownVersion(UInt8)
        case wrongPassphraseOrDamaged
        case malformed(String)
        /// Fewer bytes than make guessing expensive.
        case passphraseTooShort(minimum: Int)
    }

    public static let minPassphraseLength = 10
    /// Bytes that a backup has at most.
    public static let limit = StateArchive.limit
    private static let indexName = "keys.json"
    /// As long as all of them together: signed registrations under long names come to more than 64 MiB.
    static let fileLimit = StateArchive.limit

    /// - Parameter directory: of a KAS that may run.
    /// - Returns: the encrypted file.
    public static func make(directory path: String, passphrase: String) throws -> [UInt8] {
        try make(directory: path, passphrase: passphrase, cost: StateArchive.Cost())
    }

    static func make(directory path: String, passphrase: String, cost: StateArchive.Cost) throws -> [UInt8] {
        guard passphrase.utf8.count >= minPassphraseLength else {
            throw Fault.passphraseTooShort(minimum: minPassphraseLength)
        }
        let directory = try StateDirectory(existing: path)
        let archive = try directory.locked {
            var files: [StateArchive.File] = []
            for name in try directory.names() where StateArchive.isName(name) {
                guard let bytes = try directory.read(name, limit: fileLimit) else { continue }
                files.append(.init(name: name, bytes: bytes))
            }
            return StateArchive(files: files)
        }
        guard archive.files.contains(where: { $0.name == indexName }) else { throw Fault.noKeys(path: path) }
        return try explainingFaults { try archive.sealed(passphrase: Array(passphrase.utf8), cost: cost) }
    }

    /// Writes a backup's files into a directory that has no keys, and opens the keys.
    ///
    /// - Parameter path: made with mode 0700 if it isn't there.
    /// - Returns: the keys that are there now.
    @discardableResult
    public static func restore(
        _ bytes: [UInt8], passphrase: String, directory path: String, now: Int64
    ) throws -> [KeyDescription] {
        let archive = try explainingFaults { try StateArchive(sealed: bytes, passphrase: Array(passphrase.utf8)) }
        guard let index = archive.files.first(where: { $0.name == indexName }) else {
            throw Fault.malformed("it holds no keys")
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

    private static func explainingFaults<Answer>(_ body: () throws -> Answer) throws -> Answer {
        do {
            return try body()
        } catch let fault as StateArchive.Fault {
            switch fault {
            case .notABackup: throw Fault.notABackup
            case .unknownVersion(let version): throw Fault.unknownVersion(version)
            case .unreasonableParameters: throw Fault.malformed("its key derivation parameters are not accepted")
            case .wrongPassphraseOrDamaged: throw Fault.wrongPassphraseOrDamaged
            case .malformed(let why): throw Fault.malformed(why)
            }
        }
    }
}

extension StateBackup.Fault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .stateHasKeys(let path):
            "\(path) holds keys already; restoring would destroy them. Name an empty directory, or move that one away."
        case .noKeys(let path): "\(path) holds no keys. Name the --state directory of the KAS."
        case .notABackup: "The file is not a backup of a KAS, or it was cut off."
        case .unknownVersion(let version):
            "The backup has version \(version); this program reads \(StateArchive.version). Use the newer program."
        case .wrongPassphraseOrDamaged: "The passphrase is wrong, or the file was changed or cut off."
        case .malformed(let why): "The backup cannot be used: \(why)."
        case .passphraseTooShort(let minimum):
            "The passphrase has fewer than \(minimum) bytes, and whoever finds the backup could guess it."
        }
    }
}
