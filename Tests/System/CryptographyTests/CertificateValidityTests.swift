import Cryptography
import Foundation
import Testing

@Suite struct CertificateValidityTests {
    /// Made with OpenSSL, from 2026-11-21 as UTCTime to 2081-08-24 as GeneralizedTime.
    private static let lines = """
        MIIBhzCCAS2gAwIBAgIUASVdvSuxhBdLyM3M2qqu8id9fjgwCgYIKoZIzj0EAwIw
        GDEWMBQGA1UEAwwNd2F0Y2hib3gtdGVzdDAgFw0yNjExMjEyMTU4MDVaGA8yMDgx
        MDgyNDIxNTgwNVowGDEWMBQGA1UEAwwNd2F0Y2hib3gtdGVzdDBZMBMGByqGSM49
        AgEGCCqGSM49AwEHA0IABLzbGce4Mp1j3FGqbl4RaVaH1LGRfMBuFeNDyDtmO6A+
        GHoPzq5m0vDI05hzpSVWQeMuWRRzjhfZnhg6hh+0iyujUzBRMB0GA1UdDgQWBBQ6
        xEGHmKWhgRJl2HMTeMuw0oBATzAfBgNVHSMEGDAWgBQ6xEGHmKWhgRJl2HMTeMuw
        0oBATzAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCIQD7kY/gQm//
        ciHwp5GZttZBFw+YC1W7RDhMfjWxYz+ARwIgbOX5eUIvQnFhqrxqMHpu4khz6ChR
        talEwE94uGBu8O4=
        """
    private let der = Array(Data(base64Encoded: lines, options: .ignoreUnknownCharacters) ?? Data())
    private let whole = CertificateValidity(begin: 1_795_298_285, end: 3_523_298_285)

    private func pem(_ der: [UInt8]) -> String {
        let digits = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN CERTIFICATE-----\n\(digits)\n-----END CERTIFICATE-----\n"
    }

    private func pem(begin: String = "261121215805Z", end: String = "20810824215805Z") -> String {
        var changed = der
        for (old, new) in [("261121215805Z", begin), ("20810824215805Z", end)] {
            changed.replace(Array(old.utf8), with: Array(new.utf8))
        }
        return pem(changed)
    }

    private func all(_ text: String) throws(CertificateValidity.Failure) -> [CertificateValidity] {
        try CertificateValidity.all(pem: Array(text.utf8))
    }

    @Test(
        arguments: [
            ("691231235959Z", "19700101000000Z", -1, 0),
            ("500101000000Z", "99991231235959Z", -631_152_000, 253_402_300_799),
            ("491231235959Z", "20500101000000Z", 2_524_607_999, 2_524_608_000),
            ("000229000000Z", "00000101000000Z", 951_782_400, -62_167_219_200),
        ] as [(String, String, Int64, Int64)])
    func `years before 1970 and after 2050 are read`(begin: String, end: String, from: Int64, to: Int64) throws {
        #expect(try all(pem(begin: begin, end: end)) == [CertificateValidity(begin: from, end: to)])
    }

    @Test(arguments: [
        "20811324215805Z", "20810832215805Z", "2081082421580Z5", "xxxxxxxxxxxxxxx", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
    ])
    func `a certificate with an invalid time is damaged`(time: String) throws {
        #expect(throws: CertificateValidity.Failure.damaged(2)) { try all(pem(der) + pem(end: time)) }
        #expect(throws: CertificateValidity.Failure.damaged(1)) { try all(pem(end: time) + pem(der)) }
    }

    @Test func `what else is in the file is passed over`() throws {
        let key =
            "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nAAAA\n-----END EC PRIVATE KEY-----\n"
        let other = pem(end: "20820824215805Z")
        let text = key + pem(der) + "\u{0}\u{FFFD} garbage\n\n" + key + other.replacing("\n", with: "\r\n")
        #expect(try all(text) == [whole, CertificateValidity(begin: whole.begin, end: 3_554_834_285)])
        for text in ["", "\0", "nothing", key] {
            #expect(throws: CertificateValidity.Failure.noCertificate, "\(text)") { try all(text) }
        }
    }

    @Test func `a damaged certificate is reported, as who loads the file refuses it`() throws {
        let broken = "-----BEGIN CERTIFICATE-----\n????\n-----END CERTIFICATE-----\n"
        let locked = broken.replacing(
            "????", with: "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00000000000000000000000000000000\n\nAAAA")
        let cut = pem(der).split(separator: "\n").prefix(4).joined(separator: "\n") + "\n"
        for text in [broken, locked, cut, pem(Array(der.dropLast()))] {
            #expect(throws: CertificateValidity.Failure.damaged(1), "\(text)") { try all(text) }
            #expect(throws: CertificateValidity.Failure.damaged(2), "\(text)") { try all(pem(der) + text) }
        }
    }

    @Test func `a long text ends and is bounded`() throws {
        let marks = String(repeating: "-----BEGIN CERTIFICATE-----\n", count: CertificateValidity.textLimit / 28)
        #expect(throws: CertificateValidity.Failure.damaged(1)) { try all(marks) }
        let count = CertificateValidity.textLimit / pem(der).utf8.count
        #expect(try all(String(repeating: pem(der), count: count)).count == count)
        let long = [UInt8](repeating: UInt8(ascii: "A"), count: CertificateValidity.textLimit)
        #expect(throws: CertificateValidity.Failure.noCertificate) { try CertificateValidity.all(pem: long) }
        #expect(throws: CertificateValidity.Failure.tooLong) { try CertificateValidity.all(pem: long + [0]) }
    }
}
