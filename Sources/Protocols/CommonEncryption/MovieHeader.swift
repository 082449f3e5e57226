internal import Wire

/// The initialization segment of a fragmented MP4: `ftyp` and `moov` (ISO/IEC 14496-12 §8.2).
struct MovieHeader {
    struct Track {
        var id: UInt32
        var box: MovieBox
        /// Ticks in a second, by `mdhd`.
        var timescale: UInt32
        /// The only sample entry.
        var entry: SampleEntry
    }

    /// What samples have that name nothing of their own.
    struct Defaults {
        var duration: UInt32
        var size: UInt32
    }

    static let maxTracks = 16

    let boxes: [MovieBox]
    let moov: MovieBox
    let tracks: [Track]
    /// Those of `trex`, by the ID of the track.
    let defaults: [UInt32: Defaults]

    private static let path: [FourCC] = ["mdia", "minf", "stbl", "stsd"]

    init(_ bytes: [UInt8]) throws(CommonEncryptionError) {
        boxes = try MovieBox.list(bytes, in: 0..<bytes.count)
        moov = try boxes.required("moov", in: 0)
        if let stranger = boxes.first(where: { ["moof", "mdat"].contains($0.kind) }) {
            throw stranger.fault(.misplaced)
        }
        let children = try moov.children(bytes)
        let extends = try children.required("mvex", in: moov.range.lowerBound)
        var defaults: [UInt32: Defaults] = [:]
        for box in try extends.children(bytes) where box.kind == "trex" {
            let (id, own) = try box.fields(bytes) { (reader) throws(CommonEncryptionError) in
                try reader.skip(4)
                let id = try reader.readUInt32()
                try reader.skip(4)
                return (id, Defaults(duration: try reader.readUInt32(), size: try reader.readUInt32()))
            }
            guard defaults.updateValue(own, forKey: id) == nil else { throw box.fault(.twice) }
        }
        var tracks: [Track] = []
        for box in children where box.kind == "trak" {
            guard tracks.count < Self.maxTracks else {
                throw box.fault(.count(tracks.count + 1, limit: Self.maxTracks))
            }
            let track = try Self.track(bytes, box)
            guard !tracks.contains(where: { $0.id == track.id }) else { throw box.fault(.twice) }
            guard defaults[track.id] != nil else {
                throw .movie(.missing, box: "trex", offset: box.range.lowerBound)
            }
            tracks.append(track)
        }
        self.tracks = tracks
        self.defaults = defaults
    }

    private static func track(_ bytes: [UInt8], _ box: MovieBox) throws(CommonEncryptionError) -> Track {
        var inside = try box.children(bytes)
        let header = try inside.required("tkhd", in: box.range.lowerBound)
        let id = try header.fields(bytes) { (reader) throws(CommonEncryptionError) in
            let version = try reader.readUInt32() >> 24
            try reader.skip(version == 1 ? 16 : 8)
            return try reader.readUInt32()
        }
        var found = box
        var timescale: UInt32 = 0
        for kind in path {
            found = try inside.required(kind, in: found.range.lowerBound)
            if kind != "stsd" { inside = try found.children(bytes) }
            if kind == "stbl" { try SampleGroups.check(bytes, inside) }
            if kind == "mdia" {
                timescale = try inside.required("mdhd", in: found.range.lowerBound).fields(bytes) {
                    (reader) throws(CommonEncryptionError) in
                    let version = try reader.readUInt32() >> 24
                    try reader.skip(version == 1 ? 16 : 8)
                    return try reader.readUInt32()
                }
            }
        }
        return Track(id: id, box: box, timescale: timescale, entry: try SampleEntry(bytes, stsd: found))
    }

    /// The segment with other sample entries.
    ///
    /// - Parameter entry: the new one of a track; nil: as it is.
    func rewritten(
        _ bytes: [UInt8], entry: (Track) throws(CommonEncryptionError) -> [UInt8]?
    ) throws(CommonEncryptionError) -> [UInt8] {
        var output: [UInt8] = []
        for box in boxes {
            guard box == moov else {
                output += bytes[box.range]
                continue
            }
            var content: [UInt8] = []
            for child in try moov.children(bytes) {
                guard let track = tracks.first(where: { $0.box == child }), let new = try entry(track) else {
                    content += bytes[child.range]
                    continue
                }
                content += try Self.replaced(bytes, child, Self.path[...], new)
            }
            output += try MovieBox.box("moov", content)
        }
        return output
    }

    /// A box with another sample entry at the end of `path`.
    private static func replaced(
        _ bytes: [UInt8], _ box: MovieBox, _ path: ArraySlice<FourCC>, _ entry: [UInt8]
    ) throws(CommonEncryptionError) -> [UInt8] {
        guard let next = path.first else {
            // Version, flags and the count of entries stay.
            return try MovieBox.box(box.kind, Array(bytes[box.content].prefix(8)) + entry)
        }
        var content: [UInt8] = []
        for child in try box.children(bytes) {
            if child.kind == next {
                content += try replaced(bytes, child, path.dropFirst(), entry)
            } else {
                content += bytes[child.range]
            }
        }
        return try MovieBox.box(box.kind, content)
    }
}
