import Foundation
import Platform
import Systemd
import Testing

@testable import CredentialStore

@Suite struct SystemdCredentialTests {
    private let secret = Array("PLANTED-hunter2-PLANTED".utf8)

    private func with(
        _ body: (SecretRig, StandInCredentials) async throws -> Void
    ) async throws {
        let rig = try SecretRig()
        let systemd = try StandInCredentials(directory: rig.root)
        defer { systemd.stop() }
        try await body(rig, systemd)
    }

    @Test func `systemd encrypts, under the name that the unit will load`() async throws {
        try await with { rig, systemd in
            let store = try rig.store(socket: systemd.path)
            #expect(store.protection == .systemdHostKey)
            try await store.set(secret, name: "password", scope: "camera-front")
            #expect(systemd.calls == [.init(name: "camera-front_password", secret: secret, scope: "system")])
            let path = rig.state + "/credstore/camera-front/password"
            #expect(try rig.bytes(path) == StandInCredentials.blob("camera-front_password", secret))
            #expect(try rig.mode(path) == 0o600 && rig.mode(rig.state + "/credstore/camera-front") == 0o700)
            #expect(!rig.exists(rig.state + "/device.key"))
            #expect(try store.names(scope: "camera-front") == ["password"])
            try store.provide(scope: "camera-front")
            // Only PID 1 opens it.
            #expect(try FileManager.default.contentsOfDirectory(atPath: rig.runtime + "/secret/camera-front") == [])
            #expect(rig.leaks(of: String(decoding: secret, as: UTF8.self)) == [])
            #expect(try store.remove(name: "password", scope: "camera-front"))
            #expect(!rig.exists(path))
        }
    }

    @Test func `what systemd encrypted for the box is passed to a camera as it is`() async throws {
        try await with { rig, systemd in
            let store = try rig.store(socket: systemd.path)
            for name in ["relay-main", "relay-other"] { try await store.set(secret, name: name, scope: "box") }
            let given = rig.runtime + "/secret/sealed-box-camera-front"
            try store.provide(["relay-main"], to: "camera-front")
            #expect(try FileManager.default.contentsOfDirectory(atPath: given) == ["relay-main"])
            #expect(try rig.bytes("\(given)/relay-main") == rig.bytes(rig.state + "/credstore/box/relay-main"))
            // A unit that systemd starts again gets what there is then.
            try await store.set([7], name: "relay-main", scope: "box")
            #expect(try rig.bytes("\(given)/relay-main") == StandInCredentials.blob("box_relay-main", [7]))
            #expect(try FileManager.default.contentsOfDirectory(atPath: rig.runtime + "/secret/box-camera-front") == [])
            try store.provide([], to: "camera-front")
            #expect(try FileManager.default.contentsOfDirectory(atPath: given) == [])
        }
    }

