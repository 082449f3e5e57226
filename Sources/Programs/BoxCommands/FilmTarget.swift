import Archive
import Console
import MediaFile
import Platform

/// What a film goes into.
protocol FilmTarget: AnyObject {
    func makeWriter(_ tracks: MediaWriter.Tracks) -> MediaWriter

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

    func take(from writer: MediaWriter) {}

    func finish(replaces: Bool, progress: ArchiveProgress) throws(ArchiveError) {
        do throws(FileFailure) { try file.finish(replaces: replaces) } catch { throw .output(error) }
    }
}
