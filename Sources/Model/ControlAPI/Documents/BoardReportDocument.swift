public import ErrorCatalog

/// What `watchboxctl doctor --board-report` prints: what a board of this kind does with WatchBox, and nothing that says whose
/// or where it is. There is no place in it for a serial number, an address, or the name of a box, a camera or a network.
public struct BoardReport: Codable, Equatable, Sendable {
    public struct Board: Codable, Equatable, Sendable {
        /// `Raspberry Pi 4 Model B Rev 1.4`.
        public var model: String?
        /// The code of the board's revision, `c03114`.
        public var revision: String?
        /// The device tree's names, the most exact first.
        public var compatible: [String] = []
        /// When the boot loader was made, or the BIOS's version.
        public var firmware: String?
        public var processors: Int?
        /// Whether the processor has instructions for AES; nil where it does not say.
        public var hasAES: Bool?

        public init() {}
    }

    public struct System: Codable, Equatable, Sendable {
        /// `Debian GNU/Linux 13 (trixie)`.
        public var release: String?
        /// Of an image that says what it is: `Raspberry Pi reference 2026-05-06`.
        public var image: String?
        public var kernel: String?
        public var architecture: String?

        public init() {}
    }

    /// In megabytes of 2^20 bytes.
    public struct Memory: Codable, Equatable, Sendable {
        public var total: Int64?
        public var available: Int64?
        public var swap: Int64?
        /// For devices, such as an encoder, that need it in one piece.
        public var contiguous: Int64?
        /// Whether systemd can limit what a unit takes.
        public var hasController: Bool?
        /// Whether the kernel says what waits for memory.
        public var hasPressure = false

        public init() {}
    }

    public struct Watchdog: Codable, Equatable, Sendable {
        public var name: String?
        /// `active` or `inactive`.
        public var state: String?
        public var timeoutSeconds: Int64?
        public var forcedLastBoot = false

        public init() {}
    }

    public struct Clock: Codable, Equatable, Sendable {
        /// Of the hardware clock; nil: there is none.
        public var hardware: String?
        /// Whether a time server is followed.
        public var isSynchronised: Bool?

        public init() {}
    }

    public struct Power: Codable, Equatable, Sendable {
        public var celsius: Double?
        public var isTooLow: Bool?
        /// Since boot.
        public var wasTooLow: Bool?
        public var isProcessorSlowed: Bool?
        /// The firmware's own word, in hexadecimal.
        public var throttled: String?

        public init() {}
    }

    public struct Disk: Codable, Equatable, Sendable {
        /// `SD`, `MMC`, or the driver's: `nvme`, `sd`, `vd`.
        public var kind: String
        /// Its maker's name for it.
        public var product: String?
        /// Millions of bytes.
        public var size: Int64?
        /// Millions of bytes since boot, and as it would be in a day.
        public var written: Int64?
        public var writtenPerDay: Int64?
        public var holdsRoot: Bool

        public init(
            kind: String, product: String? = nil, size: Int64? = nil, written: Int64? = nil,
            writtenPerDay: Int64? = nil, holdsRoot: Bool = false
        ) {
            self.kind = kind
            self.product = product
            self.size = size
            self.written = written
            self.writtenPerDay = writtenPerDay
            self.holdsRoot = holdsRoot
        }
    }

    public struct Storage: Codable, Equatable, Sendable {
        /// Of `/`.
        public var fileSystem: String?
        public var isRootReadOnly: Bool?
        public var disks: [Disk] = []

        public init() {}
    }

    public struct Link: Codable, Equatable, Sendable {
        /// `ethernet` or `wireless`.
        public var kind: String
        public var driver: String?
        public var hasCarrier: Bool
        /// Megabits per second.
        public var speed: Int64?

        public init(kind: String, driver: String? = nil, hasCarrier: Bool, speed: Int64? = nil) {
            self.kind = kind
            self.driver = driver
            self.hasCarrier = hasCarrier
            self.speed = speed
        }
    }

    /// A camera of this machine.
    public struct Camera: Codable, Equatable, Sendable {
        public var driver: String?
        /// `usb`, `platform` …
        public var bus: String
        /// Of a USB camera: its maker's and its model's number, `046d:082d`.
        public var model: String?
        /// `YUYV 1280x720`, as many as a page holds.
        public var formats: [String]

        public init(driver: String?, bus: String, model: String?, formats: [String]) {
            self.driver = driver
            self.bus = bus
            self.model = model
            self.formats = formats
        }
    }

    /// A camera of the configuration, without its name.
    public struct Stream: Codable, Equatable, Sendable {
        /// `v4l2`, `onvif`, `rtsp` …
        public var source: String
        public var state: String
        public var code: ErrorCode?
        public var encoder: String?
        public var isHardwareEncoder: Bool?
        public var width: Int?
        public var height: Int?
        /// Frames per second.
        public var rate: Double?
        public var encoderHangs: UInt64?

        public init(source: String, state: String) {
            self.source = source
            self.state = state
        }
    }

    /// Seconds of the kernel's clock, which begins with the boot.
    public struct Start: Codable, Equatable, Sendable {
        public var uptime: Int64?
        public var controlReady: Double?
        /// The first camera that had sealed a frame, or waited for its relay, its key or its device; nil where all cameras were
        /// started anew since.
        public var cameraReady: Double?

        public init() {}
    }

    /// Without its evidence, which may name things.
    public struct Check: Codable, Equatable, Sendable {
        public var check: String
        public var state: HealthState
        public var code: ErrorCode?

        public init(_ finding: DoctorFinding) {
            check = finding.check
            state = finding.state
            code = finding.code
        }
    }

    public var schema = "watchbox.board-report/1"
    /// Of the program that looked.
    public var version: String
    public var board = Board()
    public var system = System()
    public var memory = Memory()
    public var watchdog = Watchdog()
    public var clock = Clock()
    public var power = Power()
    public var storage = Storage()
    public var network: [Link] = []
    public var encoderDevices: [CameraEncodersDocument.Node] = []
    public var encoders: [CameraEncodersDocument.Library] = []
    public var cameras: [Camera] = []
    /// Nil: the daemon was not asked, or did not answer.
    public var streams: [Stream]?
    public var start = Start()
    public var checks: [Check] = []

    public init(version: String) {
        self.version = version
    }
}
