/// Pixels.
public struct CaptureSize: Hashable, Sendable, CustomStringConvertible {
    public var width: Int
    public var height: Int

    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    public var area: Int { width * height }

    /// "1280x720"
    public var description: String { "\(width)x\(height)" }
}

/// Of two integers: frames per second.
public struct Fraction: Hashable, Sendable {
    public var numerator: Int
    public var denominator: Int

    /// - Parameter denominator: not 0.
    public init(_ numerator: Int, _ denominator: Int = 1) {
        self.numerator = numerator
        self.denominator = denominator
    }

    public var value: Double { Double(numerator) / Double(denominator) }
}

/// One format of a camera, with the sizes and rates that its driver lists for it.
public struct CaptureMode: Equatable, Sendable {
    public enum Sizes: Equatable, Sendable {
        case discrete(CaptureSize)
        /// From `minimum` to `maximum` in steps of so many pixels.
        case range(minimum: CaptureSize, maximum: CaptureSize, widthStep: Int, heightStep: Int)
        /// The driver does not say; it can only be tried.
        case unknown

        /// "1280x720", "48x48 to 3840x2160", "any".
        public var text: String {
            switch self {
            case .discrete(let size): "\(size)"
            case .range(let minimum, let maximum, _, _): "\(minimum) to \(maximum)"
            case .unknown: "any"
            }
        }
    }

    public enum Rates: Equatable, Sendable {
        /// Highest first.
        case discrete([Fraction])
        case range(minimum: Fraction, maximum: Fraction)
        /// The driver does not say.
        case unknown
    }

    /// A size, or a range of sizes, and the rates there. Of a range: those of its largest size.
    public struct Extent: Equatable, Sendable {
        public var sizes: Sizes
        public var rates: Rates
    }

    public var pixelFormat: FourCC
    /// The driver's name: "Motion-JPEG".
    public var name: String
    /// As the driver flags it.
    public var isCompressed: Bool
    public var extents: [Extent]

    /// "YUYV 640x480, 1280x720", at most a dozen sizes.
    public var text: String {
        let sizes = extents.map(\.sizes.text)
        let shown = sizes.prefix(12).joined(separator: ", ")
        return "\(pixelFormat) \(shown)\(sizes.count > 12 ? " and \(sizes.count - 12) more" : "")"
    }
}
