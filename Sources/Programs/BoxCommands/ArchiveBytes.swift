import Archive
import Media
import MediaFile
import TDF

/// The content of an archive as bytes for a demuxer, which are opened where they are asked for: memory holds one segment. Nothing comes out of it
/// that was not verified.
final class ArchiveBytes: ByteSource {
    /// Why it cannot be read, which nobody else knows: a demuxer passes no reason on.
    private(set) var failure: ArchiveError?

    /// Bytes that are left out, as if they were not there: fragments before the one that is wanted.
    private(set) var skipped: Range<Int64> = 0..<0

    /// Where it seems to end; nil: where it does.
    private var visibleEnd: Int64?

    private let archive: OpenedArchive
    private let map: TDFSegmentMap
    private let progress: ArchiveProgress
    private var range: Range<Int64> = 0..<0
    private var content: [UInt8] = []

    /// - Parameter map: of the same archive.
    init(_ archive: OpenedArchive, map: TDFSegmentMap, progress: @escaping ArchiveProgress) {
        self.archive = archive
        self.map = map
        self.progress = progress
    }

    var size: Int64 { (visibleEnd ?? wholeSize) - Int64(skipped.count) }

    /// Bytes, with those that are left out.
    var wholeSize: Int64 { map.clearSize }

    var segmentCount: Int { map.count }

    func read(_ wanted: Range<Int64>) throws(MediaSourceError) -> ArraySlice<UInt8> {
        let isBefore = wanted.lowerBound < skipped.lowerBound
        let begin = isBefore || skipped.isEmpty ? wanted.lowerBound : wanted.lowerBound + Int64(skipped.count)
        let end = begin + Int64(wanted.count)
        let limit = isBefore && !skipped.isEmpty ? min(end, skipped.lowerBound) : end
        guard let index = map.segments(covering: begin..<(begin + 1)).first else { return [] }
        try open(index)
        let part = (begin..<limit).clamped(to: range)
        return content[Int(part.lowerBound - range.lowerBound)..<Int(part.upperBound - range.lowerBound)]
    }

    /// The content of one segment.
    func segment(_ index: Int) throws(MediaSourceError) -> ArraySlice<UInt8> {
        try open(index)
        return content[...]
    }

    /// Ends the work here when nobody wants it any more. Between two readings there may be much of it: a film may say that it has the same few
    /// bytes a million times.
    func ask() throws(MediaSourceError) {
        do throws(ArchiveError) { try progress(range.lowerBound) } catch { throw failed(error) }
    }

    /// Shows all of it.
    func showAll() {
        skipped = 0..<0
        visibleEnd = nil
    }

    /// Shows the first segment alone, where that is a film of its own: libavformat looks at the beginning of each fragment that it sees before it
    /// gives a frame, and each costs a segment.
    ///
    /// - Returns: false: it is none, and all of it is shown.
    func showBeginning() throws(MediaSourceError) -> Bool {
        showAll()
        guard map.count > 1, MovieFragments(try segment(0)) != nil else { return false }
        visibleEnd = map.clearRange(of: 0).upperBound
        return true
    }

    /// Leaves out the fragments that end before a time, where the archive is of those whose segments begin with fragments; others are read from
    /// their beginning, which costs time and nothing else.
    ///
    /// - Parameter time: from the beginning of the film.
    func skip(to time: MediaTime) throws(MediaSourceError) {
        showAll()
        guard map.count > 1, let fragments = MovieFragments(try segment(0)) else { return }
        var low = 0
        var high = map.count
        while high - low > 1 {
            let middle = (low + high) / 2
            // What is no fragment is behind the last one.
            if let begin = fragments.time(ofFragment: try segment(middle)), begin + Self.shift <= time {
                low = middle
            } else {
                high = middle
            }
        }
        let begin = Int64(fragments.headerSize)
        let end = map.clearRange(of: low).lowerBound
        if low > 0, begin < end { skipped = begin..<end }
    }

    /// By how much a track may begin later than it says of its fragments.
    private static let shift = MediaTime(milliseconds: 500)

    private func open(_ index: Int) throws(MediaSourceError) {
        let segment = map.clearRange(of: index)
        guard segment != range || content.isEmpty else { return }
        do throws(ArchiveError) {
            if let failure { throw failure }
            range = 0..<0
            content.removeAll(keepingCapacity: true)
            try progress(segment.lowerBound)
            try archive.read(segment) { (bytes) throws(ArchiveError) in content += bytes }
            range = segment
        } catch {
            throw failed(error)
        }
    }

    private func failed(_ error: ArchiveError) -> MediaSourceError {
        failure = error
        return MediaSourceError(what: "the archive cannot be read", why: "\(error)", hint: "Look at the archive.")
    }
}
