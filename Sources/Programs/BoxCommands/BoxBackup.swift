import BoxConfiguration
import Console
import ControlAPI
import ControlClient
import CredentialStore
import Cryptography
import Glibc
import Settings

/// What a backup of a box holds: its objects, and their secrets in clear. Never shown, and on a disk only sealed.
///
/// What makes this board this board stays out: the key that seals its secrets, and its device key.
struct BoxBackup: Codable, Equatable {
    static let schema = "watchbox.box-backup/1"
    private static let fileName = "box.json"

    /// A program that does not know it refuses the backup.
    var schema = Self.schema
    /// Of the box, for people.
    var name: String
    /// Of the program that made it.
    var version: String
    /// Seconds since 1970, by the box's clock.
    var time: Int64
    /// As `config export` writes it.
    var configuration: String
    /// By `ObjectSecret.key`.
    var secrets: [String: String]
    /// The box had a device key, with which it signed what it registers at its KAS.
    var signs: Bool

    /// A secret or an object that is not in the backup.
    struct Missing: Codable, Equatable {
        /// `camera.front.password`, `camera.yard`
        var key: String
        var why: String
        /// It is there, and cannot be read.
        var isLost: Bool
    }

    // MARK: Making

    /// - Parameter client: of the control of this box.
    /// - Returns: the backup, and what is not in it.
    static func make(
        _ client: ControlClient, secrets stored: StoredSecrets, version: String, now: Int64
    ) async throws -> (backup: BoxBackup, missing: [Missing]) {
        let what = "nothing was backed up"
        let document = try await client.get(ConfigurationDocument.self, APIPath.configuration(), or: what)
        let device = try await client.get(DeviceKeyDocument.self, APIPath.device(), or: what)
        let settings = try settings(document.toml, what: what)
        let held = try await Self.heldSecrets(client, what: what)
        var secrets: [String: String] = [:]
        // A newer version may take it still, on this box alone.
        var missing = (document.quarantined ?? []).map { refused in
            Missing(key: refused.object, why: "it is quarantined: \(refused.reason)", isLost: true)
        }
        for named in settings.namedSecrets {
            let key = named.place.key
            do throws(CredentialError) {
                guard var bytes = try await stored.read(name: named.name, scope: named.scope) else {
                    if held.contains(key) {
                        missing.append(Missing(key: key, why: "the box has it, and it is not in --state", isLost: true))
                    } else if named.isNeeded {
                        missing.append(Missing(key: key, why: "none is stored", isLost: false))
                    }
                    continue
                }
                defer { Self.wipe(&bytes) }
                // The API takes nothing else.
                guard let text = String(validating: bytes, as: UTF8.self) else {
                    missing.append(Missing(key: key, why: "it is not text", isLost: true))
                    continue
                }
                secrets[key] = text
            } catch {
                // Where one may not be read, none may.
                if case .system(_, _, EACCES) = error { throw CommandFailure(error, what: what) }
                missing.append(Missing(key: key, why: "\(error.what): \(error.why)", isLost: true))
            }
        }
        let backup = BoxBackup(
            name: settings.name, version: version, time: now, configuration: document.toml, secrets: secrets,
            signs: device.publicKey != nil)
        return (backup, missing)
    }

    /// Keys of the secrets that a box says it has.
    static func heldSecrets(_ client: ControlClient, what: String) async throws -> Set<String> {
        var keys: Set<String> = []
        func add(_ place: ObjectSecret.Place, _ isStored: Bool) {
            if isStored { keys.insert(place.key) }
        }
        for relay in try await client.get(RelayListDocument.self, APIPath.relays(), or: what).relays {
            add(.relay(relay.name), relay.hasSecret)
        }
        for hook in try await client.get(HookListDocument.self, APIPath.hooks(), or: what).hooks {
            add(.hook(hook.name), hook.hasSecret)
            add(.hookToken(hook.name), hook.hasToken)
        }
        add(.keyAccessToken, try await client.get(KeyAccessDocument.self, APIPath.keyAccess(), or: what).hasToken)
        for camera in try await client.get(CameraListDocument.self, APIPath.cameras(), or: what).cameras {
            add(.camera(camera.id), camera.hasPassword)
        }
        return keys
    }

