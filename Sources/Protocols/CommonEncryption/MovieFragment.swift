internal import Wire

/// A `moof` with its `mdat`, by where its samples are (ISO/IEC 14496-12 §8.8).
struct MovieFragment {
    /// A `traf`.
    struct Track {
        var id: UInt32
        var box: MovieBox
        var children: [MovieBox]
        /// In ticks of the track.
        var duration: UInt64 = 0
        /// Within the bytes that were given.
        var samples: [Range<Int>] = []
        /// Where the data offsets of its runs are, and what they are.
        var offsets: [(place: Int, value: Int32)] = []
    }

    /// Samples that are read of a fragment: half an hour of audio.
    static let maxSamples = 100_000

    let moof: MovieBox
    let mdat: MovieBox
    /// Of `moof`.
    let children: [MovieBox]
    /// In the order of their boxes.
    let tracks: [Track]

    private typealias Fields = FieldReader<CommonEncryptionError>

    /// - Parameter defaults: those of `trex`, by the ID of the track. Tracks without them are refused.
    init(
        _ bytes: [UInt8], moof: MovieBox, mdat: MovieBox, defaults: [UInt32: MovieHeader.Defaults]
    ) throws(CommonEncryptionError) {
        // Data offsets count from `moof`: what stands between would have to be kept.
        guard mdat.range.lowerBound == moof.range.upperBound else { throw mdat.fault(.misplaced) }
        let children = try moof.children(bytes)
        var tracks: [Track] = []
        var count = 0
        for box in children where box.kind == "traf" {
            let track = try Self.track(bytes, box, moof: moof, mdat: mdat, defaults, count: &count)
            tracks.append(track)
        }
        self.moof = moof
        self.mdat = mdat
        self.children = children
        self.tracks = tracks
        try checkOverlap()
    }

    /// Bytes of the media data that no run names would stay as they are, and with them what they say.
    func checkCoverage() throws(CommonEncryptionError) {
        let named = tracks.flatMap(\.samples).reduce(0) { $0 + $1.count }
        guard named == mdat.content.count else { throw mdat.fault(.unnamed(mdat.content.count - named)) }
    }

    /// Two samples of the same bytes would be encrypted twice.
    private func checkOverlap() throws(CommonEncryptionError) {
        var end = 0
        for range in tracks.flatMap(\.samples).sorted(by: { $0.lowerBound < $1.lowerBound }) {
            guard range.lowerBound >= end else { throw mdat.fault(.overlap) }
            end = range.upperBound
        }
    }

    private static func track(
        _ bytes: [UInt8], _ box: MovieBox, moof: MovieBox, mdat: MovieBox, _ defaults: [UInt32: MovieHeader.Defaults],
        count: inout Int
    ) throws(CommonEncryptionError) -> Track {
        let children = try box.children(bytes)
        try SampleGroups.check(bytes, children)
        let header = try children.required("tfhd", in: box.range.lowerBound)
        let (id, own) = try header.fields(bytes) { (reader) throws(CommonEncryptionError) in
            try Self.header(&reader, header, defaults)
        }
        var track = Track(id: id, box: box, children: children)
        var next: Int?
        for run in children where run.kind == "trun" {
            try run.fields(bytes) { (reader) throws(CommonEncryptionError) in
                try Self.run(
                    &reader, run, &track, moof: moof, mdat: mdat, defaults: own, next: &next, count: &count)
            }
        }
        return track
    }

    /// - Returns: track_ID, and what samples have that name nothing of their own.
    private static func header(
        _ reader: inout Fields, _ box: MovieBox, _ defaults: [UInt32: MovieHeader.Defaults]
    ) throws(CommonEncryptionError) -> (id: UInt32, defaults: MovieHeader.Defaults) {
        let flags = try reader.readUInt32()
        // base-data-offset-present names a place in a file; without default-base-is-moof, that of a second track depends on the first.
        guard flags & 1 == 0 else { throw box.fault(.unsupported("an offset from the beginning of the file")) }
        guard flags & 0x02_0000 != 0 else { throw box.fault(.unsupported("a base other than moof")) }
        let id = try reader.readUInt32()
        guard var own = defaults[id] else { throw box.fault(.value(UInt64(id))) }
        if flags & 2 != 0 { try reader.skip(4) }
        if flags & 8 != 0 { own.duration = try reader.readUInt32() }
        if flags & 16 != 0 { own.size = try reader.readUInt32() }
        return (id, own)
    }

