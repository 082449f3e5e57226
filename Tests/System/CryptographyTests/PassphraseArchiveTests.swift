import Testing
import Wire

@testable import Cryptography

struct PassphraseArchiveTests {
    private static let passphrase = Array("correct horse battery".utf8)
    private static let cheap = PassphraseArchive.Cost(logN: 10)
    private static let files = [
        PassphraseArchive.File(name: "keys.json", bytes: Array("{}".utf8)),
        PassphraseArchive.File(name: "e1.pem", bytes: [7]),
    ]

    private func open(
        _ bytes: [UInt8], _ kind: PassphraseArchive.Kind = .box, _ passphrase: [UInt8] = Self.passphrase
    ) throws -> [PassphraseArchive.File] {
        try PassphraseArchive(sealed: bytes, kind: kind, passphrase: passphrase).files
    }

    private func sealed(_ kind: PassphraseArchive.Kind = .box) throws -> [UInt8] {
        try PassphraseArchive(files: Self.files).sealed(as: kind, passphrase: Self.passphrase, cost: Self.cheap)
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

    /// Made with Python's hashlib.scrypt and the AES-GCM of its package cryptography.
    @Test func `a backup of a KAS that others made by the description opens`() throws {
        let bytes = try Hexadecimal.decode(
            "57424b415342414b010a0801000102030405060708090a0b0c0d0e0f202122232425262728292a2b54de525042c7492f2f3da765"
                + "2a71df9e581f7de6cf3f0d879492664647d14e00d933e57b5469b66495895cdc726698014e2974043635")
        #expect(
            try open(bytes, .keyAccessServer) == [
                .init(name: "keys.json", bytes: Array(#"{"a":1}"#.utf8)), .init(name: "e1.pem", bytes: [7, 8]),
            ])
    }

    @Test(arguments: [PassphraseArchive.Kind.keyAccessServer, .box])
    func `another passphrase, every truncation and every flipped byte is refused`(kind: PassphraseArchive.Kind) throws {
        let good = try sealed(kind)
        #expect(try open(good, kind) == Self.files)
        #expect(throws: PassphraseArchive.Fault.wrongPassphraseOrDamaged) {
            try open(good, kind, Array("correct horse batterx".utf8))
        }
        for count in 0..<good.count {
            #expect(throws: PassphraseArchive.Fault.self, "cut to \(count)") {
                try open(Array(good.prefix(count)), kind)
            }
        }
        for position in good.indices {
            for bit: UInt8 in [0x01, 0x80] {
                var bad = good
                bad[position] ^= bit
                #expect(throws: PassphraseArchive.Fault.self, "byte \(position)") { try open(bad, kind) }
            }
        }
        #expect(throws: PassphraseArchive.Fault.self) { try open(good + [0], kind) }
        // A file that wants a terabyte of memory.
        var costly = good
        costly[9] = 40
        #expect(throws: PassphraseArchive.Fault.unreasonableParameters) { try open(costly, kind) }
        // One that wants 2 GiB, each number within its bounds.
        (costly[9], costly[10]) = (20, 16)
        #expect(throws: PassphraseArchive.Fault.unreasonableParameters) { try open(costly, kind) }
        var newer = good
        newer[8] = 2
        #expect(throws: PassphraseArchive.Fault.unknownVersion(2)) { try open(newer, kind) }
    }

    @Test func `a backup of one kind is none of another, whatever is written at its front`() throws {
        let (box, server) = (try sealed(.box), try sealed(.keyAccessServer))
        #expect(throws: PassphraseArchive.Fault.otherKind(.box)) { try open(box, .keyAccessServer) }
        #expect(throws: PassphraseArchive.Fault.otherKind(.keyAccessServer)) { try open(server, .box) }
        #expect(throws: PassphraseArchive.Fault.wrongPassphraseOrDamaged) {
            try open(PassphraseArchive.Kind.box.magic + server.dropFirst(8), .box)
        }
        #expect(throws: PassphraseArchive.Fault.notABackup(of: .box)) { try open([UInt8](repeating: 7, count: 200)) }
    }

    @Test func `a passphrase that can be guessed seals nothing`() throws {
        #expect(throws: PassphraseArchive.Fault.passphraseTooShort(minimum: 10)) {
            try PassphraseArchive(files: Self.files).sealed(as: .box, passphrase: Array("123456789".utf8))
        }
    }

    @Test func `what is too long for a kind is not sealed, and not opened`() throws {
        let files = [PassphraseArchive.File(name: "a", bytes: [UInt8](repeating: 0, count: 8 << 20))]
        #expect(throws: PassphraseArchive.Fault.malformed("the files are too long")) {
            try PassphraseArchive(files: files).sealed(as: .box, passphrase: Self.passphrase, cost: Self.cheap)
        }
        let long = try sealed() + [UInt8](repeating: 0, count: 8 << 20)
        #expect(throws: PassphraseArchive.Fault.notABackup(of: .box)) { try open(long) }
    }

    @Test(arguments: ["", ".hidden", "../e1.pem", "a/b", "a\u{0}", String(repeating: "x", count: 129)])
    func `no file is written beside the directory`(name: String) {
        #expect(throws: PassphraseArchive.Fault.self) {
            try PassphraseArchive(files: [.init(name: name, bytes: [])]).sealed(
                as: .box, passphrase: Self.passphrase, cost: Self.cheap)
        }
    }
}
