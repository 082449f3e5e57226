/// All that the demo found out; what the text and the page show.
package struct Report {
    /// What a decoder made of what the relay holds.
    package struct RelayView {
        /// Media messages in the relay's copy.
        package var frames = 0
        /// Access units that were given to a decoder, and frames that came out.
        package var videoFrames = 0
        package var decodedFrames = 0
        /// Frames of the relay's copy that are not an item of the size that the camera sealed: anything else may be
        /// clear.
        package var clearFrames = 0
        /// In one sentence.
        package var verdict = ""
        /// PNG: one pixel for each byte of the first key frame, as the relay holds it.
        package var frame: [UInt8] = []

        package init() {}
    }

    package var source = ""
    package var seconds = 0
    package var framesEncoded = 0
    package var comparison: Comparison
    package var relay = RelayView()
    /// What encryption added to the media payloads, in bytes, and the payload bytes themselves.
    package var overheadBytes = 0
    package var mediaBytes = 0
    package var camera: [FrameRecord] = []
    /// PNG, as the viewer saw it.
    package var viewerFrame: [UInt8] = []
    package var versions = ""

    package init(comparison: Comparison) {
        self.comparison = comparison
    }

    package var isGood: Bool {
        comparison.isExact && relay.clearFrames == 0 && relay.decodedFrames == 0 && relay.frames > 0
            && framesEncoded == comparison.sealed
    }

    /// Label, value: the figures that both forms of the report show.
    package var figures: [(label: String, value: String)] {
        [
            ("source", source),
            ("frames encoded", "\(framesEncoded)"),
            ("frames sealed", "\(comparison.sealed)"),
            ("frames relayed", "\(relay.frames)"),
            ("frames opened", "\(comparison.opened)"),
            ("bit-exact", exactness),
            ("latency, capture to opened, p50", milliseconds(comparison.latency(percentile: 50))),
            ("latency, capture to opened, p99", milliseconds(comparison.latency(percentile: 99))),
            ("key rotations", "\(comparison.rotations)"),
            ("(key, IV) pairs used twice", "\(comparison.reusedPairs)"),
            ("bytes of overhead", overhead),
            ("what the relay saw", relay.verdict),
        ]
    }

    private var exactness: String {
        comparison.isExact
            ? "yes: every access unit has the SHA-256 that it had before it was sealed"
            : "NO: \(comparison.missing) missing, \(comparison.wrong) wrong"
    }

    private var overhead: String {
        let share = mediaBytes > 0 ? Double(overheadBytes) / Double(mediaBytes) * 100 : 0
        return "\(overheadBytes) over \(mediaBytes) of media (\(fixed(share, 2)) %)"
    }

    private func milliseconds(_ value: Double?) -> String {
        value.map { fixed($0, 2) + " ms" } ?? "not measured"
    }
}

/// A number with a fixed count of decimals.
package func fixed(_ value: Double, _ decimals: Int) -> String {
    var scale = 1.0
    for _ in 0..<decimals { scale *= 10 }
    let whole = Int64((value.magnitude * scale).rounded())
    let digits = String(whole)
    let padded = String(repeating: "0", count: max(0, decimals + 1 - digits.count)) + digits
    let sign = value < 0 && whole != 0 ? "-" : ""
    return decimals == 0 ? sign + padded : sign + padded.dropLast(decimals) + "." + padded.suffix(decimals)
}
