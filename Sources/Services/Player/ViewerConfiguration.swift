public import NanoTDF
public import RTMP
public import RTMPTransport

/// What a viewer plays, how, and until when.
public struct ViewerConfiguration: Sendable {
    public enum Mode: Sendable {
        /// Sealed streams, with keys from here; one in clear is refused.
        case sealed(any KeyProvider)
        /// As above, and a stream in clear is shown as well.
        case sealedOrClear(any KeyProvider)
        /// Only streams in clear.
        case clear
        /// Opens nothing: an onlooker at the relay. Only `recordingPath` gets anything.
        case keyless
    }

    public var url: RTMPURL
    public var tls: RTMPClientTLS
    public var mode: Mode
    /// The relay's copy, as it came, goes to this FLV file.
    public var recordingPath: String?
    /// Nanoseconds after the first unit; nil: no limit.
    public var duration: UInt64?
    /// End when the publisher leaves, instead of waiting for the next one.
    public var untilStreamEnds: Bool
    /// What is asked for: the stream's name at the KAS, by default that of the URL, and how old it may be.
    public var judging: StreamClassifier.Configuration
    /// Hosts besides its own that the relay may send the viewer to (`RedirectHost`).
    public var redirectHosts: [String] = []
    /// Nanoseconds in which something must come where the relay sent the viewer; then it goes home.
    var redirectTimeout: UInt64 = 10_000_000_000
    /// How long frames may wait for their key. Generous: a KAS that is slow must not cost a frame.
    public var hold = HoldLimits(items: 1024, duration: 5_000_000_000, bytes: 32 << 20)
    /// What the outputs may be behind, in bytes; after that units are lost to them, and counted.
    public var outputBacklog = 64 << 20

    public init(
        url: RTMPURL, tls: RTMPClientTLS = RTMPClientTLS(), mode: Mode, recordingPath: String? = nil,
        duration: UInt64? = nil, untilStreamEnds: Bool = false
    ) {
        self.url = url
        self.tls = tls
        self.mode = mode
        self.recordingPath = recordingPath
        self.duration = duration
        self.untilStreamEnds = untilStreamEnds
        judging = StreamClassifier.Configuration(stream: url.streamPath)
    }

    var provider: (any KeyProvider)? {
        switch mode {
        case .sealed(let provider), .sealedOrClear(let provider): provider
        case .clear, .keyless: nil
        }
    }

    var allowsClear: Bool {
        switch mode {
        case .sealedOrClear, .clear: true
        case .sealed, .keyless: false
        }
    }

    var isKeyless: Bool {
        if case .keyless = mode { true } else { false }
    }
}
