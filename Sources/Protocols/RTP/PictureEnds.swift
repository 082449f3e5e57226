/// How a camera shows that a picture is whole: by the marker bit, or only by the next picture's timestamp. Without
/// marker bits, pictures that always have the same number of slices end with the last of them.
struct PictureEnds: Sendable {
    /// As many pictures in a row must have the same number of slices.
    private static let proof = 8

    private var hasMarkers = false
    private var ignoresMarkers = false
    private var withoutMarker = 0
    private var sliceCount = 0
    private var sameCount = 0
    private var countsSlices = true

    /// A marker bit stands behind a slice: whether the picture ends with it.
    mutating func markerEnds() -> Bool {
        guard !ignoresMarkers else { return false }
        hasMarkers = true
        return true
    }

    /// A picture ended that had no marker.
    mutating func endedByTimestamp(slices: Int) {
        withoutMarker = min(withoutMarker + 1, Self.proof)
        if slices == sliceCount {
            sameCount = min(sameCount + 1, Self.proof)
        } else {
            sliceCount = slices
            sameCount = 1
        }
    }

    /// Whether the picture is whole with this slice, as far as can be known without a marker.
    func isLast(slice: Int) -> Bool {
        mayEndByTime && countsSlices && sameCount >= Self.proof && slice >= sliceCount
    }

    /// Without markers the last picture before a pause would wait for its end.
    var mayEndByTime: Bool { withoutMarker > 0 && (!hasMarkers || ignoresMarkers) }

    /// More of a picture came behind its end.
    mutating func endedTooEarly() {
        if hasMarkers, !ignoresMarkers {
            ignoresMarkers = true
            withoutMarker = 0
        } else {
            countsSlices = false
        }
        sameCount = 0
    }
}
