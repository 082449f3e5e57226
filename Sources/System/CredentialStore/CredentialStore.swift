internal import Glibc
internal import Synchronization
public import Systemd
internal import Wire

/// The secrets of the box: passwords of cameras, tokens, addresses that hold a stream key.
///
/// This process encrypts and forgets. Where systemd encrypts for services (256 and newer), only PID 1 can open what was
/// stored, and gives it to the one unit that loads it. Elsewhere a key in a file of this box seals, and `provide` opens
/// for the units into memory.
///
/// | | at rest | what a unit loads |
/// |---|---|---|
/// | systemd | `STATE/credstore/SCOPE/NAME`, sealed as `SCOPE_NAME` |
/// `LoadCredentialEncrypted=SCOPE:STATE/credstore/SCOPE` |
/// | device key | `STATE/sealed/SCOPE/NAME`, `STATE/device.key` | `LoadCredential=plain-SCOPE:RUNTIME/secret/SCOPE` |
///
/// Of the scope `box` a camera's unit loads only what it needs: from `RUNTIME/secret/sealed-box-camera-ID`, and
/// from `RUNTIME/secret/box-camera-ID`.
///
/// Both are looked at whenever secrets are listed, removed or provided, because a box can change from one to the other.
public final class CredentialStore: Sendable {
    /// Who holds the key.
    public enum Protection: String, Codable, Sendable {
        case systemdHostKey = "systemd-host-key"
        case systemdTPM = "systemd-tpm2"
        case deviceKeyFile = "device-key-file"
    }

    static let sealedName = "sealed"
    static let encryptedName = "credstore"
    private static let clearName = "secret"
    /// Where secrets are, where they are while they are set aside, and how long one is. systemd's come first.
    private static let asideKinds = [
        (kind: encryptedName, aside: "aside-credstore", limit: encryptedLimit),
        (kind: sealedName, aside: "aside-sealed", limit: DeviceKey.sealedLimit),
    ]
    /// The scope of what belongs to no single camera.
    private static let box = "box"
    /// systemd's blob of a secret of 4096 bytes has about 6 KiB.
    static let encryptedLimit = 64 << 10

    public let protection: Protection

    private let state: SecretDirectory
    private let runtime: SecretDirectory
    private let encryption: CredentialEncryption
    private let requiresMemory: Bool
    /// Files of one secret change together.
    private let changing = Mutex(())

    /// Opens the store, and makes its directories when they are missing.
    ///
    /// - Parameters:
    ///   - stateDirectory: such as `/var/lib/watchbox`; owned by this user, not writable by others.
    ///   - runtimeDirectory: such as `/run/watchbox`; on a tmpfs.
    ///   - tpmDevice: exists when the box has a TPM 2.0.
    ///   - requiresMemoryFileSystem: false lets `provide` write secrets in clear to a disk: for tests.
    public init(
        stateDirectory: String, runtimeDirectory: String, encryption: CredentialEncryption,
        tpmDevice: String = "/sys/class/tpmrm/tpmrm0", requiresMemoryFileSystem: Bool = true
    ) throws(CredentialError) {
        state = try SecretDirectory.root(stateDirectory)
        runtime = try SecretDirectory.root(runtimeDirectory)
        self.encryption = encryption
        requiresMemory = requiresMemoryFileSystem
        let encrypted = try state.making(Self.encryptedName)
        let sealed = try state.making(Self.sealedName)
        // Leftovers do no harm, and a scope that is refused is reported when it is used: neither keeps the box from
        // starting.
        for directory in [state, encrypted, sealed] { try? directory.sweep() }
        for kind in [encrypted, sealed] {
            for scope in try kind.names() { try? kind.existing(scope)?.sweep() }
        }
        // The socket may come up later than this process: who has used systemd before does not fall back.
        var isEncrypted = encryption.isAvailable
        if !isEncrypted {
            for kind in [encrypted, try state.existing(Self.asideKinds[0].aside)].compactMap(\.self) {
                for scope in try kind.names() where !isEncrypted {
                    // One that cannot be looked into was made with systemd all the same: no falling back.
                    isEncrypted = (try? kind.existing(scope)?.names().isEmpty == false) ?? true
                }
            }
        }
        protection = !isEncrypted ? .deviceKeyFile : access(tpmDevice, F_OK) == 0 ? .systemdTPM : .systemdHostKey
    }

