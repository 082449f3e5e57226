import Testing
import Wire

@testable import BoxConfiguration

/// Keys that ssh-keygen (OpenSSH 9.2) made.
struct SSHPublicKeyTests {
    static let ed25519 = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFnSZFcK3+GelpA+vB73nIzIrkJ6AGPpbRYa/Swj4WLg"
    private static let ecdsa =
        "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBNQkbrLmvvtXpv2TEOvjuGzNBWSOqtRHBZub/tPmRFDFP9gENbPVax7ja8Nqy/VGDXAYmTQS1flgwaceAtnbDWk="
    private static let p384 =
        "ecdsa-sha2-nistp384 AAAAE2VjZHNhLXNoYTItbmlzdHAzODQAAAAIbmlzdHAzODQAAABhBADDdP4TfF98gQImQtSUcCzZDzRzlP/4jmaF3D/EEuShdqpAF+YGPPw/J9FSeXFrJC8AYHoc+EMNPs5rnQVN3qm9DI3eWiMhms96NP6YJOcZSqdHMGvgvdK+7iNg4jErpg=="
    private static let rsa2048 =
        "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQCsCSwzdixTObkDks1YeNviyt/Tv3AUqyjlgLLmJfy2RDOfI4MdBz6H7Aq16z4HMGoZngSGuzBM9En5JrThBLvUR4M9OEawtv0yKEu8XeXm7xG3KK4ANNr9+/S5X0yXSfmKkfPsG7xcfbMLAlbXPEj2U8AvFqaMgoIMeVUB7ZQfhTD2fBY9Tsdw5H2yKvuFNtR+D5jsQ/ANpDbnsMnE2CSHuzTsck6SMYoDlT1o4MEOmbUFH+jeDfVmar8rKrnEPYi8v15fv6Fzjko0Z0amfg6ft82aqQ3lgekB/urKZyhGq1vlFO6as4qdbAur6QJavbiNtr5xo4KtGFdTiNVnamyV"
    private static let rsa1024 =
        "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQC838DnYK1/A663Aqv3FLk95qn54D3iTVIX+2CQzP6kROsmF0bqvHTWd9myNtnVlx6j52FGm6p2s9B7HjU2dhb/j+eE0CwwSeJqC+6Wl4LrGvmXPp74KeWldptzv1c/7Sf0K+6kST1oH52xErHEJgwSRk8eNh4LcIlBCnl5Ybrn4w=="

    @Test(arguments: [ed25519, ecdsa, rsa2048])
    func `a key is taken as it is, with or without a comment`(line: String) throws {
        #expect(try SSHPublicKey(line).line == line)
        #expect(try SSHPublicKey("\(line)  me@laptop, at home ").line == "\(line) me@laptop, at home")
        #expect(try SSHPublicKey("\(line) me@laptop").comment == "me@laptop")
    }

    @Test func `a security key is taken`() throws {
        func field(_ bytes: [UInt8]) -> [UInt8] { [0, 0, 0, UInt8(bytes.count)] + bytes }
        let type = "sk-ssh-ed25519@openssh.com"
        let blob = field(Array(type.utf8)) + field([UInt8](repeating: 7, count: 32)) + field(Array("ssh:".utf8))
        #expect(try SSHPublicKey("\(type) \(Base64.encode(blob))").type == type)
        #expect(throws: Finding.self) { _ = try SSHPublicKey("\(type) \(Base64.encode(blob.dropLast(8)))") }
        #expect(throws: Finding.self) { _ = try SSHPublicKey("\(type) \(Base64.encode(blob + [0]))") }
    }

    private static let refused: [(line: String, reason: String)] = [
        ("", "does not begin with a kind of key that a box takes"),
        (p384, "does not begin with a kind of key that a box takes"),
        ("ssh-dss AAAA", "does not begin with a kind of key that a box takes"),
        ("command=\"id\" \(ed25519)", "does not begin with a kind of key that a box takes"),
        ("restrict,pty \(ed25519)", "does not begin with a kind of key that a box takes"),
        (ed25519 + "\n" + ed25519, "is not one line of text"),
        (ed25519 + " me\n", "is not one line of text"),
        (ed25519 + " \u{1B}[2J", "is not one line of text"),
        ("ssh-ed25519", "is cut off, or was changed while it was copied"),
        (String(ed25519.dropLast(4)), "is cut off, or was changed while it was copied"),
        (ed25519.replacing("IFnS", with: "IF?S"), "is cut off, or was changed while it was copied"),
        (ed25519.replacing("ssh-ed25519 ", with: "ssh-rsa "), "says two kinds of key: one before it, another in it"),
        (rsa1024, "is an RSA key that is too weak, or none"),
        ("-----BEGIN OPENSSH PRIVATE KEY----- b3BlbnNzaC1rZXk", "is a private key, which must not leave your computer"),
        (ed25519 + " " + String(repeating: "x", count: 5000), "is longer than 4096 bytes"),
    ]

    @Test(arguments: refused)
    func `anything else is refused without being quoted`(line: String, reason: String) {
        let error = #expect(throws: Finding.self) { _ = try SSHPublicKey(line) }
        #expect(error?.reason == reason)
        #expect(error?.hint.contains("b3Blbn") == false)
    }

    @Test func `every prefix of a key is refused and none is a trap`() {
        for line in [Self.ed25519, Self.ecdsa, Self.rsa2048] {
            // The padding at its end may be missing.
            for count in 0..<line.count(where: { $0 != "=" }) {
                #expect(throws: Finding.self) { _ = try SSHPublicKey(String(line.prefix(count))) }
            }
        }
    }
}
