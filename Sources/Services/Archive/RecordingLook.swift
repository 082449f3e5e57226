public import Platform

/// What somebody sees who looks at a directory of recordings once.
public struct RecordingLook: Equatable, Sendable {
    /// Of those that grow the ones of which there is anything.
    public var found: RecordingDirectory.Listing
    /// Somebody writes to it.
    public var isWriting: Bool
    /// The newest that has no end.
    public var newest: UInt64?
    public var liveGaps: [LiveGap] = []

    /// The newest is there; else its journal alone is.
    public var hasNewest: Bool { found.growing.last == newest }

    /// With the recordings that have something between two times.
    public func listing(between range: RecordingRange) -> RecordedListing {
        var listing = RecordedListing(found, writing: isWriting ? 1 : 0, between: range)
        listing.liveGaps = liveGaps
        return listing
    }
}

extension RecordingDirectory {
    public func look() throws(FileFailure) -> RecordingLook {
        var found = try list()
        let newest = found.growing.last
        found.growing = withFrames(found.growing)
        return RecordingLook(
            found: found, isWriting: found.growing.isEmpty ? false : try isWritten(), newest: newest,
            liveGaps: liveGaps())
    }
}
