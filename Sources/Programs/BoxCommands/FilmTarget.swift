import Archive
import Console
import KeyAccess
import MediaFile
import Platform

/// What a film goes into.
protocol FilmTarget: AnyObject {
    func makeWriter(_ tracks: MediaWriter.Tracks) -> MediaWriter

    /// Whether something of a source may go into it; called before the first frame of each.
    ///
    /// - Parameters:
    ///   - policy: as it was verified; nil: it is in no form that is known here.
    ///   - end: of the source before it, in milliseconds since 1970; nil: there is none, or it does not say.
    func accept(_ policy: AccessPolicy?, of source: FilmSource, after end: Int64?) throws(CommandFailure)

    /// Takes what the writer has for it; to be called after each frame, and when the film has ended.
    func take(from writer: MediaWriter) throws(ArchiveError)

    /// What the writer is given next, for a target that another export can go on with.
    func note(_ record: FilmRecord)

    /// All that was noted is in the film, and stays there whatever happens from here on.
    ///
    /// - Parameter place: of the media in what the writer wrote.
    /// - Returns: false: it does not.
    func commit(_ place: Range<Int64>) throws(ArchiveError) -> Bool

    /// Leaves what was committed to the next export.
    ///
    /// - Returns: whether there is anything.
    func keep() -> Bool

    /// Gives the file its name.
    ///
    /// - Parameter replaces: a file of that name.
    func finish(replaces: Bool, progress: ArchiveProgress) throws(ArchiveError)
}

/// Of most: they become whole, or nothing stays.
extension FilmTarget {
    func note(_ record: FilmRecord) {}
    func commit(_ place: Range<Int64>) -> Bool { false }
    func keep() -> Bool { false }
}

/// An MP4 file, which libavformat writes itself: what is at its beginning is known last.
final class FilmFile: FilmTarget {
    private enum Place {
        /// What an interrupted export leaves, another one goes on with.
        case partial(PartialFilm)
        /// It leaves nothing.
        case unfinished(UnfinishedFile)
    }

    private let place: Place

    /// What an interrupted export left is given to the film again; see ``MediaWriter/isRepeating``.
    var isRepeating = false

    init(_ path: String) throws(CommandFailure) {
        do throws(FileFailure) { place = .unfinished(try UnfinishedFile(path)) } catch {
            throw CommandFailure(.output(error), what: FilmExport.what(path))
        }
    }

    init(_ partial: PartialFilm) { place = .partial(partial) }

    func makeWriter(_ tracks: MediaWriter.Tracks) -> MediaWriter {
        let descriptor =
            switch place {
            case .partial(let partial): partial.descriptor
            case .unfinished(let file): file.descriptor
            }
        let writer = MediaWriter(.mp4, to: .descriptor(descriptor), tracks: tracks)
        writer.isRepeating = isRepeating
        return writer
    }

    /// Whoever has the keys may have the film.
    func accept(_ policy: AccessPolicy?, of source: FilmSource, after end: Int64?) {}

    func take(from writer: MediaWriter) {}

    func note(_ record: FilmRecord) {
        if case .partial(let partial) = place, !isRepeating { partial.note(record) }
    }

    func commit(_ place: Range<Int64>) throws(ArchiveError) -> Bool {
        guard case .partial(let partial) = self.place else { return false }
        return try partial.commit(place)
    }

    func keep() -> Bool {
        guard case .partial(let partial) = place, partial.keep() else { return false }
        partial.trim()
        return true
    }

    func finish(replaces: Bool, progress: ArchiveProgress) throws(ArchiveError) {
        do throws(FileFailure) {
            switch place {
            case .partial(let partial): try partial.finish(replaces: replaces)
            case .unfinished(let file): try file.finish(replaces: replaces)
            }
        } catch { throw .output(error) }
    }
}
