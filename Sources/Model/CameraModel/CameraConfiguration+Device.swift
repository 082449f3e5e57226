extension CameraConfiguration {
    /// A camera of this machine, and what becomes of its frames before they are encrypted.
    public struct Device: Codable, Equatable, Sendable {
        /// Absolute: `/dev/v4l/by-id/…` or `/dev/v4l/by-path/…`, which stay; `/dev/videoN` may be another camera after
        /// the next boot. Or `csi:`, for the only camera that libcamera lists, and `csi:/base/…`, which stays.
        public var path: String
        /// Of what is published, in pixels, after rotation; even. A camera that cannot deliver it gives the nearest
        /// size that it has, and that is scaled.
        public var width: Int
        public var height: Int
        /// Frames per second.
        public var frameRate: Int
        /// Of the video, in bits per second; without effect where the camera encodes.
        public var bitrate: Int
        /// Between two key frames.
        public var gopSeconds: Double
        public var pixelFormat: PixelFormat
        public var encoder: Encoder
        /// Clockwise: 0, 90, 180 or 270 degrees.
        public var rotation: Int
        /// After rotation.
        public var flip: Flip
        /// Made black before encoding.
        public var masks: [Mask]
        public var overlay: Overlay
        /// Values of the camera's own controls, by name ("brightness"), as V4L2 spells them in lower case with
        /// underscores.
        public var controls: [String: Int]
        /// ALSA's name of the audio device: `default`, `hw:CARD=C920`, `null`; nil: no audio.
        public var microphone: String?
        /// One channel of the audio device instead of two: of a device with more than one the first, or their mean.
        public var isMono: Bool
        /// Where the camera's process keeps what it learned of encoders (probes, hangs); nil: it forgets.
        public var encoderMemoryFile: String?

        /// V4L2's usual names in lower case.
        public enum PixelFormat: String, Codable, Sendable, CaseIterable {
            /// The cheapest that the camera has for the size and the rate: raw for small frames, MJPEG where raw is too
            /// slow for the bus. Never H.264, which is only passed through when it is asked for.
            case automatic = "auto"
            case yuyv, uyvy, nv12, yu12, mjpeg
            /// Encoded by the camera, and passed through.
            case h264
        }

        /// FFmpeg's names.
        public enum Encoder: String, Codable, Sendable, CaseIterable {
            /// Hardware where a probe works, else software.
            case automatic = "auto"
            case h264v4l2m2m = "h264_v4l2m2m"
            case libx264, libopenh264
            case hevcv4l2m2m = "hevc_v4l2m2m"
            case libx265
        }

        public enum Flip: String, Codable, Sendable, CaseIterable {
            case none, horizontal, vertical, both
        }

        /// A rectangle of the published image, as parts of its width and height, from its top left corner.
        public struct Mask: Codable, Equatable, Sendable {
            public var x: Double
            public var y: Double
            public var width: Double
            public var height: Double

            public init(x: Double, y: Double, width: Double, height: Double) {
                self.x = x
                self.y = y
                self.width = width
                self.height = height
            }
        }

        /// Text that is burnt into the frame.
        public struct Overlay: Codable, Equatable, Sendable {
            /// Date and time of day of the capture, local time.
            public var time: Bool
            /// Nil: none.
            public var name: String?

            public init(time: Bool = false, name: String? = nil) {
                self.time = time
                self.name = name
            }

            public var isEmpty: Bool { !time && name == nil }
        }

        public init(
            path: String, width: Int = 1280, height: Int = 720, frameRate: Int = 30, bitrate: Int = 2_000_000,
            gopSeconds: Double = 1, pixelFormat: PixelFormat = .automatic, encoder: Encoder = .automatic,
            rotation: Int = 0, flip: Flip = .none, masks: [Mask] = [], overlay: Overlay = Overlay(),
            controls: [String: Int] = [:], microphone: String? = nil, isMono: Bool = false,
            encoderMemoryFile: String? = nil
        ) {
            self.path = path
            self.width = width
            self.height = height
            self.frameRate = frameRate
            self.bitrate = bitrate
            self.gopSeconds = gopSeconds
            self.pixelFormat = pixelFormat
            self.encoder = encoder
            self.rotation = rotation
            self.flip = flip
            self.masks = masks
            self.overlay = overlay
            self.controls = controls
            self.microphone = microphone
            self.isMono = isMono
            self.encoderMemoryFile = encoderMemoryFile
        }

        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            let defaults = Self(path: "")
            self.init(
                path: try fields.decode(String.self, forKey: .path),
                width: try fields.value(.width, default: defaults.width),
                height: try fields.value(.height, default: defaults.height),
                frameRate: try fields.value(.frameRate, default: defaults.frameRate),
                bitrate: try fields.value(.bitrate, default: defaults.bitrate),
                gopSeconds: try fields.value(.gopSeconds, default: defaults.gopSeconds),
                pixelFormat: try fields.value(.pixelFormat, default: defaults.pixelFormat),
                encoder: try fields.value(.encoder, default: defaults.encoder),
                rotation: try fields.value(.rotation, default: defaults.rotation),
                flip: try fields.value(.flip, default: defaults.flip),
                masks: try fields.value(.masks, default: defaults.masks),
                overlay: try fields.value(.overlay, default: defaults.overlay),
                controls: try fields.value(.controls, default: defaults.controls),
                microphone: try fields.decodeIfPresent(String.self, forKey: .microphone),
                isMono: try fields.value(.isMono, default: defaults.isMono),
                encoderMemoryFile: try fields.decodeIfPresent(String.self, forKey: .encoderMemoryFile))
        }
    }
}

/// What can change while a camera publishes; nil stays as it is. Takes effect at the next frame, or, where the encoder
/// must be opened again, at a key frame; no frame is lost for it.
public struct VideoChange: Codable, Equatable, Sendable {
    /// Bits per second.
    public var bitrate: Int?
    /// Frames per second.
    public var frameRate: Int?
    public var gopSeconds: Double?
    /// Pixels, even; both or none.
    public var width: Int?
    public var height: Int?

    public init(
        bitrate: Int? = nil, frameRate: Int? = nil, gopSeconds: Double? = nil, width: Int? = nil, height: Int? = nil
    ) {
        self.bitrate = bitrate
        self.frameRate = frameRate
        self.gopSeconds = gopSeconds
        self.width = width
        self.height = height
    }

    public var isEmpty: Bool { self == VideoChange() }
}
