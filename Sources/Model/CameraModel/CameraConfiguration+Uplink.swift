extension CameraConfiguration {
    /// Whether the bitrate of the video follows what the way to the relay bears, and how far. Only where the box encodes: a device's raw
    /// frames, JPEG images that a camera sends over HTTP, and the test pattern.
    public struct Uplink: Codable, Equatable, Sendable {
        public var adapt: Bool
        /// Bits per second below which the bitrate does not fall; nil: a tenth of the configured one, and at least 100 kbit/s.
        public var minBitrate: Int?

        public init(adapt: Bool = true, minBitrate: Int? = nil) {
            self.adapt = adapt
            self.minBitrate = minBitrate
        }

        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            self.init(
                adapt: try fields.value(.adapt, default: true),
                minBitrate: try fields.decodeIfPresent(Int.self, forKey: .minBitrate))
        }

        /// The lowest bitrate, where `most` is the highest: never more than that.
        public func least(of most: Int) -> Int { min(minBitrate ?? max(Self.leastByDefault, most / 10), most) }

        private static let leastByDefault = 100_000
    }

    /// Bits per second of the video that is encoded on the box by an encoder that can be told another bitrate; nil: there is none, or
    /// what comes is passed through.
    public var encodedBitrate: Int? {
        switch source {
        case .testPattern(let pattern): pattern.bitrate
        case .device(let device): device.pixelFormat == .h264 ? nil : device.bitrate
        case .network(let network): network.isImages ? network.transcoding.bitrate : nil
        case .file: nil
        }
    }
}

extension CameraConfiguration.Network {
    /// A camera that sends JPEG images, which the box encodes; over RTSP that is known when it answers.
    fileprivate var isImages: Bool { ["http:", "https:"].contains { url.lowercased().hasPrefix($0) } }
}

extension CameraConfiguration.Uplink {
    func validate(_ expect: CameraConfiguration.Expectation) {
        if let minBitrate { VideoRange.check(minBitrate: minBitrate, "uplink", expect) }
    }
}
