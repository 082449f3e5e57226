internal import CV4L2

/// Asks a driver for all its formats, sizes and rates. Every list has an end, also with a driver that knows none.
struct ModeListing {
    private static let maxSizes = 256
    private static let maxRates = 64
    /// Of all lists together.
    private static let maxCalls = 20_000
    static let maxSide = 16_384

    private let calls: any DeviceCalls
    private let descriptor: Int32
    private let type: UInt32
    private var remaining = maxCalls

    init(_ calls: any DeviceCalls, _ descriptor: Int32, isMultiplanar: Bool) {
        self.calls = calls
        self.descriptor = descriptor
        type = BufferCall.type(isMultiplanar: isMultiplanar)
    }

    mutating func modes() throws(CallFailure) -> [CaptureMode] {
        var modes: [CaptureMode] = []
        for format in try FormatDescription.list(calls, descriptor, type: type) {
            if modes.contains(where: { $0.pixelFormat == format.pixelFormat }) { continue }
            let extents = try extents(of: format.pixelFormat)
            modes.append(
                CaptureMode(
                    pixelFormat: format.pixelFormat, name: format.name, isCompressed: format.isCompressed,
                    extents: extents))
        }
        return modes
    }

    /// False at the end of a list.
    private mutating func ask<T>(_ request: UInt, _ argument: inout T) throws(CallFailure) -> Bool {
        guard remaining > 0 else { return false }
        remaining -= 1
        do throws(CallFailure) {
            try calls.perform(descriptor, request, &argument)
            return true
        } catch {
            // EINVAL is the end; ENOTTY and ENODATA are drivers without such a list.
            if error.errno == ENODEV || error.errno == ENXIO || error.errno == EIO { throw error }
            return false
        }
    }

    private mutating func extents(of format: FourCC) throws(CallFailure) -> [CaptureMode.Extent] {
        var extents: [CaptureMode.Extent] = []
        for index in 0..<UInt32(Self.maxSizes) {
            var answer = v4l2_frmsizeenum()
            answer.index = index
            answer.pixel_format = format.rawValue
            guard try ask(watchbox_VIDIOC_ENUM_FRAMESIZES, &answer) else { break }
            if answer.type == V4L2_FRMSIZE_TYPE_DISCRETE.rawValue {
                guard let size = size(answer.discrete.width, answer.discrete.height) else { continue }
                if extents.contains(where: { $0.sizes == .discrete(size) }) { continue }
                extents.append(.init(sizes: .discrete(size), rates: try rates(of: format, size)))
                continue
            }
            let range = answer.stepwise
            // The only answer there is then (V4L2's rule for stepwise and continuous sizes).
            guard let minimum = size(range.min_width, range.min_height),
                let maximum = size(range.max_width, range.max_height), minimum.width <= maximum.width,
                minimum.height <= maximum.height
            else { break }
            let sizes = CaptureMode.Sizes.range(
                minimum: minimum, maximum: maximum, widthStep: max(1, Int(range.step_width)),
                heightStep: max(1, Int(range.step_height)))
            extents.append(.init(sizes: sizes, rates: try rates(of: format, maximum)))
            break
        }
        return extents.isEmpty ? [.init(sizes: .unknown, rates: .unknown)] : extents
    }

    private func size(_ width: UInt32, _ height: UInt32) -> CaptureSize? {
        let sides = 1...UInt32(Self.maxSide)
        guard sides.contains(width), sides.contains(height) else { return nil }
        return CaptureSize(width: Int(width), height: Int(height))
    }

    private mutating func rates(of format: FourCC, _ size: CaptureSize) throws(CallFailure) -> CaptureMode.Rates {
        var rates: [Fraction] = []
        for index in 0..<UInt32(Self.maxRates) {
            var answer = v4l2_frmivalenum()
            answer.index = index
            answer.pixel_format = format.rawValue
            answer.width = UInt32(size.width)
            answer.height = UInt32(size.height)
            guard try ask(watchbox_VIDIOC_ENUM_FRAMEINTERVALS, &answer) else { break }
            if answer.type == V4L2_FRMIVAL_TYPE_DISCRETE.rawValue {
                if let rate = Fraction(interval: answer.discrete), !rates.contains(rate) { rates.append(rate) }
                continue
            }
            // The longest interval is the lowest rate. Drivers name hours and days there.
            let longest = answer.stepwise.max
            guard longest.numerator > 0, longest.denominator > 0,
                let maximum = Fraction(interval: answer.stepwise.min)
            else { break }
            let minimum = Fraction(Int(longest.denominator), Int(longest.numerator))
            guard minimum.value <= maximum.value else { break }
            return .range(
                minimum: minimum.value < Fraction.lowestRate.value ? .lowestRate : minimum, maximum: maximum)
        }
        return rates.isEmpty ? .unknown : .discrete(rates.sorted { $0.value > $1.value })
    }
}

extension Fraction {
    /// One frame in ten seconds: what is slower cannot be told apart from a camera that hangs.
    static let lowestRate = Fraction(1, 10)
    private static let rates = lowestRate.value...10_000

    /// Frames per second of a time per frame; nil when that is not a time, or gives no rate between one frame in ten
    /// seconds and 10 000 in one.
    init?(interval: v4l2_fract) {
        guard interval.numerator > 0, interval.denominator > 0 else { return nil }
        self.init(Int(interval.denominator), Int(interval.numerator))
        guard Self.rates.contains(value) else { return nil }
    }

    /// The time per frame.
    var interval: v4l2_fract {
        v4l2_fract(numerator: UInt32(clamping: denominator), denominator: UInt32(clamping: numerator))
    }

    /// - Parameter rate: frames per second; integers stay integers.
    init(rate: Double) {
        let bounded = rate.isFinite ? min(max(rate, Self.rates.lowerBound), Self.rates.upperBound) : 30
        if bounded == bounded.rounded() {
            self.init(Int(bounded))
        } else {
            self.init(Int((bounded * 1000).rounded()), 1000)
        }
    }
}
