public import CameraModel
internal import Settings

/// `camera.ID`
public struct CameraSettings: Equatable, Sendable {
    /// For people; nil: the ID. `displayName(_:)` has it filled in.
    public var name: String?
    /// `test:`, `file:/path`, `v4l2:/dev/…`, `rtsp://…`, `rtsps://…`, `onvif://…`, `http://…` or `https://…`.
    public var source: String
    /// Pixels.
    public var width: Int
    public var height: Int
    /// Pictures per second.
    public var rate: Int
    /// Of the video, in bits per second.
    public var bitrate: Int
    /// Seconds between two key frames.
    public var gop: Double
    public var audio: Bool
    /// The test pattern hangs after so many seconds; nil: never.
    public var stallAfter: Double?
    /// A file begins again at its end.
    public var loop: Bool
    /// Of what a v4l2 camera delivers, and of what becomes of it.
    public var pixelFormat: CameraConfiguration.Device.PixelFormat
    public var encoder: CameraConfiguration.Device.Encoder
    /// Clockwise: 0, 90, 180 or 270 degrees.
    public var rotation: Int
    public var flip: CameraConfiguration.Device.Flip
    public var masks: [CameraConfiguration.Device.Mask]
    /// Burnt into the picture: date and time, and the display name.
    public var showsTime: Bool
    public var showsName: Bool
    /// Of the camera, by name.
    public var controls: [String: Int]
    /// ALSA's name of a sound device; nil: no sound.
    public var microphone: String?
    /// Of a network camera, as `CameraConfiguration.Network` has them.
    public var transport: CameraConfiguration.Network.Transport
    public var timestamps: CameraConfiguration.Network.Timestamps
    public var allowsBasic: Bool
    public var pin: String?
    public var snapshotRate: Double
    public var profile: String?
    public var rtspHost: String?
    public var rtspPort: Int?
    public var events: Bool
    public var identity: CameraConfiguration.Network.Identity?
    /// Name of a relay, which need not be there yet.
    public var relay: String
    /// Nil: the ID. `streamName(_:)` has it filled in.
    public var stream: String?
    public var active: Bool
    /// Position in lists.
    public var grid: Int
    /// Until a new key is used.
    public var rotateSeconds: Double
    /// Attribute URIs; a viewer must be granted every one.
    public var attributes: [String]
    /// Subjects; empty: every authenticated one.
    public var viewers: [String]
    /// At the camera.
    public var user: String?
    /// Name of the secret of scope `camera-ID` that holds the camera's password; nil: `password`, of a network camera.
    public var secret: String?

    /// All defaults.
    public init(source: String) {
        self.init(values: ["source": .string(source)])
    }

    public func displayName(_ id: String) -> String { name ?? id }

    public func streamName(_ id: String) -> String { stream ?? id }

    /// It is pulled from the network.
    public var isNetworkCamera: Bool {
        if case .network? = try? CameraSource(source) { true } else { false }
    }

    /// Name of the secret of scope `camera-ID` that its process reads; nil: it needs none. It need not be stored: the
    /// camera says then that it is missing.
    public var passwordSecret: String? { isNetworkCamera && user != nil ? secret ?? "password" : nil }
}

extension CameraSettings: SettingsTable {
    static let definition = KeyTable.camera