    /// Stores a secret, or replaces it. It does not reach a running unit before that is started again.
    ///
    /// - Parameters:
    ///   - secret: 1…4096 bytes of any kind.
    ///   - name: such as `password`, `relay-main`, `kas-token`.
    ///   - scope: `box`, or `camera-ID` for what only one camera's unit gets.
    public func set(_ secret: [UInt8], name: String, scope: String) async throws(CredentialError) {
        try store(try await seal(secret, name: name, scope: scope))
    }

    /// A secret as it is stored: it opens under its name in its scope alone.
    public struct Sealed: Sendable {
        fileprivate var credential: CredentialName
        fileprivate var bytes: [UInt8]
        fileprivate var isEncrypted: Bool
    }

    /// The part of `set` that waits for another process; nothing is stored yet.
    public func seal(_ secret: [UInt8], name: String, scope: String) async throws(CredentialError) -> Sealed {
        let credential = try CredentialName(name, scope: scope)
        guard (1...CredentialName.secretLimit).contains(secret.count) else {
            throw .invalid(field: "secret", why: "it has 1 to \(CredentialName.secretLimit) bytes")
        }
        guard protection == .deviceKeyFile else {
            return Sealed(credential: credential, bytes: try await encrypt(secret, credential), isEncrypted: true)
        }
        let bytes = try locked { () throws(CredentialError) in try DeviceKey(state: state).seal(secret, credential) }
        return Sealed(credential: credential, bytes: bytes, isEncrypted: false)
    }

    /// The part of `set` that stores, or replaces.
    public func store(_ sealed: Sealed) throws(CredentialError) {
        let credential = sealed.credential
        try locked { () throws(CredentialError) in
            if sealed.isEncrypted {
                try storeEncrypted(sealed.bytes, credential)
            } else {
                try state.making(Self.sealedName).making(credential.scope).write(credential.name, sealed.bytes)
            }
            follow(credential)
        }
    }

    /// - Returns: false when there was none.
    @discardableResult
    public func remove(name: String, scope: String) throws(CredentialError) -> Bool {
        let credential = try CredentialName(name, scope: scope)
        return try locked { () throws(CredentialError) in
            var removed = false
            for directory in try directories(of: credential.scope) {
                if try directory.remove(credential.name) { removed = true }
            }
            follow(credential)
            return removed
        }
    }

    /// Removes every secret of a scope, and the directories that its units load.
    public func removeScope(_ scope: String) throws(CredentialError) {
        try CredentialName.check(scope: scope)
        try locked { () throws(CredentialError) in
            for directory in [scope, Self.sealedShare(of: scope), Self.clearShare(of: scope)] {
                try runtime.existing(Self.clearName)?.removeDirectory(directory)
            }
            try state.existing(Self.encryptedName)?.removeDirectory(scope)
            try state.existing(Self.sealedName)?.removeDirectory(scope)
        }
    }

    /// Gives a scope the secrets of another one as well: of a camera that is about to get another ID. What the device
    /// key sealed is sealed again; what it did not, only PID 1 can open, and only for the scope that it is of.
    ///
    /// The former scope keeps all of it: whoever asked ends with `removeScope` of one of both, when it is certain which
    /// of them stays. So a kill in between leaves one scope too many, and never a secret that is lost. What `other` has
    /// already stays as it is.
    ///
    /// - Parameter isNeeded: of which names.
    /// - Returns: the names of the secrets that this process cannot open; `other` does not have them.
    public func copyScope(
        _ scope: String, to other: String, where isNeeded: (_ name: String) -> Bool
    ) throws(CredentialError) -> Set<String> {
        try CredentialName.check(scope: other)
        let needed = try names(scope: scope).filter(isNeeded)
        return try locked { () throws(CredentialError) in
            let present = try Set(names(scope: other))
            let encrypted = try state.existing(Self.encryptedName)?.existing(scope)?.names() ?? []
            let sealed = try state.existing(Self.sealedName)?.existing(scope)
            var left = Set(needed).subtracting(present)
            for name in left.subtracting(encrypted).sorted() {
                guard let sealed, var secret = try openIfPossible(name, scope, sealed) else { continue }
                defer { wipe(&secret) }
                let again = try DeviceKey(state: state).seal(secret, CredentialName(name, scope: other))
                try state.making(Self.sealedName).making(other).write(name, again)
                left.remove(name)
            }
            return left
        }
    }

    // MARK: Set aside

    /// Secrets that a scope has no more, and has again when a change is taken back.
    public struct Aside: Hashable, Sendable {
        public var scope: String
        /// Whose they are, as a camera's UUID: another one may have the scope meanwhile.
        public var owner: String

        public init(scope: String, owner: String) {
            self.scope = scope
            self.owner = owner
        }

        fileprivate var directory: String { "\(scope)_\(owner)" }

