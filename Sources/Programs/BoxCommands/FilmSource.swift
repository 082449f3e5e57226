import Archive
import BoxView
import Console
import Glibc
import Platform
import Wire

/// An archive that something is taken from.
struct FilmSource {
    var path: String
    /// When the film in it begins, in milliseconds since 1970; of one that nobody knows it of, 0.
    var begin: Int64
    /// Milliseconds that its name promises; nil: it says nothing.
    var duration: Int64?
    /// A recording in the binder at `path`.
    var bound: BinderReader.Recording?
    /// It is being recorded, and this is what was written of it when somebody looked.
    var grown: GrownArchive?
    /// By what it is known again, when it was opened.
    var seen: Identity?

    /// As its name says; nil: it says nothing.
    var end: Int64? { duration.map { begin + $0 } }

    var name: String { bound?.name.fileName ?? path.split(separator: "/").last.map(String.init) ?? path }

    /// As its name says.
    var isPinned: Bool { RecordingName(name)?.isPinned ?? false }

    func reader() throws(ArchiveError) -> ArchiveReader {
        if let grown { return grown.reader }
        if let bound { return try ArchiveReader(bound.file) }
        return try ArchiveReader(path)
    }

    /// The same recording when it was pinned meanwhile, or no more.
    var pinnedOrNot: Self {
        guard var name = RecordingName(name) else { return self }
        var other = self
        other.path.removeLast(name.fileName.count)
        name.isPinned.toggle()
        other.path += name.fileName
        return other
    }
}

extension FilmSource {
    /// By what it is known again later, whether it was pinned meanwhile or not. What it says was verified when it was read: this tells one from
    /// another, and is no proof of what is in it.
    struct Identity: Equatable {
        var name: String
        /// Bytes.
        var size: Int64
        /// When its file was written last, in nanoseconds since 1970.
        var modified: Int64
    }

    /// What it is now; nil: it is being recorded and will be another one soon, or it cannot be looked at.
    func look() -> Identity? {
        var status = stat()
        guard grown == nil, stat(path, &status) == 0 else { return nil }
        var unpinned = RecordingName(name)
        unpinned?.isPinned = false
        return Identity(
            name: unpinned?.fileName ?? name, size: bound?.file.size ?? Int64(status.st_size),
            modified: Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec))
    }

    /// What is being recorded.
    init(_ grown: GrownArchive) {
        self.init(path: grown.path, begin: grown.begin, duration: Int64(grown.duration), grown: grown)
    }

    /// Reads what it says of itself. One that was listed before may have been pinned meanwhile, which changes its name, or deleted.
    ///
    /// - Parameters:
    ///   - output: what is not written without it.
    ///   - clock: for times in errors; nil: nobody knows when it was recorded.
    ///   - gone: called before it ends because it was deleted.
    func opened(
        isListed: Bool, _ output: String, _ clock: LocalClock?, gone: () -> Void = {}
    ) throws(CommandFailure) -> (source: FilmSource, archive: ArchiveReader) {
        for source in isListed ? [self, pinnedOrNot, self] : [self] {
            do throws(ArchiveError) {
                let reader = try source.reader()
                var source = source
                source.seen = source.look()
                return (source, reader)
            } catch {
                guard isListed, error.isMissing else {
                    throw self.failure(error, output, clock)
                }
            }
        }
        gone()
        throw CommandFailure(
            what: FilmExport.what(output, self), why: "that was deleted meanwhile",
            hint: "run it again: what is left is taken")
    }

    /// It cannot be read, and how to go round it.
    func failure(_ error: ArchiveError, _ output: String, _ clock: LocalClock?) -> CommandFailure {
        var failure = CommandFailure(error, what: FilmExport.what(output, self))
        switch error {
        case .input, .format, .playable: failure.hint += detour(clock)
        case .cancelled: failure.what = FilmExport.what(output)
        case .output, .readBack: break
        }
        return failure
    }

    /// How to take what is before it and behind it; empty: it says no times.
    func detour(_ clock: LocalClock?) -> String {
        guard clock != nil, let end else { return "" }
        return "; or go round it: --to \(CalendarTime.iso8601(begin)), and --from \(CalendarTime.iso8601(end))"
    }
}