    init(values given: [String: SettingValue]) {
        let values = given.merging(SettingDefaults.camera) { given, _ in given }
        name = values.text("name")
        source = values.text("source") ?? ""
        let size = values.text("size").flatMap(PictureSize.init)
        width = size?.width ?? 0
        height = size?.height ?? 0
        rate = values.whole("rate", default: 0)
        bitrate = values.whole("bitrate", default: 0)
        gop = values.number("gop", default: 0)
        audio = values.flag("audio", default: true)
        stallAfter = values["stall_after"].map { _ in values.number("stall_after", default: 0) }
        loop = values.flag("loop", default: true)
        pixelFormat = values.text("pixel_format").flatMap { .init(rawValue: $0) } ?? .automatic
        encoder = values.text("encoder").flatMap { .init(rawValue: $0) } ?? .automatic
        rotation = values.whole("rotate", default: 0)
        flip = values.text("flip").flatMap { .init(rawValue: $0) } ?? .none
        masks = values.list("masks").compactMap { .init(text: $0) }
        let overlay = values.list("overlay").compactMap { OverlayPart(rawValue: $0) }
        showsTime = overlay.contains(.time)
        showsName = overlay.contains(.name)
        controls = ControlSetting.controls(values.list("controls"))
        microphone = values.text("microphone")
        transport = values.text("transport").flatMap { .init(rawValue: $0) } ?? .tcp
        timestamps = values.text("timestamps").flatMap { .init(rawValue: $0) } ?? .auto
        allowsBasic = values.flag("allow_basic", default: false)
        pin = values.text("pin")
        snapshotRate = values.number("snapshot_rate", default: 2)
        profile = values.text("profile")
        rtspHost = values.text("rtsp_host")
        rtspPort = values["rtsp_port"].map { _ in values.whole("rtsp_port", default: 0) }
        events = values.flag("events", default: true)
        identity = CameraConfiguration.Network.Identity(
            endpoint: values.text("identity_endpoint"), serial: values.text("identity_serial"),
            mac: values.text("identity_mac"))
        if identity == CameraConfiguration.Network.Identity() { identity = nil }
        relay = values.text("relay") ?? ""
        stream = values.text("stream")
        active = values.flag("active", default: true)
        grid = values.whole("grid", default: 0)
        rotateSeconds = values.number("rotate_seconds", default: 0)
        attributes = values.list("attributes")
        viewers = values.list("viewers")
        user = values.text("user")
        secret = values.text("secret")
    }

    var values: [String: SettingValue] {
        var values: [String: SettingValue] = [
            "source": .string(source), "size": .string("\(width)x\(height)"), "rate": .integer(Int64(rate)),
            "bitrate": .integer(Int64(bitrate)), "gop": .real(gop), "audio": .boolean(audio), "loop": .boolean(loop),
            "relay": .string(relay), "active": .boolean(active), "grid": .integer(Int64(grid)),
            "rotate_seconds": .real(rotateSeconds), "attributes": .strings(attributes), "viewers": .strings(viewers),
        ]
        values["pixel_format"] = .string(pixelFormat.rawValue)
        values["encoder"] = .string(encoder.rawValue)
        values["rotate"] = .integer(Int64(rotation))
        values["flip"] = .string(flip.rawValue)
        values["masks"] = .strings(masks.map(\.text))
        values["overlay"] = .strings(overlay.map(\.rawValue))
        values["controls"] = .strings(ControlSetting.texts(controls))
        values["microphone"] = microphone.map(SettingValue.string)
        values["transport"] = .string(transport.rawValue)
        values["timestamps"] = .string(timestamps.rawValue)
        values["allow_basic"] = .boolean(allowsBasic)
        values["pin"] = pin.map(SettingValue.string)
        values["snapshot_rate"] = .real(snapshotRate)
        values["profile"] = profile.map(SettingValue.string)
        values["rtsp_host"] = rtspHost.map(SettingValue.string)
        values["rtsp_port"] = rtspPort.map { .integer(Int64($0)) }
        values["events"] = .boolean(events)
        values["identity_endpoint"] = identity?.endpoint.map(SettingValue.string)
        values["identity_serial"] = identity?.serial.map(SettingValue.string)
        values["identity_mac"] = identity?.mac.map(SettingValue.string)
        values["name"] = name.map(SettingValue.string)
        values["stall_after"] = stallAfter.map(SettingValue.real)
        values["stream"] = stream.map(SettingValue.string)
        values["user"] = user.map(SettingValue.string)
        values["secret"] = secret.map(SettingValue.string)
        return values
    }

    private var overlay: [OverlayPart] {
        var parts: [OverlayPart] = []
        if showsTime { parts.append(.time) }
        if showsName { parts.append(.name) }
        return parts
    }
}