    @Test func `what is set aside keeps the device key, and the box with systemd`() async throws {
        try await with { rig, systemd in
            try await rig.store().set([1], name: "password", scope: "camera-front")
            let aside = CredentialStore.Aside(scope: "camera-front", owner: "0a-1")
            try rig.store().setAside(aside)
            let store = try rig.store(socket: systemd.path)
            try await store.adopt()
            #expect(rig.exists(rig.state + "/device.key"))
            try store.bringBack(aside)
            #expect(try store.reveal(name: "password", scope: "camera-front") == [1])
            try store.removeAside()
            #expect(try await store.adopt() == 1)
            #expect(!rig.exists(rig.state + "/device.key"))
            // With nothing else that systemd encrypted.
            try store.setAside(aside)
            #expect(try rig.store().protection == .systemdHostKey)
            try store.bringBack(aside)
            #expect(
                try rig.bytes(rig.state + "/credstore/camera-front/password")
                    == StandInCredentials.blob("camera-front_password", [1]))
        }
    }

    @Test func `what systemd encrypted for one scope is not given to another`() async throws {
        try await with { rig, systemd in
            try await rig.store().set([1], name: "older", scope: "camera-front")
            let store = try rig.store(socket: systemd.path)
            try await store.set(secret, name: "password", scope: "camera-front")
            #expect(!store.canOpen(name: "password", scope: "camera-front"))
            #expect(try store.copyScope("camera-front", to: "camera-yard") { _ in true } == ["password"])
            // What the device key sealed before the upgrade goes along.
            #expect(try store.names(scope: "camera-yard") == ["older"])
            #expect(!rig.exists(rig.state + "/credstore/camera-yard/password"))
            #expect(try store.names(scope: "camera-front") == ["older", "password"])
        }
    }

    @Test func `a TPM is said`() async throws {
        try await with { rig, systemd in
            let store = try rig.store(socket: systemd.path, tpm: "/proc/self")
            #expect(store.protection == .systemdTPM)
        }
    }

    @Test func `a refusal is passed on, and what was stored stays`() async throws {
        try await with { rig, systemd in
            let store = try rig.store(socket: systemd.path)
            try await store.set(secret, name: "password", scope: "box")
            let before = try rig.bytes(rig.state + "/credstore/box/password")
            systemd.refuse(with: "org.varlink.service.PermissionDenied")
            let error = try await #require(throws: CredentialError.self) {
                try await store.set(Array("new".utf8), name: "password", scope: "box")
            }
            guard case .encryption(.denied) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(!"\(error)".contains("new"))
            #expect(try rig.bytes(rig.state + "/credstore/box/password") == before)
        }
    }

    @Test func `a box that used systemd does not fall back when its socket is late`() async throws {
        try await with { rig, systemd in
            try await rig.store(socket: systemd.path).set(secret, name: "password", scope: "box")
            let late = try rig.store()
            #expect(late.protection == .systemdHostKey)
            #expect(try late.names(scope: "box") == ["password"])
            try late.provide(scope: "box")
            let error = try await #require(throws: CredentialError.self) {
                try await late.set(secret, name: "other", scope: "box")
            }
            guard case .encryption = error else {
                Issue.record("\(error)")
                return
            }
            #expect(!rig.exists(rig.state + "/device.key"))
        }
    }

    @Test func `after an upgrade of systemd the sealed secrets move, and the key goes`() async throws {
        try await with { rig, systemd in
            let old = try rig.store()
            try await old.set(secret, name: "password", scope: "camera-front")
            try await old.set(Array("token".utf8), name: "kas-token", scope: "box")
            try old.provide(scope: "camera-front")
            let store = try rig.store(socket: systemd.path)
            // Until then the units get them as before.
            try store.provide(scope: "box")
            #expect(try rig.bytes(rig.runtime + "/secret/box/kas-token") == Array("token".utf8))
            #expect(try store.names(scope: "camera-front") == ["password"])
            #expect(try await store.adopt() == 2)
            #expect(
                systemd.calls == [
                    .init(name: "box_kas-token", secret: Array("token".utf8), scope: "system"),
                    .init(name: "camera-front_password", secret: secret, scope: "system"),
                ])
            #expect(!rig.exists(rig.state + "/device.key"))
            #expect(!rig.exists(rig.runtime + "/secret/camera-front/password"))
            #expect(rig.exists(rig.state + "/credstore/camera-front/password"))
            #expect(!rig.exists(rig.state + "/sealed/camera-front/password"))
            try store.provide(scope: "camera-front")
            #expect(try await store.adopt() == 0)
        }
    }

    @Test func `a move that is refused loses nothing`() async throws {
        try await with { rig, systemd in
            try await rig.store().set(secret, name: "password", scope: "box")
            let store = try rig.store(socket: systemd.path)
            systemd.refuse(with: "io.systemd.System")
            await #expect(throws: CredentialError.self) { try await store.adopt() }
            try store.provide(scope: "box")
            #expect(try rig.bytes(rig.runtime + "/secret/box/password") == secret)
            systemd.refuse(with: nil)
            #expect(try await store.adopt() == 1)
        }
    }

    @Test func `a secret that cannot be opened keeps no other from moving, and the key stays`() async throws {
        try await with { rig, systemd in
            let old = try rig.store()
            for scope in ["box", "camera-a", "camera-b"] { try await old.set(secret, name: "password", scope: scope) }
            try rig.write([1, 2, 3], rig.state + "/sealed/box/password")
            try rig.write([1], rig.state + "/sealed/camera-a/No.Name")
            let store = try rig.store(socket: systemd.path)
            await #expect(throws: CredentialError.damaged(path: rig.state + "/sealed/box/password")) {
                try await store.adopt()
            }
            #expect(systemd.calls.map(\.name) == ["camera-a_password", "camera-b_password"])
            for scope in ["camera-a", "camera-b"] {
                #expect(!rig.exists(rig.state + "/sealed/\(scope)/password"))
                #expect(rig.exists(rig.state + "/credstore/\(scope)/password"))
            }
            #expect(rig.exists(rig.state + "/device.key"))
            // Entered again, it is as good as new.
            try await store.set(secret, name: "password", scope: "box")
            try FileManager.default.removeItem(atPath: rig.state + "/sealed/camera-a/No.Name")
            #expect(try await store.adopt() == 0)
            #expect(!rig.exists(rig.state + "/device.key"))
        }
    }

    @Test func `a newer secret wins over the sealed one of before`() async throws {
        try await with { rig, systemd in
            let old = try rig.store()
            try await old.set(secret, name: "password", scope: "box")
            try old.provide(scope: "box")
            let copy = try rig.bytes(rig.state + "/sealed/box/password")
            let store = try rig.store(socket: systemd.path)
            try await store.set(Array("new".utf8), name: "password", scope: "box")
            #expect(!rig.exists(rig.runtime + "/secret/box/password"))
            // As a power cut between both steps leaves it.
            try rig.write(copy, rig.state + "/sealed/box/password")
            try store.provide(scope: "box")
            #expect(!rig.exists(rig.runtime + "/secret/box/password"))
            #expect(try await store.adopt() == 0)
            #expect(systemd.calls.count == 1)
            #expect(!rig.exists(rig.state + "/sealed/box/password"))
        }
    }
}

