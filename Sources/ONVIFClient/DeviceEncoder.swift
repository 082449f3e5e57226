public import ONVIF

/// A video encoder inside a device, and what it may be set to.
public struct DeviceEncoder: Equatable, Sendable {
    /// The configuration's token.
    public var token: String
    public var name: String
    /// Profiles that use it, by token.
    public var profiles: [String]
    /// FFmpeg's name, in lower case.
    public var codec: String
    public var size: PictureSize
    /// Pictures per second.
    public var rate: Double?
    /// Bits per second.
    public var bitrate: Int?
    /// Pictures from one key frame to the next.
    public var gop: Int?
    public var codecs: [String]
    /// Of the present codec.
    public var sizes: [PictureSize]
    public var rates: ClosedRange<Double>?
    public var bitrates: ClosedRange<Int>?
    public var gops: ClosedRange<Int>?

    public init(
        token: String, name: String, profiles: [String], codec: String, size: PictureSize, rate: Double? = nil,
        bitrate: Int? = nil, gop: Int? = nil, codecs: [String] = [], sizes: [PictureSize] = [],
        rates: ClosedRange<Double>? = nil, bitrates: ClosedRange<Int>? = nil, gops: ClosedRange<Int>? = nil
    ) {
        self.token = token
        self.name = name
        self.profiles = profiles
        self.codec = codec
        self.size = size
        self.rate = rate
        self.bitrate = bitrate
        self.gop = gop
        self.codecs = codecs
        self.sizes = sizes
        self.rates = rates
        self.bitrates = bitrates
        self.gops = gops
    }

    /// What shall be different; nil stays.
    public struct Change: Equatable, Sendable {
        /// Of the encoder's configuration, or of a profile that uses it.
        public var token: String
        public var codec: String?
        public var size: PictureSize?
        public var rate: Double?
        /// Bits per second.
        public var bitrate: Int?
        public var gop: Int?

        public init(
            token: String, codec: String? = nil, size: PictureSize? = nil, rate: Double? = nil, bitrate: Int? = nil,
            gop: Int? = nil
        ) {
            self.token = token
            self.codec = codec
            self.size = size
            self.rate = rate
            self.bitrate = bitrate
            self.gop = gop
        }
    }
}
