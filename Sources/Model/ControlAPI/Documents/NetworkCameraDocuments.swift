public import CameraModel

/// Body of `POST /api/v1/discovery`. Everything may be left out.
public struct DiscoveryRequest: Codable, Equatable, Sendable {
    /// Listened after the last question, 1 to 60; 5 without it.
    public var timeoutSeconds: Double?
    /// Ask by WS-Discovery on every network of this box; true without it.
    public var multicast: Bool?
    /// Names of network interfaces; all without it.
    public var interfaces: [String]?
    /// Networks whose every address is tried, such as `192.168.1.0/24`; none without it. No password is ever tried.
    public var ranges: [String]?
    /// RTSP ports of the ranges; 554, 8554, 88, 7447 and 5000 without it.
    public var ports: [Int]?
    /// A person said yes to more than 4096 addresses.
    public var allowsLarge: Bool?

    public init(
        timeoutSeconds: Double? = nil, multicast: Bool? = nil, interfaces: [String]? = nil, ranges: [String]? = nil,
        ports: [Int]? = nil, allowsLarge: Bool? = nil
    ) {
        self.timeoutSeconds = timeoutSeconds
        self.multicast = multicast
        self.interfaces = interfaces
        self.ranges = ranges
        self.ports = ports
        self.allowsLarge = allowsLarge
    }
}

/// What `watchboxctl discover --add` came to, camera by camera.
public struct CameraAdditionsDocument: Codable, Equatable, Sendable {
    public struct Refusal: Codable, Equatable, Sendable {
        /// What was to be added: a source, or the address that was named.
        public var source: String
        public var what: String
        public var why: String
        public var hint: String

        public init(source: String, what: String, why: String, hint: String) {
            self.source = source
            self.what = what
            self.why = why
            self.hint = hint
        }
    }

    public var schema = "watchbox.camera-additions/1"
    /// Those that were added.
    public var cameras: [CameraDocument]
    public var refused: [Refusal]

    public init(cameras: [CameraDocument], refused: [Refusal] = []) {
        self.cameras = cameras
        self.refused = refused
    }

    /// Those that were added.
    public var list: CameraListDocument { CameraListDocument(cameras: cameras) }
}

/// A camera that a search of the network found.
public struct FoundCameraDocument: Codable, Equatable, Sendable {
    public enum Kind: String, Codable, Sendable, CaseIterable {
        case onvif
        case rtsp
    }

    public enum Mark: String, Codable, Sendable, CaseIterable {
        case new
        /// `camera` says as which.
        case added
        /// New, and it has reported that it requires a user and a password.
        case needsLogin = "needs-login"
    }

    public var kind: Kind
    public var mark: Mark
    /// ID of the camera that it is already.
    public var camera: String?
    /// WS-Discovery's endpoint reference.
    public var endpoint: String?
    public var address: String
    public var port: Int
    /// As it reports it, like maker, model and location: none of this is proven.
    public var name: String?
    public var manufacturer: String?
    public var hardware: String?
    public var location: String?
    public var firmware: String?
    public var serial: String?
    /// Ports on which it answers RTSP, as far as a scan has asked.
    public var rtspPorts: [Int]
    /// Of its ONVIF device service, repaired where what it said cannot be reached.
    public var urls: [String]
    /// For `camera add --source`: `onvif://192.0.2.7` or `rtsp://192.0.2.8:8554/`.
    public var source: String
    /// Interfaces of this box on which it answered.
    public var networks: [String]

    public init(
        kind: Kind, mark: Mark = .new, camera: String? = nil, endpoint: String? = nil, address: String, port: Int,
        name: String? = nil, manufacturer: String? = nil, hardware: String? = nil, location: String? = nil,
        firmware: String? = nil, serial: String? = nil, rtspPorts: [Int] = [], urls: [String] = [], source: String,
        networks: [String] = []
    ) {
        self.firmware = firmware
        self.serial = serial
        self.rtspPorts = rtspPorts
        self.kind = kind
        self.mark = mark
        self.camera = camera
        self.endpoint = endpoint
        self.address = address
        self.port = port
        self.name = name
        self.manufacturer = manufacturer
        self.hardware = hardware
        self.location = location
        self.urls = urls
        self.source = source
        self.networks = networks
    }
}

/// The search of the network that runs, or the last one.
public struct NetworkSearchDocument: Codable, Equatable, Sendable {
    public enum State: String, Codable, Sendable, CaseIterable {
        case running
        case done
        /// A person ended it; what was found until then is there.
        case cancelled
        case failed
    }

