internal import Cryptography
internal import NanoTDF
internal import Wire

/// The files of a KAS's state directory under a passphrase.
///
///     "WBKASBAK"  version (1)  logN  r  p  salt (16)  nonce (12)  AES-256-GCM of the files, with its tag (16)
///
/// The key is scrypt of the passphrase; everything before the ciphertext is authenticated. The files are: their number
/// (4 bytes), then of each the length of its name (1), the name, its length (4) and its bytes. Numbers are big-endian.
struct StateArchive: Equatable {
    struct File: Equatable {
        var name: String
        var bytes: [UInt8]
    }

    enum Fault: Error, Equatable {
        /// It begins otherwise, or ends too early for a backup.
        case notABackup
        case unknownVersion(UInt8)
        /// Key derivation that would cost too much, or too little to be ours.
        case unreasonableParameters
        /// The passphrase is wrong, or the file was changed. There is no telling which.
        case wrongPassphraseOrDamaged
        /// It was made by us and yet is not of our form; or what is to be kept has no such form.
        case malformed(String)
    }

    struct Cost: Equatable {
        var logN: UInt8 = 17
        var r: UInt8 = 8
        var p: UInt8 = 1
    }

    static let magic = Array("WBKASBAK".utf8)
    static let version: UInt8 = 1
    static let limit = 192 << 20
    private static let fileLimit = 4096
    private static let saltCount = 16
    private static let nonceCount = 12
    private static let headerCount = magic.count + 4 + saltCount + nonceCount

    var files: [File]

    /// - Parameter cost: cheaper in tests only.
    func sealed(passphrase: [UInt8], cost: Cost = Cost()) throws -> [UInt8] {
        var plain = try encoded()
        defer { Wiping.wipe(&plain) }
        let salt = try SecureRandom.bytes(Self.saltCount)
        let nonce = try SecureRandom.bytes(Self.nonceCount)
        let header = Self.magic + [Self.version, cost.logN, cost.r, cost.p] + salt + nonce
        var key = try Self.key(passphrase, salt, cost)
        defer { Wiping.wipe(&key) }
        return header + (try AESGCM.seal(key: key, nonce: nonce, plaintext: plain, aad: header))
    }

    init(files: [File]) {
        self.files = files
    }

    init(sealed bytes: [UInt8], passphrase: [UInt8]) throws {
        guard bytes.starts(with: Self.magic), bytes.count >= Self.headerCount + 16, bytes.count <= Self.limit else {
            throw Fault.notABackup
        }
        let header = Array(bytes[..<Self.headerCount])
        guard header[8] == Self.version else { throw Fault.unknownVersion(header[8]) }
        let cost = Cost(logN: header[9], r: header[10], p: header[11])
        guard (10...20).contains(cost.logN), (1...16).contains(cost.r), (1...4).contains(cost.p) else {
            throw Fault.unreasonableParameters
        }
        var key = try Self.key(passphrase, Array(header[12..<28]), cost)
        defer { Wiping.wipe(&key) }
        var plain: [UInt8]
        do {
            plain = try AESGCM.open(
                key: key, nonce: Array(header[28...]), ciphertextAndTag: Array(bytes[Self.headerCount...]), aad: header)
        } catch {
            throw Fault.wrongPassphraseOrDamaged
        }
        defer { Wiping.wipe(&plain) }
        files = try Self.decoded(plain)
    }

    private static func key(_ passphrase: [UInt8], _ salt: [UInt8], _ cost: Cost) throws -> [UInt8] {
        try Scrypt.derive(
            passphrase: passphrase, salt: salt, logN: Int(cost.logN), r: Int(cost.r), p: Int(cost.p), count: 32)
    }

    private func encoded() throws(Fault) -> [UInt8] {
        guard files.count <= Self.fileLimit else { throw .malformed("there are more than \(Self.fileLimit) files") }
        guard files.reduce(0, { $0 + $1.bytes.count + 261 }) < Self.limit - 1024 else {
            throw .malformed("the files are too long")
        }
        var bytes = Self.number(files.count)
        for file in files {
            guard Self.isName(file.name) else { throw .malformed("a file has the name \(file.name)") }
            bytes.append(UInt8(file.name.utf8.count))
            bytes += file.name.utf8
            bytes += Self.number(file.bytes.count)
            bytes += file.bytes
        }
        return bytes
    }

    private static func decoded(_ bytes: [UInt8]) throws(Fault) -> [File] {
        var rest = bytes[...]
        func take(_ count: Int) throws(Fault) -> ArraySlice<UInt8> {
            guard count <= rest.count else { throw .malformed("it ends in the middle of a file") }
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
        }
        func number() throws(Fault) -> Int { try take(4).reduce(0) { $0 << 8 | Int($1) } }
        let count = try number()
        guard count <= fileLimit else { throw .malformed("it has \(count) files") }
        var files: [File] = []
        for _ in 0..<count {
            let length = Int(try take(1).first ?? 0)
            let name = String(decoding: try take(length), as: UTF8.self)
            guard isName(name), !files.contains(where: { $0.name == name }) else {
                throw .malformed("a file has an invalid name")
            }
            files.append(File(name: name, bytes: Array(try take(try number()))))
        }
        guard rest.isEmpty else { throw .malformed("something follows the last file") }
        return files
    }

    private static func number(_ value: Int) -> [UInt8] {
        [UInt8(value >> 24 & 255), UInt8(value >> 16 & 255), UInt8(value >> 8 & 255), UInt8(value & 255)]
    }

    /// A plain name, so that nothing is written beside the directory.
    static func isName(_ name: String) -> Bool {
        !name.hasPrefix(".") && Names.isPlain(name, limit: 128)
    }
}
