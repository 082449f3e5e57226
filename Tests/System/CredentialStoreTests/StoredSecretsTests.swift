import Foundation
import Systemd
import Testing

@testable import CredentialStore

/// What root reads for a backup.
@Suite struct StoredSecretsTests {
    private let secret = Array("PLANTED-hunter2-PLANTED".utf8)

    private func stored(_ rig: SecretRig, socket: String? = nil) throws -> StoredSecrets {
        try StoredSecrets(
            stateDirectory: rig.state, encryption: CredentialEncryption(socketPath: socket ?? rig.root + "/no-socket"))
    }

    @Test func `what the device key sealed is opened, and nothing is changed`() async throws {
        let rig = try SecretRig()
        let store = try rig.store()
        try await store.set(secret, name: "password", scope: "camera-front")
        let before = rig.everything()
        let stored = try stored(rig)
        #expect(try await stored.read(name: "password", scope: "camera-front") == secret)
        #expect(try await stored.read(name: "other", scope: "camera-front") == nil)
        #expect(try await stored.read(name: "password", scope: "camera-back") == nil)
        #expect(rig.everything() == before)
    }

    @Test func `nothing is made where nothing is`() async throws {
        let rig = try SecretRig()
        #expect(throws: CredentialError.system(call: "open", path: rig.state, code: ENOENT)) { try stored(rig) }
        try FileManager.default.createDirectory(atPath: rig.state, withIntermediateDirectories: false)
        #expect(try await stored(rig).read(name: "password", scope: "box") == nil)
        #expect(rig.everything().filter { $0.hasPrefix(rig.state) } == [])
    }

    @Test func `what systemd encrypted is opened by systemd, and is the newer of two`() async throws {
        let rig = try SecretRig()
        let systemd = try StandInCredentials(directory: rig.root)
        defer { systemd.stop() }
        try await rig.store().set([1], name: "kas-token", scope: "box")
        let older = try rig.bytes(rig.state + "/sealed/box/kas-token")
        try await rig.store(socket: systemd.path).set(secret, name: "kas-token", scope: "box")
        // As a power cut between both steps leaves it.
        try rig.write(older, rig.state + "/sealed/box/kas-token")
        let path = rig.state + "/credstore/box/kas-token"
        #expect(try await stored(rig, socket: systemd.path).read(name: "kas-token", scope: "box") == secret)
        // Under another name it does not open, and without systemd nothing does.
        try FileManager.default.copyItem(atPath: path, toPath: rig.state + "/credstore/box/relay-main")
        let moved = await #expect(throws: CredentialError.self) {
            try await stored(rig, socket: systemd.path).read(name: "relay-main", scope: "box")
        }
        guard case .decryption(rig.state + "/credstore/box/relay-main", .invalid(let why)) = moved else {
            Issue.record("\(String(describing: moved))")
            return
        }
        #expect(why.contains("NameMismatch"))
        let alone = await #expect(throws: CredentialError.self) {
            try await stored(rig).read(name: "kas-token", scope: "box")
        }
        guard case .decryption(path, .unavailable) = alone else {
            Issue.record("\(String(describing: alone))")
            return
        }
    }

    @Test func `one that does not open is said, with its file`() async throws {
        let rig = try SecretRig()
        try await rig.store().set(secret, name: "password", scope: "box")
        let path = rig.state + "/sealed/box/password"
        var bytes = try rig.bytes(path)
        bytes[20] ^= 1
        try rig.write(bytes, path)
        await #expect(throws: CredentialError.damaged(path: path)) {
            try await stored(rig).read(name: "password", scope: "box")
        }
        try FileManager.default.removeItem(atPath: rig.state + "/device.key")
        await #expect(throws: CredentialError.keyMissing(path: rig.state + "/device.key")) {
            try await stored(rig).read(name: "password", scope: "box")
        }
        #expect(!rig.exists(rig.state + "/device.key"))
    }

    @Test func `no link is followed, and nothing that others may read is used`() async throws {
        let rig = try SecretRig()
        try await rig.store().set(secret, name: "password", scope: "box")
        let path = rig.state + "/sealed/box/password"
        let files = FileManager.default
        try files.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        await #expect(throws: CredentialError.unsafeFile(path: path, why: "others have access to it")) {
            try await stored(rig).read(name: "password", scope: "box")
        }
        try files.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        try files.moveItem(atPath: path, toPath: rig.root + "/elsewhere")
        try files.createSymbolicLink(atPath: path, withDestinationPath: rig.root + "/elsewhere")
        await #expect(throws: CredentialError.unsafeFile(path: path, why: "it is a symbolic link")) {
            try await stored(rig).read(name: "password", scope: "box")
        }
    }

    /// As on a box, where control is a user of its own.
    @Test(.enabled(if: geteuid() == 0, "needs root"))
    func `root reads what another user has, and nothing that is not that user's`() async throws {
        let rig = try SecretRig()
        try await rig.store().set(secret, name: "password", scope: "box")
        try await rig.store().set(secret, name: "other", scope: "box")
        for path in [rig.state] + rig.everything() where path.hasPrefix(rig.state) { chown(path, 12345, 12345) }
        #expect(try await stored(rig).read(name: "password", scope: "box") == secret)
        let path = rig.state + "/sealed/box/password"
        for user: uid_t in [0, 54321] {
            chown(path, user, 12345)
            await #expect(throws: CredentialError.unsafeFile(path: path, why: "it belongs to another user")) {
                try await stored(rig).read(name: "password", scope: "box")
            }
        }
        #expect(try await stored(rig).read(name: "other", scope: "box") == secret)
        // Control itself takes no other user's directory.
        #expect(throws: CredentialError.unsafeFile(path: rig.state, why: "it belongs to another user")) {
            _ = try rig.store()
        }
    }
}