    public var schema = "watchbox.network-search/1"
    /// Searches are counted while the daemon runs.
    public var number: Int
    public var state: State
    public var request: DiscoveryRequest
    public var elapsedSeconds: Double
    /// Questions of a scan: put so far, and all of them; 0 without a scan.
    public var probed: Int
    public var total: Int
    public var found: [FoundCameraDocument]
    /// What could not be asked and why.
    public var remarks: [String]
    /// Why it failed.
    public var problem: Problem?

    public init(
        number: Int, state: State, request: DiscoveryRequest, elapsedSeconds: Double, probed: Int, total: Int,
        found: [FoundCameraDocument], remarks: [String] = [], problem: Problem? = nil
    ) {
        self.remarks = remarks
        self.number = number
        self.state = state
        self.request = request
        self.elapsedSeconds = elapsedSeconds
        self.probed = probed
        self.total = total
        self.found = found
        self.problem = problem
    }
}

/// Body of `POST /api/v1/camera-tests`: a camera to be tried, which need not be one of this box. Its password is held
/// in memory while the test runs, and nowhere else.
public struct CameraTestRequest: Codable, Equatable, Sendable, CustomStringConvertible {
    /// `rtsp://`, `rtsps://`, `onvif://`, `http://` or `https://`, without user and password.
    public var source: String
    public var user: String?
    public var password: String?
    public var transport: CameraConfiguration.Network.Transport?
    public var allowsBasic: Bool?
    /// As `CameraConfiguration.Network.pin`; without it the certificate that is shown is taken, and reported.
    public var pin: String?
    /// Of `onvif://`: a profile's token, `main` or `sub`.
    public var profile: String?
    /// Of `onvif://`: as `CameraConfiguration.Network.rtspHost`.
    public var rtspHost: String?
    public var rtspPort: Int?

    public init(
        source: String, user: String? = nil, password: String? = nil,
        transport: CameraConfiguration.Network.Transport? = nil, allowsBasic: Bool? = nil, pin: String? = nil,
        profile: String? = nil, rtspHost: String? = nil, rtspPort: Int? = nil
    ) {
        self.source = source
        self.user = user
        self.password = password
        self.transport = transport
        self.allowsBasic = allowsBasic
        self.pin = pin
        self.profile = profile
        self.rtspHost = rtspHost
        self.rtspPort = rtspPort
    }

    /// Without the password.
    public var description: String {
        "test of \(source)\(user == nil ? "" : " with a login")"
    }
}

/// A test that was begun.
public struct CameraTestDocument: Codable, Equatable, Sendable {
    public var schema = "watchbox.camera-test/1"
    /// For `GET /api/v1/camera-tests/{id}` and `CameraRequest.test`; forgotten 5 minutes after the test's end.
    public var id: String

    public init(id: String) {
        self.id = id
    }
}

/// Streams that a network camera offers.
public struct CameraProfileListDocument: Codable, Equatable, Sendable {
    public var schema = "watchbox.camera-profiles/1"
    public var camera: String
    /// The one that is published; nil when it is not known.
    public var used: String?
    /// As it said last.
    public var profiles: [NetworkStatistics.Profile]

    public init(camera: String, used: String?, profiles: [NetworkStatistics.Profile]) {
        self.camera = camera
        self.used = used
        self.profiles = profiles
    }
}

public struct PTZPresetListDocument: Codable, Equatable, Sendable {
    public var schema = "watchbox.ptz-presets/1"
    public var presets: [PTZPreset]

    public init(presets: [PTZPreset]) {
        self.presets = presets
    }
}

/// Encoders inside a network camera.
public struct CameraEncoderListDocument: Codable, Equatable, Sendable {
    public var schema = "watchbox.camera-own-encoders/1"
    public var encoders: [CameraEncoder]

    public init(encoders: [CameraEncoder]) {
        self.encoders = encoders
    }
}

/// What control reports to a camera's process: a device that may be this camera is at another address.
public struct AnnouncedRequest: Codable, Equatable, Sendable {
    /// IP address.
    public var address: String
    /// Of its ONVIF device service.
    public var url: String?
    /// What it has in common with the camera; `endpoint` without it.
    public var evidence: NetworkStatistics.Move.Evidence?
    /// Another camera of this box shows the same key, which proves nothing then.
    public var isKeyShared: Bool?

    public init(
        address: String, url: String? = nil, evidence: NetworkStatistics.Move.Evidence? = nil, isKeyShared: Bool? = nil
    ) {
        self.isKeyShared = isKeyShared
        self.address = address
        self.url = url
        self.evidence = evidence
    }
}
