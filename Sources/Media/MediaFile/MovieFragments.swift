public import Media

/// What a fragmented MP4 says at its beginning of its tracks, so that somebody who has only the beginning of a fragment knows when that is
/// (ISO/IEC 14496-12): whoever looks for a time then needs no more than a few fragments.
public struct MovieFragments: Equatable, Sendable {
    /// Bytes in front of the first fragment: every reader needs them.
    public let headerSize: Int
    /// Of the track that is looked at: that of the video, or else the first one.
    private let trackID: UInt32
    private let timescale: UInt32

    private static let boxLimit = 4096

    /// - Parameter beginning: of the film, up to the first fragment at least.
    /// - Returns: nil when it is no fragmented MP4, or none that this understands; it may play all the same.
    public init?(_ beginning: ArraySlice<UInt8>) {
        var movie: ArraySlice<UInt8>?
        var size: Int?
        Self.boxes(beginning) { kind, content, offset in
            if kind == Self.moov { movie = content }
            if kind == Self.moof { size = offset }
            return size == nil
        }
        guard let movie, let size else { return nil }
        var tracks: [(id: UInt32, timescale: UInt32, isVideo: Bool)] = []
        Self.boxes(movie) { kind, content, _ in
            if kind == Self.trak, let track = Self.track(content) { tracks.append(track) }
            return true
        }
        guard let track = tracks.first(where: \.isVideo) ?? tracks.first, track.timescale > 0 else { return nil }
        headerSize = size
        trackID = track.id
        timescale = track.timescale
    }

    /// When the track's first frame in this fragment is decoded, counted from the beginning of the track: edit lists, which move a whole track by
    /// a part of a second, are not looked at.
    ///
    /// - Parameter fragment: its first bytes, up to the end of `moof` at least.
    /// - Returns: nil when it does not begin with a fragment, or with one that says nothing of the track, or whose place in the file matters.
    public func time(ofFragment fragment: ArraySlice<UInt8>) -> MediaTime? {
        var first: ArraySlice<UInt8>?
        Self.boxes(fragment) { kind, content, _ in
            if kind == Self.moof { first = content }
            return false
        }
        guard let first else { return nil }
        var time: UInt64?
        var isMovable = true
        Self.boxes(first) { kind, content, _ in
            guard kind == Self.traf, let part = Self.part(content) else { return true }
            if part.hasBase { isMovable = false }
            if part.id == trackID, time == nil { time = part.time }
            return true
        }
        guard isMovable, let time = time.flatMap({ Int64(exactly: $0) }) else { return nil }
        return MediaTime(ticks: time, timescale: Int64(timescale))
    }

    private static func track(_ content: ArraySlice<UInt8>) -> (id: UInt32, timescale: UInt32, isVideo: Bool)? {
        var id: UInt32?
        var media: ArraySlice<UInt8>?
        boxes(content) { kind, content, _ in
            // Version and flags, then two times, of 4 bytes each or of 8.
            if kind == tkhd { id = number(content, version1: 20, version0: 12) }
            if kind == mdia { media = content }
            return true
        }
        var timescale: UInt32?
        var isVideo = false
        boxes(media ?? []) { kind, content, _ in
            if kind == mdhd { timescale = number(content, version1: 20, version0: 12) }
            if kind == hdlr { isVideo = value(content.dropFirst(8), 4) == UInt64(vide) }
            return true
        }
        guard let id, let timescale else { return nil }
        return (id, timescale, isVideo)
    }

    /// Of a `traf`: whose it is, when it begins, and whether its data are found by a place in the file.
    private static func part(_ content: ArraySlice<UInt8>) -> (id: UInt32, time: UInt64?, hasBase: Bool)? {
        var id: UInt32?
        var hasBase = false
        var time: UInt64?
        boxes(content) { kind, content, _ in
            if kind == tfhd {
                hasBase = (value(content, 4) ?? 0) & 1 != 0
                id = value(content.dropFirst(4), 4).map { UInt32(truncatingIfNeeded: $0) }
            }
            if kind == tfdt { time = value(content.dropFirst(4), content.first == 1 ? 8 : 4) }
            return true
        }
        return id.map { ($0, time, hasBase) }
    }

    /// A number of 4 bytes in a full box, whose place depends on the version.
    private static func number(_ content: ArraySlice<UInt8>, version1: Int, version0: Int) -> UInt32? {
        value(content.dropFirst(content.first == 1 ? version1 : version0), 4).map { UInt32(truncatingIfNeeded: $0) }
    }

    /// Big-endian; nil when it is not all there.
    private static func value(_ bytes: ArraySlice<UInt8>, _ count: Int) -> UInt64? {
        guard bytes.count >= count else { return nil }
        return bytes.prefix(count).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Boxes one after the other, until one is not whole or `body` wants no more.
    ///
    /// - Parameter body: is given kind, content, and where the box begins. The content of one that is not whole is what there is of it.
    private static func boxes(
        _ bytes: ArraySlice<UInt8>, _ body: (_ kind: UInt32, _ content: ArraySlice<UInt8>, _ offset: Int) -> Bool
    ) {
        var rest = bytes
        var count = 0
        while count < boxLimit, let size = value(rest, 4), let kind = value(rest.dropFirst(4), 4) {
            count += 1
            var header = 8
            var length = size
            if size == 1, let long = value(rest.dropFirst(8), 8) {
                header = 16
                length = long
            }
            // 0: to the end.
            let isOpen = size == 0
            guard isOpen || length >= UInt64(header) else { return }
            let whole = isOpen ? rest.count : Int(clamping: length)
            let box = rest.prefix(whole)
            guard body(UInt32(truncatingIfNeeded: kind), box.dropFirst(header), rest.startIndex - bytes.startIndex)
            else { return }
            guard whole < rest.count else { return }
            rest = rest.dropFirst(whole)
        }
    }

    private static func code(_ text: StaticString) -> UInt32 {
        text.withUTF8Buffer { $0.reduce(0) { $0 << 8 | UInt32($1) } }
    }

    private static let moov = code("moov")
    private static let moof = code("moof")
    private static let trak = code("trak")
    private static let tkhd = code("tkhd")
    private static let mdia = code("mdia")
    private static let mdhd = code("mdhd")
    private static let hdlr = code("hdlr")
    private static let vide = code("vide")
    private static let traf = code("traf")
    private static let tfhd = code("tfhd")
    private static let tfdt = code("tfdt")
}
