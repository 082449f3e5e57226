public import ONVIF

/// A device as it describes itself.
public struct DeviceDescription: Equatable, Sendable {
    public struct Device: Equatable, Sendable {
        public var manufacturer: String?
        public var model: String?
        public var firmware: String?
        /// Validated as `DeviceIdentity` does; so are the next two.
        public var serial: String?
        public var mac: String?
        public var endpoint: String?
        /// In the device's order.
        public var profiles: [Profile] = []
        public var hasPTZ = false
        public var hasEvents = false

        public init() {}

        public var identity: DeviceIdentity { DeviceIdentity(endpoint: endpoint, serial: serial, mac: mac) }
    }

    /// One stream that the device offers.
    public struct Profile: Equatable, Sendable {
        public var token: String
        public var name: String
        public var service: MediaService
        /// Repaired, without user and password; nil when the device did not tell, or told nonsense.
        public var url: String?
        public var snapshotURL: String?
        /// FFmpeg's name, in lower case.
        public var codec: String?
        public var width: Int?
        public var height: Int?
        public var rate: Double?
        /// Bits per second.
        public var bitrate: Int?
        /// Pictures from one key frame to the next.
        public var gop: Int?
        public var hasPTZ: Bool

        public init(
            token: String, name: String, service: MediaService, url: String? = nil, snapshotURL: String? = nil,
            codec: String? = nil, width: Int? = nil, height: Int? = nil, rate: Double? = nil, bitrate: Int? = nil,
            gop: Int? = nil, hasPTZ: Bool = false
        ) {
            self.token = token
            self.name = name
            self.service = service
            self.url = url
            self.snapshotURL = snapshotURL
            self.codec = codec
            self.width = width
            self.height = height
            self.rate = rate
            self.bitrate = bitrate
            self.gop = gop
            self.hasPTZ = hasPTZ
        }
    }

    /// An address that the device gave and that could not be used as it was; both as `DeviceURL.shown` shows them.
    public struct RepairedAddress: Equatable, Sendable {
        public var given: String
        public var used: String

        public init(given: String, used: String) {
            self.given = given
            self.used = used
        }
    }

    public var device = Device()
    public var clock: CameraClock?
    public var login: LoginScheme = .none
    public var repairedAddresses: [RepairedAddress] = []
    /// What was left out and why, each a sentence: a call that the device refused, or an answer that made no sense.
    public var remarks: [String] = []
    /// Requests that it took.
    public var requests = 0

    public init() {}
}
