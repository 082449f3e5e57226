/// What a device's video encoder may be set to, for one codec.
public struct EncoderOptions: Equatable, Sendable {
    /// FFmpeg's name in lower case.
    public var codec: String
    /// Largest first.
    public var sizes: [FrameSize]
    /// Frames per second.
    public var rates: ClosedRange<Double>?
    /// Bits per second.
    public var bitrates: ClosedRange<Int>?
    /// Frames from one key frame to the next.
    public var gops: ClosedRange<Int>?

    /// Of an answer to GetVideoEncoderConfigurationOptions; one for each codec, at most 16.
    public static func parse(_ response: XMLElement) -> [EncoderOptions] {
        let options = response.children(named: "Options").prefix(16)
        if options.contains(where: { $0.child("Encoding") != nil }) { return options.compactMap { media2($0) } }
        return options.first.map { media1($0) } ?? []
    }

    private static func media2(_ element: XMLElement) -> EncoderOptions? {
        guard let encoding = element.text("Encoding") else { return nil }
        let rates = numbers(element.attribute("FrameRatesSupported")).filter { $0 > 0 && $0 <= 1000 }
        let gops = numbers(element.attribute("GovLengthRange")).compactMap { Int(exactly: $0.rounded()) }
        return EncoderOptions(
            codec: EncoderConfiguration.codec(ofEncoding: encoding), sizes: sizes(element),
            rates: rates.min().flatMap { low in rates.max().map { low...$0 } },
            bitrates: kilobits(element.child("BitrateRange")),
            gops: gops.min().flatMap { low in gops.max().map { low...$0 } })
    }

    private static func media1(_ element: XMLElement) -> [EncoderOptions] {
        ["JPEG", "MPEG4", "H264"].compactMap { name in
            // The extension repeats the codec's element, with the bit rate and sometimes with more sizes.
            let extended = element.child("Extension")?.child(name)
            guard let basic = element.child(name) ?? extended else { return nil }
            return EncoderOptions(
                codec: EncoderConfiguration.codec(ofEncoding: name), sizes: sizes(basic),
                rates: range(basic.child("FrameRateRange")).map { Double($0.lowerBound)...Double($0.upperBound) },
                bitrates: kilobits(extended?.child("BitrateRange")), gops: range(basic.child("GovLengthRange")))
        }
    }

    private static func sizes(_ element: XMLElement) -> [FrameSize] {
        var sizes: [FrameSize] = []
        for child in element.children(named: "ResolutionsAvailable").prefix(256) {
            if let size = FrameSize(child), !sizes.contains(size) { sizes.append(size) }
        }
        return sizes.sorted { $0.width * $0.height > $1.width * $1.height }
    }

    private static func numbers(_ list: String?) -> [Double] {
        (list ?? "").split(whereSeparator: \.isWhitespace).prefix(256).compactMap { Double($0) }
            .filter { $0.isFinite && abs($0) < 1e9 }
    }

    private static func range(_ element: XMLElement?) -> ClosedRange<Int>? {
        guard let low = element?.text("Min").flatMap({ Int($0) }), let high = element?.text("Max").flatMap({ Int($0) }),
            low >= 0, low <= high, high <= 1_000_000_000
        else { return nil }
        return low...high
    }

    private static func kilobits(_ element: XMLElement?) -> ClosedRange<Int>? {
        range(element).map { $0.lowerBound * 1000...$0.upperBound * 1000 }
    }
}
