import Cryptography
import Foundation
import Testing

/// The same operations with the `openssl` command: keys and signatures must mean the same outside this process.
@Suite(.enabled(if: OpenSSLCommand.isInstalled, "the command `openssl` is not installed (Debian package openssl)"))
struct OpenSSLCommandTests {
    @Test(arguments: ECCurve.allCases)
    func `its keys agree with ours`(curve: ECCurve) throws {
        let command = try OpenSSLCommand()
        let ours = try ECPrivateKey.generate(curve)
        let theirs = try ECPrivateKey(
            pem: try command.run(["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:\(curve.rawValue)"]))
        try command.write("their.pem", Array(try theirs.privateKeyPEM().utf8))
        try command.write("our.pub", Array(try ours.publicKey.spkiPEM().utf8))
        try command.run(["pkeyutl", "-derive", "-inkey", "their.pem", "-peerkey", "our.pub", "-out", "secret"])
        #expect(try command.read("secret") == ours.sharedSecret(with: theirs.publicKey))
    }

    @Test func `it verifies our ES256 and RS256`() throws {
        let command = try OpenSSLCommand()
        let message = Array("signed".utf8)
        try command.write("message", message)
        let rsa = try RSAPrivateKey.generate(bits: 2048)
        try command.write("rsa.pub", Array(try rsa.publicKey.spkiPEM().utf8))
        try command.write("rsa.sig", try rsa.signRS256(message))
        #expect(
            try command.run(["dgst", "-sha256", "-verify", "rsa.pub", "-signature", "rsa.sig", "message"])
                .contains("Verified OK"))
        let ec = try ECPrivateKey.generate(.p256)
        try command.write("ec.pem", Array(try ec.privateKeyPEM().utf8))
        try command.run(["dgst", "-sha256", "-sign", "ec.pem", "-out", "ec.sig", "message"])
        let raw = try rawSignature(fromDER: try command.read("ec.sig"))
        #expect(ec.publicKey.verifyES256(raw, message: message))
    }

    @Test(arguments: [(OAEPHash.sha1, "sha1"), (.sha256, "sha256")])
    func `it opens our OAEP`(hash: OAEPHash, name: String) throws {
        let command = try OpenSSLCommand()
        let key = try RSAPrivateKey.generate(bits: 2048)
        try command.write("rsa.pem", Array(try key.privateKeyPEM().utf8))
        try command.write("wrapped", try key.publicKey.encryptOAEP([1, 2, 3], hash: hash))
        try command.run([
            "pkeyutl", "-decrypt", "-inkey", "rsa.pem", "-in", "wrapped", "-out", "plain", "-pkeyopt",
            "rsa_padding_mode:oaep", "-pkeyopt", "rsa_oaep_md:\(name)", "-pkeyopt", "rsa_mgf1_md:\(name)",
        ])
        #expect(try command.read("plain") == [1, 2, 3])
    }

    /// Two INTEGERs of at most 33 bytes each in a SEQUENCE.
    private func rawSignature(fromDER der: [UInt8]) throws -> [UInt8] {
        let rLength = Int(der[3])
        let r = der[4..<(4 + rLength)].drop { $0 == 0 }
        let s = der[(6 + rLength)...].drop { $0 == 0 }
        return [r, s].flatMap { [UInt8](repeating: 0, count: 32 - $0.count) + $0 }
    }
}

/// The `openssl` command in a directory of its own.
final class OpenSSLCommand {
    struct Failure: Error {
        let arguments: [String]
        let output: String
    }

    static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl") }

    private let directory: URL

    init() throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "watchbox-openssl-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    func write(_ name: String, _ bytes: [UInt8]) throws {
        try Data(bytes).write(to: directory.appending(path: name))
    }

    func read(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: directory.appending(path: name)))
    }

    @discardableResult
    func run(_ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/openssl")
        process.arguments = arguments
        process.currentDirectoryURL = directory
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(arguments: arguments, output: text) }
        return text
    }
}