    private static func run(
        _ reader: inout Fields, _ box: MovieBox, _ track: inout Track, moof: MovieBox, mdat: MovieBox,
        defaults: MovieHeader.Defaults, next: inout Int?, count: inout Int
    ) throws(CommonEncryptionError) {
        let flags = try reader.readUInt32()
        let samples = Int(try reader.readUInt32())
        count += samples
        guard count <= maxSamples else { throw box.fault(.count(count, limit: maxSamples)) }
        if flags & 1 != 0 {
            let place = box.content.lowerBound + reader.offset
            let offset = Int32(bitPattern: try reader.readUInt32())
            track.offsets.append((place, offset))
            next = moof.range.lowerBound + Int(offset)
        }
        if flags & 4 != 0 { try reader.skip(4) }
        guard var begin = next else { throw box.fault(.unsupported("a run without an offset")) }
        for _ in 0..<samples {
            track.duration += UInt64(flags & 0x100 != 0 ? try reader.readUInt32() : defaults.duration)
            let size = flags & 0x200 != 0 ? try reader.readUInt32() : defaults.size
            if flags & 0x400 != 0 { try reader.skip(4) }
            if flags & 0x800 != 0 { try reader.skip(4) }
            guard begin >= mdat.content.lowerBound, begin <= mdat.content.upperBound,
                Int(size) <= mdat.content.upperBound - begin
            else { throw box.fault(.outside) }
            track.samples.append(begin..<(begin + Int(size)))
            begin += Int(size)
        }
        next = begin
    }

    /// The fragment with other boxes in its tracks, and with its data offsets moved by what that adds.
    ///
    /// - Parameters:
    ///   - payload: of `mdat`, as long as it was.
    ///   - removed: kinds of boxes that are left out of `moof` and its tracks.
    ///   - added: what is said of the samples of each track, at its end; nil: nothing.
    func rewritten(
        _ bytes: [UInt8], payload: [UInt8], removing removed: Set<FourCC>,
        adding added: [[[Subsample]]?]
    ) throws(CommonEncryptionError) -> [UInt8] {
        let all = children + tracks.flatMap(\.children)
        let removedSize = all.filter { removed.contains($0.kind) }.reduce(0) { $0 + $1.range.count }
        // What is added is as long wherever it is.
        var growth = -removedSize
        for samples in added { if let samples { growth += try SampleAuxiliary.boxes(samples, at: 0).count } }
        // Headers with 64-bit sizes become shorter.
        for box in [moof] + tracks.map(\.box) { growth -= box.range.count - box.content.count - 8 }
        growth -= mdat.range.count - mdat.content.count - 8
        var content: [UInt8] = []
        var index = 0
        for child in children where !removed.contains(child.kind) {
            guard child.kind == "traf" else {
                content += bytes[child.range]
                continue
            }
            let track = tracks[index]
            var inner: [UInt8] = []
            for box in track.children where !removed.contains(box.kind) {
                var copy = Array(bytes[box.range])
                for (place, value) in track.offsets where box.range.contains(place) {
                    guard let moved = Int32(exactly: Int(value) + growth) else {
                        throw box.fault(.value(UInt64(growth.magnitude)))
                    }
                    copy.replaceSubrange(
                        (place - box.range.lowerBound)..<(place - box.range.lowerBound + 4),
                        with: [UInt8](bigEndian: UInt32(bitPattern: moved)))
                }
                inner += copy
            }
            // Behind the headers of `moof` and `traf`.
            if index < added.count, let samples = added[index] {
                inner += try SampleAuxiliary.boxes(samples, at: 8 + content.count + 8 + inner.count)
            }
            content += try MovieBox.box("traf", inner)
            index += 1
        }
        return try MovieBox.box("moof", content) + MovieBox.box("mdat", payload)
    }
}

extension [UInt8] {
    init(bigEndian value: UInt32) {
        self = []
        appendUInt32(value)
    }
}
