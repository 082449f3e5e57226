import Cryptography
import Testing
import Wire

/// Published vectors.
@Suite struct KnownAnswerTests {
    @Test func `digests of abc`() {
        let abc = Array("abc".utf8)
        #expect(Digest.sha256(abc) == bytes("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"))
        #expect(Digest.sha256([]) == bytes("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"))
        #expect(Digest.sha1(abc) == bytes("a9993e364706816aba3e25717850c26c9cd0d89d"))
        #expect(Digest.md5(abc) == bytes("900150983cd24fb0d6963f7d28e17f72"))
        #expect(Digest.sha256([0] + abc) != Digest.sha256(abc))
        #expect(Digest.sha256(([0] + abc)[1...]) == Digest.sha256(abc))
    }

    @Test func `HMAC of RFC 4231 and RFC 2202`() {
        let key = [UInt8](repeating: 0x0B, count: 20)
        #expect(
            Digest.hmacSHA256(key: key, Array("Hi There".utf8))
                == bytes("b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"))
        #expect(
            Digest.hmacSHA256(key: Array("Jefe".utf8), Array("what do ya want for nothing?".utf8))
                == bytes("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"))
        #expect(
            Digest.hmacSHA256(key: [], [])
                == bytes("b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"))
    }

    @Test func `HKDF of RFC 5869, cases 1 to 3`() throws {
        #expect(
            try HKDF.sha256(
                ikm: [UInt8](repeating: 0x0B, count: 22), salt: Array(0...12), info: Array(0xF0...0xF9), count: 42)
                == bytes(
                    "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"))
        #expect(
            try HKDF.sha256(ikm: Array(0...0x4F), salt: Array(0x60...0xAF), info: Array(0xB0...0xFF), count: 82)
                == bytes(
                    "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09"
                        + "da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87"))
        #expect(
            try HKDF.sha256(ikm: [UInt8](repeating: 0x0B, count: 22), salt: [], count: 42)
                == bytes(
                    "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"))
        #expect(throws: CryptoError.invalidLength(8161)) { try HKDF.sha256(ikm: [1], salt: [], count: 8161) }
    }

    /// McGrew and Viega, "The Galois/Counter Mode of Operation", test cases 13 to 18.
    @Test(arguments: [
        ("00", "", "", "000000000000000000000000", "", "530f8afbc74536b9a963b4f1c4cb738b"),
        (
            "00", "00000000000000000000000000000000", "", "000000000000000000000000",
            "cea7403d4d606b6e074ec5d3baf39d18", "d0d1c8a799996bf0265b98b5d48ab919"
        ),
        (
            key, text, data, "cafebabefacedbaddecaf888",
            "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838"
                + "c5f61e6393ba7a0abcc9f662", "76fc6ece0f4e1768cddf8853bb2d551b"
        ),
        (
            key, text, data, "cafebabefacedbad",
            "c3762df1ca787d32ae47c13bf19844cbaf1ae14d0b976afac52ff7d79bba9de0feb582d33934a4f0954cc2363bc73f78"
                + "62ac430e64abe499f47c9b1f", "3a337dbf46a792c45e454913fe2ea8f2"
        ),
    ])
    func `AES-256-GCM`(
        key: String, plaintext: String, data: String, nonce: String, ciphertext: String, tag: String
    ) throws {
        let key = key.count == 2 ? [UInt8](repeating: 0, count: 32) : bytes(key)
        let sealed = try AESGCM.seal(
            key: key, nonce: bytes(nonce), plaintext: bytes(plaintext), aad: bytes(data))
        #expect(sealed == bytes(ciphertext + tag))
        for length in [4, 8, 12, 13, 14, 15, 16] {
            let cut = Array(sealed.dropLast(16 - length))
            #expect(
                try AESGCM.open(
                    key: key, nonce: bytes(nonce), ciphertextAndTag: cut, tagLength: length, aad: bytes(data))
                    == bytes(plaintext))
        }
    }

    private static let key = "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"
    private static let data = "feedfacedeadbeeffeedfacedeadbeefabaddad2"
    private static let text =
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525"
        + "b16aedf5aa0de657ba637b39"

    /// NIST CAVP, ECC CDH primitive, P-256, count 0.
    @Test func `ECDH on P-256`() throws {
        let key = try ECPrivateKey(
            scalar: bytes("7d7dc5f71eb29ddaf80d6214632eeae03d9058af1fb6d22ed80badb62bc1a534"), curve: .p256)
        let peer = try ECPublicKey(
            sec1: bytes(
                "04700c48f77f56584c5cc632ca65640db91b6bacce3a4df6b42ce7cc838833d287"
                    + "db71e509e3fd9b060ddb20ba5c51dcc5948d46fbf640dfe0441782cab85fa4ac"), curve: .p256)
        #expect(
            try key.sharedSecret(with: peer)
                == bytes("46fc62106420ff012e54a434fbdd2d25ccc5852060561e68040dd7778997bd7b"))
        #expect(
            key.publicKey.uncompressed()
                == bytes(
                    "04ead218590119e8876b29146ff89ca61770c4edbbf97d38ce385ed281d8a6b230"
                        + "28af61281fd35e2fa7002523acc85a429cb06ee6648325389f59edfce1405141"))
    }

    /// RFC 7515, appendix A.3.
    @Test func `ES256`() throws {
        let key = try ECPrivateKey(
            scalar: try Base64.decode("jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI"), curve: .p256)
        #expect(
            key.publicKey.uncompressed()
                == [4] + (try Base64.decode("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"))
                + (try Base64.decode("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0")))
        let message = Array("eyJhbGciOiJFUzI1NiJ9.\(Self.jwsPayload)".utf8)
        let signature = try Base64.decode(
            "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q")
        #expect(key.publicKey.verifyES256(signature, message: message))
        #expect(!key.publicKey.verifyES256(signature, message: message + [0]))
        #expect(!key.publicKey.verifyES256(signature.dropLast(), message: message))
        #expect(!key.publicKey.verifyES256([], message: message))
    }

    /// RFC 7515, appendix A.2.
    @Test func `RS256`() throws {
        let key = try RSAPublicKey(
            modulus: try Base64.decode(
                "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yR"
                    + "T-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-"
                    + "KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco"
                    + "9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"),
            exponent: [1, 0, 1])
        #expect(key.bits == 2048)
        #expect(try key.exponent() == [1, 0, 1])
        #expect(try key.modulus().count == 256)
        let message = Array("eyJhbGciOiJSUzI1NiJ9.\(Self.jwsPayload)".utf8)
        var signature = try Base64.decode(
            "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdb"
                + "F9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN"
                + "9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5A"
                + "XLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw")
        #expect(key.verifyRS256(signature, message: message))
        signature[0] ^= 1
        #expect(!key.verifyRS256(signature, message: message))
    }

    private static let jwsPayload =
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"

    /// RFC 8032, section 7.1, tests 1 and 3.
    @Test(arguments: [
        (
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
                + "d25bf5f0595bbe24655141438e7a100b"
        ),
        (
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc659"
                + "4a7c15e9716ed28dc027beceea1ec40a"
        ),
    ])
    func `Ed25519`(key: String, message: String, signature: String) throws {
        let key = try Ed25519PublicKey(raw: bytes(key))
        #expect(key.verify(bytes(signature), message: bytes(message)))
        #expect(!key.verify(bytes(signature), message: bytes(message) + [0]))
        #expect(!key.verify([], message: bytes(message)))
    }
}

func bytes(_ hexadecimal: String) -> [UInt8] {
    do { return try Hexadecimal.decode(hexadecimal) } catch { fatalError("not hexadecimal: \(error)") }
}
