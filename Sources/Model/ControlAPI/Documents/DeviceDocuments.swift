internal import CameraModel

/// One video device of this machine.
public struct VideoNodeDocument: Codable, Equatable, Sendable {
    public enum Kind: String, Codable, Sendable, CaseIterable {
        /// Gives frames of a camera.
        case camera
        /// A codec, a scaler or an image processor: no source.
        case processor
        /// Describes the frames of another node.
        case metadata
        /// A sensor without an image processor, an output, a tuner: `reason` says what, and what to do.
        case unusable
        /// It may not be opened; `reason` says why.
        case unknown
    }

    /// What a camera delivers in one pixel format and size.
    public struct Format: Codable, Equatable, Sendable {
        /// As V4L2 writes it: `YUYV`, `MJPG`.
        public var pixelFormat: String
        /// `1280x720`; a range as `64x64 to 1920x1080`.
        public var size: String
        /// Frames per second, the fastest first; a range has its two ends.
        public var rates: [Double]
        /// This version can publish it.
        public var isUsable: Bool

        public init(pixelFormat: String, size: String, rates: [Double], isUsable: Bool) {
            self.pixelFormat = pixelFormat
            self.size = size
            self.rates = rates
            self.isUsable = isUsable
        }
    }

    /// `/dev/video0`, `csi:/base/soc/i2c0mux/i2c@1/imx708@1a`
    public var device: String
    /// What the driver calls it: `HD Pro Webcam C920`.
    public var name: String
    public var kind: Kind
    /// `usb`, `csi`, `platform`, `pci`, `virtual`; or as the driver reports it: `usb-0000:01:00.0-1.4`.
    public var bus: String
    /// Of several nodes of one device: 0, 1 …
    public var index: Int
    /// The name under `/dev/v4l/by-id`, the same at every port; nil where there is none.
    public var stableID: String?
    /// The name under `/dev/v4l/by-path`, the same for every device at this port.
    public var stablePath: String?
    /// `uvcvideo`; nil where it may not be opened.
    public var driver: String?
    /// Of the USB device.
    public var serial: String?
    /// Of the USB device, as the kernel names it: `1-1.4`.
    public var usbPort: String?
    /// Why it is not a camera, and what to do.
    public var reason: String?
    /// Empty for anything but a camera, and for one that was not asked.
    public var formats: [Format]
    /// Nil unless they were asked for.
    public var controls: [VideoControlDocument]?
    /// ID of the camera that it is already; nil also when that was not asked.
    public var camera: String?

    /// What a camera's configuration calls it: by the name that stays, where it has one.
    public var source: String { CameraConfiguration.Device.source(ofPath: stableID ?? stablePath ?? device) }

    public init(
        device: String, name: String, kind: Kind, bus: String, index: Int, stableID: String? = nil,
        stablePath: String? = nil, driver: String? = nil, serial: String? = nil, usbPort: String? = nil,
        reason: String? = nil, formats: [Format] = [], controls: [VideoControlDocument]? = nil, camera: String? = nil
    ) {
        self.camera = camera
        self.device = device
        self.name = name
        self.kind = kind
        self.bus = bus
        self.index = index
        self.stableID = stableID
        self.stablePath = stablePath
        self.driver = driver
        self.serial = serial
        self.usbPort = usbPort
        self.reason = reason
        self.formats = formats
        self.controls = controls
    }
}

/// One of a camera's own controls.
public struct VideoControlDocument: Codable, Equatable, Sendable {
    /// As `controls = ["brightness=128"]` names it.
    public var name: String
    /// `integer`, `boolean`, `menu`, `button` …
    public var kind: String
    public var minimum: Int
    public var maximum: Int
    public var step: Int
    public var defaultValue: Int
    /// Nil where it cannot be read.
    public var value: Int?
    /// What the values of a menu mean: `1` → `Manual Mode`.
    public var menu: [String: String]
    public var isReadOnly: Bool
    /// Without effect while another control is as it is.
    public var isInactive: Bool

    public init(
        name: String, kind: String, minimum: Int, maximum: Int, step: Int, defaultValue: Int, value: Int?,
        menu: [String: String] = [:], isReadOnly: Bool = false, isInactive: Bool = false
    ) {
        self.name = name
        self.kind = kind
        self.minimum = minimum
        self.maximum = maximum
        self.step = step
        self.defaultValue = defaultValue
        self.value = value
        self.menu = menu
        self.isReadOnly = isReadOnly
        self.isInactive = isInactive
    }
}

