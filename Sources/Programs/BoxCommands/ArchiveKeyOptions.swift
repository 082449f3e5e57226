import Archive
import ArgumentParser
import Console
import Cryptography
import Glibc
import KeyAccess
import KeyAccessClient
import NanoTDF
import Platform
import Settings
import TDF
import TDFCryptography
import Wire

/// Where the key of an archive comes from.
struct ArchiveKeyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "PEM file of the private RSA key that the archive was wrapped for, instead of asking a KAS.",
            valueName: "file"),
        completion: .file())
    var key: String?

    @OptionGroup var keyAccess: KeyAccessOptions

    func validate() throws {
        if key != nil, keyAccess.isNamed {
            throw ValidationError("--key opens the archive without a KAS: leave out either it or the KAS.")
        }
    }

    /// Whether somebody said where the key comes from.
    var isNamed: Bool { key != nil || keyAccess.isNamed }

    /// The archive with its key.
    ///
    /// - Parameter what: what does not happen without it.
    func open(_ archive: ArchiveReader, what: String) async throws(CommandFailure) -> OpenedArchive {
        try await source(what: what).open(archive, what: what)
    }

    /// The same for several archives: the key's file is read once.
    ///
    /// - Parameter what: what does not happen without it.
    func source(what: String) throws(CommandFailure) -> ArchiveKeySource {
        try ArchiveKeySource(key: key, keyAccess.configuration, what: what)
    }

    fileprivate static func privateKey(_ file: String, what: String) throws(CommandFailure) -> RSAPrivateKey {
        var bytes: [UInt8]
        do throws(SmallFile.Failure) { bytes = try SmallFile.whole(file, limit: 64 << 10) } catch {
            throw CommandFailure(
                what: what, why: "\(file): \(error)", hint: "check the file and its permissions", status: .usage)
        }
        defer { bytes.withUnsafeMutableBytes { if let start = $0.baseAddress { explicit_bzero(start, $0.count) } } }
        do throws(CryptoError) { return try RSAPrivateKey(pem: bytes) } catch {
            throw CommandFailure(
                what: what, why: "\(file): \(error)",
                hint: "name a PEM file of an RSA private key of 2048 to 4096 bits without a passphrase", status: .usage)
        }
    }
}

/// What a process has in its memory that nobody else is to have: keys of archives, and the film in them.
enum ClearFilm {
    /// To be called before the first of it is there.
    static func forbidCoreDumps() {
        guard !CoreDumps.forbid() else { return }
        StandardError.writeLine("Core dumps cannot be switched off: one would hold the key and the film.")
    }
}

/// What keys of archives come from.
enum ArchiveKeySource {
    /// A private key, and the file that it was in.
    case own(RSAPrivateKey, file: String)
    /// A KAS, and the URL that archives name it by.
    case service(KASRewrapClient, base: String)

    /// - Parameters:
    ///   - key: file of the private key; nil: the KAS is asked.
    ///   - what: what does not happen without it.
    init(key: String?, _ configuration: KASConfiguration, what: String) throws(CommandFailure) {
        ClearFilm.forbidCoreDumps()
        if let key {
            self = .own(try ArchiveKeyOptions.privateKey(key, what: what), file: key)
        } else {
            self = .service(KASRewrapClient(configuration: configuration), base: configuration.base)
        }
    }

    /// The archive with its key.
    ///
    /// - Parameters:
    ///   - what: what does not happen without it.
    ///   - refused: called before it ends without a key, which has nothing to do with what is in the archive.
    func open(
        _ archive: ArchiveReader, what: String, refused: () -> Void = {}
    ) async throws(CommandFailure) -> OpenedArchive {
        let encryption = archive.manifest.encryptionInformation
        let found: (key: CollectionKey, index: Int)
        do throws(CommandFailure) {
            found = try await self.found(encryption.keyAccess, what: what) { (own, object) in
                try? own.archiveKey(from: object)
            } rewrap: { (client, object) throws(KeyAccessError) in
                try await client.rewrap(archive: object, policy: encryption.policy)
            }
        } catch {
            refused()
            throw error
        }
        do throws(ArchiveError) { return try archive.opened(found.key, fromKeyAccess: found.index) } catch {
            throw CommandFailure(error, what: what)
        }
    }

