import Foundation
import NanoTDF
import Testing
import Wire

@testable import Cryptography

@Suite struct KeyTests {
    @Test(arguments: ECCurve.allCases)
    func `a key survives every encoding`(curve: ECCurve) throws {
        let key = try ECPrivateKey.generate(curve)
        let point = key.publicKey.uncompressed()
        #expect(point.count == 1 + 2 * curve.coordinateByteCount)
        #expect(try ECPrivateKey(pem: try key.privateKeyPEM()).publicKey.uncompressed() == point)
        #expect(try ECPublicKey(pem: try key.publicKey.spkiPEM()).uncompressed() == point)
        let compressed = try ECPublicKey(sec1: key.publicKey.compressed(), curve: curve)
        #expect(compressed.uncompressed() == point)
        #expect(try compressed.spkiPEM() == key.publicKey.spkiPEM())
        #expect(try ECPublicKey(sec1: point, curve: curve).compressed() == key.publicKey.compressed())
        #expect(try ECPublicKey(pem: try key.publicKey.spkiPEM()).curve == curve)
    }

    @Test(arguments: ECCurve.allCases)
    func `two parties agree, and signatures verify`(curve: ECCurve) throws {
        let one = try ECPrivateKey.generate(curve)
        let other = try ECPrivateKey.generate(like: one.publicKey)
        let secret = try one.sharedSecret(with: other.publicKey)
        #expect(secret.count == curve.coordinateByteCount)
        #expect(try secret == other.sharedSecret(with: one.publicKey))
        for length in 0..<20 {
            let message = [UInt8](repeating: 7, count: length)
            let signature = try one.signES256(message)
            #expect(signature.count == 2 * curve.coordinateByteCount)
            #expect(one.publicKey.verifyES256(signature, message: message))
            #expect(!other.publicKey.verifyES256(signature, message: message))
        }
    }

    @Test(arguments: ECCurve.allCases)
    func `points that aren't on the curve and infinity are refused`(curve: ECCurve) throws {
        var point = try ECPrivateKey.generate(curve).publicKey.uncompressed()
        point[point.count - 1] ^= 1
        #expect(throws: CryptoError.invalidKey(.notOnCurve)) { try ECPublicKey(sec1: point, curve: curve) }
        #expect(throws: CryptoError.invalidKey(.unreadable)) { try ECPublicKey(sec1: [0], curve: curve) }
        #expect(throws: CryptoError.invalidKey(.unreadable)) { try ECPublicKey(sec1: [], curve: curve) }
        let zeros = [4] + [UInt8](repeating: 0, count: 2 * curve.coordinateByteCount)
        #expect(throws: CryptoError.invalidKey(.notOnCurve)) { try ECPublicKey(sec1: zeros, curve: curve) }
        let largest = [2] + [UInt8](repeating: 0xFF, count: curve.coordinateByteCount)
        #expect(throws: CryptoError.invalidKey(.notOnCurve)) { try ECPublicKey(sec1: largest, curve: curve) }
        // Hybrid encodings say the same twice; no one sends them.
        point = try ECPrivateKey.generate(curve).publicKey.uncompressed()
        point[0] = 6 | point[point.count - 1] & 1
        #expect(throws: CryptoError.invalidKey(.unreadable)) { try ECPublicKey(sec1: point, curve: curve) }
    }

    @Test func `half of all x-coordinates have no point`() throws {
        var refused = 0
        for x in 1...64 as ClosedRange<UInt8> {
            let sec1 = [2] + [UInt8](repeating: 0, count: 31) + [x]
            do {
                _ = try ECPublicKey(sec1: sec1, curve: .p256)
            } catch {
                #expect(error == .invalidKey(.notOnCurve))
                refused += 1
            }
        }
        #expect((16...48).contains(refused))
    }

