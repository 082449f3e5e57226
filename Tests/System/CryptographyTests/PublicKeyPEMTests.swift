import Cryptography
import TestSupport
import Testing
import Wire

/// The keys of docs/ref/wire-format.md, "The client's key".
@Suite struct PublicKeyPEMTests {
    let key: ECPrivateKey

    init() throws {
        key = try ECPrivateKey.generate(.p256)
    }

    private func expectPoint(_ pem: String, _ comment: Comment) {
        guard case .ec(let read)? = try? PublicKeyPEM.load(pem) else {
            Issue.record(comment)
            return
        }
        #expect(read.uncompressed() == key.publicKey.uncompressed(), comment)
    }

    @Test func `every form of an EC key is read`() throws {
        let spki = try key.publicKey.spkiPEM()
        expectPoint(spki, "SPKI")
        expectPoint(spki.replacing("\n", with: "\r\n"), "CRLF")
        expectPoint("\n  \(spki)  \n", "surrounding white space")
        expectPoint(spki.replacing("\n-----END", with: "-----END"), "glued END")
        for point in [key.publicKey.uncompressed(), key.publicKey.compressed()] {
            let digits = Base64.encode(point)
            expectPoint(armoured(digits), "raw point of \(point.count) bytes")
            expectPoint(armoured(digits, end: ""), "raw point, glued END")
            expectPoint(armoured(wrapped(digits, at: 20, with: "\r\n")), "short lines")
        }
    }

    @Test func `an RSA key is read`() throws {
        let key = try RSAPrivateKey.generate(bits: 2048).publicKey
        guard case .rsa(let read) = try PublicKeyPEM.load(try key.spkiPEM()) else {
            Issue.record("not RSA")
            return
        }
        #expect(try read.modulus() == key.modulus())
    }

    @Test func `everything else is refused`() throws {
        let spki = try key.publicKey.spkiPEM()
        let der = try Base64.decode(
            spki.split(separator: "\n").dropFirst().dropLast().joined())
        let cases: [(String, CryptoError.KeyFault)] = [
            ("", .unreadable),
            (spki.replacing("PUBLIC", with: "PRIVATE"), .unreadable),
            (spki.replacing("END", with: "FIN"), .unreadable),
            (armoured("!!!!"), .unreadable),
            (armoured(""), .unreadable),
            (armoured(Base64.encode(der + [0])), .unreadable),
            (armoured(Base64.encode(der.dropLast())), .unreadable),
            (armoured(Base64.encode([UInt8](repeating: 4, count: 65))), .notOnCurve),
            (armoured(Base64.encode([0])), .unreadable),
            // SubjectPublicKeyInfo of P-256 whose point is infinity.
            (armoured(Base64.encode(bytes("3019301306072a8648ce3d020106082a8648ce3d03010703020000"))), .notOnCurve),
            (armoured(Base64.encode(bytes(p192))), .unreadable),
            (try ECPrivateKey.generate(.p384).publicKey.spkiPEM(), .unsupportedCurve),
            (Self.rsa1024, .rsaSize(bits: 1024)),
            (String(repeating: " ", count: PublicKeyPEM.textLimit) + spki, .unreadable),
        ]
        for (index, (pem, fault)) in cases.enumerated() {
            #expect(throws: CryptoError.self, "case \(index)") { try PublicKeyPEM.load(pem) }
            do {
                _ = try PublicKeyPEM.load(pem)
            } catch {
                // What libcrypto says of a bad point inside DER differs between its versions.
                #expect(error == .invalidKey(fault) || error == .invalidKey(.unreadable), "case \(index)")
            }
        }
    }

    @Test(arguments: 0..<32 as Range<UInt64>)
    func `altered text never traps`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for text in [try key.publicKey.spkiPEM(), Self.rsa1024] {
            for _ in 0..<20 {
                var altered = Array(text.utf8)
                for _ in 0..<3 {
                    let index = Int.random(in: altered.indices, using: &generator)
                    altered[index] = UInt8.random(in: 0...255, using: &generator)
                }
                _ = try? PublicKeyPEM.load(String(decoding: altered, as: UTF8.self))
            }
        }
    }

    private func armoured(_ digits: String, end: String = "\n") -> String {
        "-----BEGIN PUBLIC KEY-----\n\(digits)\(end)-----END PUBLIC KEY-----\n"
    }

    private func wrapped(_ text: String, at width: Int, with separator: String) -> String {
        var lines: [Substring] = []
        var rest = text[...]
        while !rest.isEmpty {
            lines.append(rest.prefix(width))
            rest = rest.dropFirst(width)
        }
        return lines.joined(separator: separator)
    }

    /// A P-192 key: a curve of too little strength, here with a made-up point.
    private var p192: String {
        "3049301306072a8648ce3d020106082a8648ce3d030101033200" + "04" + String(repeating: "11", count: 48)
    }

    private static let rsa1024 = """
        -----BEGIN PUBLIC KEY-----
        MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDKDOH3L46QwWFAsPxYhBF5cP/z
        9W8GPCEZyEKDlA2383ly9XdADHkyb1KcOgOMq6R6P0OptAQRaiMwAu6hugv1/6wC
        Wg34MqHIkieIcBdyyU4zqnpUZFC3OBhwfs5nQJD2ctBzLpyIEuEQKF5q8zWr4K3q
        4uqh2XHzq2M07NfjjwIDAQAB
        -----END PUBLIC KEY-----
        """
}
