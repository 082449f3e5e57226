internal import COpenSSL
internal import Wire

/// Files under a passphrase, in one file: a backup.
///
///     magic (8)  version (1)  logN  r  p  salt (16)  nonce (12)  AES-256-GCM of the files, with its tag (16)
///
/// The key is scrypt of the passphrase; everything before the ciphertext is authenticated, so that a backup of one kind is
/// never taken for another. The files are: their number (4 bytes), then of each the length of its name (1), the name, its
/// length (4) and its bytes. Numbers are big-endian.
public struct PassphraseArchive: Equatable, Sendable {
    /// What is backed up.
    public enum Kind: CaseIterable, Sendable {
        /// The state directory of a KAS.
        case keyAccessServer
        /// The configuration of a box, with its secrets.
        case box

        var magic: [UInt8] {
            switch self {
            case .keyAccessServer: Array("WBKASBAK".utf8)
            case .box: Array("WBBOXBAK".utf8)
            }
        }

        /// Bytes that an archive has at most.
        public var limit: Int {
            switch self {
            case .keyAccessServer: 192 << 20
            case .box: 8 << 20
            }
        }
    }

    public struct File: Equatable, Sendable {
        /// 1 to 128 letters, digits, `.`, `_` and `-`, without a dot at the front.
        public var name: String
        public var bytes: [UInt8]

        public init(name: String, bytes: [UInt8]) {
            self.name = name
            self.bytes = bytes
        }
    }

    public enum Fault: Error, Equatable, Sendable {
        /// Fewer bytes than make guessing expensive.
        case passphraseTooShort(minimum: Int)
        /// It begins otherwise, or ends too early for a backup.
        case notABackup(of: Kind)
        /// It is a backup of something else.
        case otherKind(Kind)
        case unknownVersion(UInt8)
        /// Key derivation that would cost too much, or too little to be ours.
        case unreasonableParameters
        /// The passphrase is wrong, or the file was changed. There is no telling which.
        case wrongPassphraseOrDamaged
        /// It was made by us and yet is not of our form; or what is to be kept has no such form.
        case malformed(String)
    }

    /// The price of a guess, in memory and time.
    package struct Cost: Equatable {
        package var logN: UInt8
        package var r: UInt8
        package var p: UInt8

        package init(logN: UInt8 = 17, r: UInt8 = 8, p: UInt8 = 1) {
            self.logN = logN
            self.r = r
            self.p = p
        }
    }

    /// Bytes.
    public static let minPassphraseLength = 10

    /// Bytes that key derivation may take: a file that somebody has made asks for no more. Ours takes half of it.
    private static let memoryLimit = 256 << 20

    private static let version: UInt8 = 1
    private static let fileLimit = 4096
    private static let saltCount = 16
    private static let nonceCount = 12
    private static let headerCount = 8 + 4 + saltCount + nonceCount

    public var files: [File]

    public init(files: [File]) {
        self.files = files
    }

    /// Opens an archive.
    ///
    /// - Throws: `Fault`; `CryptoError` when libcrypto fails, for want of memory.
    public init(sealed bytes: [UInt8], kind: Kind, passphrase: [UInt8]) throws {
        if let other = Kind.allCases.first(where: { $0 != kind && bytes.starts(with: $0.magic) }) {
            throw Fault.otherKind(other)
        }
        guard bytes.starts(with: kind.magic), bytes.count >= Self.headerCount + 16, bytes.count <= kind.limit else {
            throw Fault.notABackup(of: kind)
        }
        let header = Array(bytes[..<Self.headerCount])
        guard header[8] == Self.version else { throw Fault.unknownVersion(header[8]) }
        let cost = Cost(logN: header[9], r: header[10], p: header[11])
        guard (10...20).contains(cost.logN), (1...16).contains(cost.r), (1...4).contains(cost.p),
            (128 * Int(cost.r)) << Int(cost.logN) <= Self.memoryLimit
        else {
            throw Fault.unreasonableParameters
        }
        var key = try Self.key(passphrase, Array(header[12..<28]), cost)
        defer { OPENSSL_cleanse(&key, key.count) }
        var plain: [UInt8]
        do {
            plain = try AESGCM.open(
                key: key, nonce: Array(header[28...]), ciphertextAndTag: Array(bytes[Self.headerCount...]), aad: header)
        } catch {
            throw Fault.wrongPassphraseOrDamaged
        }
        defer { OPENSSL_cleanse(&plain, plain.count) }
        files = try Self.decoded(plain)
    }

    /// The archive as one file.
    ///
    /// - Throws: `Fault.passphraseTooShort`, `.malformed`; `CryptoError` when libcrypto fails, for want of memory.
    public func sealed(as kind: Kind, passphrase: [UInt8]) throws -> [UInt8] {
        try sealed(as: kind, passphrase: passphrase, cost: Cost())
    }

    /// - Parameter cost: cheaper in tests only.
    package func sealed(as kind: Kind, passphrase: [UInt8], cost: Cost) throws -> [UInt8] {
        guard passphrase.count >= Self.minPassphraseLength else {
            throw Fault.passphraseTooShort(minimum: Self.minPassphraseLength)
        }
        var plain = try encoded(limit: kind.limit)
        defer { OPENSSL_cleanse(&plain, plain.count) }
        let salt = try SecureRandom.bytes(Self.saltCount)
        let nonce = try SecureRandom.bytes(Self.nonceCount)
        let header = kind.magic + [Self.version, cost.logN, cost.r, cost.p] + salt + nonce
        var key = try Self.key(passphrase, salt, cost)
        defer { OPENSSL_cleanse(&key, key.count) }
        return header + (try AESGCM.seal(key: key, nonce: nonce, plaintext: plain, aad: header))
    }

    /// A plain name, so that nothing is written beside a directory.
    public static func isName(_ name: String) -> Bool {
        !name.hasPrefix(".") && Names.isPlain(name, limit: 128)
    }

    private static func key(_ passphrase: [UInt8], _ salt: [UInt8], _ cost: Cost) throws -> [UInt8] {
        try Scrypt.derive(
            passphrase: passphrase, salt: salt, logN: Int(cost.logN), r: Int(cost.r), p: Int(cost.p), count: 32)
    }

    private func encoded(limit: Int) throws(Fault) -> [UInt8] {
        guard files.count <= Self.fileLimit else { throw .malformed("there are more than \(Self.fileLimit) files") }
        guard files.reduce(0, { $0 + $1.bytes.count + 261 }) < limit - 1024 else {
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
}

extension PassphraseArchive.Kind: CustomStringConvertible {
    public var description: String {
        switch self {
        case .keyAccessServer: "a KAS"
        case .box: "a box"
        }
    }
}

extension PassphraseArchive.Fault: CustomStringConvertible {
    /// Why, for a person; holds nothing of the content.
    public var description: String {
        switch self {
        case .passphraseTooShort(let minimum):
            "the passphrase has fewer than \(minimum) bytes, and whoever finds the backup could guess it"
        case .notABackup(let kind): "the file is not a backup of \(kind), or it was cut off"
        case .otherKind(let kind): "the file is a backup of \(kind)"
        case .unknownVersion(let version):
            "the backup has version \(version), and this program reads \(PassphraseArchive.version)"
        case .unreasonableParameters: "the backup has key derivation parameters that are not accepted"
        case .wrongPassphraseOrDamaged: "the passphrase is wrong, or the file was changed or cut off"
        case .malformed(let why): "the backup cannot be used: \(why)"
        }
    }
}
