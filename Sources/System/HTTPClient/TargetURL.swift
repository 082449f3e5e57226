internal import CCurl
internal import Wire

/// A URL as libcurl reads it, checked before anything is sent. The transfer itself uses this very object, so that no
/// second parser can see another host in the same text.
struct TargetURL: ~Copyable {
    let handle: OpaquePointer
    /// As the URL names it; an IPv6 address without its brackets.
    let host: String
    /// Whether its scheme is https.
    let isEncrypted: Bool

    init(
        _ text: String, unixSocketPath: String?, plainHTTP: HTTPClient.PlainHTTP
    ) throws(HTTPClientError) {
        guard text.utf8.count <= 8192 else { throw .invalidURL(reason: "longer than 8192 bytes") }
        guard !text.utf8.contains(0) else { throw .invalidURL(reason: "it holds a NUL") }
        guard let url = watchbox_curl_url() else { throw .unavailable(reason: "out of memory") }
        do throws(HTTPClientError) {
            host = try Self.check(url, text, unixSocketPath: unixSocketPath, plainHTTP: plainHTTP)
            isEncrypted = Self.part(url, CURLUPART_SCHEME) == "https"
            handle = url
        } catch {
            watchbox_curl_url_cleanup(url)
            throw error
        }
    }

    deinit { watchbox_curl_url_cleanup(handle) }

    private static func check(
        _ url: OpaquePointer, _ text: String, unixSocketPath: String?, plainHTTP: HTTPClient.PlainHTTP
    ) throws(HTTPClientError) -> String {
        guard watchbox_curl_url_set(url, CURLUPART_URL, text) == CURLUE_OK else {
            throw .invalidURL(reason: "it does not follow the form https://host[:port]/path")
        }
        guard part(url, CURLUPART_USER) == nil, part(url, CURLUPART_PASSWORD) == nil else {
            throw .invalidURL(reason: "a user name or password does not belong into it")
        }
        guard var host = part(url, CURLUPART_HOST), !host.isEmpty else { throw .invalidURL(reason: "it names no host") }
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        switch part(url, CURLUPART_SCHEME) {
        case "https": break
        case "http":
            guard plainHTTP == .anywhere || unixSocketPath != nil || isLoopback(host) else {
                throw .plainHTTPRefused(host: host)
            }
        default: throw .invalidURL(reason: "its scheme is neither https nor http")
        }
        return host
    }

    /// 127.0.0.0/8, ::1, and the name that libcurl resolves to these by itself (RFC 6761 §6.3).
    static func isLoopback(_ host: String) -> Bool {
        NetworkAddress.isLoopback(host: host.lowercased())
    }

    private static func part(_ url: OpaquePointer, _ part: CURLUPart) -> String? {
        guard let text = watchbox_curl_url_get(url, part) else { return nil }
        defer { watchbox_curl_free(text) }
        return String(cString: text)
    }
}
