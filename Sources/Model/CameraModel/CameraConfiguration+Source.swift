extension CameraConfiguration {
    /// Where the media come from; exactly one.
    public enum Source: Codable, Equatable, Sendable {
        case testPattern(TestPattern)
        case file(File)
        case device(Device)
        case network(Network)

        private enum CodingKeys: String, CodingKey, CaseIterable { case testPattern, file, device, network }

        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            let named = CodingKeys.allCases.filter { fields.contains($0) }
            switch (named.first, named.count) {
            case (.testPattern?, 1): self = .testPattern(try fields.decode(TestPattern.self, forKey: .testPattern))
            case (.file?, 1): self = .file(try fields.decode(File.self, forKey: .file))
            case (.device?, 1): self = .device(try fields.decode(Device.self, forKey: .device))
            case (.network?, 1): self = .network(try fields.decode(Network.self, forKey: .network))
            default:
                throw DecodingError.dataCorrupted(
                    .init(
                        codingPath: decoder.codingPath,
                        debugDescription: "Name exactly one of \"testPattern\", \"file\", \"device\" and \"network\""))
            }
        }

        public func encode(to encoder: any Encoder) throws {
            var fields = encoder.container(keyedBy: CodingKeys.self)
            switch self {
            case .testPattern(let pattern): try fields.encode(pattern, forKey: .testPattern)
            case .file(let file): try fields.encode(file, forKey: .file)
            case .device(let device): try fields.encode(device, forKey: .device)
            case .network(let network): try fields.encode(network, forKey: .network)
            }
        }
    }

    /// A moving frame with a burnt-in clock, and a tone.
    public struct TestPattern: Codable, Equatable, Sendable {
        /// Pixels, even.
        public var width: Int
        public var height: Int
        /// Frames per second.
        public var frameRate: Int
        /// Of the video, in bits per second.
        public var bitrate: Int
        /// Between two key frames.
        public var gopSeconds: Double
        /// With a 440 Hz tone.
        public var audio: Bool
        /// Hangs after so many seconds, as a driver does that never returns: to try out the watchdog. Nil: never.
        public var stallsAfter: Double?

        public init(
            width: Int = 1280, height: Int = 720, frameRate: Int = 30, bitrate: Int = 2_000_000,
            gopSeconds: Double = 1, audio: Bool = true, stallsAfter: Double? = nil
        ) {
            self.width = width
            self.height = height
            self.frameRate = frameRate
            self.bitrate = bitrate
            self.gopSeconds = gopSeconds
            self.audio = audio
            self.stallsAfter = stallsAfter
        }

        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            let defaults = Self()
            self.init(
                width: try fields.value(.width, default: defaults.width),
                height: try fields.value(.height, default: defaults.height),
                frameRate: try fields.value(.frameRate, default: defaults.frameRate),
                bitrate: try fields.value(.bitrate, default: defaults.bitrate),
                gopSeconds: try fields.value(.gopSeconds, default: defaults.gopSeconds),
                audio: try fields.value(.audio, default: defaults.audio),
                stallsAfter: try fields.decodeIfPresent(Double.self, forKey: .stallsAfter))
        }
    }

    public struct File: Codable, Equatable, Sendable {
        public var path: String
        /// Begin again at its end, for ever.
        public var loop: Bool
        public var pace: Pace

        public init(path: String, loop: Bool = false, pace: Pace = .realTime) {
            self.path = path
            self.loop = loop
            self.pace = pace
        }

        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            self.init(
                path: try fields.decode(String.self, forKey: .path), loop: try fields.value(.loop, default: false),
                pace: try fields.value(.pace, default: .realTime))
        }
    }

    public enum Pace: String, Codable, Sendable, CaseIterable {
        case realTime = "real-time"
        /// As fast as the relay takes it; nothing is dropped, the file waits.
        case unthrottled
    }
}
