import Foundation
import Systemd
import Testing

@testable import CredentialStore

@Suite struct DeviceKeyTests {
    private let secret = Array("correct horse battery staple \u{1F6AA}".utf8) + [0, 10, 255]

    private func sealed(_ rig: SecretRig, _ scope: String, _ name: String) -> String {
        "\(rig.state)/sealed/\(scope)/\(name)"
    }

    private func clear(_ rig: SecretRig, _ scope: String, _ name: String) -> String {
        "\(rig.runtime)/secret/\(scope)/\(name)"
    }

    @Test func `a secret is sealed, survives the process, and is provided in clear in memory`() async throws {
        let rig = try SecretRig()
        try await rig.store().set(secret, name: "password", scope: "camera-front")
        let store = try rig.store()
        #expect(store.protection == .deviceKeyFile)
        #expect(try store.names(scope: "camera-front") == ["password"])
        #expect(!rig.exists(clear(rig, "camera-front", "password")))
        try store.provide(scope: "camera-front")
        #expect(try rig.bytes(clear(rig, "camera-front", "password")) == secret)
    }

    @Test func `the longest secret, and every byte`() async throws {
        let rig = try SecretRig()
        let store = try rig.store()
        let long = (0..<4096).map { UInt8(truncatingIfNeeded: $0) }
        try await store.set(long, name: "long", scope: "box")
        try await store.set([0], name: "short", scope: "box")
        try store.provide(scope: "box")
        #expect(try rig.bytes(clear(rig, "box", "long")) == long)
        #expect(try rig.bytes(clear(rig, "box", "short")) == [0])
        for wrong in [[], long + [0]] {
            await #expect(throws: CredentialError.self) { try await store.set(wrong, name: "long", scope: "box") }
        }
        try store.provide(scope: "box")
        #expect(try rig.bytes(clear(rig, "box", "long")) == long)
    }

