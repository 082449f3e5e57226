public import CameraModel

/// `camera.ID`
public struct CameraSettings: Equatable, Sendable {
    /// For people; nil: the ID. `displayName(_:)` has it filled in.
    public var name: String?
    /// `test:`, `file:/path`, `v4l2:/dev/…`, `csi:…`, `rtsp://…`, `rtsps://…`, `onvif://…`, `http://…` or `https://…`.
    public var source = ""
    /// What is encoded here, of whatever source.
    public var video = CameraConfiguration.TestPattern()
    /// A file begins again at its end.
    public var loop = true
    /// What only a v4l2 camera has; without its path and what `video` says.
    public var device = CameraConfiguration.Device(path: "")
    /// The display name is burnt into a v4l2 camera's image.
    public var showsName = false
    /// What only a network camera has; without its URL, what `video` says, and its login.
    public var network = CameraConfiguration.Network(url: "")
    /// Name of a relay, which need not be there yet.
    public var relay = CameraSettings.defaultRelay
    /// Nil: the ID. `streamName(_:)` has it filled in.
    public var stream: String?
    public var active = true
    /// Position in lists.
    public var grid = 0
    /// Until a new key is used.
    public var rotateSeconds = CameraConfiguration.Rotation().seconds
    /// Whether the bitrate follows the uplink, and how low it may fall: bits per second; nil: a tenth of `video.bitrate`.
    public var adapt = true
    public var minBitrate: Int?
    /// Whether it is recorded on the box, sealed as its stream is.
    public var record = CameraConfiguration.RecordingMode.off
    /// Seconds before an event that are recorded with it, and after it.
    public var recordBefore = 10.0
    public var recordAfter = 30.0
    /// Spans of the week that are recorded whole; with `continuous` nothing else is, unless there is none.
    public var recordSchedule: [WeekSpan] = []
    /// Of an RSA key that opens its recordings beside the KAS: Base64 of the SubjectPublicKeyInfo; nil: the KAS alone does.
    public var recordRecoveryKey: String?
    /// 10^9 bytes that its recordings may take together.
    public var recordGigabytes = 8.0
    /// Days until a recording goes.
    public var recordDays = 30.0
    /// 10^9 bytes of the disk that recordings leave free.
    public var recordFreeGigabytes = 1.0
    /// Attribute URIs; a viewer must be granted every one.
    public var attributes: [String] = []
    /// Subjects; empty: every authenticated one.
    public var viewers: [String] = []
    /// At the camera.
    public var user: String?
    /// Name of the secret of scope `camera-ID` that holds the camera's password; nil: `password`, of a network camera.
    public var secret: String?

    /// Of a camera that names none.
    public static let defaultRelay = "main"

    /// Of all cameras' recordings; one directory in it for each.
    public static let recordings = "/var/lib/watchbox-recordings"

    public func displayName(_ id: String) -> String { name ?? id }

    public func streamName(_ id: String) -> String { stream ?? id }

    /// It is pulled from the network.
    public var isNetworkCamera: Bool {
        if case .network? = try? CameraSource(source) { true } else { false }
    }

    /// Which device a network camera must be.
    public var identity: CameraConfiguration.Network.Identity {
        get { network.identity ?? .init() }
        set { network.identity = newValue == .init() ? nil : newValue }
    }

    /// Name of the secret of scope `camera-ID` that its process reads; nil: it needs none. It need not be stored: the
    /// camera says then that it is missing.
    public var passwordSecret: String? { isNetworkCamera && user != nil ? secret ?? "password" : nil }
}

// As the configuration spells them.
extension CameraSettings {
    var size: FrameSize {
        get { FrameSize(width: video.width, height: video.height) }
        set { (video.width, video.height) = (newValue.width, newValue.height) }
    }

    var overlay: [OverlayPart] {
        get { (device.overlay.time ? [.time] : []) + (showsName ? [.name] : []) }
        set {
            device.overlay.time = newValue.contains(.time)
            showsName = newValue.contains(.name)
        }
    }

    /// In a stable order; of two for one name the last counts.
    var controls: [ControlSetting] {
        get { device.controls.sorted { $0.key < $1.key }.map { ControlSetting(name: $0.key, value: $0.value) } }
        set {
            device.controls = Dictionary(newValue.map { ($0.name, $0.value) }, uniquingKeysWith: { _, last in last })
        }
    }
}
