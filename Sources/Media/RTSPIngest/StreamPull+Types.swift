internal import Cryptography
internal import Glibc
internal import RTP
internal import RTSP

extension StreamPull {
    struct Options: Sendable {
        var url: RTSPURL
        var credentials: RTSPCredentials?
        var transport = RTSPSession.Transport.tcp
        var timestamps = StreamClock.Policy.auto
        var audio = true
        var allowsBasic = false
        /// Of `rtsps://`; nil: the first certificate that is seen is trusted, and reported by `.certificateSeen`.
        var pin: String?
        var followsRedirect = true
        var keepsAliveWithOptions = false
        /// The longest distance of key frames that an earlier session saw, nanoseconds; 0: none.
        var knownGroup: UInt64 = 0
        /// A login that is refused is not followed by another one, whatever the camera says of it.
        var showsOneLogin = false
        var connectTimeout = Duration.seconds(5)
        /// Of a camera that is asked for each frame, frames per second.
        var snapshotRate = 2.0
        /// Frames per second that an earlier session saw; nil: none did.
        var knownRate: Double?
    }

    enum Event {
        /// `sha256//…`; then comes a new connection that accepts no other.
        case certificateSeen(pin: String)
        case connected(address: String, pin: String?)
        case described(MediaSelection)
        case playing
        case unit(MediaChoice, MediaTrack.Unit)
        /// Frames are left out until a key frame comes; again each half second until it does.
        case needsKeyFrame
        /// Frames come, and for longer than usual none that a viewer can begin with; again each half second.
        case lacksKeyFrame
        /// Each half second, for counting.
        case ticked
    }

    static let reportInterval: UInt64 = 5_000_000_000
    static let tickInterval: UInt64 = 500_000_000
    /// How long packets wait for ones that they overtook, and units for a marker.
    static let trackInterval: UInt64 = 50_000_000
    /// Packets must come within so many nanoseconds over UDP; else something in between lets none through.
    static let datagramTimeout: UInt64 = 3_000_000_000
    /// A camera that said BYE and sends on has changed its source; this one does not.
    static let byeTimeout: UInt64 = 1_000_000_000
    static let drainTimeout: UInt64 = 100_000_000
    static let maxPending = 256 << 10
    /// Holds the longest datagram, and stays in a small processor's cache while its packets are worked on. A frame that
    /// it cuts is copied, and no other.
    static let bufferSize = 64 << 10

    static func session(_ options: Options, isEncrypted: Bool) -> RTSPSession {
        let audio = options.audio
        var configuration = RTSPSession.Configuration(
            url: options.url, credentials: options.credentials, userAgent: "WatchBox",
            allowsBasic: options.allowsBasic, transport: options.transport, isEncrypted: isEncrypted,
            digest: { algorithm, bytes in
                switch algorithm {
                case .md5: Digest.md5(bytes)
                case .sha256: Digest.sha256(bytes)
                }
            }, makeClientNonce: { randomText(32) },
            select: { MediaSelection($0, audio: audio).indices })
        configuration.followsRedirect = options.followsRedirect
        if options.showsOneLogin { configuration.maxLogins = 1 }
        configuration.keepsAliveWithOptions = options.keepsAliveWithOptions
        return RTSPSession(configuration)
    }

    static func sleep(_ nanoseconds: UInt64) {
        var time = timespec(tv_sec: 0, tv_nsec: Int(min(nanoseconds, 999_999_999)))
        nanosleep(&time, nil)
    }

    static func randomText(_ count: Int) -> String {
        // The standard library's generator is the kernel's.
        String((0..<count).map { _ in "0123456789abcdef".randomElement() ?? "0" })
    }
}
