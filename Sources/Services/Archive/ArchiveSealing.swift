/// Seals a film that comes piece by piece into an archive of one form or another.
public protocol ArchiveSealing: AnyObject {
    func write(_ bytes: ArraySlice<UInt8>) throws(ArchiveError)

    /// Ends a segment here, where the form has any.
    func endSegment() throws(ArchiveError)

    /// Ends the archive, reads it again as far as that goes without the key, and gives the file its name.
    ///
    /// - Parameters:
    ///   - time: when the archive was made, in seconds since 1970.
    ///   - replaces: a file that has that name.
    func finish(at time: Int64, replaces: Bool, progress: ArchiveProgress) throws(ArchiveError)
}