/// One audio device of this machine.
public struct AudioDeviceDocument: Codable, Equatable, Sendable {
    /// As `microphone` names it: `hw:CARD=C920`.
    public var name: String
    public var description: String

    public init(name: String, description: String) {
        self.name = name
        self.description = description
    }
}

/// What `watchboxctl discover --json` prints.
public struct DiscoveryDocument: Codable, Equatable, Sendable {
    public var schema = "watchbox.discovery/2"
    public var nodes: [VideoNodeDocument]
    public var audioDevices: [AudioDeviceDocument]
    /// What the network was asked; nil: it was not, and `limits` says why.
    public var network: NetworkSearchDocument?
    /// What was not looked for, or cannot be used.
    public var limits: [String]

    public init(
        nodes: [VideoNodeDocument], audioDevices: [AudioDeviceDocument] = [], network: NetworkSearchDocument? = nil,
        limits: [String]
    ) {
        self.network = network
        self.nodes = nodes
        self.audioDevices = audioDevices
        self.limits = limits
    }
}

/// What `watchboxctl camera controls --json` prints.
public struct CameraControlsDocument: Codable, Equatable, Sendable {
    public var schema = "watchbox.camera-controls/1"
    /// Nil when a device was named instead.
    public var camera: String?
    public var device: String
    public var card: String
    public var controls: [VideoControlDocument]

    public init(camera: String?, device: String, card: String, controls: [VideoControlDocument]) {
        self.camera = camera
        self.device = device
        self.card = card
        self.controls = controls
    }
}

/// What `watchboxctl camera encoders --json` prints.
public struct CameraEncodersDocument: Codable, Equatable, Sendable {
    /// What one camera encodes with at this moment.
    public struct Use: Codable, Equatable, Sendable {
        public var camera: String
        /// FFmpeg's name; `passthrough` where the camera encodes; nil before the first frame.
        public var encoder: String?
        public var isHardware: Bool?
        public var reason: String?
        public var width: Int?
        public var height: Int?
        /// Frames per second.
        public var rate: Double?
        /// What was asked for and could not be held; nil: all as asked.
        public var limit: String?
        /// Hangs of the hardware encoder that the box remembers.
        public var hangs: UInt64

        public init(
            camera: String, encoder: String?, isHardware: Bool?, reason: String?, width: Int?, height: Int?,
            rate: Double?, limit: String?, hangs: UInt64
        ) {
            self.camera = camera
            self.encoder = encoder
            self.isHardware = isHardware
            self.reason = reason
            self.width = width
            self.height = height
            self.rate = rate
            self.limit = limit
            self.hangs = hangs
        }
    }

    /// A device of this machine that encodes.
    public struct Node: Codable, Equatable, Sendable {
        public var device: String
        public var card: String
        public var driver: String
        /// `h264`, `hevc`; sorted.
        public var codecs: [String]

        public init(device: String, card: String, driver: String, codecs: [String]) {
            self.device = device
            self.card = card
            self.driver = driver
            self.codecs = codecs
        }
    }

    /// An encoder of libavcodec.
    public struct Library: Codable, Equatable, Sendable {
        /// FFmpeg's name.
        public var name: String
        public var isHardware: Bool
        /// This libavcodec has it, and for hardware: this machine has a device for it.
        public var isAvailable: Bool
        /// Of `--probe`: whether it really encodes; nil: not tried.
        public var works: Bool?
        /// Why it is not available; of `--probe`: its result.
        public var reason: String?
        /// Of `--probe`: frames per second.
        public var rate: Double?

        public init(
            name: String, isHardware: Bool, isAvailable: Bool, works: Bool? = nil, reason: String? = nil,
            rate: Double? = nil
        ) {
            self.name = name
            self.isHardware = isHardware
            self.isAvailable = isAvailable
            self.works = works
            self.reason = reason
            self.rate = rate
        }
    }

    public var schema = "watchbox.camera-encoders/1"
    /// Nil: the daemon does not answer.
    public var cameras: [Use]?
    public var nodes: [Node]
    public var libraries: [Library]

    public init(cameras: [Use]?, nodes: [Node], libraries: [Library]) {
        self.cameras = cameras
        self.nodes = nodes
        self.libraries = libraries
    }
}
