/// Decides what a camera is asked for: which of its formats, sizes and rates serve a request best.
///
/// The size comes first, because scaling costs time and sharpness: exactly that size, else the smallest that covers it,
/// else the largest below. Then the rate, then whether the bus can carry raw frames, then the format that costs least
/// before the encoder. Only a rate below half of what is requested weighs more than the size.
struct CaptureChoice {
    struct Candidate: Equatable {
        var pixelFormat: FourCC
        var size: CaptureSize
        var rate: Fraction
    }

    /// Best first, at most `most`: a driver may refuse what it lists.
    static let maxCount = 8

    var request: CaptureRequest
    /// Nil: no limit.
    var rawBytesPerSecond: Int?

    func candidates(_ modes: [CaptureMode]) -> [Candidate] {
        var ranked: [(rank: [Double], candidate: Candidate)] = []
        for mode in modes {
            guard let cost = cost(of: mode.pixelFormat) else { continue }
            for extent in mode.extents {
                let size = nearest(extent.sizes)
                let rate = nearest(extent.rates)
                let candidate = Candidate(pixelFormat: mode.pixelFormat, size: size, rate: rate)
                ranked.append((rank(candidate, isCompressed: mode.isCompressed, cost: cost), candidate))
            }
        }
        // Equal ranks stay in the driver's order.
        let order = ranked.indices.sorted { a, b in
            ranked[a].rank == ranked[b].rank ? a < b : ranked[a].rank.lexicographicallyPrecedes(ranked[b].rank)
        }
        return order.prefix(Self.maxCount).map { ranked[$0].candidate }
    }

    private func rank(_ candidate: Candidate, isCompressed: Bool, cost: Int) -> [Double] {
        let size = candidate.size
        let requested = CaptureSize(width: request.width, height: request.height)
        let rate = candidate.rate.value
        let isTooSlow = rate < request.rate / 2
        let sizeClass: Double
        if size == requested {
            sizeClass = 0
        } else {
            sizeClass = size.width >= requested.width && size.height >= requested.height ? 1 : 2
        }
        let shortage = rate >= request.rate * 0.95 ? 0 : request.rate - rate
        let excess = max(0, rate - request.rate)
        return [
            isTooSlow ? 1 : 0, isTooSlow ? shortage : 0, sizeClass, Double(abs(size.area - requested.area)), shortage,
            isTooMuch(candidate, isCompressed: isCompressed) ? 1 : 0, Double(cost), excess,
        ]
    }

    private func isTooMuch(_ candidate: Candidate, isCompressed: Bool) -> Bool {
        guard let limit = rawBytesPerSecond, !isCompressed else { return false }
        let size = candidate.size
        let bytes =
            FrameLayout(candidate.pixelFormat).map { layout in
                layout.bytes(bytesPerLine: layout.bytesPerLine(width: size.width), height: size.height)
            } ?? size.area * 2
        return Double(bytes) * candidate.rate.value > Double(limit)
    }

    /// What a format costs before the encoder: none at all, one conversion, decoding; nil: it is not an option.
    private func cost(of format: FourCC) -> Int? {
        if let requested = request.pixelFormat {
            if format == requested { return 0 }
            // Two names for the same frames.
            return requested.isJPEG && format.isJPEG ? 1 : nil
        }
        let preferred: [FourCC] = [
            .yu12, .nv12, .yuyv, .uyvy, .yvyu, .nv21, .yuv422p, .nv16, .bgr3, .rgb3, .mjpeg, .jpeg, .grey,
        ]
        if let place = preferred.firstIndex(of: format) { return place }
        return OddFormatConverter.formats.contains(format) ? preferred.count : nil
    }

    private func nearest(_ sizes: CaptureMode.Sizes) -> CaptureSize {
        let requested = CaptureSize(width: request.width, height: request.height)
        switch sizes {
        case .discrete(let size): return size
        case .unknown: return requested
        case .range(let minimum, let maximum, let widthStep, let heightStep):
            return CaptureSize(
                width: nearest(requested.width, minimum.width, maximum.width, widthStep),
                height: nearest(requested.height, minimum.height, maximum.height, heightStep))
        }
    }

    /// The least step that covers it.
    private func nearest(_ requested: Int, _ minimum: Int, _ maximum: Int, _ step: Int) -> Int {
        if requested <= minimum { return minimum }
        if requested >= maximum { return maximum }
        let steps = (requested - minimum + step - 1) / step
        return min(maximum, minimum + steps * step)
    }

    /// The lowest rate that is enough, else the highest.
    private func nearest(_ rates: CaptureMode.Rates) -> Fraction {
        switch rates {
        case .unknown: return Fraction(rate: request.rate)
        case .discrete(let rates):
            let enough = rates.filter { $0.value >= request.rate * 0.995 }
            if let least = enough.min(by: { $0.value < $1.value }) { return least }
            return rates.max { $0.value < $1.value } ?? Fraction(rate: request.rate)
        case .range(let minimum, let maximum):
            if request.rate <= minimum.value { return minimum }
            return request.rate >= maximum.value ? maximum : Fraction(rate: request.rate)
        }
    }
}
