import Testing

@testable import Cryptography

@Suite struct AES128CBCTests {
    /// NIST SP 800-38A, F.2.1 and F.2.2.
    @Test func `vectors of NIST`() throws {
        let key = bytes("2b7e151628aed2a6abf7158809cf4f3c")
        let iv = bytes("000102030405060708090a0b0c0d0e0f")
        let plaintext = bytes(
            "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
                + "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710")
        let ciphertext = bytes(
            "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2"
                + "73bed6b8e3c1743b7116e69e222295163ff1caa1681fac09120eca307586e1a7")
        let cipher = try AES128CBC(key: key.span)
        var blocks = plaintext
        try cipher.encrypt(&blocks, iv: iv)
        #expect(blocks == ciphertext)
        // From the IV again, each time.
        try cipher.decrypt(&blocks, iv: iv)
        #expect(blocks == plaintext)
        try cipher.encrypt(&blocks, iv: iv)
        #expect(blocks == ciphertext)
    }

    @Test func `lengths that are none of it`() throws {
        #expect(throws: CryptoError.invalidKey(.length(32))) {
            try AES128CBC(key: [UInt8](repeating: 0, count: 32).span)
        }
        let cipher = try AES128CBC(key: [UInt8](repeating: 0, count: 16).span)
        var blocks = [UInt8](repeating: 0, count: 17)
        #expect(throws: CryptoError.invalidLength(17)) {
            try cipher.encrypt(&blocks, iv: [UInt8](repeating: 0, count: 16))
        }
        blocks = []
        try cipher.encrypt(&blocks, iv: [UInt8](repeating: 0, count: 16))
        #expect(throws: CryptoError.invalidLength(12)) {
            try cipher.decrypt(&blocks, iv: [UInt8](repeating: 0, count: 12))
        }
    }
}
