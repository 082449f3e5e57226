/// One HTTP request. What it holds (tokens above all) never appears in an error.
public struct HTTPRequest: Sendable {
    public enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case patch = "PATCH"
        case delete = "DELETE"
    }

    public var method: Method

    /// Absolute; https anywhere, http to this machine only (see `HTTPClient.Configuration.plainHTTP`). No user name or
    /// password in it.
    public var url: String

    public var headers: [HTTPHeader]
    public var body: [UInt8]

    /// Name look-up, TCP and TLS handshake together.
    public var connectTimeout: Duration

    /// From `send` to the last byte of the answer; with `stream`, the longest silence of the server instead, in whole
    /// seconds.
    public var totalTimeout: Duration

    /// Longest body that is accepted, in bytes; a longer one ends the request when it is announced or when it comes.
    /// With `stream`, of an answer that refuses.
    public var maximumResponseBytes: Int

    /// Of an answer with a longer body the beginning is given instead of an error, and the rest is not read: for those
    /// who want the status alone.
    public var takesBeginning = false

    /// Connects to this socket instead of to the URL's host.
    public var unixSocketPath: String?

    /// May use a connection that is there already, and leave its own to others. False where the same path is not always
    /// the same server.
    public var sharesConnection = true

    /// Answers a Digest challenge (RFC 7616: MD5, SHA-256; the first that the server names) with them; they are sent
    /// only after one, and once. Each request is asked again, so it takes two round trips.
    public var digest: HTTPCredentials?

    /// Answers a Basic challenge with `digest` as well. The server gets the password itself, and over plain HTTP so
    /// does everybody between. Over https only to a certificate that is checked or pinned: see `HTTPTrust.firstUse`.
    public var allowsBasic = false

    /// What the server's certificate must be; without effect over plain HTTP.
    public var trust = HTTPTrust.system

    public init(
        method: Method = .get, url: String, headers: [HTTPHeader] = [], body: [UInt8] = [],
        connectTimeout: Duration = .seconds(5), totalTimeout: Duration = .seconds(10),
        maximumResponseBytes: Int = 1 << 20, unixSocketPath: String? = nil
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.connectTimeout = connectTimeout
        self.totalTimeout = totalTimeout
        self.maximumResponseBytes = maximumResponseBytes
        self.unixSocketPath = unixSocketPath
    }
}

public struct HTTPHeader: Equatable, Sendable {
    public var name: String
    public var value: String

    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

extension HTTPHeader: CustomStringConvertible {
    /// The name alone: the value may be a secret.
    public var description: String { name }
}

/// What the server answered, whatever its status. A redirect is an answer like any other: nothing follows it.
public struct HTTPResponse: Equatable, Sendable {
    /// 100 to 999.
    public var status: Int
    /// In the order in which they came.
    public var headers: [HTTPHeader]
    public var body: [UInt8]
    /// Pin of the server's key, "sha256//BASE64", when the request's trust was `.pinned` or `.firstUse` and TLS was
    /// spoken; otherwise nil.
    public var pin: String?
    /// The address that answered, without brackets or port; nil for a Unix socket.
    public var peerAddress: String?

    public init(status: Int, headers: [HTTPHeader] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The first header of this name, in any case of letters.
    public func header(_ name: String) -> String? {
        let folded = name.lowercased()
        return headers.first { $0.name.lowercased() == folded }?.value
    }
}
