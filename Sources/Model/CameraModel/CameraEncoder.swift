internal import Wire

/// An encoder inside a network camera, and what it may be set to.
public struct CameraEncoder: Codable, Equatable, Sendable {
    public struct Size: Codable, Hashable, Sendable {
        public var width: Int
        public var height: Int

        public init(width: Int, height: Int) {
            self.width = width
            self.height = height
        }
    }

    /// The configuration's token.
    public var token: String
    public var name: String
    /// Profiles that use it, by token.
    public var profiles: [String]
    public var codec: String
    public var size: Size
    public var rate: Double?
    /// Bits per second.
    public var bitrate: Int?
    /// Frames from one key frame to the next.
    public var gop: Int?
    public var codecs: [String]
    public var sizes: [Size]
    public var rates: ClosedRange<Double>?
    public var bitrates: ClosedRange<Int>?
    public var gops: ClosedRange<Int>?

    public init(
        token: String, name: String, profiles: [String], codec: String, size: Size, rate: Double? = nil,
        bitrate: Int? = nil, gop: Int? = nil, codecs: [String] = [], sizes: [Size] = [],
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

    /// What is to change; nil stays.
    public struct Change: Codable, Equatable, Sendable {
        /// Of the encoder's configuration, or of a profile that uses it.
        public var token: String
        public var codec: String?
        public var size: Size?
        public var rate: Double?
        public var bitrate: Int?
        public var gop: Int?

        public init(
            token: String, codec: String? = nil, size: Size? = nil, rate: Double? = nil, bitrate: Int? = nil,
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

extension CameraEncoder.Change {
    /// Throws what no encoder takes; what this one takes, the camera knows.
    public func validate() throws(ConfigurationError) {
        var problems: [ConfigurationProblem] = []
        func expect(_ holds: Bool, _ field: String, _ reason: String, _ hint: String) {
            if !holds { problems.append(ConfigurationProblem(field: field, reason: reason, hint: hint)) }
        }
        expect(
            (1...64).contains(token.count) && token.utf8.count <= 2048 && ShownText.isPrintable(token),
            "token", "is empty, has more than 64 characters, or has control characters",
            "Use the encoder's token, or a profile's")
        expect(self != Self(token: token), "token", "is set alone", "Name what is to change")
        if let codec {
            expect(["h264", "hevc", "mjpeg"].contains(codec), "codec", "is not known", "Use h264, hevc or mjpeg")
        }
        if let size {
            let range = 16...16_384
            expect(
                range.contains(size.width) && range.contains(size.height), "size", "is out of range",
                "Use 16 to 16384 pixels")
        }
        if let rate { expect(rate > 0 && rate <= 1000, "rate", "is out of range", "Use 1 to 1000 frames per second") }
        if let bitrate {
            expect(
                (1000...1_000_000_000).contains(bitrate), "bitrate", "is out of range",
                "Use 1000 to 1000000000 bits per second")
        }
        if let gop { expect((1...100_000).contains(gop), "gop", "is out of range", "Use 1 to 100000 frames") }
        if !problems.isEmpty { throw ConfigurationError(problems: problems) }
    }
}
