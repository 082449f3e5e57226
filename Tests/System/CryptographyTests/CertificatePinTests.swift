import Cryptography
import Testing

@Suite struct CertificatePinTests {
    /// With a key and a pin that `openssl` made and computed.
    @Test(
        .enabled(if: OpenSSLCommand.isInstalled, "the command `openssl` is not installed (Debian package openssl)"),
        arguments: [
            ["rsa:2048"], ["rsa:1024", "-sha1"], ["ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"], ["ed25519"],
        ])
    func `it is the one that openssl computes`(kind: [String]) throws {
        let command = try OpenSSLCommand()
        try command.run(
            ["req", "-x509", "-newkey"] + kind
                + ["-nodes", "-days", "2", "-subj", "/CN=camera", "-keyout", "key", "-out", "certificate"])
        try command.run(["pkey", "-in", "key", "-pubout", "-outform", "der", "-out", "public"])
        try command.run(["dgst", "-sha256", "-binary", "-out", "digest", "public"])
        let expected = "sha256//" + (try command.run(["base64", "-in", "digest"])).prefix { !$0.isNewline }
        let pem = try command.read("certificate")
        let pin = try CertificatePin.pin(pem: pem)
        #expect(pin == expected)
        #expect(CertificatePin.isPin(pin))
        // What else stands in the text, and a second certificate, change nothing.
        #expect(try CertificatePin.pin(pem: Array("Subject: x\n".utf8) + pem + pem) == expected)

        var failures = 0
        for place in stride(from: 0, to: pem.count - 30, by: 11) {
            var broken = pem
            broken[place] ^= 0x08
            if (try? CertificatePin.pin(pem: broken)) == nil { failures += 1 }
            #expect(throws: CryptoError.invalidKey(.unreadable)) { try CertificatePin.pin(pem: Array(pem[..<place])) }
        }
        #expect(failures > 0)
    }

    @Test func `what is not a certificate has no pin`() {
        let long = [UInt8](repeating: UInt8(ascii: "A"), count: CertificatePin.textLimit + 1)
        let empty = "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"
        for bytes in [[], [0], Array("certificate".utf8), Array(empty.utf8), long] {
            #expect(throws: CryptoError.invalidKey(.unreadable)) { try CertificatePin.pin(pem: bytes) }
        }
    }

    @Test func `a pin has one form`() {
        let digits = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
        #expect(CertificatePin.isPin("sha256//" + digits))
        let other = digits.replacing("+", with: "-")
        let loose = digits.replacing("FU=", with: "FV=")
        let long = String(repeating: "é", count: 22)
        let full = String(repeating: "A", count: 44)
        let wrong: [String] = [
            "", digits, "sha256/\(digits)", "sha256//", "SHA256//\(digits)", "sha256//\(digits.dropLast())",
            "sha256//\(digits)=", "sha256//\(digits);sha256//\(digits)", " sha256//\(digits)", "sha256//\(other)",
            "sha256//\(loose)", "sha256//\(long)", "sha256//\(full)", "/etc/ssl/certs/ca-certificates.crt",
        ]
        for text in wrong {
            #expect(!CertificatePin.isPin(text), "\(text)")
        }
    }
}
