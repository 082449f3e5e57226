/// Looks at what is encrypted in the scheme `cbcs`, without the key: whether its boxes say what they have to, and add up.
public struct CBCSInspector: Sendable {
    public struct Track: Equatable, Sendable {
        /// What its samples are in clear, such as `avc1`.
        public var format: String
        public var isVideo: Bool
        /// Blocks that are encrypted, and clear ones behind them; both 0: samples as a whole.
        public var encrypted: Int
        public var clear: Int
        /// default_KID.
        public var keyID: [UInt8]
        /// default_constant_IV.
        public var iv: [UInt8]

        /// 1:9 for video, whole samples for audio: what FairPlay players decrypt.
        public var isUsual: Bool {
            isVideo ? encrypted == 1 && clear == 9 : encrypted == 0 && clear == 0
        }
    }

    public struct Count: Equatable, Sendable {
        public var fragments = 0
        public var samples = 0
        /// Bytes within what is protected; of video a tenth of these is encrypted.
        public var protectedBytes = 0
        /// Those of video.
        public var protectedVideoBytes = 0
        /// Bytes of all samples.
        public var bytes = 0

        public init() {}
    }

    public let tracks: [Track]
    /// Names of keys, each once.
    public let keyIDs: [[UInt8]]

    private let defaults: [UInt32: MovieHeader.Defaults]
    private let isVideo: [UInt32: Bool]

    /// - Throws: also where a track is not encrypted.
    public init(initSegment: [UInt8]) throws(CommonEncryptionError) {
        let header = try MovieHeader(initSegment)
        var tracks: [Track] = []
        var keyIDs: [[UInt8]] = []
        var isVideo: [UInt32: Bool] = [:]
        for track in header.tracks {
            let entry = track.entry
            let sinf = try entry.children.required("sinf", in: entry.box.range.lowerBound)
            let scheme = try ProtectionScheme(initSegment, sinf)
            tracks.append(
                Track(
                    format: "\(scheme.format)", isVideo: entry.media == .video, encrypted: scheme.pattern.encrypted,
                    clear: scheme.pattern.clear, keyID: scheme.keyID, iv: scheme.iv))
            isVideo[track.id] = entry.media == .video
            if !keyIDs.contains(scheme.keyID) { keyIDs.append(scheme.keyID) }
        }
        guard !tracks.isEmpty else { throw header.moov.fault(.missing) }
        self.tracks = tracks
        self.keyIDs = keyIDs
        self.isVideo = isVideo
        defaults = header.defaults
    }

    /// Adds what is in one or several fragments.
    ///
    /// - Throws: where the parts of a sample do not add up to it, `saiz` and `saio` do not agree with them, or a fragment says nothing of its video.
    public func add(_ fragments: [UInt8], to count: inout Count) throws(CommonEncryptionError) {
        var sum = count
        try FragmentWalk.walk(fragments, defaults) { (part) throws(CommonEncryptionError) in
            guard case .fragment(let fragment) = part else { return }
            sum.fragments += 1
            for track in fragment.tracks {
                sum.samples += track.samples.count
                let size = track.samples.reduce(0) { $0 + $1.count }
                sum.bytes += size
                let box = try track.children.only("senc")
                guard box != nil || isVideo[track.id] == false else { throw track.box.fault(.missing) }
                let parts = try box.flatMap { (box) throws(CommonEncryptionError) in
                    try SampleAuxiliary.subsamples(fragments, box, samples: track.samples)
                }
                try SampleAuxiliary.check(
                    fragments, track.children, senc: box, parts, samples: track.samples.count, moof: fragment.moof,
                    required: true)
                let protected = parts?.joined().reduce(0) { $0 + Int($1.protected) } ?? size
                sum.protectedBytes += protected
                if isVideo[track.id] == true { sum.protectedVideoBytes += protected }
            }
        }
        count = sum
    }
}
