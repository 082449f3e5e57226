/// `rtsp[s]://host[:port][/path][?query]`, without user information; or `http[s]://…`, where frames come that way.
///
/// The path stays as it was given, its query with it: cameras compare addresses byte by byte.
public struct RTSPURL: Hashable, Sendable {
    /// What is spoken there.
    public enum Service: Hashable, Sendable, CaseIterable {
        case rtsp, http
    }

    public let service: Service
    /// `rtsps`, `https`: inside TLS.
    public let isSecure: Bool
    /// A name or an address; an IPv6 address without brackets, with its zone if it was given one.
    public let host: String
    public let port: UInt16
    /// With the query; begins with a slash.
    public let path: String

    /// Characters of the longest address that is taken.
    static let maxLength = 2048

    /// - Throws: why the string is not such an address; the string itself is never quoted, as it may hold a password.
    public init(_ text: String) throws(RTSPURLFault) {
        self = try Self.parse(text, dropsUser: false)
    }

    /// The same of `http://` and `https://` as well.
    public init(stream text: String) throws(RTSPURLFault) {
        self = try Self.parse(text, dropsUser: false, services: Service.allCases)
    }

    init(service: Service = .rtsp, isSecure: Bool, host: String, port: UInt16, path: String) {
        self.service = service
        self.isSecure = isSecure
        self.host = host
        self.port = port
        self.path = path
    }

    /// The same stream of the same scheme at another place.
    public func with(host: String, port: UInt16) -> RTSPURL {
        RTSPURL(service: service, isSecure: isSecure, host: host, port: port, path: path)
    }

    /// The port that an address without one means: 554, with TLS 322; of HTTP 80 and 443.
    public static func defaultPort(_ service: Service = .rtsp, isSecure: Bool) -> UInt16 {
        switch service {
        case .rtsp: isSecure ? 322 : 554
        case .http: isSecure ? 443 : 80
        }
    }

    /// Host and, unless it is the default, port; an IPv6 address in brackets and without its zone, which means nothing
    /// to the camera.
    public var authority: String {
        let address = host.prefix { $0 != "%" }
        let name = host.contains(":") ? "[\(address)]" : host
        return port == Self.defaultPort(service, isSecure: isSecure) ? name : "\(name):\(port)"
    }
}

extension RTSPURL: CustomStringConvertible {
    /// As it is sent.
    public var description: String { "\(service.scheme(isSecure: isSecure))://\(authority)\(path)" }
}

extension RTSPURL.Service {
    func scheme(isSecure: Bool) -> String {
        switch self {
        case .rtsp: isSecure ? "rtsps" : "rtsp"
        case .http: isSecure ? "https" : "http"
        }
    }
}

/// Why a string is not an RTSP address. Says nothing of the string itself, which may hold secrets.
public enum RTSPURLFault: Error, Equatable, Sendable {
    /// Neither `rtsp://` nor `rtsps://`, nor, where allowed, `http://` or `https://`.
    case unknownScheme
    /// White space, a control character, `#`, or what is not ASCII.
    case invalidCharacter
    /// A user or a password, which belong elsewhere.
    case userInformation
    case invalidHost
    /// Not within 1…65535.
    case invalidPort
    /// More than 2048 characters.
    case tooLong
}

extension RTSPURLFault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unknownScheme:
            "the address must begin with rtsp:// or rtsps://, or http:// or https:// for frames over HTTP"
        case .invalidCharacter:
            "the address holds white space, a control character, # or a letter beyond ASCII; write it percent-encoded"
        case .userInformation: "the address holds a user or a password; give them separately"
        case .invalidHost: "the address has no valid host"
        case .invalidPort: "the port of the address is not within 1 to 65535"
        case .tooLong: "the address is longer than \(RTSPURL.maxLength) characters"
        }
    }
}