        fileprivate init?(directory: String) {
            guard let end = directory.firstIndex(of: "_") else { return nil }
            (scope, owner) = (String(directory[..<end]), String(directory[directory.index(after: end)...]))
        }

        fileprivate func check() throws(CredentialError) {
            try CredentialName.check(scope: scope)
            guard Names.isHyphenated(owner, limit: 64) else {
                throw .invalid(field: "owner of the secrets", why: "it has a-z, 0-9 and single hyphens between them")
            }
        }
    }

    /// Takes all secrets of a scope away from its units, and keeps them as they are sealed: for this scope.
    public func setAside(_ aside: Aside) throws(CredentialError) {
        try aside.check()
        try locked { () throws(CredentialError) in
            for (kind, kept, _) in Self.asideKinds {
                guard let from = try state.existing(kind)?.existing(aside.scope) else { continue }
                let to = try state.making(kept).making(aside.directory)
                for name in try from.names() { try from.move(name, to: to) }
            }
        }
        try removeScope(aside.scope)
    }

    /// Gives the scope what it does not have by now. It is set aside as well, until `removeAside`.
    ///
    /// - Returns: the names.
    @discardableResult
    public func bringBack(_ aside: Aside) throws(CredentialError) -> Set<String> {
        try aside.check()
        return try locked { () throws(CredentialError) in
            let present = try Set(names(scope: aside.scope))
            var brought: Set<String> = []
            for (kind, kept, limit) in Self.asideKinds {
                guard let from = try state.existing(kept)?.existing(aside.directory) else { continue }
                for name in try from.names() where !present.union(brought).contains(name) {
                    guard let bytes = try from.read(name, limit: limit) else { continue }
                    try state.making(kind).making(aside.scope).write(name, bytes)
                    brought.insert(name)
                }
            }
            return brought
        }
    }

    /// All that is set aside.
    public func aside() throws(CredentialError) -> Set<Aside> {
        var found: Set<Aside> = []
        for (_, kept, _) in Self.asideKinds {
            found.formUnion(try (state.existing(kept)?.names() ?? []).compactMap { Aside(directory: $0) })
        }
        return found
    }

    /// Removes all that is set aside.
    public func removeAside() throws(CredentialError) {
        try locked { () throws(CredentialError) in
            for (_, kept, _) in Self.asideKinds {
                guard let directory = try state.existing(kept) else { continue }
                for name in try directory.names() { try directory.removeDirectory(name) }
            }
        }
    }

    // MARK: -

    /// Whether this process can open the secret: it is there, and the device key sealed it.
    public func canOpen(name: String, scope: String) -> Bool {
        guard var secret = try? reveal(name: name, scope: scope) else { return false }
        wipe(&secret)
        return true
    }

    /// The names of the secrets that a scope has, sorted.
    public func names(scope: String) throws(CredentialError) -> [String] {
        try CredentialName.check(scope: scope)
        var names: Set<String> = []
        for kind in [Self.encryptedName, Self.sealedName] {
            guard let directory = try state.existing(kind)?.existing(scope) else { continue }
            names.formUnion(try directory.names())
        }
        return names.sorted()
    }

    /// What the device key sealed; nil for what systemd encrypted, which only it can open, and when there is none.
    public func reveal(name: String, scope: String) throws(CredentialError) -> [UInt8]? {
        let credential = try CredentialName(name, scope: scope)
        return try locked { () throws(CredentialError) in
            let encrypted = try state.existing(Self.encryptedName)?.existing(scope)?.names() ?? []
            guard !encrypted.contains(credential.name),
                let sealed = try state.existing(Self.sealedName)?.existing(credential.scope)
            else { return nil }
            return try open(credential.name, credential.scope, sealed)
        }
    }

    /// Prepares what the units of a scope load: call it before they start.
    ///
    /// Both directories exist afterwards, maybe empty: a unit whose directory is missing does not start. What the
    /// device key sealed is in the second, in clear, and nothing else.
    ///
    /// - Throws: `.damaged`, `.keyMissing` after everything that can be opened was provided; `.notInMemory` before
    ///   anything is.
    public func provide(scope: String) throws(CredentialError) {
        try CredentialName.check(scope: scope)
        try locked { () throws(CredentialError) in
            let encrypted = try state.making(Self.encryptedName).making(scope).names()
            let clear = try runtime.making(Self.clearName).making(scope)
            let sealed = try state.existing(Self.sealedName)?.existing(scope)
            try fill(clear, with: Set(try sealed?.names() ?? []).subtracting(encrypted), scope, sealed)
        }
    }

