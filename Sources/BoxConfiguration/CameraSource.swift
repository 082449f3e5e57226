internal import CameraModel

/// Where a camera's media come from, as its `source` says.
enum CameraSource: Equatable, Sendable {
    case testPattern
    case file(path: String)
    /// Below `/dev`.
    case device(path: String)
    /// Recognised, but this version has no driver for it.
    case unsupported(scheme: String)

    static let schemes = ["test", "file", "v4l2", "rtsp", "rtsps", "onvif"]

    init(_ text: String) throws(SourceFault) {
        guard !text.isEmpty, text.utf8.count <= 2048 else { throw .length }
        guard text.unicodeScalars.allSatisfy(KeyText.isPrintable) else { throw .controlCharacter }
        guard let colon = text.firstIndex(of: ":"), Self.schemes.contains(String(text[..<colon])) else {
            throw .unknownScheme
        }
        let scheme = String(text[..<colon])
        let rest = text[text.index(after: colon)...]
        switch scheme {
        case "test":
            guard rest.isEmpty else { throw .testPatternHasMore }
            self = .testPattern
        case "file":
            guard rest.hasPrefix("/"), !rest.hasSuffix("/") else { throw .relativePath }
            self = .file(path: String(rest))
        case "v4l2":
            guard CameraConfiguration.Device.isDevicePath(String(rest)) else { throw .notADevice }
            self = .device(path: String(rest))
        default:
            guard rest.hasPrefix("//") else { throw .noAddress }
            guard !rest.contains("@") else { throw .credentials }
            guard !rest.contains(where: { $0 == "?" || $0 == "#" }) else { throw .query }
            guard let first = rest.dropFirst(2).first, first != "/" else { throw .noAddress }
            guard !rest.contains(where: \.isWhitespace) else { throw .controlCharacter }
            self = .unsupported(scheme: scheme)
        }
    }
}

/// Why a source is refused. Says nothing of its text, which may hold a password.
enum SourceFault: Error, Equatable {
    case length
    case controlCharacter
    case unknownScheme
    case testPatternHasMore
    case relativePath
    case notADevice
    case noAddress
    case credentials
    case query
}
