internal import CCurl
internal import Cryptography
internal import Glibc
internal import Platform

/// libcurl's handles behind a `RawConnection`. The easy handle stays in its multi handle, which holds the connection.
final class ConnectionHandles {
    let easy: UnsafeMutableRawPointer
    private let multi: UnsafeMutableRawPointer
    private let url: OpaquePointer

    private static let pollMilliseconds: CInt = 50

    init(_ options: RawConnection.Options) throws(HTTPClientError) {
        try options.trust?.check(host: options.host)
        // libcurl takes what is not a pin for the name of a file.
        if let pin = options.publicKeyPin, !CertificatePin.isPin(pin) {
            throw .tlsFailed(host: options.host, reason: TrustFault.invalidPin.rawValue)
        }
        let url = try Self.url(options)
        guard let easy = watchbox_curl_easy_init() else {
            watchbox_curl_url_cleanup(url)
            throw .unavailable(reason: "out of memory")
        }
        guard let multi = watchbox_curl_multi_init() else {
            watchbox_curl_easy_cleanup(easy)
            watchbox_curl_url_cleanup(url)
            throw .unavailable(reason: "out of memory")
        }
        self.url = url
        self.multi = multi
        self.easy = easy
        guard setUp(options), watchbox_curl_multi_add(multi, easy) == CURLM_OK else {
            throw .unavailable(reason: "libcurl refused an option")
        }
    }

    deinit {
        // Closes the socket at once.
        watchbox_curl_multi_remove(multi, easy)
        watchbox_curl_easy_cleanup(easy)
        watchbox_curl_multi_cleanup(multi)
        watchbox_curl_url_cleanup(url)
    }

    /// Made of its parts, so that no host can bring a path or a user name with it.
    private static func url(_ options: RawConnection.Options) throws(HTTPClientError) -> OpaquePointer {
        let host = options.host
        guard !host.isEmpty, host.utf8.count <= 255, !host.utf8.contains(0) else {
            throw .invalidURL(reason: "the host has no name, or too long a one")
        }
        guard let url = watchbox_curl_url() else { throw .unavailable(reason: "out of memory") }
        let name = host.contains(":") ? "[\(host)]" : host
        let isFine =
            watchbox_curl_url_set(url, CURLUPART_SCHEME, options.trust == nil ? "http" : "https") == CURLUE_OK
            && watchbox_curl_url_set(url, CURLUPART_HOST, name) == CURLUE_OK
            && watchbox_curl_url_set(url, CURLUPART_PORT, String(options.port)) == CURLUE_OK
        guard isFine, options.port > 0 else {
            watchbox_curl_url_cleanup(url)
            throw .invalidURL(reason: "the host or the port is invalid")
        }
        return url
    }

    private func setUp(_ options: RawConnection.Options) -> Bool {
        var set = TransferOptions(easy)
        set.set(CURLOPT_CURLU, pointer: UnsafeMutableRawPointer(url))
        set.set(CURLOPT_PROTOCOLS_STR, "http,https")
        set.set(CURLOPT_CONNECT_ONLY, 1)
        set.set(CURLOPT_NOSIGNAL, 1)
        set.set(CURLOPT_SSL_ENABLE_ALPN, 0)
        set.set(CURLOPT_NOPROXY, "*")
        set.set(CURLOPT_CONNECTTIMEOUT_MS, Libcurl.milliseconds(options.connectTimeout))
        // A look-up that hangs is left behind instead of waited for.
        set.set(CURLOPT_QUICK_EXIT, 1)
        if let trust = options.trust {
            set.set(
                trust, certificateAuthorityFile: options.certificateAuthorityFile, publicKeyPin: options.publicKeyPin)
            set.set(CURLOPT_CERTINFO, 1)
        }
        return set.isFine
    }

    func connect(_ options: RawConnection.Options, isCancelled: () -> Bool) throws(HTTPClientError) {
        while true {
            if isCancelled() { throw .cancelled }
            var running: CInt = 0
            _ = watchbox_curl_multi_perform(multi, &running)
            var code = CURLE_OK
            if watchbox_curl_multi_next_finished(multi, &code) != nil {
                guard code == CURLE_OK else { throw error(code, options) }
                return
            }
            guard running > 0 else { throw .unavailable(reason: "libcurl gave a connection up without a reason") }
            _ = watchbox_curl_multi_poll(multi, Self.pollMilliseconds)
        }
    }

    private func error(_ code: CURLcode, _ options: RawConnection.Options) -> HTTPClientError {
        let host = options.host
        let reason = Libcurl.text(code)
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST: return .unreachable(host: host, reason: reason)
        case CURLE_COULDNT_CONNECT:
            var number = 0
            watchbox_curl_get_long(easy, CURLINFO_OS_ERRNO, &number)
            let cause = number > 0 ? CInt(exactly: number).map { SystemMessage.text($0) } : nil
            return .unreachable(host: host, reason: cause ?? reason)
        case CURLE_OPERATION_TIMEDOUT: return .connectTimedOut(host: host, after: options.connectTimeout)
        case CURLE_SSL_PINNEDPUBKEYNOTMATCH: return .pinMismatch(host: host)
        case CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_GOT_NOTHING:
            return .connectionLost(host: host, reason: reason)
        case CURLE_OUT_OF_MEMORY, CURLE_FAILED_INIT: return .unavailable(reason: reason)
        default:
            return options.trust == nil
                ? .connectionLost(host: host, reason: reason) : .tlsFailed(host: host, reason: reason)
        }
    }
}