    /// The same of one of profile F.
    ///
    /// - Parameter isUnauthenticatedAllowed: also one that anybody may have changed.
    func open(
        _ archive: CBCArchiveReader, isUnauthenticatedAllowed: Bool, what: String
    ) async throws(CommandFailure) -> OpenedCBCArchive {
        guard archive.isAuthenticated || isUnauthenticatedAllowed else {
            throw CommandFailure(.format(.payloadNotAuthenticated), what: what)
        }
        let encryption = archive.manifest.encryptionInformation
        let (key, index) = try await found(encryption.keyAccess, what: what) { (own, object) in
            try? own.contentKey(from: object)
        } rewrap: { (client, object) throws(KeyAccessError) in
            try await client.rewrapContentKey(archive: object, policy: encryption.policy)
        }
        do throws(ArchiveError) {
            return try archive.opened(
                key, fromKeyAccess: index, isUnauthenticatedAllowed: isUnauthenticatedAllowed)
        } catch {
            throw CommandFailure(error, what: what)
        }
    }

    /// The same of one of profile P.
    func open(_ archive: PlayableArchiveReader, what: String) async throws(CommandFailure) -> OpenedPlayableArchive {
        let key = try await contentKey(of: archive, what: what)
        do throws(ArchiveError) { return try archive.opened(key.content, fromKeyAccess: key.index) } catch {
            throw CommandFailure(error, what: what)
        }
    }

    /// The key of an archive of profile P, and the entry of `keyAccess` that it came from. Nothing is verified with it yet.
    func contentKey(
        of archive: PlayableArchiveReader, what: String
    ) async throws(CommandFailure) -> (content: ContentKey, index: Int) {
        let encryption = archive.manifest.encryptionInformation
        let (key, index) = try await found(encryption.keyAccess, what: what) { (own, object) in
            try? own.contentKey(from: object)
        } rewrap: { (client, object) throws(KeyAccessError) in
            try await client.rewrapContentKey(archive: object, policy: encryption.policy)
        }
        return (key, index)
    }

    /// Several entries are ways to one key: the one that the KAS which is asked can know.
    ///
    /// - Parameter objects: at least one.
    static func entry(for base: String, of objects: [KeyAccessObject]) -> Int {
        objects.firstIndex { $0.url == base } ?? objects.firstIndex { !$0.isForRecoveryKey } ?? 0
    }

    /// - Parameters:
    ///   - unwrap: with a private key; nil: it was not wrapped for that.
    ///   - rewrap: by a KAS.
    /// - Returns: the key, and the entry of `keyAccess` that it came from.
    private func found<Key>(
        _ objects: [KeyAccessObject], what: String, _ unwrap: (RSAPrivateKey, KeyAccessObject) -> Key?,
        rewrap: (KASRewrapClient, KeyAccessObject) async throws(KeyAccessError) -> Key
    ) async throws(CommandFailure) -> (key: Key, index: Int) {
        switch self {
        case .own(let own, let file):
            for (index, object) in objects.enumerated() {
                if let key = unwrap(own, object) { return (key, index) }
            }
            let kas = ShownText.line(objects.first { !$0.isForRecoveryKey }?.url ?? "none", bytes: 200, mark: "…")
            let recovery = objects.first { $0.isForRecoveryKey }?.kid
            let other = recovery.map { " or the recovery key \(ShownText.line($0, bytes: 200, mark: "…"))" } ?? ""
            throw CommandFailure(
                what: what, why: "the archive was not wrapped for the key in \(file)",
                hint: "name the key of the KAS that the archive names: \(kas)\(other), or ask it: --kas-token-file",
                status: .notPermitted)
        case .service(let client, let base):
            let index = Self.entry(for: base, of: objects)
            do throws(KeyAccessError) { return (try await rewrap(client, objects[index]), index) } catch {
                throw CommandFailure(error, what: what)
            }
        }
    }
}