@Suite struct CredentialErrorTests {
    @Test(arguments: [
        CredentialError.invalid(field: "secret", why: "w"), .unsafeFile(path: "/p", why: "w"), .damaged(path: "/p"),
        .keyMissing(path: "/p"), .notInMemory(path: "/p"), .encryption(.denied("encrypting")),
        .decryption(path: "/p", .denied("decrypting")), .full(path: "/p"),
        .readOnly(path: "/p"), .system(call: "open", path: "/p", code: 13),
    ]) func `every error says what, why and what next`(error: CredentialError) {
        #expect(!error.what.isEmpty && !error.why.isEmpty && !error.hint.isEmpty)
        #expect("\(error)" == "\(error.what): \(error.why).\nNext: \(error.hint)")
    }

    @Test(arguments: [
        ("36 35 0:49 / /run rw,nosuid shared:5 - tmpfs tmpfs rw,size=1k\n", true),
        ("36 35 0:49 / /run rw - ramfs none rw", true), ("36 35 0:49 / /x rw,a - ext4 tmpfs rw", false),
        ("36 35 0:48 / /run rw - tmpfs tmpfs rw\n37 35 0:49 / / rw - ext4 /dev/x rw", false), ("", false),
        ("36 35 0:49", false), ("36 35 0:49 / /run rw -", false), ("36 35 10:49 / /run rw - tmpfs x rw", false),
    ]) func `what is in memory is read from the mount table`(table: String, isMemory: Bool) {
        #expect(MountTable.isMemory(device: 49, mounts: Mount.all(text: table)) == isMemory)
    }
}
