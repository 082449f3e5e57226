extension CameraConfiguration {
    /// A camera on the network, whose access units go on untouched.
    public struct Network: Codable, Equatable, Sendable {
        /// How media come.
        public enum Transport: String, Codable, Sendable, CaseIterable {
            /// Over the RTSP connection itself, interleaved (RFC 2326 §10.12).
            case tcp
            case udp
            case multicast
        }

        /// Which clock decides how long a frame of video and one of audio last.
        public enum Timestamps: String, Codable, Sendable, CaseIterable {
            /// The camera's, whatever it says; only drift of up to 500 ppm is taken out.
            case camera
            /// This box's, by when they arrive, evened out.
            case arrival
            /// The camera's as long as it agrees with arrivals; corrected by the rate that was measured when it does
            /// not.
            case auto
        }

        /// `rtsp://host[:port]/path?query`, `rtsps://…`, or `onvif://host[:port][/path]` for a camera that is asked for
        /// its stream each time; or `http://…`, `https://…` for one that sends JPEG images so: as a stream
        /// (`multipart/x-mixed-replace`), or one at a time. Never with a user or a password.
        public var url: String
        public var user: String?
        /// A file that holds the camera's password and nothing else; `credential:NAME` until that is resolved.
        public var passwordFile: String?
        public var transport: Transport
        public var timestamps: Timestamps
        /// Take its audio as well, when it has some.
        public var audio: Bool
        /// Show the password in a form that who listens on the network can read: Basic without TLS, and ONVIF's
        /// PasswordText.
        public var allowsBasic: Bool
        /// What its certificate's public key must be: `sha256//` and Base64 of the SHA-256 of the
        /// SubjectPublicKeyInfo, as libcurl writes it. It counts for every TLS connection to this camera, to its ONVIF
        /// service as to its stream. Nil: of each of the two the first one that is seen is trusted, and no other after
        /// it; so nil is needed for a camera whose two services show different certificates.
        public var pin: String?
        /// Of `http://` and `https://` where each frame is asked for: so many a second, at the most.
        public var snapshotRate: Double
        /// Of `onvif://`: a profile's token, or `main` or `sub` for the largest or the smallest frame. Nil: `main`.
        public var profile: String?
        /// Of `onvif://`: where its stream is, when that is not the host or the port that the device reports: behind a
        /// port forward, or at a recorder with a media host of its own. A name or an IP address, without brackets. The
        /// login goes there, as the operator says.
        public var rtspHost: String?
        public var rtspPort: Int?
        /// Of `onvif://`: pass on the camera's motion and tamper events.
        public var events: Bool
        /// Of `onvif://`: which device it must be, as it was learned when the camera was added. A device that is found
        /// at another address is this camera only if it agrees.
        public var identity: Identity?
        /// A file in which the process keeps what it learned of the camera (see `RTSPIngest`), from one start to the
        /// next.
        public var memoryFile: String?
        /// Of the video that is made from a camera's MJPEG; nothing else is encoded again.
        public var transcoding: Transcoding

        public struct Identity: Codable, Equatable, Sendable {
            /// WS-Discovery's endpoint reference: `urn:uuid:…`.
            public var endpoint: String?
            public var serial: String?
            public var mac: String?

            public init(endpoint: String? = nil, serial: String? = nil, mac: String? = nil) {
                self.endpoint = endpoint
                self.serial = serial
                self.mac = mac
            }
        }

        public struct Transcoding: Codable, Equatable, Sendable {
            /// Bits per second.
            public var bitrate: Int
            /// Between two key frames.
            public var gopSeconds: Double

            public init(bitrate: Int = 2_000_000, gopSeconds: Double = 1) {
                self.bitrate = bitrate
                self.gopSeconds = gopSeconds
            }
        }

        public init(
            url: String, user: String? = nil, passwordFile: String? = nil, transport: Transport = .tcp,
            timestamps: Timestamps = .auto, audio: Bool = true, allowsBasic: Bool = false, pin: String? = nil,
            snapshotRate: Double = 2, profile: String? = nil, rtspHost: String? = nil, rtspPort: Int? = nil,
            events: Bool = true, identity: Identity? = nil, memoryFile: String? = nil,
            transcoding: Transcoding = Transcoding()
        ) {
            self.url = url
            self.user = user
            self.passwordFile = passwordFile
            self.transport = transport
            self.timestamps = timestamps
            self.audio = audio
            self.allowsBasic = allowsBasic
            self.pin = pin
            self.snapshotRate = snapshotRate
            self.profile = profile
            self.rtspHost = rtspHost
            self.rtspPort = rtspPort
            self.events = events
            self.identity = identity
            self.memoryFile = memoryFile
            self.transcoding = transcoding
        }

        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            let defaults = Self(url: "")
            self.init(
                url: try fields.decode(String.self, forKey: .url),
                user: try fields.decodeIfPresent(String.self, forKey: .user),
                passwordFile: try fields.decodeIfPresent(String.self, forKey: .passwordFile),
                transport: try fields.value(.transport, default: defaults.transport),
                timestamps: try fields.value(.timestamps, default: defaults.timestamps),
                audio: try fields.value(.audio, default: defaults.audio),
                allowsBasic: try fields.value(.allowsBasic, default: defaults.allowsBasic),
                pin: try fields.decodeIfPresent(String.self, forKey: .pin),
                snapshotRate: try fields.value(.snapshotRate, default: defaults.snapshotRate),
                profile: try fields.decodeIfPresent(String.self, forKey: .profile),
                rtspHost: try fields.decodeIfPresent(String.self, forKey: .rtspHost),
                rtspPort: try fields.decodeIfPresent(Int.self, forKey: .rtspPort),
                events: try fields.value(.events, default: defaults.events),
                identity: try fields.decodeIfPresent(Identity.self, forKey: .identity),
                memoryFile: try fields.decodeIfPresent(String.self, forKey: .memoryFile),
                transcoding: try fields.value(.transcoding, default: defaults.transcoding))
        }
    }
}
