import Cryptography
import Foundation
import KeyAccess
import Testing

@testable import KeyAccessServer

@Suite struct StateBackupTests {
    private static let passphrase = "correct horse battery"
    private static let cheap = PassphraseArchive.Cost(logN: 10)
    private let client = TestClient()

    private func temporary(_ body: (String) throws -> Void) throws {
        let path = Rig.temporaryPath()
        defer { try? FileManager.default.removeItem(atPath: path) }
        try body(path)
    }

    @Test func `a KAS that was lost and restored still gives the key of an old header`() throws {
        let old = try Rig(ownKeys: true)
        let header = try old.sealedHeader(stream: "door")
        try old.register(header: header, stream: "door")
        let box = try old.accessToken([Scope.publish], subject: "box")
        try AccessRegister(store: old.store).grant(
            .init(holder: .init(issuer: KeyAccessServerConfiguration.localIssuer, subject: "eve"), stream: "yard"),
            now: old.time.seconds)
        try AccessRegister(store: old.store).revoke(
            subject: "mallory", issuer: KeyAccessServerConfiguration.localIssuer, now: old.time.seconds)
        func open(_ rig: Rig) throws -> [UInt8] {
            let answer = rig.post(
                Route.rewrap, try client.request(client.body([header]), now: rig.time.seconds),
                token: try rig.accessToken(streams: ["door"]))
            let response = try answer.json(RewrapResponse.self)
            let wrapped = try #require(response.responses.first?.results.first?.kasWrappedKey)
            return try client.unwrap(wrapped, session: response.sessionPublicKey)
        }
        let key = try open(old)
        // At full cost, once.
        let backup = try StateBackup.make(directory: old.path + "/state", passphrase: Self.passphrase)
        for secret in ["PRIVATE KEY", "mallory", "keys.json"] {
            #expect(Data(backup).range(of: Data(secret.utf8)) == nil)
        }
        #expect(
            try StateBackup.verify(backup, passphrase: Self.passphrase, now: old.time.seconds)
                == old.store.descriptions)

        let new = try Rig(restoring: backup, passphrase: Self.passphrase)
        #expect(new.store.descriptions == old.store.descriptions)
        #expect(try open(new) == key)
        let register = try AccessRegister(store: new.store)
        #expect(register.grants.grants.map(\.holder.subject) == ["eve"])
        #expect(register.revocations.entries.count == 1)
        #expect(try register.tokens(now: new.time.seconds).contains { $0.subject == "box" })
        #expect(new.post(Route.collections, [], token: box).status == 400)
    }

    @Test func `keys are never overwritten, and what is not a state is not backed up`() throws {
        let rig = try Rig()
        let state = rig.path + "/state"
        let backup = try StateBackup.make(directory: state, passphrase: Self.passphrase, cost: Self.cheap)
        let before = try Data(contentsOf: URL(filePath: state + "/keys.json"))
        #expect(throws: StateBackup.Fault.stateHasKeys(path: state)) {
            try StateBackup.restore(backup, passphrase: Self.passphrase, directory: state, now: 1)
        }
        #expect(try Data(contentsOf: URL(filePath: state + "/keys.json")) == before)
        try temporary { path in
            #expect(throws: StateBackup.Fault.noKeys(path: path)) {
                try StateBackup.make(directory: path, passphrase: Self.passphrase, cost: Self.cheap)
            }
            #expect(throws: StateDirectoryError.self) {
                try StateBackup.make(directory: path + "/missing", passphrase: Self.passphrase, cost: Self.cheap)
            }
            #expect(!FileManager.default.fileExists(atPath: path + "/missing"))
        }
        #expect(throws: PassphraseArchive.Fault.passphraseTooShort(minimum: 10)) {
            try StateBackup.make(directory: state, passphrase: "short", cost: Self.cheap)
        }
    }

    @Test func `a restore that was cut off can begin again`() throws {
        let rig = try Rig()
        let backup = try StateBackup.make(directory: rig.path + "/state", passphrase: Self.passphrase, cost: Self.cheap)
        try temporary { path in
            let directory = try StateDirectory(path: path)
            try directory.write("e1.pem", Array("half".utf8))
            let keys = try StateBackup.restore(backup, passphrase: Self.passphrase, directory: path, now: 1)
            #expect(keys == rig.store.descriptions)
        }
    }
}
