/// A part of a listing, for whoever takes it bit by bit while recordings come and go.
///
/// A page begins behind a recording, and not at a number of recordings: what is recorded, deleted or pinned between two pages moves
/// nothing, and the recording itself need not be there any more.
public struct RecordingPage: Equatable, Sendable {
    /// With the recordings of this page alone.
    public var listing: RecordedListing
    /// The one that was made before the first of them, of whatever time; nil: there is none, or the page is empty.
    public var previous: RecordingDirectory.Recording?
    /// Behind which the next page begins; nil: nothing more is there.
    public var next: RecordingName?

    /// - Parameters:
    ///   - after: nil: the first page.
    ///   - limit: recordings; 1 at least.
    public init(_ look: RecordingLook, between range: RecordingRange, after: RecordingName?, limit: Int) {
        listing = look.listing(between: range)
        // Of one place in the order there is one, unless somebody has copied files.
        let ordered = listing.recordings.sorted { $0.name.precedes($1.name) }
        let behind = ordered.drop { name in after.map { !$0.precedes(name.name) } ?? false }
        listing.recordings = Array(behind.prefix(limit))
        next = behind.count > limit ? listing.recordings.last?.name : nil
        previous = listing.recordings.first.flatMap { first in
            look.found.recordings.filter { $0.name.precedes(first.name) }.max { $0.name.precedes($1.name) }
        }
    }
}

extension RecordingName {
    /// In the order in which recordings were made. Whether one is pinned does not count: it may become so meanwhile.
    func precedes(_ other: RecordingName) -> Bool {
        (sequence, begin, duration) < (other.sequence, other.begin, other.duration)
    }
}
