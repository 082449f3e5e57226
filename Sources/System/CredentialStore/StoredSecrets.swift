public import Systemd

/// The secrets that a box has stored, opened for its backup: by root, on that box. Control has no such way to them, and
/// no API returns one.
///
/// Nothing is made and nothing is changed. What the device key sealed is opened with it; what systemd encrypted is opened
/// by systemd, for root alone.
public struct StoredSecrets: Sendable {
    private let state: SecretDirectory
    private let encryption: CredentialEncryption

    /// - Parameter stateDirectory: of control, such as `/var/lib/watchbox`, whoever its owner is. What is below must be the
    ///   same owner's, and nobody else's to read.
    /// - Throws: `.system` when it cannot be opened, `.unsafeFile`.
    public init(
        stateDirectory: String, encryption: CredentialEncryption = CredentialEncryption()
    ) throws(CredentialError) {
        state = try SecretDirectory.ofAnyUser(stateDirectory)
        self.encryption = encryption
    }

    /// A secret's bytes; nil when there is none of this name in this scope.
    ///
    /// - Throws: `.damaged`, `.keyMissing`, `.decryption` for one that does not open; `.unsafeFile`; `.system` with EACCES for
    ///   who may not read them.
    public func read(name: String, scope: String) async throws(CredentialError) -> [UInt8]? {
        let credential = try CredentialName(name, scope: scope)
        // As `CredentialStore` has it: where there are both, the encrypted one is the newer.
        if let secret = try await encrypted(credential, name: name, scope: scope) { return secret }
        if let secret = try sealed(credential, name: name, scope: scope) { return secret }
        // It may have gone from the one to the other meanwhile.
        return try await encrypted(credential, name: name, scope: scope)
    }

    private func encrypted(
        _ credential: CredentialName, name: String, scope: String
    ) async throws(CredentialError) -> [UInt8]? {
        guard let directory = try state.existing(CredentialStore.encryptedName)?.existing(scope),
            let blob = try directory.read(name, limit: CredentialStore.encryptedLimit)
        else { return nil }
        do {
            return try await encryption.decrypt(blob, name: credential.credential)
        } catch {
            throw .decryption(path: "\(directory.path)/\(name)", error)
        }
    }

    private func sealed(_ credential: CredentialName, name: String, scope: String) throws(CredentialError) -> [UInt8]? {
        guard let directory = try state.existing(CredentialStore.sealedName)?.existing(scope),
            let sealed = try directory.read(name, limit: DeviceKey.sealedLimit)
        else { return nil }
        return try DeviceKey(state: state).open(sealed, credential, path: "\(directory.path)/\(name)")
    }
}
