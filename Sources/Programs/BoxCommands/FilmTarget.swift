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

    /// Gives the file its name.
    ///
    /// - Parameter replaces: a file of that name.
    func finish(replaces: Bool, progress: ArchiveProgress) throws(ArchiveError)
}

/// An MP4 file, which libavformat writes itself: what is at its beginning is known last.
final class FilmFile: FilmTarget {
    private let file: UnfinishedFile

    init(_ path: String) throws(CommandFailure) {
        do throws(FileFailure) { file = try UnfinishedFile(path) } catch {
            throw CommandFailure(.output(error), what: FilmExport.what(path))
        }
    }

    func makeWriter(_ tracks: MediaWriter.Tracks) -> MediaWriter {
        MediaWriter(.mp4, to: .descriptor(file.descriptor), tracks: tracks)
    }

    /// Whoever has the keys may have the film.
    func accept(_ policy: AccessPolicy?, of source: FilmSource, after end: Int64?) {}

    func take(from writer: MediaWriter) {}

    func finish(replaces: Bool, progress: ArchiveProgress) throws(ArchiveError) {
        do throws(FileFailure) { try file.finish(replaces: replaces) } catch { throw .output(error) }
    }
}
