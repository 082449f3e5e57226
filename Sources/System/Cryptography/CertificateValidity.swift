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
        /// None in PEM.
        case noCertificate
        /// The certificate of this number, from 1, cannot be read, or has times that are none: who loads such a file
        /// (libcurl, NIOSSL) refuses all of it.
        case damaged(Int)
        /// There is no memory for it.
        case libraryFailed

        public var description: String {
            switch self {
            case .tooLong: "it is longer than \(textLimit >> 10) KiB"
            case .noCertificate: "it holds no certificate in PEM"
            case .damaged(let number): "certificate \(number) in it is damaged"
            case .libraryFailed: "libcrypto cannot read it now"
            }
        }
    }

    /// Longest text that is looked at; a system's bundle of authorities has a quarter of that.
    public static let textLimit = 1 << 20

    /// Of each certificate in the text, in its order. Keys and comments are passed over.
    public static func all(pem: [UInt8]) throws(Failure) -> [CertificateValidity] {
        guard pem.count <= textLimit else { throw .tooLong }
        return try pem.withBytes { (bytes, count) throws(Failure) -> [CertificateValidity] in
            defer { ERR_clear_error() }
            guard CryptographicLibrary.isReady, let bio = BIO_new_mem_buf(bytes, CInt(count)) else {
                throw .libraryFailed
            }
            defer { BIO_free(bio) }
            var found: [CertificateValidity] = []
            while true {
                ERR_clear_error()
                guard let certificate = PEM_read_bio_X509(bio, nil, { _, _, _, _ in -1 }, nil) else {
                    let error = ERR_peek_last_error()
                    guard ERR_GET_LIB(error) == ERR_LIB_PEM, ERR_GET_REASON(error) == PEM_R_NO_START_LINE else {
                        throw .damaged(found.count + 1)
                    }
                    guard !found.isEmpty else { throw .noCertificate }
                    return found
                }
                defer { X509_free(certificate) }
                guard let begin = seconds(X509_get0_notBefore(certificate)),
                    let end = seconds(X509_get0_notAfter(certificate))
                else { throw .damaged(found.count + 1) }
                found.append(CertificateValidity(begin: begin, end: end))
            }
        }
    }

    private static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
        var parts = tm()
        // Without a time OpenSSL would take the present.
        guard let time, ASN1_TIME_to_tm(time, &parts) == 1 else { return nil }
        return Int64(timegm(&parts))
    }
}
