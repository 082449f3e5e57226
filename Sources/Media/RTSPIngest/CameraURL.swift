internal import ErrorCatalog
internal import Wire

/// What a camera's configured URL names: a stream, or a device that is asked for its stream.
enum CameraURL: Equatable, Sendable {
    case stream(String)
    /// - Parameter path: of the device service; nil: the usual one.
    case device(host: String, port: UInt16?, path: String?)

    static let maxLength = 2048

    /// It may show a certificate that is worth being kept: one behind a redirect from an address without TLS is not.
    var hasCertificate: Bool {
        switch self {
        case .device: true
        case .stream(let text): ["rtsps:", "https:"].contains { text.lowercased().hasPrefix($0) }
        }
    }

    /// - Throws: why it is invalid, without quoting it: someone may have put a password into it.
    init(_ text: String) throws(PullFault) {
        let prefix = "onvif://"
        guard text.utf8.count <= Self.maxLength, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw Self.fault("is too long, or holds white space or a letter beyond ASCII")
        }
        guard text.lowercased().hasPrefix(prefix) else {
            self = .stream(text)
            return
        }
        let rest = text.dropFirst(prefix.count)
        let end = rest.firstIndex(of: "/") ?? rest.endIndex
        let authority = rest[..<end]
        let path = rest[end...]
        guard !authority.contains("@") else { throw Self.fault("holds a user or a password") }
        guard let parts = HostPort(authority: authority), !parts.host.isEmpty else {
            throw Self.fault("has no valid host")
        }
        let port = parts.portText.flatMap { HostPort.port($0) }
        guard port != nil || parts.portText == nil else { throw Self.fault("has no valid port") }
        self = .device(host: String(parts.host), port: port, path: path.isEmpty || path == "/" ? nil : String(path))
    }

    private static func fault(_ reason: String) -> PullFault {
        PullFault(
            .cameraProtocol, "the camera's URL \(reason)",
            hint: "Set it again: watchboxctl camera edit ID --source URL",
            ending: .person)
    }
}
