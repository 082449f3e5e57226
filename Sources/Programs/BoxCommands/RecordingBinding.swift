import Archive
import Console
import Platform
import TDF

/// Binds what a camera recorded into one file, each recording as it is: nobody's key is needed for that.
struct RecordingBinding {
    /// Of the file's name: it is a ZIP file.
    static let suffix = ".zip"

    let camera: String
    let task: FilmTask
    let output: String
    let replaces: Bool

    /// - Returns: what was written, read again.
    func run() throws(CommandFailure) -> BinderReader {
        let what = FilmExport.what(output)
        try task.check(output, replaces: replaces, or: what)
        guard task.sources.count <= BinderContainer.maxRecordings else {
            throw CommandFailure(
                what: what,
                why: "\(task.sources.count) recordings are of that time, and a binder holds "
                    + "\(BinderContainer.maxRecordings)",
                hint: "bind shorter times", status: .usage)
        }
        let names = try Self.names(task.sources, output)
        let sizes = task.sizes
        let total = sizes.reduce(0, &+)
        // Once to see that it is whole, once to copy, and once to read again what was written.
        let work = ArchiveWork("binding", total: total &* 3)
        defer { work.end() }
        let writer: BinderWriter
        do throws(ArchiveError) { writer = try BinderWriter(output) } catch { throw CommandFailure(error, what: what) }
        var done: Int64 = 0
        for ((listed, listedName), size) in zip(zip(task.sources, names), sizes) {
            let before = done
            let (source, archive) = try listed.opened(isListed: true, output, task.clock)
            var name = listedName
            // It may have been pinned meanwhile, or no more.
            name.isPinned = RecordingName(source.name)?.isPinned ?? name.isPinned
            do throws(ArchiveError) {
                try writer.add(name, archive) { (place) throws(ArchiveError) in try work.progress(before &+ place) }
            } catch {
                throw source.failure(error, output, task.clock)
            }
            done = done &+ size &* 2
        }
        do throws(ArchiveError) {
            try writer.finish(camera: camera, from: task.range.from, to: task.range.to, replaces: replaces) {
                (place) throws(ArchiveError) in
                try work.progress((total &* 2) &+ place)
            }
        } catch {
            throw CommandFailure(error, what: what)
        }
        return try BinderReader.reading(output, or: "the binder cannot be read again")
    }

    /// - Throws: when one has no such name, or a number that the one before it has: then somebody put several directories into one.
    private static func names(
        _ sources: [FilmSource], _ output: String
    ) throws(CommandFailure) -> [RecordingName] {
        var names: [RecordingName] = []
        names.reserveCapacity(sources.count)
        for source in sources {
            guard let name = RecordingName(source.name) else {
                throw CommandFailure(
                    what: FilmExport.what(output, source), why: "that is no name of a recording",
                    hint: "give it back the name that the recorder gave it", status: .usage)
            }
            if let former = names.last, former.sequence >= name.sequence {
                throw CommandFailure(
                    what: FilmExport.what(output, source),
                    why: "it has the same number as \(former.fileName), and in a binder each has one of its own",
                    hint: "keep recordings of several machines in directories of their own: --directory",
                    status: .usage)
            }
            names.append(name)
        }
        return names
    }
}
