/// One of the streams that a camera offers, such as its main and its sub stream.
public struct StreamProfile: Codable, Equatable, Sendable {
    /// The camera's own name for it, such as an ONVIF token: 1 to 64 characters, unique within the camera.
    public var id: String
    public var name: String
    /// Without a user or a password.
    public var source: String
    /// Pixels; 0: the camera did not report them.
    public var width: Int
    public var height: Int
    /// Frames per second; 0: the camera did not report them.
    public var rate: Double
    /// Such as `h264`.
    public var codec: String
    /// Bits per second.
    public var bitrate: Int?
    /// Frames from one key frame to the next.
    public var gop: Int?
    /// The ONVIF service that reported it: `media` or `media2`.
    public var service: String?
    /// Where the camera gives single frames of it, without a user or a password.
    public var snapshot: String?

    public init(
        id: String, name: String, source: String, width: Int, height: Int, rate: Double, codec: String,
        bitrate: Int? = nil, gop: Int? = nil, service: String? = nil, snapshot: String? = nil
    ) {
        self.id = id
        self.name = name
        self.source = source
        self.width = width
        self.height = height
        self.rate = rate
        self.codec = codec
        self.bitrate = bitrate
        self.gop = gop
        self.service = service
        self.snapshot = snapshot
    }
}
