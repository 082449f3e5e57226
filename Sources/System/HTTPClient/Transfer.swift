internal import CCurl
internal import Cryptography
internal import Wire

/// One libcurl easy handle at work for one exchange; lives on the worker thread.
final class Transfer {
    /// Status lines and header lines together, in bytes.
    private static let maximumHeaderBytes = 64 * 1024

    /// What became of bytes that libcurl offered.
    private enum Reception {
        case taken
        /// Ends the transfer.
        case refused
        /// They come again when the transfer goes on.
        case paused
    }

    let exchange: Exchange
    let handle: OpaquePointer
    private let url: TargetURL
    private var list: UnsafeMutablePointer<curl_slist>?
    private var headers: [HTTPHeader] = []
    private var headerBytes = 0
    private var body: [UInt8] = []
    private var isTooLarge = false
    /// The beginning of the body is all that was requested.
    private var isCut = false

    private var raw: UnsafeMutableRawPointer { UnsafeMutableRawPointer(handle) }

    init(_ exchange: Exchange, _ configuration: HTTPClient.Configuration) throws(HTTPClientError) {
        let request = exchange.request
        for header in request.headers {
            guard Self.isValid(header) else { throw .invalidHeader(name: ShownText.ascii(header.name, limit: 40)) }
        }
        url = try TargetURL(request.url, unixSocketPath: request.unixSocketPath, plainHTTP: configuration.plainHTTP)
        if let pin = configuration.publicKeyPin, request.trust == .system {
            // libcurl takes what is not a pin for the name of a file, and would not look at one without TLS.
            let fault: TrustFault? =
                !CertificatePin.isPin(pin) ? .invalidPin : !url.isEncrypted ? .pinWithoutTLS : nil
            if let fault { throw .tlsFailed(host: url.host, reason: fault.rawValue) }
        }
        if url.isEncrypted {
            try request.trust.check(host: url.host)
            guard request.trust != .firstUse || request.digest == nil else {
                throw .tlsFailed(host: url.host, reason: TrustFault.credentials.rawValue)
            }
        }
        // It would end a C string early, and be another name or password.
        if let digest = request.digest, digest.user.utf8.contains(0) || digest.password.utf8.contains(0) {
            throw .invalidHeader(name: "Authorization")
        }
        guard let easy = watchbox_curl_easy_init() else { throw .unavailable(reason: "out of memory") }
        self.exchange = exchange
        handle = OpaquePointer(easy)
        guard setUp(request, configuration) else { throw .unavailable(reason: "libcurl refused an option") }
    }

    deinit {
        watchbox_curl_easy_cleanup(raw)
        watchbox_curl_slist_free(list)
    }

