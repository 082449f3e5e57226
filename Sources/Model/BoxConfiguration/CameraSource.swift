internal import CameraModel
internal import Wire

/// Where a camera's media come from, as its `source` says.
enum CameraSource: Equatable, Sendable {
    case testPattern
    case file(path: String)
    /// Below `/dev`, or `csi:…`.
    case device(path: String)
    /// `rtsp://…`, `rtsps://…`, `onvif://…`, `http://…` or `https://…`, without user and password.
    case network(url: String)

    static let schemes = ["test", "file", "v4l2", "csi"] + CameraConfiguration.Network.schemes

    init(_ text: String) throws(SourceFault) {
        guard !text.isEmpty, text.utf8.count <= 2048 else { throw .length }
        guard ShownText.isPrintable(text) else { throw .controlCharacter }
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
        case "v4l2", "csi":
            let path = CameraConfiguration.Device.path(ofSource: text) ?? ""
            guard CameraConfiguration.Device.isDevicePath(path), scheme == "csi" || path.hasPrefix("/dev/") else {
                throw .notADevice
            }
            self = .device(path: path)
        default:
            guard rest.hasPrefix("//") else { throw .noAddress }
            do throws(CameraConfiguration.Network.AddressFault) {
                try CameraConfiguration.Network.check(address: text)
            } catch {
                throw .address(error)
            }
            self = .network(url: text)
        }
    }
}

/// Why a source is refused. Quotes none of its text, which may hold a password.
enum SourceFault: Error, Equatable {
    case length
    case controlCharacter
    case unknownScheme
    case testPatternHasMore
    case relativePath
    case notADevice
    case noAddress
    case address(CameraConfiguration.Network.AddressFault)
}
