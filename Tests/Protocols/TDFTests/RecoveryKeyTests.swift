import Cryptography
import Foundation
import KeyAccess
import NanoTDF
import TDFCryptography
import Testing
import Wire

@testable import TDF

struct RecoveryKeyTests {
    private static let pair = try! RSAPrivateKey.generate(bits: 2048)

    private static func fault(_ text: String) -> RecoveryKey.Fault? {
        do throws(RecoveryKey.Fault) {
            _ = try RecoveryKey(text)
            return nil
        } catch {
            return error
        }
    }

    @Test func `one key is one text, however somebody wrote it`() throws {
        let pem = try Self.pair.publicKey.spkiPEM()
        let key = try RecoveryKey(pem)
        #expect(!key.text.contains("\n") && key.bits == 2048)
        for text in [
            key.text, pem.replacing("\n", with: "\r\n"), "from: me\n" + pem + "\nbye\n", " \(key.text)\n",
            key.recipient.publicKeyPEM,
        ] {
            #expect(try RecoveryKey(text) == key)
        }
        let der = try Base64.decode(key.text)
        #expect(key.fingerprint == "sha256//" + Base64.encode(Digest.sha256(der)))
        #expect(key.recipient.kid == key.fingerprint && key.recipient.url == RecoveryKey.url)
    }

    /// What the guide tells people to compare.
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl"), "needs the openssl command"))
    func `openssl counts the same fingerprint`() throws {
        let file = NSTemporaryDirectory() + "watchbox-recovery-\(UUID().uuidString).pem"
        defer { try? FileManager.default.removeItem(atPath: file) }
        let pem = try Self.pair.publicKey.spkiPEM()
        try Data(pem.utf8).write(to: URL(fileURLWithPath: file))
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [
            "-c", "openssl pkey -pubin -in \"$0\" -outform der | openssl dgst -sha256 -binary | openssl base64", file,
        ]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let shown = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(try RecoveryKey(pem).fingerprint == "sha256//" + shown)
    }

    @Test func `a private key is refused as such, wherever it stands`() throws {
        let pem = try Self.pair.privateKeyPEM()
        let rsa = pem.replacing("PRIVATE KEY", with: "RSA PRIVATE KEY")
        for text in [pem, rsa, try Self.pair.publicKey.spkiPEM() + pem, "-----BEGIN ENCRYPTED PRIVATE KEY-----\n"] {
            #expect(Self.fault(text) == .isPrivate)
        }
    }

    @Test func `what is no key for archives is refused`() throws {
        #expect(Self.fault(try ECPrivateKey.generate(.p256).publicKey.spkiPEM()) == .isNotRSA)
        let text = try RecoveryKey(try Self.pair.publicKey.spkiPEM()).text
        let long = text + String(repeating: " ", count: RecoveryKey.maxLength)
        #expect(Self.fault(long) == .length(long.utf8.count))
        for text in ["", "A", "AAAA", String(text.dropLast(8)), text + "AAAA", "-----BEGIN CERTIFICATE-----\n\(text)"] {
            guard case .key = Self.fault(text) else {
                Issue.record("taken: \(text)")
                continue
            }
        }
        // 1024 bits, of openssl genrsa.
        let weak =
            "MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQCwYG4rKhlMvnaGhaMStC7f/4K8WbmFY99rioh2+b90TRu/8VBerJT1PFT7C5LkIpnMLFn4"
            + "xtcBRr6RLBTfXdW5ffcdafoaYvbuDALd8mmDqIedrEihWsXLfkvw8YItAVjm+Aaf5ii++602R9pRpqAQKuS7atg0MqKid3ZQKqrgmwIDAQAB"
        #expect(Self.fault(weak) == .key(.invalidKey(.rsaSize(bits: 1024))))
    }

    /// What is encrypted under an exponent of 1 anybody reads; an even modulus encrypts nothing.
    @Test func `numbers that protect nothing are refused`() throws {
        let (modulus, exponent) = (try Self.pair.publicKey.modulus(), try Self.pair.publicKey.exponent())
        #expect(try RecoveryKey(Self.key(modulus, exponent)).bits == 2048)
        #expect(try RecoveryKey(Self.key(modulus, [3])).bits == 2048)
        var even = modulus
        even[even.count - 1] &= 0xFE
        for (modulus, exponent) in [
            (modulus, [1]), (modulus, [2]), (modulus, [1, 0, 0]), (even, exponent),
            (modulus, [UInt8](repeating: 1, count: 9)),
        ] as [([UInt8], [UInt8])] {
            #expect(Self.fault(Self.key(modulus, exponent)) == .key(.invalidKey(.rsaNumbers)), "\(exponent)")
        }
    }

