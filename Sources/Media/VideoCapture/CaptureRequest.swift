/// What is requested of a camera.
public struct CaptureRequest: Equatable, Sendable {
    /// Pixels, before any rotation.
    public var width: Int
    public var height: Int
    /// Frames per second, 0.1 at least.
    public var rate: Double
    /// Nil: the cheapest that the camera has for the size and the rate, and never one that the camera encodes as video.
    public var pixelFormat: FourCC?
    /// The driver is asked for lines of planar frames that begin at multiples of so many bytes. Encoders in hardware
    /// need it; a driver may refuse.
    public var lineAlignment: Int

    public init(
        width: Int, height: Int, rate: Double, pixelFormat: FourCC? = nil, lineAlignment: Int = 64
    ) {
        self.width = width
        self.height = height
        self.rate = rate
        self.pixelFormat = pixelFormat
        self.lineAlignment = lineAlignment
    }

    /// "1280x720 at 30/s in MJPG"
    public var text: String {
        let number = rate == rate.rounded() && rate.magnitude < 1e6 ? "\(Int(rate))" : "\(rate)"
        return "\(width)x\(height) at \(number)/s" + (pixelFormat.map { " in \($0)" } ?? "")
    }
}

/// What the driver agreed to. Its numbers are checked: lines and frames fit into the buffers that it named.
public struct CaptureSetup: Equatable, Sendable {
    /// Which matrix turns the samples into colours.
    public enum ColorSpace: String, Equatable, Sendable, CaseIterable {
        case unspecified, bt601, bt709
    }

    public var pixelFormat: FourCC
    /// Pixels.
    public var width: Int
    public var height: Int
    /// From the begin of a line to that of the next, first plane; 0 where the frame is compressed.
    public var bytesPerLine: Int
    /// Of a whole frame; the largest when it is compressed.
    public var imageBytes: Int
    /// Frames per second, never below 0.1; what was asked for when the driver does not say, or says what cannot be.
    public var rate: Double
    /// Samples go from 0 to 255 instead of from 16 to 235 or 240. RGB always; of JPEG, the frame itself says it.
    public var isFullRange: Bool
    public var colorSpace: ColorSpace
    /// The driver speaks the multi-planar interface; the frames are in one plane of it.
    public var isMultiplanar: Bool

    public init(
        pixelFormat: FourCC, width: Int, height: Int, bytesPerLine: Int, imageBytes: Int, rate: Double,
        isFullRange: Bool = false, colorSpace: ColorSpace = .unspecified, isMultiplanar: Bool = false
    ) {
        self.pixelFormat = pixelFormat
        self.width = width
        self.height = height
        self.bytesPerLine = bytesPerLine
        self.imageBytes = imageBytes
        self.rate = rate
        self.isFullRange = isFullRange
        self.colorSpace = colorSpace
        self.isMultiplanar = isMultiplanar
    }

    /// "1280x720 YUYV at 30.0/s"
    public var text: String { "\(width)x\(height) \(pixelFormat) at \((rate * 100).rounded() / 100)/s" }
}
