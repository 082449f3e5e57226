import Testing
import Wire

@testable import Cryptography

struct PBKDF2Tests {
    /// IEEE 802.11-2020, annex J.4.2.
    @Test(arguments: [
        ("password", "IEEE", "f42c6fc52df0ebef9ebb4b90b38a5f902e83fe1b135a70e23aed762e9710a12e"),
        ("ThisIsAPassword", "ThisIsASSID", "0dc0d6eb90555ed6419756b9a15ec3e3209b63df707dd508d14581f8982721af"),
        (
            String(repeating: "a", count: 32), String(repeating: "Z", count: 32),
            "becb93866bb8c3832cb777c2f559807c8c59afcb6eae734885001300a981cc62"
        ),
    ])
    func `the keys of WPA2 are those of the standard`(passphrase: String, ssid: String, key: String) throws {
        let made = try PBKDF2.sha1(
            passphrase: Array(passphrase.utf8), salt: Array(ssid.utf8), iterations: 4096, count: 32)
        #expect(Hexadecimal.encode(made) == key)
    }

    @Test func `parameters have bounds`() {
        func make(_ passphrase: Int = 8, salt: Int = 4, iterations: Int = 2, count: Int = 32) throws {
            _ = try PBKDF2.sha1(
                passphrase: [UInt8](repeating: 1, count: passphrase), salt: [UInt8](repeating: 2, count: salt),
                iterations: iterations, count: count)
        }
        #expect(throws: Never.self) { try make() }
        #expect(throws: CryptoError.invalidLength(0)) { try make(0) }
        #expect(throws: CryptoError.invalidLength(1025)) { try make(salt: 1025) }
        #expect(throws: CryptoError.invalidLength(0)) { try make(iterations: 0) }
        #expect(throws: CryptoError.invalidLength(65)) { try make(count: 65) }
    }
}