    @Test(arguments: ECCurve.allCases)
    func `scalars outside 1 to n - 1 are refused`(curve: ECCurve) {
        let size = curve.coordinateByteCount
        for scalar in [[UInt8](repeating: 0, count: size), [UInt8](repeating: 0xFF, count: size)] {
            #expect(throws: CryptoError.invalidKey(.scalarOutOfRange)) {
                try ECPrivateKey(scalar: scalar, curve: curve)
            }
        }
        #expect(throws: CryptoError.invalidKey(.length(1))) { try ECPrivateKey(scalar: [1], curve: curve) }
    }

    @Test func `keys of different curves do not agree`() throws {
        let one = try ECPrivateKey.generate(.p256)
        let other = try ECPrivateKey.generate(.p384)
        #expect(throws: CryptoError.invalidKey(.curveMismatch)) { try one.sharedSecret(with: other.publicKey) }
    }

    @Test func `RSA wraps, signs and survives PEM`() throws {
        let key = try RSAPrivateKey.generate(bits: 2048)
        let dek = try SecureRandom.bytes(32)
        for hash in [OAEPHash.sha1, .sha256] {
            let wrapped = try key.publicKey.encryptOAEP(dek, hash: hash)
            #expect(wrapped.count == 256)
            #expect(try key.decryptOAEP(wrapped, hash: hash) == dek)
            #expect(throws: CryptoError.authenticationFailed) {
                try key.decryptOAEP(wrapped, hash: hash == .sha1 ? .sha256 : .sha1)
            }
            #expect(throws: CryptoError.authenticationFailed) { try key.decryptOAEP(wrapped.dropLast(), hash: hash) }
            #expect(throws: CryptoError.authenticationFailed) {
                try key.decryptOAEP([UInt8](repeating: 0xFF, count: 256), hash: hash)
            }
        }
        let read = try RSAPrivateKey(pem: try key.privateKeyPEM())
        let signature = try read.signRS256([1, 2, 3])
        #expect(try RSAPublicKey(pem: try key.publicKey.spkiPEM()).verifyRS256(signature, message: [1, 2, 3]))
        #expect(throws: CryptoError.invalidKey(.rsaSize(bits: 1024))) { try RSAPrivateKey.generate(bits: 1024) }
        #expect(throws: CryptoError.invalidKey(.unreadable)) { try ECPrivateKey(pem: try key.privateKeyPEM()) }
        #expect(throws: CryptoError.invalidKey(.unreadable)) { try ECPublicKey(pem: try key.publicKey.spkiPEM()) }
    }

    @Test func `an encrypted PEM, or one of another kind, is refused without a question`() {
        for text in [
            "", "nonsense", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
            "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIGHAgEA\n-----END ENCRYPTED PRIVATE KEY-----\n",
            String(repeating: "A", count: 70_000),
        ] {
            #expect(throws: CryptoError.invalidKey(.unreadable)) { try ECPrivateKey(pem: text) }
            #expect(throws: CryptoError.invalidKey(.unreadable)) { try RSAPublicKey(pem: text) }
        }
    }

    @Test func `an altered sealed text does not open`() throws {
        let key = try SecureRandom.bytes(32)
        let nonce = try SecureRandom.bytes(12)
        let sealed = try AESGCM.seal(key: key, nonce: nonce, plaintext: [1, 2, 3], aad: [9])
        for bit in 0..<(sealed.count * 8) {
            var altered = sealed
            altered[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: CryptoError.authenticationFailed) {
                try AESGCM.open(key: key, nonce: nonce, ciphertextAndTag: altered, aad: [9])
            }
        }
        #expect(throws: CryptoError.authenticationFailed) {
            try AESGCM.open(key: key, nonce: nonce, ciphertextAndTag: sealed)
        }
        #expect(throws: CryptoError.invalidLength(15)) {
            try AESGCM.open(key: key, nonce: nonce, ciphertextAndTag: sealed.dropLast(4))
        }
        #expect(throws: CryptoError.invalidKey(.length(16))) {
            try AESGCM.seal(key: [UInt8](repeating: 0, count: 16), nonce: nonce, plaintext: [])
        }
        #expect(throws: CryptoError.invalidLength(0)) { try AESGCM.seal(key: key, nonce: [], plaintext: []) }
    }

    @Test func `comparison distinguishes equal from unequal`() {
        #expect(constantTimeEqual([1, 2, 3], [1, 2, 3]))
        #expect(!constantTimeEqual([1, 2, 3], [1, 2, 4]))
        #expect(!constantTimeEqual([1, 2, 3], [1, 2]))
        #expect(constantTimeEqual([], []))
        #expect(constantTimeEqual([0, 1, 2][1...], [1, 2][...]))
    }

    @Test func `random bytes are as many as asked for, and differ`() throws {
        #expect(try SecureRandom.bytes(0).isEmpty)
        #expect(try SecureRandom.bytes(1528).count == 1528)
        #expect(try SecureRandom.bytes(32) != SecureRandom.bytes(32))
        #expect(throws: CryptoError.invalidLength(-1)) { try SecureRandom.bytes(-1) }
    }

    @Test func `a collection key wipes its source and shows nothing`() throws {
        var source = [UInt8](1...32)
        let key = try CollectionKey(wiping: &source)
        #expect(source == [UInt8](repeating: 0, count: 32))
        key.withBytes { #expect($0.count == 32 && $0[0] == 1 && $0[31] == 32) }
        #expect(!"\(key)".contains("1, 2") && !String(reflecting: key).contains("1, 2"))
        var dumped = ""
        dump(key, to: &dumped)
        #expect(!dumped.contains("- 17"))
        var short: [UInt8] = [1]
        #expect(throws: NanoTDFCryptoError.invalidKeyLength(1)) { try CollectionKey(wiping: &short) }
    }

    @Test func `the stored KAS answers unwrap under their salts`() throws {
        struct File: Decodable {
            struct Case: Decodable {
                let session_salt: String
                let hkdf_salt_hex: String
                let wrapping_key_hex: String
                let kasWrappedKey_b64: String
            }
            let client_private: String
            let client_public_spki_pem: String
            let session_private: String
            let session_public_spki_pem: String
            let ecdh_x_hex: String
            let dek_hex: String
            let cases: [Case]
        }
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")
        let file = try JSONDecoder().decode(
            File.self, from: Data(contentsOf: folder.appending(path: "kas_rewrap_unwrap.json")))
        let client = try ECPrivateKey(scalar: bytes(file.client_private), curve: .p256)
        let session = try ECPublicKey(pem: file.session_public_spki_pem)
        #expect(try client.publicKey.spkiPEM() == file.client_public_spki_pem)
        #expect(try client.sharedSecret(with: session) == bytes(file.ecdh_x_hex))
        #expect(file.cases.count == 3)
        for item in file.cases {
            let key = try client.deriveKey(with: session, salt: bytes(item.hkdf_salt_hex))
            #expect(key == bytes(item.wrapping_key_hex))
            let wrapped = try Base64.decode(item.kasWrappedKey_b64)
            #expect(
                try AESGCM.open(key: key, nonce: Array(wrapped[..<12]), ciphertextAndTag: Array(wrapped[12...]))
                    == bytes(file.dek_hex))
        }
    }
}