    func sealed(passphrase: String) throws -> [UInt8] {
        var bytes = JSONDocument.bytes(self)
        defer { Self.wipe(&bytes) }
        let archive = PassphraseArchive(files: [.init(name: Self.fileName, bytes: bytes)])
        return try archive.sealed(as: .box, passphrase: Array(passphrase.utf8))
    }

    private static func wipe(_ bytes: inout [UInt8]) {
        bytes.withUnsafeMutableBytes { buffer in
            if let start = buffer.baseAddress { explicit_bzero(start, buffer.count) }
        }
    }

    // MARK: Opening

    /// - Throws: `CommandFailure`.
    init(sealed bytes: [UInt8], passphrase: String, what: String) throws {
        let archive: PassphraseArchive
        do {
            archive = try PassphraseArchive(sealed: bytes, kind: .box, passphrase: Array(passphrase.utf8))
        } catch let fault as PassphraseArchive.Fault {
            throw CommandFailure(fault, what: what)
        } catch {
            throw CommandFailure(
                what: what, why: "\(error)", hint: "it takes up to 256 MiB of memory; run it where these are free")
        }
        self = try Self.content(archive, what: what)
    }

    private static func content(_ archive: PassphraseArchive, what: String) throws -> BoxBackup {
        struct Header: Decodable {
            var schema: String
        }
        guard let file = archive.files.first(where: { $0.name == fileName }),
            let header = try? JSONDocument.decode(Header.self, from: file.bytes)
        else { throw CommandFailure(PassphraseArchive.Fault.malformed("it holds no configuration"), what: what) }
        guard header.schema == schema else {
            throw CommandFailure(
                what: what, why: "the backup's content is \(header.schema), and this program reads \(schema)",
                hint: "use the version of WatchBox that made it, or a newer one")
        }
        do {
            return try JSONDocument.decode(BoxBackup.self, from: file.bytes)
        } catch {
            throw CommandFailure(PassphraseArchive.Fault.malformed(JSONDocument.reason(error)), what: what)
        }
    }

    private init(
        name: String, version: String, time: Int64, configuration: String, secrets: [String: String], signs: Bool
    ) {
        self.name = name
        self.version = version
        self.time = time
        self.configuration = configuration
        self.secrets = secrets
        self.signs = signs
    }

    // MARK: Read

    /// The objects of a configuration as `config export` writes it.
    static func settings(_ toml: String, what: String) throws(CommandFailure) -> BoxSettings {
        let (settings, issues) = ConfigurationReader.read(
            files: [SourceFile(name: "configuration", text: toml)], isPart: true)
        if let settings { return settings }
        let first = issues.first { !$0.isWarning }.map { "\($0.key) \($0.reason)" } ?? "it cannot be read"
        throw CommandFailure(
            what: what, why: "this version does not take the configuration: \(first)",
            hint: "use the version of WatchBox that made it, or a newer one", status: .invalidConfiguration)
    }

    /// What belongs to the box and is not in here, with what to do about it.
    func notes(_ settings: BoxSettings) -> [String] {
        var notes: [String] = []
        if settings.kasServer.enabled {
            notes.append(
                "The keys of its KAS have a backup of their own: watchboxctl kas backup, then kas restore"
                    + " (--state /var/lib/private/watchbox-kas).")
        }
        if settings.relayServer.enabled {
            notes.append("Its relay makes a publish key of its own anew, if it needs one: watchboxctl relay key.")
        }
        if signs {
            notes.append(
                "Its device key stays on its board. On another one: watchboxctl device make, and register that key at the"
                    + " KAS (kas device add); until then the KAS takes nothing from it.")
        }
        let files = settings.namedFiles
        if !files.isEmpty {
            notes.append(
                "The configuration names files, which are not in the backup: \(files.joined(separator: ", ")).")
        }
        return notes
    }
}

extension CommandFailure {
    init(_ error: CredentialError, what: String) {
        guard case .system(_, let path, EACCES) = error else {
            self.init(what: what, why: "\(error.what): \(error.why)", hint: error.hint)
            return
        }
        self.init(
            what: what, why: "the secrets in \(path) are for root and the box alone",
            hint: "sudo watchboxctl backup FILE", status: .notPermitted)
    }
}