    @Test func `of the box's secrets a camera gets those that it needs, and keeps none of before`() async throws {
        let rig = try SecretRig()
        let store = try rig.store()
        for name in ["relay-main", "relay-other", "kas-token"] { try await store.set(secret, name: name, scope: "box") }
        let given = rig.runtime + "/secret/box-camera-front"
        func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: given).sorted() }
        try store.provide(["relay-main", "kas-token", "unknown"], to: "camera-front")
        #expect(try names() == ["kas-token", "relay-main"])
        #expect(try rig.bytes("\(given)/relay-main") == secret)
        try await store.set([7], name: "relay-other", scope: "box")
        try store.provide(["relay-other"], to: "camera-front")
        #expect(try names() == ["relay-other"])
        #expect(try rig.bytes("\(given)/relay-other") == [7])
        // What changes or goes follows, for a unit that systemd starts again.
        try await store.set([8], name: "relay-other", scope: "box")
        #expect(try rig.bytes("\(given)/relay-other") == [8])
        try store.remove(name: "relay-other", scope: "box")
        #expect(try names() == [])
        try await store.set([7], name: "relay-other", scope: "box")
        // Its own comes before the box's, unless it cannot be opened.
        try await store.set([9], name: "kas-token", scope: "camera-front")
        try store.provide(["kas-token"], to: "camera-front")
        #expect(try names() == [] && rig.bytes(clear(rig, "camera-front", "kas-token")) == [9])
        try await store.set([10], name: "kas-token", scope: "camera-front")
        #expect(try rig.bytes(clear(rig, "camera-front", "kas-token")) == [10])
        let own = sealed(rig, "camera-front", "kas-token")
        var bytes = try rig.bytes(own)
        bytes[bytes.count - 1] ^= 1
        try Data(bytes).write(to: URL(fileURLWithPath: own))
        #expect(throws: CredentialError.damaged(path: own)) { try store.provide(["kas-token"], to: "camera-front") }
        #expect(try names() == ["kas-token"])
        try store.remove(name: "kas-token", scope: "camera-front")
        // Both of its directories are there though they are empty: a unit whose directory is missing does not start.
        try store.provide([], to: "camera-front")
        #expect(try names() == [])
        #expect(rig.exists(rig.runtime + "/secret/sealed-box-camera-front"))
        try store.removeScope("camera-front")
        #expect(!rig.exists(given) && !rig.exists(rig.runtime + "/secret/sealed-box-camera-front"))
        #expect(try store.names(scope: "box").count == 3)
        #expect(!rig.exists(rig.runtime + "/secret/box"))
    }

    @Test func `only the owner can do anything with any file or directory`() async throws {
        let rig = try SecretRig()
        let store = try rig.store()
        for name in ["password", "token"] { try await store.set(secret, name: name, scope: "camera-front") }
        try store.provide(scope: "camera-front")
        try store.provide(scope: "box")
        let paths = rig.everything()
        #expect(paths.count == 13)
        for path in paths {
            var isDirectory: ObjCBool = false
            #expect(FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory))
            #expect(try rig.mode(path) == (isDirectory.boolValue ? 0o700 : 0o600), "\(path)")
        }
        #expect(try rig.bytes(rig.state + "/device.key").count == 32)
    }

    @Test func `no file of the state directory holds the secret`() async throws {
        let rig = try SecretRig()
        let store = try rig.store()
        let planted = "PLANTED-hunter2-PLANTED"
        try await store.set(Array(planted.utf8), name: "password", scope: "camera-front")
        try await store.set(Array(planted.utf8), name: "kas-token", scope: "box")
        try store.provide(scope: "camera-front")
        try store.provide(scope: "box")
        #expect(rig.leaks(of: planted) == [])
        // The search can find: a copy of what is in memory is found in all its forms.
        for text in [planted, Data("x\(planted)".utf8).base64EncodedString()] {
            try rig.write(Array(text.utf8), rig.state + "/leak")
            #expect(rig.leaks(of: planted) == [rig.state + "/leak"])
        }
    }

    @Test func `the same secret never looks the same`() async throws {
        let rig = try SecretRig()
        let store = try rig.store()
        var seen: Set<[UInt8]> = []
        for _ in 0..<20 {
            try await store.set(secret, name: "password", scope: "box")
            seen.insert(try rig.bytes(sealed(rig, "box", "password")))
        }
        #expect(seen.count == 20)
        #expect(Set(seen.map { Array($0[1..<13]) }).count == 20)
    }

    @Test func `every changed byte is found`() async throws {
        let rig = try SecretRig()
        let store = try rig.store()
        try await store.set(Array("hunter2".utf8), name: "password", scope: "box")
        let path = sealed(rig, "box", "password")
        let good = try rig.bytes(path)
        #expect(good.count == 1 + 12 + 7 + 16 && good[0] == 1)
        for index in good.indices {
            var bad = good
            bad[index] ^= 1
            try rig.write(bad, path)
            #expect(throws: CredentialError.damaged(path: path)) { try store.provide(scope: "box") }
        }
        for count in 0..<good.count {
            try rig.write(Array(good[..<count]), path)
            #expect(throws: CredentialError.damaged(path: path)) { try store.provide(scope: "box") }
        }
        for long in [good + [0], good + [UInt8](repeating: 0, count: 100_000)] {
            try rig.write(long, path)
            #expect(throws: CredentialError.damaged(path: path)) { try store.provide(scope: "box") }
        }
        try rig.write(good, path)
        try store.provide(scope: "box")
        #expect(try rig.bytes(clear(rig, "box", "password")) == Array("hunter2".utf8))
    }

    @Test func `a sealed file that was moved to another name does not open, and the others do`() async throws {
        let rig = try SecretRig()
        let store = try rig.store()
        for (scope, name) in [("box", "a"), ("box", "b"), ("box", "z"), ("camera-x", "a")] {
            try await store.set(Array("\(scope) \(name)".utf8), name: name, scope: scope)
        }
        try store.provide(scope: "box")
        let (one, other) = (try rig.bytes(sealed(rig, "box", "a")), try rig.bytes(sealed(rig, "box", "b")))
        try rig.write(other, sealed(rig, "box", "a"))
        try rig.write(one, sealed(rig, "box", "b"))
        try rig.write(one, sealed(rig, "camera-x", "a"))
        let error = CredentialError.damaged(path: sealed(rig, "box", "a"))
        #expect(throws: error) { try store.provide(scope: "box") }
        #expect("\(error)".contains("enter the secret again"))
        // What was provided before is gone: nothing goes on with a secret that was replaced.
        #expect(!rig.exists(clear(rig, "box", "a")) && !rig.exists(clear(rig, "box", "b")))
        #expect(try rig.bytes(clear(rig, "box", "z")) == Array("box z".utf8))
        #expect(throws: CredentialError.damaged(path: sealed(rig, "camera-x", "a"))) {
            try store.provide(scope: "camera-x")
        }
    }

    @Test func `another box's key does not open it`() async throws {
        let (rig, other) = (try SecretRig(), try SecretRig())
        try await rig.store().set(secret, name: "password", scope: "box")
        try await other.store().set(secret, name: "password", scope: "box")
        try rig.write(try other.bytes(other.state + "/device.key"), rig.state + "/device.key")
        #expect(throws: CredentialError.damaged(path: sealed(rig, "box", "password"))) {
            try rig.store().provide(scope: "box")
        }
    }

    @Test func `a lost or cut key is said, and entering the secret again heals`() async throws {
        for damage in [[UInt8]?.none, [], [1, 2, 3], [UInt8](repeating: 0, count: 31)] {
            let rig = try SecretRig()
            let store = try rig.store()
            try await store.set(secret, name: "password", scope: "box")
            try await store.set(secret, name: "other", scope: "box")
            let key = rig.state + "/device.key"
            try FileManager.default.removeItem(atPath: key)
            if let damage { try rig.write(damage, key) }
            let expected = damage == nil ? CredentialError.keyMissing(path: key) : .damaged(path: key)
            #expect(throws: expected) { try store.provide(scope: "box") }
            try await store.set(Array("new".utf8), name: "password", scope: "box")
            #expect(throws: CredentialError.damaged(path: sealed(rig, "box", "other"))) {
                try store.provide(scope: "box")
            }
            #expect(try rig.bytes(clear(rig, "box", "password")) == Array("new".utf8))
            try await store.set(Array("new".utf8), name: "other", scope: "box")
            try store.provide(scope: "box")
        }
    }

    @Test func `links are refused, and never written through`() async throws {
        let rig = try SecretRig()
        let store = try rig.store()
        try await store.set(secret, name: "password", scope: "box")
        let outside = rig.root + "/outside"
        try FileManager.default.createDirectory(atPath: outside, withIntermediateDirectories: false)
        try rig.write([1], outside + "/victim")
        func link(_ path: String, _ target: String) throws {
            try? FileManager.default.removeItem(atPath: path)
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
        }
        func expectUnsafe(_ path: String, _ body: () async throws -> Void) async {
            do {
                try await body()
                Issue.record("\(path) was used")
            } catch {
                guard case .unsafeFile(path, _)? = error as? CredentialError else {
                    Issue.record("\(error)")
                    return
                }
            }
        }
        // A sealed file that is a link is not read; a new secret replaces the link itself.
        try link(sealed(rig, "box", "password"), outside + "/victim")
        await expectUnsafe(sealed(rig, "box", "password")) { try store.provide(scope: "box") }
        try await store.set(secret, name: "password", scope: "box")
        #expect(try rig.bytes(outside + "/victim") == [1])
        // What is provided replaces a link, too.
        try link(clear(rig, "box", "password"), outside + "/victim")
        try store.provide(scope: "box")
        #expect(try rig.bytes(outside + "/victim") == [1])
        #expect(try rig.bytes(clear(rig, "box", "password")) == secret)
        // A temporary file in the way.
        try link(rig.state + "/sealed/box/.password.new", outside + "/victim")
        try await store.set(secret, name: "password", scope: "box")
        #expect(try rig.bytes(outside + "/victim") == [1])
        // A scope that is a link to elsewhere.
        try link(rig.state + "/sealed/camera-x", outside)
        await expectUnsafe(rig.state + "/sealed/camera-x") {
            try await store.set(secret, name: "password", scope: "camera-x")
        }
        try link(rig.runtime + "/secret/box", outside)
        await expectUnsafe(rig.runtime + "/secret/box") { try store.provide(scope: "box") }
        #expect(try FileManager.default.contentsOfDirectory(atPath: outside) == ["victim"])
        // The key.
        let key = try rig.bytes(rig.state + "/device.key")
        try rig.write(key, outside + "/key")
        try link(rig.state + "/device.key", outside + "/key")
        await expectUnsafe(rig.state + "/device.key") { try await store.set(secret, name: "b", scope: "box") }
    }

    @Test(arguments: ["device.key", "sealed", "sealed/box", "sealed/box/password"])
    func `what others may read is not used`(name: String) async throws {
        let rig = try SecretRig()
        let store = try rig.store()
        try await store.set(secret, name: "password", scope: "box")
        let path = "\(rig.state)/\(name)"
        let mode = try rig.mode(path)
        for wide in [0o040, 0o004, 0o020] {
            try FileManager.default.setAttributes([.posixPermissions: mode | wide], ofItemAtPath: path)
            #expect(throws: CredentialError.unsafeFile(path: path, why: "others have access to it")) {
                try store.provide(scope: "box")
            }
        }
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        try store.provide(scope: "box")
    }

    @Test(arguments: ["sealed", "credstore"])
    func `one refused scope keeps no other from its secrets`(kind: String) async throws {
        let rig = try SecretRig()
        let before = try rig.store()
        try await before.set(secret, name: "password", scope: "box")
        let scope = "\(rig.state)/\(kind)/camera-x"
        // As a backup that was restored by hand leaves it.
        try? FileManager.default.createDirectory(atPath: scope, withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: scope)
        let after = try rig.store()
        if kind == "sealed" {
            try after.provide(scope: "box")
            #expect(try rig.bytes(clear(rig, "box", "password")) == secret)
            #expect(throws: CredentialError.unsafeFile(path: scope, why: "others have access to it")) {
                try after.provide(scope: "camera-x")
            }
        } else {
            // Made with systemd, whatever is in it: a weaker protection is not taken up silently.
            #expect(after.protection != .deviceKeyFile)
        }
    }

    @Test func `a state directory that others may write into is not used`() throws {
        let rig = try SecretRig()
        try FileManager.default.createDirectory(
            atPath: rig.state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o770])
        #expect(throws: CredentialError.unsafeFile(path: rig.state, why: "others may write into it")) {
            try rig.store()
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: rig.state)
        _ = try rig.store()
    }

    @Test func `what a power cut left half written is swept, and the secret before it stays`() async throws {
        let rig = try SecretRig()
        try await rig.store().set(secret, name: "password", scope: "box")
        let torn = ["device.key", "sealed/box/password", "sealed/box/other"].map { path in
            let parts = path.split(separator: "/")
            return rig.state + "/" + (parts.dropLast() + [".\(parts.last ?? "").new"]).joined(separator: "/")
        }
        for path in torn { try rig.write([1, 2, 3], path) }
        let store = try rig.store()
        for path in torn { #expect(!rig.exists(path)) }
        #expect(try store.names(scope: "box") == ["password"])
        try store.provide(scope: "box")
        #expect(try rig.bytes(clear(rig, "box", "password")) == secret)
    }

    @Test func `writers at the same time leave whole secrets, and one key`() async throws {
        let rig = try SecretRig()
        let stores = [try rig.store(), try rig.store()]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<24 {
                group.addTask {
                    try await stores[0].set(
                        [UInt8](repeating: UInt8(number), count: 100), name: "n\(number % 3)", scope: "box")
                }
            }
            try await group.waitForAll()
        }
        try stores[1].provide(scope: "box")
        for name in ["n0", "n1", "n2"] {
            let bytes = try rig.bytes(clear(rig, "box", name))
            #expect(bytes.count == 100 && Set(bytes).count == 1)
        }
    }

    @Test func `removing`() async throws {
        let rig = try SecretRig()
        let store = try rig.store()
        for name in ["a", "b"] { try await store.set(secret, name: name, scope: "camera-front") }
        try store.provide(scope: "camera-front")
        #expect(try store.remove(name: "a", scope: "camera-front"))
        #expect(try !store.remove(name: "a", scope: "camera-front"))
        #expect(try store.names(scope: "camera-front") == ["b"])
        #expect(!rig.exists(clear(rig, "camera-front", "a")))
        try store.removeScope("camera-front")
        try store.removeScope("camera-front")
        #expect(try store.names(scope: "camera-front") == [])
        #expect(!rig.everything().contains { $0.contains("camera-front") })
    }

    @Test func `a scope is given another one's secrets, which stay where they are`() async throws {
        let rig = try SecretRig()
        let store = try rig.store()
        for (name, byte) in [("password", UInt8(1)), ("kas-token", 2), ("signing-x", 3)] {
            try await store.set([byte], name: name, scope: "camera-front")
        }
        try await store.set([9], name: "kas-token", scope: "camera-yard")
        let left = try store.copyScope("camera-front", to: "camera-yard") { $0 != "signing-x" }
        #expect(left == [])
        #expect(try store.reveal(name: "password", scope: "camera-yard") == [1])
        // What is there already is newer.
        #expect(try store.reveal(name: "kas-token", scope: "camera-yard") == [9])
        #expect(try store.names(scope: "camera-yard") == ["kas-token", "password"])
        #expect(try store.names(scope: "camera-front") == ["kas-token", "password", "signing-x"])
        #expect(try store.reveal(name: "password", scope: "camera-front") == [1])
        // Sealed for its new place: as a plain copy it would not open.
        let (from, to) = (sealed(rig, "camera-front", "password"), sealed(rig, "camera-yard", "password"))
        #expect(try rig.bytes(from) != rig.bytes(to))
        try store.removeScope("camera-front")
        try store.provide(scope: "camera-yard")
        #expect(try rig.bytes(clear(rig, "camera-yard", "password")) == [1])
    }

    @Test func `what is set aside is not a unit's, and comes back as it was`() async throws {
        let rig = try SecretRig()
        let store = try rig.store()
        let (first, second) = (
            CredentialStore.Aside(scope: "camera-front", owner: "0a-1"),
            CredentialStore.Aside(scope: "camera-front", owner: "0b-2")
        )
        for (name, byte) in [("password", UInt8(1)), ("kas-token", 2)] {
            try await store.set([byte], name: name, scope: "camera-front")
        }
        try store.provide(scope: "camera-front")
        try store.setAside(first)
        #expect(try store.names(scope: "camera-front") == [] && store.aside() == [first])
        #expect(!rig.exists(clear(rig, "camera-front", "password")))
        // Another camera has the ID now, and its secrets are its own.
        try await store.set([3], name: "password", scope: "camera-front")
        #expect(try store.bringBack(second) == [])
        try store.setAside(second)
        #expect(try store.aside() == [first, second])
        try await store.set([4], name: "kas-token", scope: "camera-front")
        // What is there by now is newer. Again it does the same: a kill may come in between.
        #expect(try store.bringBack(first) == ["password"])
        #expect(try store.bringBack(first) == [])
        #expect(try store.reveal(name: "password", scope: "camera-front") == [1])
        #expect(try store.reveal(name: "kas-token", scope: "camera-front") == [4])
        try store.removeAside()
        #expect(try store.aside() == [] && store.bringBack(second) == [])
        #expect(try store.names(scope: "camera-front") == ["kas-token", "password"])
        for bad in [("../x", "0a"), ("camera-front", "../x"), ("camera-front", "")] {
            let aside = CredentialStore.Aside(scope: bad.0, owner: bad.1)
            #expect(throws: CredentialError.self) { try store.setAside(aside) }
            #expect(throws: CredentialError.self) { try store.bringBack(aside) }
        }
    }

    @Test func `what cannot be opened is not given, and named`() async throws {
        let rig = try SecretRig()
        let store = try rig.store()
        for name in ["password", "kas-token"] { try await store.set(secret, name: name, scope: "camera-front") }
        let damaged = sealed(rig, "camera-front", "password")
        var bytes = try rig.bytes(damaged)
        bytes[bytes.count - 1] ^= 1
        try Data(bytes).write(to: URL(fileURLWithPath: damaged))
        #expect(!store.canOpen(name: "password", scope: "camera-front"))
        #expect(store.canOpen(name: "kas-token", scope: "camera-front"))
        #expect(!store.canOpen(name: "other", scope: "camera-front"))
        #expect(try store.copyScope("camera-front", to: "camera-yard") { _ in true } == ["password"])
        #expect(try store.names(scope: "camera-yard") == ["kas-token"])
        #expect(throws: CredentialError.self) { _ = try store.copyScope("camera-front", to: "../x") { _ in true } }
        #expect(throws: CredentialError.self) { _ = try store.copyScope("../x", to: "camera-yard") { _ in true } }
        #expect(try store.copyScope("camera-none", to: "camera-yard") { _ in true } == [])
    }

    @Test func `the directories that units load exist, even empty`() throws {
        let rig = try SecretRig()
        try rig.store().provide(scope: "camera-front")
        #expect(rig.exists(rig.state + "/credstore/camera-front"))
        #expect(rig.exists(rig.runtime + "/secret/camera-front"))
    }

    @Test func `a runtime directory on a disk gets no secret`() async throws {
        let rig = try SecretRig()
        let run = rig.root + "/run-on-disk"
        let store = try CredentialStore(
            stateDirectory: rig.state, runtimeDirectory: run,
            encryption: CredentialEncryption(socketPath: rig.root + "/none"))
        try store.provide(scope: "box")
        try await store.set(secret, name: "password", scope: "box")
        guard !MountTable.isMemory(path: rig.root) else { return try store.provide(scope: "box") }
        #expect(throws: CredentialError.notInMemory(path: run + "/secret/box")) { try store.provide(scope: "box") }
        #expect(try FileManager.default.contentsOfDirectory(atPath: run + "/secret/box") == [])
    }

    @Test(arguments: [
        "", "-", "a-", "-a", "a--b", "A", "a_b", "a.b", ".", "..", "../x", "a/b", "a\0", "ä", ".a.new",
        String(repeating: "a", count: 65),
    ]) func `names and scopes are names`(text: String) async throws {
        let rig = try SecretRig()
        let store = try rig.store()
        await #expect(throws: CredentialError.self) { try await store.set([1], name: text, scope: "box") }
        await #expect(throws: CredentialError.self) { try await store.set([1], name: "a", scope: text) }
        #expect(throws: CredentialError.self) { try store.provide(scope: text) }
        #expect(throws: CredentialError.self) { try store.removeScope(text) }
        #expect(throws: CredentialError.self) { try store.names(scope: text) }
        #expect(throws: CredentialError.self) { try store.remove(name: text, scope: "box") }
        #expect(!rig.exists(rig.state + "/device.key"))
    }
}

extension MountTable {
    static func isMemory(path: String) -> Bool { (try? SecretDirectory.root(path).isInMemory) ?? false }
}
