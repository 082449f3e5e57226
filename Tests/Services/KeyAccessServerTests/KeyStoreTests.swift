import Cryptography
import Foundation
import KeyAccess
import Testing

@testable import KeyAccessServer

private func mode(_ path: String) throws -> Int {
    try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
}

private func setMode(_ path: String, _ mode: Int) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
}

@Suite struct KeyStoreTests {
    /// A path for a state directory, gone after `body`.
    private func temporary(_ body: (String) throws -> Void) throws {
        let path = Rig.temporaryPath()
        defer { try? FileManager.default.removeItem(atPath: path) }
        try body(path + "/state")
    }

    @Test func `the first start makes three keys that only the owner can read`() throws {
        try temporary { path in
            let store = try KeyStore(directory: path, now: 5)
            #expect(Set(store.descriptions.map(\.kid)) == ["e1", "r1", "i1"])
            #expect(store.descriptions.allSatisfy { $0.createdAt == 5 && $0.retiredAt == nil })
            #expect(try mode(path) == 0o700)
            let files = try FileManager.default.contentsOfDirectory(atPath: path)
            #expect(Set(files) == ["e1.pem", "r1.pem", "i1.pem", "keys.json"])
            for file in files { #expect(try mode("\(path)/\(file)") == 0o600) }
            let again = try KeyStore(directory: path, now: 6)
            #expect(again.descriptions == store.descriptions)
            #expect(try again.publicKeyPEM(.p256) == store.publicKeyPEM(.p256))
            #expect(try again.publicKeyPEM(.rsa2048) == store.publicKeyPEM(.rsa2048))
        }
    }

    @Test(arguments: [0o604, 0o640, 0o660, 0o622, 0o601])
    func `a key file that others can touch is refused with a message`(wide: Int) throws {
        try temporary { path in
            _ = try KeyStore(directory: path, now: 5)
            try setMode(path + "/e1.pem", wide)
            let error = try #require(throws: StateDirectoryError.self) { try KeyStore(directory: path, now: 5) }
            #expect(
                error == .permissionsTooWide(path: path + "/e1.pem", mode: UInt32(wide), expected: 0o600))
            #expect("\(error)".contains("chmod 0600 \(path)/e1.pem"))
            try setMode(path + "/e1.pem", 0o600)
            _ = try KeyStore(directory: path, now: 5)
        }
    }

