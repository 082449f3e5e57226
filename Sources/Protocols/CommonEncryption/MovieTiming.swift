/// How long fragments are, by the durations of their samples.
public struct MovieTiming: Sendable {
    private let defaults: [UInt32: MovieHeader.Defaults]
    /// Of the track that is looked at: that of the video, or else the first one.
    private let trackID: UInt32
    private let timescale: UInt32

    /// - Parameter initSegment: `ftyp` and `moov`, encrypted or not.
    public init(initSegment: [UInt8]) throws(CommonEncryptionError) {
        let header = try MovieHeader(initSegment)
        guard let track = header.tracks.first(where: { $0.entry.media == .video }) ?? header.tracks.first else {
            throw .movie(.missing, box: "trak", offset: header.moov.range.lowerBound)
        }
        guard track.timescale > 0 else { throw track.box.fault(.value(0)) }
        defaults = header.defaults
        trackID = track.id
        timescale = track.timescale
    }

    /// Boxes that readers take of what holds them, such as of a segment.
    public static let maxBoxes = MovieBox.limit

    /// How many boxes one or several fragments are, without what is within these.
    public static func boxCount(of fragments: [UInt8]) throws(CommonEncryptionError) -> Int {
        try MovieBox.list(fragments, in: 0..<fragments.count).count
    }

    /// Seconds of media in one or several fragments.
    public func duration(of fragments: [UInt8]) throws(CommonEncryptionError) -> Double {
        var ticks: UInt64 = 0
        try FragmentWalk.walk(fragments, defaults) { (part) throws(CommonEncryptionError) in
            guard case .fragment(let fragment) = part else { return }
            for track in fragment.tracks where track.id == trackID {
                let (sum, isTooLong) = ticks.addingReportingOverflow(track.duration)
                guard !isTooLong else { throw track.box.fault(.value(track.duration)) }
                ticks = sum
            }
        }
        return Double(ticks) / Double(timescale)
    }
}
