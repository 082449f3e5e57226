internal import Cryptography
internal import Glibc

/// The key of this box in a file, for systems whose systemd does not encrypt for services (before version 256).
///
/// A sealed secret is a version byte, a nonce of 12 random bytes, and AES-256-GCM's ciphertext with its tag of 16. The
/// version, the scope and the name are authenticated: a file that was copied to another name does not open.
struct DeviceKey {
    static let fileName = "device.key"
    static let version: UInt8 = 1
    private static let keyBytes = 32
    private static let nonceBytes = 12
    private static let tagBytes = 16
    /// What a sealed file has at most.
    static let sealedLimit = 1 + nonceBytes + CredentialName.secretLimit + tagBytes

    private let state: SecretDirectory

    init(state: SecretDirectory) { self.state = state }

    /// Makes the key when there is none, or when it is not a key any more: what was sealed with it is lost then anyway,
    /// and says so when it is opened.
    func seal(_ secret: [UInt8], _ name: CredentialName) throws(CredentialError) -> [UInt8] {
        var key = try read(making: true)
        defer { wipe(&key) }
        do {
            let nonce = try SecureRandom.bytes(Self.nonceBytes)
            return [Self.version] + nonce
                + (try AESGCM.seal(key: key, nonce: nonce, plaintext: secret, aad: Self.associatedData(name)))
        } catch {
            throw .system(call: "AES-256-GCM", path: state.path, code: EIO)
        }
    }

    /// - Parameter path: for the error.
    func open(_ sealed: [UInt8], _ name: CredentialName, path: String) throws(CredentialError) -> [UInt8] {
        guard sealed.count >= 1 + Self.nonceBytes + Self.tagBytes, sealed[0] == Self.version else {
            throw .damaged(path: path)
        }
        var key = try read(making: false)
        defer { wipe(&key) }
        do {
            return try AESGCM.open(
                key: key, nonce: Array(sealed[1..<1 + Self.nonceBytes]),
                ciphertextAndTag: Array(sealed[(1 + Self.nonceBytes)...]), aad: Self.associatedData(name))
        } catch {
            throw .damaged(path: path)
        }
    }

    private static func associatedData(_ name: CredentialName) -> [UInt8] {
        [version] + Array("\(name.scope)/\(name.name)".utf8)
    }

    private func read(making: Bool) throws(CredentialError) -> [UInt8] {
        let path = "\(state.path)/\(Self.fileName)"
        if let key = try state.read(Self.fileName, limit: Self.keyBytes) {
            if key.count == Self.keyBytes { return key }
            guard making else { throw .damaged(path: path) }
            try state.remove(Self.fileName)
        }
        guard making else { throw .keyMissing(path: path) }
        var made: [UInt8]
        do { made = try SecureRandom.bytes(Self.keyBytes) } catch {
            throw .system(call: "random numbers", path: path, code: EIO)
        }
        if try state.create(Self.fileName, made) { return made }
        wipe(&made)
        return try read(making: false)
    }
}

/// Overwrites a secret that is not needed any more.
func wipe(_ bytes: inout [UInt8]) {
    bytes.withUnsafeMutableBytes { buffer in
        if let start = buffer.baseAddress { explicit_bzero(start, buffer.count) }
    }
}
