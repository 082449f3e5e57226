internal import Wire

/// A place of the API below `/api/v1/`: what daemons route, and what their clients ask for.
///
/// `APIPath.cameras("front", "password")` is `/api/v1/cameras/front/password`. Each part stays one part of the path,
/// whatever a person typed; a route gives `"{id}"` for the part that requests name.
public struct APIPath: Sendable {
    public static let status = APIPath("status")
    public static let version = APIPath("version")
    public static let openAPI = APIPath("openapi.json")
    public static let cameras = APIPath("cameras")
    public static let cameraTests = APIPath("camera-tests")
    public static let streams = APIPath("streams")
    public static let keys = APIPath("keys")
    public static let relays = APIPath("relays")
    public static let hooks = APIPath("hooks")
    /// The key access server that the box encrypts for.
    public static let keyAccess = APIPath("kas")
    /// The box's device key.
    public static let device = APIPath("device")
    public static let discovery = APIPath("discovery")
    public static let health = APIPath("health")
    public static let events = APIPath("events")
    public static let logs = APIPath("logs")
    public static let configuration = APIPath("config")

    // MARK: At the socket of one camera's process

    public static let keyFrame = APIPath("key-frame")
    public static let rotateKey = APIPath("rotate-key")
    /// The token that this process shows the key access server.
    public static let keyAccessToken = APIPath("kas-token")
    public static let video = APIPath("video")
    public static let snapshot = APIPath("snapshot")
    public static let controls = APIPath("controls")
    public static let recording = APIPath("recording")
    public static let recordings = APIPath("recordings")
    public static let test = APIPath("test")
    public static let ptz = APIPath("ptz")
    public static let presets = APIPath("presets")
    public static let encoders = APIPath("encoders")
    public static let announced = APIPath("announced")

    private let root: String

    private init(_ root: String) {
        self.root = "/api/v1/" + root
    }

    public func callAsFunction(_ parts: String...) -> String {
        parts.reduce(root) { $0 + "/" + Self.part($1) }
    }

    /// A name as one part of a path: `front` as it is, `a/b` as `a%2Fb`. Braces stay, for routes; a client's URL has
    /// them encoded.
    public static func part(_ name: String) -> String { PercentEncoding.encode(name, alsoAllowed: "{}") }
}