    /// Prepares all that the unit of one camera loads: call it before the unit starts.
    ///
    /// That is its own scope, and of the scope `box` the secrets of these names that its own scope does not give it.
    /// What systemd encrypted is copied as it is.
    ///
    /// - Parameters:
    ///   - names: of the secrets that its settings refer to.
    ///   - recipient: the scope of the camera, `camera-ID`.
    /// - Throws: as `provide(scope:)`.
    public func provide(_ names: Set<String>, to recipient: String) throws(CredentialError) {
        var failure: CredentialError?
        do throws(CredentialError) {
            try provide(scope: recipient)
        } catch {
            switch error {
            case .damaged, .keyMissing, .notInMemory: failure = error
            default: throw error
            }
        }
        try locked { () throws(CredentialError) in
            // What could not be opened is not given, whatever is stored.
            let encrypted = try state.existing(Self.encryptedName)?.existing(recipient)?.names() ?? []
            let clear = try runtime.existing(Self.clearName)?.existing(recipient)?.names() ?? []
            try share(names.subtracting(encrypted).subtracting(clear), with: recipient)
        }
        if let failure { throw failure }
    }

    private func share(_ names: Set<String>, with recipient: String) throws(CredentialError) {
        let secrets = try runtime.making(Self.clearName)
        // Versions before gave every camera all of it.
        try? secrets.removeDirectory(Self.box)
        let copies = try secrets.making(Self.sealedShare(of: recipient))
        let clear = try secrets.making(Self.clearShare(of: recipient))
        let encrypted = try state.existing(Self.encryptedName)?.existing(Self.box)
        let present = Set(try encrypted?.names() ?? []).intersection(names)
        for name in try copies.names() where !present.contains(name) { try copies.remove(name) }
        for name in present.sorted() {
            guard let blob = try encrypted?.read(name, limit: Self.encryptedLimit) else { continue }
            try copies.write(name, blob)
        }
        let sealed = try state.existing(Self.sealedName)?.existing(Self.box)
        let needed = Set(try sealed?.names() ?? []).intersection(names).subtracting(present)
        try fill(clear, with: needed, Self.box, sealed)
    }

    /// A secret changed, or is gone: what units were given of it follows. systemd starts a unit again without asking
    /// anybody, and it must not begin with what was replaced. What is stored is stored, whatever becomes of this.
    private func follow(_ credential: CredentialName) {
        try? updateGiven(credential)
    }

    private func updateGiven(_ credential: CredentialName) throws(CredentialError) {
        guard let secrets = try runtime.existing(Self.clearName) else { return }
        let (scope, name) = (credential.scope, credential.name)
        if let clear = try secrets.existing(scope), try clear.names().contains(name) {
            let isEncrypted = try state.existing(Self.encryptedName)?.existing(scope)?.names().contains(name) ?? false
            let sealed = try state.existing(Self.sealedName)?.existing(scope)
            let isSealed = try sealed?.names().contains(name) ?? false
            try refill(clear, name, scope, isSealed && !isEncrypted ? sealed : nil)
        }
        guard scope == Self.box else { return }
        let prefix = Self.clearShare(of: "")
        for share in try secrets.names() where share.hasPrefix(prefix) {
            let recipient = String(share.dropFirst(prefix.count))
            let given = [Self.clearShare(of: recipient), Self.sealedShare(of: recipient)]
            var names: Set<String> = []
            for directory in given { names.formUnion(try secrets.existing(directory)?.names() ?? []) }
            if names.contains(name) { try self.share(names, with: recipient) }
        }
    }

    private func refill(
        _ clear: SecretDirectory, _ name: String, _ scope: String, _ sealed: SecretDirectory?
    ) throws(CredentialError) {
        guard let sealed, !requiresMemory || clear.isInMemory, var secret = try open(name, scope, sealed) else {
            try clear.remove(name)
            return
        }
        defer { wipe(&secret) }
        try clear.write(name, secret)
    }

