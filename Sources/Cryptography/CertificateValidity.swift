internal import COpenSSL
internal import Glibc

/// From when to when a certificate holds. Nothing else of it is looked at: neither who signed it nor for whom.
public struct CertificateValidity: Equatable, Sendable {
    /// Seconds since 1970, below zero before.
    public var begin: Int64
    public var end: Int64

    public init(begin: Int64, end: Int64) {
        self.begin = begin
        self.end = end
    }

    /// Why nothing can be said of a text.
    public enum Failure: Error, Equatable, CustomStringConvertible {
        case tooLong
        /// None in PEM, or none that can be read with its times.
        case noCertificate

        public var description: String {
            switch self {
            case .tooLong: "it is longer than \(textLimit >> 10) KiB"
            case .noCertificate: "it holds no certificate in PEM"
            }
        }
    }

    /// Longest text that is looked at; a system's bundle of authorities has a quarter of that.
    public static let textLimit = 1 << 20

    /// Of each certificate in the text, in its order. What is not one is passed over, as by who loads such a file: keys,
    /// comments, a certificate that is damaged.
    public static func all(pem: [UInt8]) throws(Failure) -> [CertificateValidity] {
        guard pem.count <= textLimit else { throw .tooLong }
        let found = pem.withBytes { (bytes, count) -> [CertificateValidity] in
            guard CryptographicLibrary.isReady, let bio = BIO_new_mem_buf(bytes, CInt(count)) else { return [] }
            defer {
                BIO_free(bio)
                ERR_clear_error()
            }
            var found: [CertificateValidity] = []
            // Each look takes a line at least, so this ends; the error queue stays short whatever the text holds.
            while BIO_ctrl(bio, BIO_CTRL_EOF, 0, nil) == 0 {
                guard let certificate = PEM_read_bio_X509(bio, nil, { _, _, _, _ in -1 }, nil) else { continue }
                defer { X509_free(certificate) }
                guard let begin = seconds(X509_get0_notBefore(certificate)),
                    let end = seconds(X509_get0_notAfter(certificate))
                else { continue }
                found.append(CertificateValidity(begin: begin, end: end))
            }
            return found
        }
        guard !found.isEmpty else { throw .noCertificate }
        return found
    }

    private static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
        var parts = tm()
        // Without a time OpenSSL would take the present.
        guard let time, ASN1_TIME_to_tm(time, &parts) == 1 else { return nil }
        return Int64(timegm(&parts))
    }
}
