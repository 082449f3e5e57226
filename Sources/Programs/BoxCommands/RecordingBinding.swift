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
        let sizes = task.sizes
        let total = sizes.reduce(0, &+)
        // Once to copy, and once to read again what was written.
        let work = ArchiveWork("binding", total: total &* 2)
        defer { work.end() }
        let writer: BinderWriter
        do throws(ArchiveError) { writer = try BinderWriter(output) } catch { throw CommandFailure(error, what: what) }
        var done: Int64 = 0
        for (listed, size) in zip(task.sources, sizes) {
            let before = done
            let (source, archive) = try FilmExport.open(listed, isListed: true, output, task.clock)
            guard let name = RecordingName(source.name) else { continue }
            do throws(ArchiveError) {
                try writer.add(name, archive) { (place) throws(ArchiveError) in try work.progress(before &+ place) }
            } catch {
                throw FilmExport.failure(error, output, source, task.clock)
            }
            done = done &+ size
        }
        do throws(ArchiveError) {
            try writer.finish(camera: camera, from: task.range.from, to: task.range.to, replaces: replaces) {
                (place) throws(ArchiveError) in
                try work.progress(total &+ place)
            }
        } catch {
            throw CommandFailure(error, what: what)
        }
        return try BinderReader.reading(output, or: "the binder cannot be read again")
    }
}