    /// Opens the secrets of these names, and leaves no others.
    private func fill(
        _ clear: SecretDirectory, with needed: Set<String>, _ scope: String, _ sealed: SecretDirectory?
    ) throws(CredentialError) {
        for name in try clear.names() where !needed.contains(name) { try clear.remove(name) }
        guard let sealed, !needed.isEmpty else { return }
        guard !requiresMemory || clear.isInMemory else { throw .notInMemory(path: clear.path) }
        var failure: CredentialError?
        for name in needed.sorted() {
            do throws(CredentialError) {
                guard var secret = try open(name, scope, sealed) else { continue }
                defer { wipe(&secret) }
                try clear.write(name, secret)
            } catch {
                // A secret of before would be worse than none: the unit would go on with what was replaced.
                try clear.remove(name)
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }

    private static func sealedShare(of recipient: String) -> String { "sealed-\(box)-\(recipient)" }

    private static func clearShare(of recipient: String) -> String { "\(box)-\(recipient)" }

    /// Encrypts with systemd what this box sealed with its device key before, and removes the key: after an upgrade to
    /// systemd 256 or newer.
    ///
    /// One that cannot be opened keeps no other from moving; while there is one, the key stays.
    ///
    /// - Returns: how many secrets moved.
    /// - Throws: what was wrong with the first that did not move, after the others have; at once when systemd does not
    ///   encrypt or the disk takes nothing.
    @discardableResult
    public func adopt() async throws(CredentialError) -> Int {
        guard protection != .deviceKeyFile, let sealed = try state.existing(Self.sealedName) else { return 0 }
        var count = 0
        var failure: CredentialError?
        for scope in try sealed.names() {
            do throws(CredentialError) {
                for name in try sealed.existing(scope)?.names() ?? [] {
                    do throws(CredentialError) {
                        if try await adopt(name, scope, sealed) { count += 1 }
                    } catch {
                        if error.concernsAll { throw error }
                        failure = failure ?? error
                    }
                }
            } catch {
                if error.concernsAll { throw error }
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        // What is set aside may be needed again.
        guard try aside().isEmpty else { return count }
        try locked { () throws(CredentialError) in _ = try state.remove(DeviceKey.fileName) }
        return count
    }

    private func adopt(
        _ name: String, _ scope: String, _ sealed: SecretDirectory
    ) async throws(CredentialError) -> Bool {
        let credential = try CredentialName(name, scope: scope)
        let present = try state.existing(Self.encryptedName)?.existing(scope)?.names() ?? []
        // A power cut between storing and removing left both; the encrypted one is the newer.
        if present.contains(name) {
            try locked { () throws(CredentialError) in _ = try sealed.existing(scope)?.remove(name) }
            return false
        }
        guard let directory = try sealed.existing(scope), var secret = try open(name, scope, directory) else {
            return false
        }
        defer { wipe(&secret) }
        let blob = try await encrypt(secret, credential)
        try locked { () throws(CredentialError) in
            try storeEncrypted(blob, credential)
            follow(credential)
        }
        return true
    }

    private func encrypt(_ secret: [UInt8], _ name: CredentialName) async throws(CredentialError) -> [UInt8] {
        let blob: [UInt8]
        do { blob = try await encryption.encrypt(secret, name: name.credential) } catch { throw .encryption(error) }
        guard (1...Self.encryptedLimit).contains(blob.count) else {
            throw .encryption(.invalid("systemd answered with \(blob.count) bytes"))
        }
        return blob
    }

    /// The encrypted one first, so that a power cut leaves at least one of both.
    private func storeEncrypted(_ blob: [UInt8], _ name: CredentialName) throws(CredentialError) {
        try state.making(Self.encryptedName).making(name.scope).write(name.name, blob)
        try state.existing(Self.sealedName)?.existing(name.scope)?.remove(name.name)
        try runtime.existing(Self.clearName)?.existing(name.scope)?.remove(name.name)
    }

    private func open(
        _ name: String, _ scope: String, _ directory: SecretDirectory
    ) throws(CredentialError) -> [UInt8]? {
        guard let sealed = try directory.read(name, limit: DeviceKey.sealedLimit) else { return nil }
        return try DeviceKey(state: state).open(
            sealed, try CredentialName(name, scope: scope), path: "\(directory.path)/\(name)")
    }

    /// Nil also for one that is damaged, or whose key is gone.
    private func openIfPossible(
        _ name: String, _ scope: String, _ directory: SecretDirectory
    ) throws(CredentialError) -> [UInt8]? {
        do throws(CredentialError) {
            return try open(name, scope, directory)
        } catch {
            switch error {
            case .damaged, .keyMissing: return nil
            default: throw error
            }
        }
    }

    private func directories(of scope: String) throws(CredentialError) -> [SecretDirectory] {
        [
            try runtime.existing(Self.clearName)?.existing(scope),
            try state.existing(Self.encryptedName)?.existing(scope),
            try state.existing(Self.sealedName)?.existing(scope),
        ].compactMap(\.self)
    }

    private func locked<Value: Sendable>(
        _ body: () throws(CredentialError) -> Value
    ) throws(CredentialError) -> Value {
        try changing.withLock { (_) throws(CredentialError) in try body() }
    }
}
