internal import CCurl
internal import Cryptography

/// What all users of libcurl need.
enum Libcurl {
    /// Loaded and initialised once per process, by whoever asks first.
    static let isAvailable: Bool =
        CryptographicLibrary.isReady && watchbox_curl_load() != 0 && watchbox_curl_global_init() == CURLE_OK

    static let missing = HTTPClientError.unavailable(reason: "libcurl.so.4 cannot be loaded")

    static func text(_ code: CURLcode) -> String { String(cString: watchbox_curl_text(code)) }

    static func string(_ handle: UnsafeMutableRawPointer, _ info: CURLINFO) -> String? {
        guard let text = watchbox_curl_get_string(handle, info) else { return nil }
        let string = String(cString: text)
        return string.isEmpty ? nil : string
    }

    /// The pin of the server's certificate, when this handle made the TLS handshake and was to keep the certificate.
    static func pin(_ handle: UnsafeMutableRawPointer) -> String? {
        guard let certificate = watchbox_curl_get_certificate(handle) else { return nil }
        return try? CertificatePin.pin(pem: Array(String(cString: certificate).utf8))
    }

    /// At least 1: zero means "no limit" to libcurl.
    static func milliseconds(_ duration: Duration) -> Int {
        let (seconds, attoseconds) = duration.components
        return max(Int(min(max(seconds, 0), 86_400)) * 1000 + Int(attoseconds / 1_000_000_000_000_000), 1)
    }
}

/// Sets options of one easy handle, and remembers whether libcurl took all of them.
struct TransferOptions {
    private let handle: UnsafeMutableRawPointer
    private(set) var isFine = true

    init(_ handle: UnsafeMutableRawPointer) {
        self.handle = handle
    }

    mutating func set(_ option: CURLoption, _ value: Int) {
        isFine = watchbox_curl_set_long(handle, option, value) == CURLE_OK && isFine
    }

    mutating func set(_ option: CURLoption, _ value: String?) {
        isFine = watchbox_curl_set_string(handle, option, value) == CURLE_OK && isFine
    }

    mutating func set(_ option: CURLoption, pointer: UnsafeMutableRawPointer?) {
        isFine = watchbox_curl_set_pointer(handle, option, pointer) == CURLE_OK && isFine
    }

    /// Whose certificate is accepted, and that TLS 1.2 is the least.
    /// - Parameter publicKeyPin: holds beside the chain, for `.system`.
    mutating func set(_ trust: HTTPTrust, certificateAuthorityFile: String?, publicKeyPin: String? = nil) {
        set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        let verifies = trust == .system
        set(CURLOPT_SSL_VERIFYPEER, verifies ? 1 : 0)
        set(CURLOPT_SSL_VERIFYHOST, verifies ? 2 : 0)
        switch trust {
        case .system:
            if let publicKeyPin { set(CURLOPT_PINNEDPUBLICKEY, publicKeyPin) }
            guard let certificateAuthorityFile else { return }
            // The directory would be searched beside the file.
            set(CURLOPT_CAINFO, certificateAuthorityFile)
            set(CURLOPT_CAPATH, nil)
        case .pinned(let pin): set(CURLOPT_PINNEDPUBLICKEY, pin)
        case .firstUse:
            set(CURLOPT_CERTINFO, 1)
            // A session that is taken up again need not show the certificate.
            set(CURLOPT_SSL_SESSIONID_CACHE, 0)
        }
    }
}

extension HTTPTrust {
    /// libcurl takes what is not a pin for the name of a file.
    func check(host: String) throws(HTTPClientError) {
        guard case .pinned(let pin) = self, !CertificatePin.isPin(pin) else { return }
        throw .tlsFailed(host: host, reason: TrustFault.invalidPin.rawValue)
    }
}