    @Test(arguments: [0o750, 0o701, 0o755])
    func `a directory that others can enter is refused`(wide: Int) throws {
        try temporary { path in
            _ = try KeyStore(directory: path, now: 5)
            try setMode(path, wide)
            #expect(throws: StateDirectoryError.permissionsTooWide(path: path, mode: UInt32(wide), expected: 0o700)) {
                try KeyStore(directory: path, now: 5)
            }
            try setMode(path, 0o700)
        }
    }

    @Test func `links are not followed`() throws {
        try temporary { path in
            _ = try KeyStore(directory: path, now: 5)
            try FileManager.default.moveItem(atPath: path + "/e1.pem", toPath: path + "/moved.pem")
            try FileManager.default.createSymbolicLink(atPath: path + "/e1.pem", withDestinationPath: "moved.pem")
            #expect(throws: StateDirectoryError.wrongKind(path: path + "/e1.pem")) {
                try KeyStore(directory: path, now: 5)
            }
            try FileManager.default.createSymbolicLink(atPath: path + "-link", withDestinationPath: path)
            #expect(throws: StateDirectoryError.wrongKind(path: path + "-link")) {
                try KeyStore(directory: path + "-link", now: 5)
            }
        }
    }

    @Test func `damage is named, and nothing is overwritten`() throws {
        try temporary { path in
            _ = try KeyStore(directory: path, now: 5)
            let index = try Data(contentsOf: URL(filePath: path + "/keys.json"))
            try Data("garbage".utf8).write(to: URL(filePath: path + "/e1.pem"))
            try setMode(path + "/e1.pem", 0o600)
            #expect(throws: StateDirectoryError.damaged(path: path + "/e1.pem", what: "it holds no key of its kind")) {
                try KeyStore(directory: path, now: 5)
            }
            try FileManager.default.removeItem(atPath: path + "/e1.pem")
            #expect(throws: StateDirectoryError.damaged(path: path + "/e1.pem", what: "the file is missing")) {
                try KeyStore(directory: path, now: 5)
            }
            #expect(try Data(contentsOf: URL(filePath: path + "/keys.json")) == index)
            try Data("{}".utf8).write(to: URL(filePath: path + "/keys.json"))
            try setMode(path + "/keys.json", 0o600)
            #expect(throws: StateDirectoryError.self) { try KeyStore(directory: path, now: 5) }
        }
    }

    @Test func `a rollover puts a new key first and drops the old one after the overlap`() throws {
        try temporary { path in
            let store = try KeyStore(
                directory: path, overlapSeconds: 100, destructionDelay: .zero, now: 0)
            let old = try store.publicKeyPEM(.p256)
            #expect(try store.rollOver(.p256, now: 10).kid == "e2")
            #expect(store.ring.p256.map(\.kid) == ["e2", "e1"])
            #expect(try store.publicKeyPEM(.p256) != old)
            try store.rollOver(.p256, now: 20)
            #expect(store.ring.p256.map(\.kid) == ["e3", "e2", "e1"])
            #expect(
                try KeyStore(directory: path, overlapSeconds: 100, now: 110).ring.p256.map(\.kid) == ["e3", "e2", "e1"])
            #expect(try KeyStore(directory: path, overlapSeconds: 100, now: 111).ring.p256.map(\.kid) == ["e3", "e2"])
            try store.refresh(now: 111, uptime: 0)
            #expect(store.ring.p256.map(\.kid) == ["e3", "e2"])
            #expect(!FileManager.default.fileExists(atPath: path + "/e1.pem"))
            try store.refresh(now: 500, uptime: 0)
            #expect(store.ring.p256.map(\.kid) == ["e3"])
            #expect(store.ring.rsa.map(\.kid) == ["r1"])
        }
    }

    @Test func `a clock that jumps ahead for a while destroys no key`() throws {
        try temporary { path in
            let day: Int64 = 86_400
            let hour: UInt64 = 3_600_000_000_000
            let store = try KeyStore(directory: path, overlapSeconds: 7 * day, now: 0)
            try store.rollOver(.p256, now: 0)
            var uptime: UInt64 = 5
            try store.refresh(now: 3650 * day, uptime: uptime)
            #expect(store.ring.p256.map(\.kid) == ["e2"])
            uptime += hour - 1
            try store.refresh(now: 3650 * day, uptime: uptime)
            // Put right: the key is back.
            try store.refresh(now: 3600, uptime: uptime)
            #expect(store.ring.p256.map(\.kid) == ["e2", "e1"])
            // Over in earnest: an hour later it is destroyed, and not before.
            uptime += 100 * hour
            try store.refresh(now: 8 * day, uptime: uptime)
            try store.refresh(now: 8 * day, uptime: uptime + hour - 1)
            #expect(FileManager.default.fileExists(atPath: path + "/e1.pem"))
            try store.refresh(now: 8 * day, uptime: uptime + hour)
            #expect(!FileManager.default.fileExists(atPath: path + "/e1.pem"))
            #expect(store.descriptions.first { $0.kid == "e1" }?.state == .destroyed)
        }
    }

    @Test func `a clock that stands in the past at the start replaces and destroys nothing`() throws {
        try temporary { path in
            let (day, now): (Int64, Int64) = (86_400, 1_800_000_000)
            let hour: UInt64 = 3_600_000_000_000
            _ = try KeyStore(directory: path, overlapSeconds: 7 * day, epochSeconds: day, now: now)
            let store = try KeyStore(directory: path, overlapSeconds: 7 * day, epochSeconds: day, now: 5)
            #expect(try store.refresh(now: 5, uptime: 1).isEmpty)
            #expect(try store.refresh(now: 605, uptime: hour / 6).isEmpty)
            #expect(try store.refresh(now: now + 60, uptime: hour / 5).isEmpty)
            #expect(store.ring.p256.map(\.kid) == ["e1"])
            // One that stays in the past gets a key after all; what it replaces is not old when the clock is put right.
            #expect(try store.refresh(now: 5, uptime: hour).isEmpty)
            #expect(try store.refresh(now: 5 + 7 * day, uptime: 169 * hour).count == 1)
            try store.refresh(now: now + 60, uptime: 169 * hour + 1)
            #expect(store.ring.p256.map(\.kid).last == "e1")
        }
    }

    @Test func `what was replaced at a time that never came is destroyed all the same`() throws {
        try temporary { path in
            let day: Int64 = 86_400
            let dayOfUptime: UInt64 = 86_400_000_000_000
            let store = try KeyStore(directory: path, overlapSeconds: 7 * day, epochSeconds: 3 * day, now: 0)
            // For a minute the clock shows the year 2089.
            #expect(try store.refresh(now: 43_500 * day, uptime: 0).count == 1)
            #expect(try store.refresh(now: 60, uptime: 0).isEmpty)
            #expect(try store.refresh(now: 7 * day + 60, uptime: 7 * dayOfUptime).count == 1)
            #expect(store.ring.p256.map(\.kid) == ["e3", "e2", "e1"])
            // The first as of the day that was noticed, the second a week later.
            for today in UInt64(8)...24 {
                try store.refresh(now: Int64(today) * day, uptime: today * dayOfUptime)
                #expect(store.descriptions.contains { $0.kid == "e1" && $0.state == .destroyed } == (today > 15))
            }
            #expect(store.descriptions.filter { $0.state == .destroyed }.map(\.kid).sorted().prefix(2) == ["e1", "e2"])
        }
    }

    @Test func `a tool with a shorter overlap deletes nothing that the service needs`() throws {
        try temporary { path in
            let day: Int64 = 86_400
            let service = try KeyStore(
                directory: path, overlapSeconds: 100 * day, destructionDelay: .zero, now: 0)
            try service.rollOver(.p256, now: 0)
            let tool = try KeyStore(directory: path, now: 31 * day)
            #expect(tool.descriptions.map(\.kid).contains("e1"))
            try tool.rollOver(.issuer, now: 31 * day)
            try service.refresh(now: 31 * day, uptime: 0)
            #expect(service.ring.p256.map(\.kid) == ["e2", "e1"])
            #expect(FileManager.default.fileExists(atPath: path + "/e1.pem"))
            try service.refresh(now: 100 * day + 1, uptime: 0)
            #expect(service.ring.p256.map(\.kid) == ["e2"])
            #expect(!FileManager.default.fileExists(atPath: path + "/e1.pem"))
            #expect(service.descriptions.first { $0.kid == "e1" }?.state == .destroyed)
        }
    }

    @Test func `a running service sees the rollover of another process`() throws {
        try temporary { path in
            let running = try KeyStore(directory: path, now: 0)
            try KeyStore(directory: path, now: 1).rollOver(.issuer, now: 1)
            #expect(running.ring.issuer.map(\.kid) == ["i1"])
            try running.refresh(now: 1, uptime: 0)
            #expect(running.ring.issuer.map(\.kid) == ["i2", "i1"])
        }
    }

    @Test func `a key from elsewhere is taken over under its name`() throws {
        try temporary { path in
            let store = try KeyStore(directory: path, now: 0)
            let key = try ECPrivateKey.generate(.p256)
            let pem = try key.privateKeyPEM()
            #expect(try store.importKey(pem: pem, purpose: .p256, kid: "old-kas", now: 1).kid == "old-kas")
            #expect(try store.publicKeyPEM(.p256) == key.publicKey.spkiPEM())
            #expect(try store.rollOver(.p256, now: 2).kid == "e2")
            for kid in ["", "../x", "a/b", "old-kas", String(repeating: "k", count: 33)] {
                #expect(throws: KeyAccessServerError.self) {
                    try store.importKey(pem: pem, purpose: .p256, kid: kid, now: 3)
                }
            }
            let p384 = try ECPrivateKey.generate(.p384).privateKeyPEM()
            #expect(throws: (any Error).self) { try store.importKey(pem: p384, purpose: .p256, kid: nil, now: 3) }
            #expect(throws: (any Error).self) { try store.importKey(pem: pem, purpose: .rsa2048, kid: nil, now: 3) }
        }
    }

    @Test func `kids stay short and none comes back while it is listed`() throws {
        try temporary { path in
            let store = try KeyStore(directory: path, overlapSeconds: 3, now: 0)
            var kids: [String] = []
            for now in 1...12 { kids.append(try store.rollOver(.p256, now: Int64(now)).kid) }
            #expect(kids.prefix(8) == ["e2", "e3", "e4", "e5", "e6", "e7", "e8", "e9"])
            #expect(kids.suffix(4) == ["e0000010", "e0000011", "e0000012", "e0000013"])
        }
    }

    @Test func `a minted token's form and limits`() throws {
        let rig = try Rig()
        let issuer = TokenIssuer(store: rig.store)
        var grant = TokenIssuer.Grant(
            subject: "box", scopes: [Scope.publish, Scope.rewrap], streams: ["front"], lifetime: 60)
        let token = try JSONWebToken(compact: issuer.mint(grant, now: 1000), limit: 4096)
        let claims = try JSONDecoder().decode(AccessClaims.self, from: Data(token.claims))
        #expect(claims.issuer == KeyAccessServerConfiguration.localIssuer)
        #expect(claims.audience == [KeyAccessServerConfiguration.defaultAudience])
        #expect(claims.expiresAt?.seconds == 1060)
        #expect(claims.scopes == ["kas.publish", "kas.rewrap"])
        #expect(claims.streams == ["front"])
        #expect(claims.tokenID?.count == 32)
        #expect(rig.store.ring.issuer.map(\.kid) == ["i1"])
        for lifetime in [0, -1, TokenIssuer.maxLifetime + 1, Int64.max] {
            grant.lifetime = lifetime
            #expect(throws: KeyAccessServerError.self) { try issuer.mint(grant, now: 1000) }
        }
        grant.lifetime = 1
        grant.subject = ""
        #expect(throws: KeyAccessServerError.self) { try issuer.mint(grant, now: 1000) }
    }

    /// L4. Whether a system allows it is its own affair; those that the project is tested on do.
    @Test func `keys in memory are locked there`() throws {
        let rig = try Rig()
        #expect(rig.store.isMemoryLocked)
        // The private numbers of an RSA key alone are 896 bytes.
        #expect(KeyMemory.bytesInUse > 896)
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let locked = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmLck:") })
        #expect(Int(locked.filter(\.isNumber)) ?? 0 >= 1024)
        _ = rig
    }
}
