internal import CCurl
internal import Glibc
internal import Platform

/// A TCP or TLS connection that libcurl makes: name look-up, both address families, deadline, certificate; and then
/// bytes, of whatever protocol.
///
/// Used by the thread that makes it, and by no other; it has none of its own (looking up a name takes one of libcurl's
/// for as long as that lasts). No proxy, no ALPN. It is closed when the last reference ends, without waiting.
public final class RawConnection {
    public struct Options: Sendable {
        /// Name or address; an IPv6 address without brackets.
        public var host: String
        public var port: UInt16
        /// nil: no TLS.
        public var trust: HTTPTrust?
        /// Name look-up, TCP and TLS handshake together.
        public var connectTimeout: Duration
        /// Trusted certificates (PEM) in place of the system's, for `.system`.
        public var certificateAuthorityFile: String?
        /// The only key that is accepted, beside the certificates, for `.system`; nil: any.
        public var publicKeyPin: String?

        public init(
            host: String, port: UInt16, trust: HTTPTrust? = nil, connectTimeout: Duration = .seconds(5),
            certificateAuthorityFile: String? = nil, publicKeyPin: String? = nil
        ) {
            self.host = host
            self.port = port
            self.trust = trust
            self.connectTimeout = connectTimeout
            self.certificateAuthorityFile = certificateAuthorityFile
            self.publicKeyPin = publicKeyPin
        }
    }

    /// To poll, and for its options. TLS keeps bytes that were read with others: `receive` until it gives nil, then
    /// poll.
    public let descriptor: Int32
    /// Without brackets or port.
    public let peerAddress: String
    /// This machine's, on that connection.
    public let localAddress: String
    /// Pin of the server's key, "sha256//BASE64"; nil without TLS.
    public let pin: String?
    /// The server's certificate as PEM; nil without TLS.
    public let certificate: String?

    private let host: String
    private let handles: ConnectionHandles
    /// With TLS: what libcurl has begun to send and wants again, at the same place in memory, before anything else.
    private var unfinished: [UInt8] = []
    /// What ended it: TLS must not be used for sending after an error.
    private var fault: HTTPClientError?
    private let isEncrypted: Bool

    /// Longest piece that is handed to TLS at once: one record.
    private static let maximumPiece = 16 * 1024

    /// Connects.
    ///
    /// - Parameter isCancelled: asked at least every 50 ms, on this thread; true ends it with `.cancelled`.
    /// - Throws: `.unreachable` (no address, refused, no route), `.connectTimedOut`, `.tlsFailed`, `isPinMismatch`,
    ///   `.cancelled`, `.invalidURL` for an invalid host, `.unavailable`.
    public init(_ options: Options, isCancelled: () -> Bool) throws(HTTPClientError) {
        guard Libcurl.isAvailable else { throw Libcurl.missing }
        let handles = try ConnectionHandles(options)
        try handles.connect(options, isCancelled: isCancelled)
        let descriptor = watchbox_curl_get_socket(handles.easy)
        guard descriptor >= 0 else { throw .connectionLost(host: options.host, reason: "it has no socket") }
        var pin: String?
        if options.trust != nil {
            pin = Libcurl.pin(handles.easy)
            guard pin != nil else {
                throw .tlsFailed(host: options.host, reason: "its certificate cannot be read")
            }
        }
        self.descriptor = Int32(descriptor)
        self.pin = pin
        certificate =
            options.trust == nil ? nil : watchbox_curl_get_certificate(handles.easy).map { String(cString: $0) }
        self.handles = handles
        host = options.host
        isEncrypted = options.trust != nil
        peerAddress = Libcurl.string(handles.easy, CURLINFO_PRIMARY_IP) ?? ""
        localAddress = Libcurl.string(handles.easy, CURLINFO_LOCAL_IP) ?? ""
    }

    /// What has come, without waiting.
    ///
    /// - Returns: how many bytes were written into `buffer`; nil when nothing is there now, 0 when the peer has ended.
    /// - Throws: `.connectionLost`.
    public func receive(into buffer: UnsafeMutableRawBufferPointer) throws(HTTPClientError) -> Int? {
        guard let start = buffer.baseAddress, !buffer.isEmpty else { return nil }
        // libcurl would give 16 KiB of it at most, and nothing of its own lies between.
        guard isEncrypted else { return try receivePlain(into: buffer) }
        var count = 0
        let code = watchbox_curl_easy_receive(handles.easy, start, buffer.count, &count)
        return try outcome(code, count)
    }

    private func receivePlain(into buffer: UnsafeMutableRawBufferPointer) throws(HTTPClientError) -> Int? {
        while true {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, CInt(MSG_DONTWAIT))
            if count >= 0 { return count }
            switch errno {
            case EINTR: continue
            case EAGAIN: return nil
            default: throw lost(SystemMessage.text(errno))
            }
        }
    }

    /// Sends without waiting.
    ///
    /// - Parameter bytes: after a call that took fewer of them, or none, the next call begins with the ones not taken:
    ///   TLS may have begun to send them. More may follow behind them.
    /// - Returns: how many were taken; nil when none can be taken now: poll for writing.
    /// - Throws: `.connectionLost`, from the first error on at every call.
    public func send(_ bytes: UnsafeRawBufferPointer) throws(HTTPClientError) -> Int? {
        if let fault { throw fault }
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return 0 }
        var count = 0
        guard isEncrypted else {
            let code = watchbox_curl_easy_send(handles.easy, start, bytes.count, &count)
            return try outcome(code, count)
        }
        // OpenSSL refuses a repeated write from another address, and a caller's array moves.
        if unfinished.isEmpty { unfinished = Array(bytes.prefix(Self.maximumPiece)) }
        guard bytes.count >= unfinished.count else {
            throw lost("bytes that were begun to be sent are missing")
        }
        let code = unfinished.withUnsafeBytes {
            watchbox_curl_easy_send(handles.easy, $0.baseAddress, $0.count, &count)
        }
        let taken = try outcome(code, count)
        if taken != nil { unfinished.removeAll(keepingCapacity: true) }
        return taken
    }

    private func outcome(_ code: CURLcode, _ count: Int) throws(HTTPClientError) -> Int? {
        switch code {
        case CURLE_OK: return count
        case CURLE_AGAIN: return nil
        default: throw lost(Libcurl.text(code))
        }
    }

    private func lost(_ reason: String) -> HTTPClientError {
        let error = HTTPClientError.connectionLost(host: host, reason: reason)
        if fault == nil { fault = error }
        return error
    }
}