    private func setUp(_ request: HTTPRequest, _ configuration: HTTPClient.Configuration) -> Bool {
        var isFine = set(CURLOPT_CURLU, pointer: UnsafeMutableRawPointer(url.handle))
        isFine = set(CURLOPT_PROTOCOLS_STR, "http,https") && isFine
        isFine = set(CURLOPT_NOSIGNAL, 1) && isFine
        // A look-up that hangs is left behind instead of waited for, with all other transfers of the thread.
        isFine = set(CURLOPT_QUICK_EXIT, 1) && isFine
        isFine = set(CURLOPT_FOLLOWLOCATION, 0) && isFine
        isFine = set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1)) && isFine
        isFine = set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1) && isFine
        var options = TransferOptions(raw)
        options.set(
            request.trust, certificateAuthorityFile: configuration.certificateAuthorityFile,
            publicKeyPin: configuration.publicKeyPin)
        if let digest = request.digest { setUp(digest, request, &options) }
        isFine = options.isFine && isFine
        if let path = request.unixSocketPath { isFine = set(CURLOPT_UNIX_SOCKET_PATH, path) && isFine }
        // A connection that was there already shows nothing of its certificate.
        if !request.sharesConnection || request.trust == .firstUse {
            isFine = set(CURLOPT_FRESH_CONNECT, 1) && isFine
            isFine = set(CURLOPT_FORBID_REUSE, 1) && isFine
        }
        // A proxy from the environment is for the world outside, neither for this machine nor for devices beside it.
        let isNear = configuration.plainHTTP == .anywhere || request.trust != .system
        if request.unixSocketPath != nil || TargetURL.isLoopback(url.host) || isNear {
            isFine = set(CURLOPT_NOPROXY, "*") && isFine
        }
        isFine = set(CURLOPT_CONNECTTIMEOUT_MS, Libcurl.milliseconds(request.connectTimeout)) && isFine
        if exchange.stream == nil {
            isFine = set(CURLOPT_TIMEOUT_MS, Libcurl.milliseconds(request.totalTimeout)) && isFine
            // 0: any length may be announced.
            let limit = request.takesBeginning ? 0 : max(curl_off_t(clamping: request.maximumResponseBytes), 1)
            isFine = watchbox_curl_set_offset(raw, CURLOPT_MAXFILESIZE_LARGE, limit) == CURLE_OK && isFine
        } else {
            // Slower than a byte a second for so long is silence; a paused transfer is not counted as slow.
            isFine = set(CURLOPT_LOW_SPEED_LIMIT, 1) && isFine
            let seconds = (Libcurl.milliseconds(request.totalTimeout) + 999) / 1000
            isFine = set(CURLOPT_LOW_SPEED_TIME, seconds) && isFine
        }
        isFine = setUpBody(request) && isFine
        isFine = setUpHeaders(request) && isFine
        return setUpSinks() && isFine
    }

    private func setUp(_ credentials: HTTPCredentials, _ request: HTTPRequest, _ options: inout TransferOptions) {
        options.set(CURLOPT_USERNAME, credentials.user)
        options.set(CURLOPT_PASSWORD, credentials.password)
        // With one scheme alone, libcurl knows that a challenge will come and leaves the body out of the first request;
        // a device that answers an empty message with a fault would then never ask for a login. So it gets a second
        // scheme, which no server can ask for and no key is there for.
        var schemes = watchbox_curl_auth_digest() | watchbox_curl_auth_never()
        if request.allowsBasic { schemes |= watchbox_curl_auth_basic() }
        options.set(CURLOPT_HTTPAUTH, schemes)
    }

    private func setUpBody(_ request: HTTPRequest) -> Bool {
        var isFine = true
        if !request.body.isEmpty || [.post, .put, .patch].contains(request.method) {
            isFine = set(CURLOPT_POST, 1)
            let size = curl_off_t(request.body.count)
            isFine = watchbox_curl_set_offset(raw, CURLOPT_POSTFIELDSIZE_LARGE, size) == CURLE_OK && isFine
            isFine =
                request.body.withUnsafeBytes { bytes in
                    guard let base = bytes.baseAddress, !bytes.isEmpty else { return set(CURLOPT_COPYPOSTFIELDS, "") }
                    // Copied; the size was set before, so a NUL in it ends nothing.
                    return watchbox_curl_set_pointer(
                        raw, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: base)) == CURLE_OK
                } && isFine
        }
        return set(CURLOPT_CUSTOMREQUEST, request.method.rawValue) && isFine
    }

    private func setUpHeaders(_ request: HTTPRequest) -> Bool {
        var lines = request.headers.map { header in
            // "Name;" is libcurl's spelling of a header without a value.
            header.value.isEmpty ? "\(header.name);" : "\(header.name): \(header.value)"
        }
        // Waiting for "100 Continue" costs a round trip, or a second where the server does not know it.
        lines.append("Expect:")
        for line in lines {
            guard let longer = watchbox_curl_slist_append(list, line) else { return false }
            list = longer
        }
        return set(CURLOPT_HTTPHEADER, pointer: UnsafeMutableRawPointer(list))
    }

    private func setUpSinks() -> Bool {
        // Unretained: the worker holds this object for as long as libcurl holds the handle.
        let context = Unmanaged.passUnretained(self).toOpaque()
        var isFine = set(CURLOPT_WRITEDATA, pointer: context)
        isFine = set(CURLOPT_HEADERDATA, pointer: context) && isFine
        let onBody: watchbox_curl_sink = { bytes, size, count, context in
            Transfer.received(bytes, size, count, context) { $0.bodyArrived($1) }
        }
        let onHeader: watchbox_curl_sink = { bytes, size, count, context in
            Transfer.received(bytes, size, count, context) { $0.headerArrived($1) }
        }
        isFine = watchbox_curl_set_sink(raw, CURLOPT_WRITEFUNCTION, onBody) == CURLE_OK && isFine
        return watchbox_curl_set_sink(raw, CURLOPT_HEADERFUNCTION, onHeader) == CURLE_OK && isFine
    }

    /// A return value other than the size ends the transfer with CURLE_WRITE_ERROR, or pauses it.
    private static func received(
        _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?,
        _ take: (Transfer, UnsafeRawBufferPointer) -> Reception
    ) -> Int {
        let (length, overflow) = size.multipliedReportingOverflow(by: count)
        guard let bytes, let context, !overflow, length > 0 else { return 0 }
        let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
        return switch take(transfer, UnsafeRawBufferPointer(start: bytes, count: length)) {
        case .taken: length
        case .refused: 0
        case .paused: Int(CURL_WRITEFUNC_PAUSE)
        }
    }

    private func bodyArrived(_ bytes: UnsafeRawBufferPointer) -> Reception {
        if let stream = exchange.stream, BodyStream.isSuccess(status) { return stream.offer(bytes) ? .taken : .paused }
        let room = max(exchange.request.maximumResponseBytes, 0) - body.count
        guard bytes.count <= room else {
            if exchange.request.takesBeginning {
                body.append(contentsOf: bytes.prefix(room))
                isCut = true
            } else {
                isTooLarge = true
            }
            return .refused
        }
        body.append(contentsOf: bytes)
        return .taken
    }

    /// The reader has room again; may call `bodyArrived` before it returns.
    func resume() {
        guard let stream = exchange.stream, stream.takeResumption() else { return }
        _ = watchbox_curl_easy_resume(raw)
    }

    private var status: Int {
        var status = 0
        watchbox_curl_get_long(raw, CURLINFO_RESPONSE_CODE, &status)
        return status
    }

    private func headerArrived(_ bytes: UnsafeRawBufferPointer) -> Reception {
        headerBytes += bytes.count
        guard headerBytes <= Self.maximumHeaderBytes else {
            isTooLarge = true
            return .refused
        }
        let line = String(decoding: bytes, as: UTF8.self)
        if line.hasPrefix("HTTP/") {  // a new status line: what came before was an interim answer
            headers = []
            body = []
        } else if let colon = line.firstIndex(of: ":") {
            let blank: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0.isNewline }
            let value = line[line.index(after: colon)...].drop(while: blank)
            let end = value.lastIndex { !blank($0) }.map { value.index(after: $0) } ?? value.startIndex
            headers.append(HTTPHeader(String(line[..<colon]), String(value[..<end])))
        }
        return .taken
    }

    /// After the transfer ended with this result.
    func outcome(_ code: CURLcode) -> Exchange.Outcome {
        let status = status
        if code == CURLE_OK || (code == CURLE_WRITE_ERROR && isCut), (100...999).contains(status) {
            var response = HTTPResponse(status: status, headers: headers, body: body)
            if exchange.request.unixSocketPath == nil {
                response.peerAddress = Libcurl.string(raw, CURLINFO_PRIMARY_IP)
            }
            if url.isEncrypted { response.pin = pin }
            return .success(response)
        }
        return .failure(error(code))
    }

    private var pin: String? {
        switch exchange.request.trust {
        case .system: nil
        // libcurl has compared it.
        case .pinned(let pin): pin
        case .firstUse: Libcurl.pin(raw)
        }
    }

    private func error(_ code: CURLcode) -> HTTPClientError {
        let request = exchange.request
        let host = url.host
        let reason = Libcurl.text(code)
        var connected: curl_off_t = 0
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT:
            return .unreachable(host: host, reason: reason)
        case CURLE_OPERATION_TIMEDOUT:
            // Zero until the connection, TLS included, is established.
            watchbox_curl_get_offset(raw, CURLINFO_PRETRANSFER_TIME_T, &connected)
            return connected > 0
                ? .timedOut(host: host, after: request.totalTimeout)
                : .connectTimedOut(host: host, after: min(request.connectTimeout, request.totalTimeout))
        case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
            return request.trust == .system
                ? .tlsFailed(host: host, reason: TrustFault.pinnedKey.rawValue) : .pinMismatch(host: host)
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CIPHER,
            CURLE_SSL_ISSUER_ERROR, CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_CERTPROBLEM, CURLE_USE_SSL_FAILED:
            return .tlsFailed(host: host, reason: reason)
        case CURLE_FILESIZE_EXCEEDED:
            return .responseTooLarge(host: host, limit: request.maximumResponseBytes)
        case CURLE_WRITE_ERROR where isTooLarge:
            return .responseTooLarge(host: host, limit: request.maximumResponseBytes)
        case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL, CURLE_BAD_CONTENT_ENCODING, CURLE_OK:
            return .malformedResponse(host: host, reason: reason)
        default:
            return .connectionLost(host: host, reason: reason)
        }
    }

    private func set(_ option: CURLoption, _ value: Int) -> Bool {
        watchbox_curl_set_long(raw, option, value) == CURLE_OK
    }

    private func set(_ option: CURLoption, _ value: String) -> Bool {
        watchbox_curl_set_string(raw, option, value) == CURLE_OK
    }

    private func set(_ option: CURLoption, pointer: UnsafeMutableRawPointer?) -> Bool {
        watchbox_curl_set_pointer(raw, option, pointer) == CURLE_OK
    }

    /// A line break in a value would be a second header, of the value's author.
    private static func isValid(_ header: HTTPHeader) -> Bool {
        let name = header.name.utf8
        let isNamePart: (UInt8) -> Bool = {
            $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: ";")
        }
        let isForbidden: (UInt8) -> Bool = { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }
        return !name.isEmpty && name.allSatisfy(isNamePart) && !header.value.utf8.contains(where: isForbidden)
    }
}