    /// Base64 of a SubjectPublicKeyInfo (RFC 8017, A.1.1; RFC 5280, 4.1).
    private static func key(_ modulus: [UInt8], _ exponent: [UInt8]) -> String {
        func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
            let count = content.count
            let length: [UInt8] =
                count < 128
                ? [UInt8(count)] : count < 256 ? [0x81, UInt8(count)] : [0x82, UInt8(count >> 8), UInt8(count & 255)]
            return [tag] + length + content
        }
        func integer(_ number: [UInt8]) -> [UInt8] {
            element(2, number.first.map { $0 >= 128 } == true ? [0] + number : number)
        }
        let algorithm = element(0x30, element(6, [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 1]) + [5, 0])
        let numbers = element(0x30, integer(modulus) + integer(exponent))
        return Base64.encode(element(0x30, algorithm + element(3, [0] + numbers)))
    }

    // MARK: - In archives

    private static let segments: [[UInt8]] = [[1, 2, 3], [], [UInt8](repeating: 7, count: 900)]

    private static func sealed(_ alternatives: [TDFRecipient]) throws -> TDFStage.Sealed {
        var sealer = try TDFSealer(
            recipient: TDFStage.shared.recipient, alternatives: alternatives, policy: PlaintextPolicy(stream: "door"),
            crypto: OpenSSLTDFCrypto())
        var payload: [UInt8] = []
        let done = try segments.map { try sealer.seal($0[...], into: &payload) }
        return TDFStage.Sealed(
            manifest: TDFManifest(
                envelope: sealer.envelope, segments: done.map(\.entry), rootSignature: done.last?.rootSignature ?? [],
                segmentSize: 900, mimeType: "video/mp4", meta: .init(assetId: nil, protectedAt: nil)),
            payload: payload, signatures: [])
    }

    @Test func `each of both keys opens it alone, and a stranger's does not`() throws {
        let recovery = try RecoveryKey(try Self.pair.publicKey.spkiPEM())
        let sealed = try Self.sealed([recovery.recipient])
        let objects = sealed.manifest.encryptionInformation.keyAccess
        #expect(objects.map(\.url) == ["https://kas.example.net/kas", "https://recovery-key.invalid"])
        #expect(objects.map(\.sid) == ["1", "1"] && objects.map(\.kid) == ["r1", recovery.fingerprint])
        #expect(objects.map(\.isForRecoveryKey) == [false, true])
        #expect(objects[0].policyBinding == objects[1].policyBinding && objects[0].wrappedKey != objects[1].wrappedKey)
        for (index, pair) in [TDFStage.shared.key, Self.pair].enumerated() {
            let opener = try TDFOpener(
                sealed.manifest, key: try pair.archiveKey(from: objects[index]), fromKeyAccess: index,
                payloadSize: Int64(sealed.payload.count), crypto: OpenSSLTDFCrypto())
            for (number, segment) in Self.segments.enumerated() {
                #expect(try opener.open(number, try sealed.bytes(of: number)) == segment)
            }
            #expect(throws: CryptoError.authenticationFailed) { try pair.archiveKey(from: objects[1 - index]) }
        }
        let stranger = try RSAPrivateKey.generate(bits: 2048)
        for object in objects {
            #expect(throws: CryptoError.authenticationFailed) { try stranger.archiveKey(from: object) }
        }
    }

    @Test func `without one nothing about an archive is another`() throws {
        let object = try #require(try Self.sealed([]).manifest.encryptionInformation.keyAccess.first)
        #expect(object.sid == "" && object.kid == "r1")
        #expect(try Self.sealed([]).manifest.encryptionInformation.keyAccess.count == 1)
    }

    @Test func `nothing is sealed for half of those who are to open it`() throws {
        for pem in ["", try ECPrivateKey.generate(.p256).publicKey.spkiPEM()] {
            #expect(throws: TDFError.crypto(.invalidPublicKey)) {
                try Self.sealed([TDFRecipient(url: RecoveryKey.url, publicKeyPEM: pem)])
            }
        }
    }
}
