/// What control tells the monitor: the content of `HealthPaths.settingsFile`. Every field may be missing.
public struct HealthSettings: Codable, Equatable, Sendable {
    public struct Camera: Codable, Equatable, Sendable {
        public var id: String
        /// False for one that a person stopped: nothing is expected of it, and nothing is done about it.
        public var isActive: Bool
        /// Name of its relay; nil when it is not known.
        public var relay: String?
        /// For a camera at USB: the port as the kernel names it, such as `1-1.4`.
        public var usbPort: String?

        public init(id: String, isActive: Bool = true, relay: String? = nil, usbPort: String? = nil) {
            self.id = id
            self.isActive = isActive
            self.relay = relay
            self.usbPort = usbPort
        }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            id = try container.decode(String.self, forKey: .id)
            isActive = try container.decodeIfPresent(Bool.self, forKey: .isActive) ?? true
            relay = try container.decodeIfPresent(String.self, forKey: .relay)
            usbPort = try container.decodeIfPresent(String.self, forKey: .usbPort)
        }
    }

    /// A relay, or the key access server.
    public struct Peer: Codable, Equatable, Sendable {
        public var name: String
        public var host: String
        public var port: UInt16
        public var tls: Bool

        public init(name: String, host: String, port: UInt16, tls: Bool) {
            self.name = name
            self.host = host
            self.port = port
            self.tls = tls
        }
    }

    /// May the box reboot itself (L5)?
    public var reboot: Bool
    /// For the program that serves `/metrics`.
    public var metricsListen: String?
    public var relays: [Peer]
    public var kas: Peer?
    public var cameras: [Camera]
    public var thresholds: HealthThresholds
    /// Why the operator's files are not what runs; nil when they are.
    public var configurationProblem: String?

    public init(
        reboot: Bool = true, metricsListen: String? = nil, relays: [Peer] = [], kas: Peer? = nil,
        cameras: [Camera] = [], thresholds: HealthThresholds = HealthThresholds(), configurationProblem: String? = nil
    ) {
        self.reboot = reboot
        self.metricsListen = metricsListen
        self.relays = relays
        self.kas = kas
        self.cameras = cameras
        self.thresholds = thresholds
        self.configurationProblem = configurationProblem
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        reboot = try container.decodeIfPresent(Bool.self, forKey: .reboot) ?? true
        metricsListen = try container.decodeIfPresent(String.self, forKey: .metricsListen)
        relays = try container.decodeIfPresent([Peer].self, forKey: .relays) ?? []
        kas = try container.decodeIfPresent(Peer.self, forKey: .kas)
        cameras = try container.decodeIfPresent([Camera].self, forKey: .cameras) ?? []
        thresholds = try container.decodeIfPresent(HealthThresholds.self, forKey: .thresholds) ?? HealthThresholds()
        configurationProblem = try container.decodeIfPresent(String.self, forKey: .configurationProblem)
        guard cameras.count <= Self.mostObjects, relays.count <= Self.mostObjects else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "more than \(Self.mostObjects) cameras or relays"))
        }
        guard cameras.allSatisfy({ Self.isName($0.id) && $0.usbPort.map(Self.isName) ?? true }) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "a camera's id or USB port is not [a-z0-9.-]{1,32}"))
        }
    }

    private static let mostObjects = 64

    /// Names become parts of unit names and of socket paths.
    static func isName(_ text: String) -> Bool {
        (1...32).contains(text.utf8.count) && text.utf8.first != UInt8(ascii: ".")
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
                    || byte == UInt8(ascii: ".")
            }
    }
}

/// From when on a reading is a warning or a failure (docs/ref/health.md, "Checks"). Shares are 0 to 1.
public struct HealthThresholds: Codable, Equatable, Sendable {
    public struct Pair: Codable, Equatable, Sendable {
        public var warn: Double
        public var fail: Double

        public init(warn: Double, fail: Double) {
            self.warn = warn
            self.fail = fail
        }
    }

    /// Seconds without an acknowledgement of the relay, or without a frame.
    public var publishSeconds = Pair(warn: 5, fail: 30)
    /// Degrees Celsius.
    public var heatCelsius = Pair(warn: 75, fail: 82)
    /// Share of blocks, and of inodes, in use.
    public var diskUsed = Pair(warn: 0.90, fail: 0.97)
    /// Share of the last minute in which some task waited for memory.
    public var memoryPressure = Pair(warn: 0.10, fail: 0.30)
    /// Share of the last minute in which some task waited for a processor.
    public var processorPressure = Pair(warn: 0.80, fail: 0.95)
    /// Seconds without a synchronised clock.
    public var unsynchronisedSeconds = Pair(warn: 120, fail: 900)
    /// Share of a collection's counter in use: a warning only.
    public var ivUsed = 0.80
    /// Seconds for which a task may hang in the kernel.
    public var stuckSeconds = 120.0

    public init() {}

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func pair(_ key: CodingKeys, _ standard: Pair) throws -> Pair {
            let pair = try container.decodeIfPresent(Pair.self, forKey: key) ?? standard
            guard pair.warn > 0, pair.fail >= pair.warn else {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: [key], debugDescription: "0 < warn ≤ fail is needed"))
            }
            return pair
        }
        publishSeconds = try pair(.publishSeconds, publishSeconds)
        heatCelsius = try pair(.heatCelsius, heatCelsius)
        diskUsed = try pair(.diskUsed, diskUsed)
        memoryPressure = try pair(.memoryPressure, memoryPressure)
        processorPressure = try pair(.processorPressure, processorPressure)
        unsynchronisedSeconds = try pair(.unsynchronisedSeconds, unsynchronisedSeconds)
        ivUsed = try container.decodeIfPresent(Double.self, forKey: .ivUsed) ?? ivUsed
        stuckSeconds = try container.decodeIfPresent(Double.self, forKey: .stuckSeconds) ?? stuckSeconds
        guard ivUsed > 0, stuckSeconds >= 1 else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "ivUsed and stuckSeconds must be positive"))
        }
    }
}
