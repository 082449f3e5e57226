import Cryptography
import Foundation
import KeyAccess
import Testing
import Wire

@testable import KeyAccessServer

@Suite struct StateBackupTests {
    private static let passphrase = "correct horse battery"
    private static let cheap = StateArchive.Cost(logN: 10)
    private let client = TestClient()

    private func temporary(_ body: (String) throws -> Void) throws {
        let path = Rig.temporaryPath()
        defer { try? FileManager.default.removeItem(atPath: path) }
        try body(path)
    }

    @Test func `scrypt gives RFC 7914's third vector`() throws {
        let key = try Scrypt.derive(
            passphrase: Array("pleaseletmein".utf8), salt: Array("SodiumChloride".utf8), logN: 14, r: 8, p: 1,
            count: 64)
        #expect(Hexadecimal.encode(key).hasPrefix("7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2"))
        #expect(throws: CryptoError.invalidLength(21)) {
            try Scrypt.derive(passphrase: [1], salt: [1], logN: 21, r: 8, p: 1, count: 32)
        }
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
        #expect(throws: StateBackup.Fault.passphraseTooShort(minimum: 10)) {
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

    @Test func `another passphrase, every truncation and every flipped byte is refused`() throws {
        let files = [
            StateArchive.File(name: "keys.json", bytes: Array("{}".utf8)),
            StateArchive.File(name: "e1.pem", bytes: [7]),
        ]
        let good = try StateArchive(files: files).sealed(passphrase: Array("one".utf8), cost: Self.cheap)
        #expect(try StateArchive(sealed: good, passphrase: Array("one".utf8)).files == files)
        #expect(throws: StateArchive.Fault.wrongPassphraseOrDamaged) {
            try StateArchive(sealed: good, passphrase: Array("two".utf8))
        }
        for count in 0..<good.count {
            #expect(throws: StateArchive.Fault.self, "cut to \(count)") {
                try StateArchive(sealed: Array(good.prefix(count)), passphrase: Array("one".utf8))
            }
        }
        for position in good.indices {
            for bit: UInt8 in [0x01, 0x80] {
                var bad = good
                bad[position] ^= bit
                #expect(throws: StateArchive.Fault.self, "byte \(position)") {
                    try StateArchive(sealed: bad, passphrase: Array("one".utf8))
                }
            }
        }
        #expect(throws: StateArchive.Fault.self) {
            try StateArchive(sealed: good + [0], passphrase: Array("one".utf8))
        }
        // A file that wants a terabyte of memory.
        var costly = good
        costly[9] = 40
        #expect(throws: StateArchive.Fault.unreasonableParameters) {
            try StateArchive(sealed: costly, passphrase: Array("one".utf8))
        }
        var newer = good
        newer[8] = 2
        #expect(throws: StateArchive.Fault.unknownVersion(2)) {
            try StateArchive(sealed: newer, passphrase: Array("one".utf8))
        }
    }

    @Test(arguments: ["", ".hidden", "../e1.pem", "a/b", "a\u{0}", String(repeating: "x", count: 129)])
    func `no file is written beside the directory`(name: String) {
        #expect(throws: StateArchive.Fault.self) {
            try StateArchive(files: [.init(name: name, bytes: [])]).sealed(
                passphrase: Array("one".utf8), cost: Self.cheap)
        }
    }
}
