import Archive
import ArgumentParser
import Console
import KeyAccess
import KeyAccessClient
import Media
import MediaFile
import Platform

struct ArchiveExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "A part of what a camera recorded, of one archive or of a binder, as an MP4 file.",
        discussion: """
            The film begins at the last key frame at or before --from, and ends at --to: frames are those of the camera, nothing \
            is coded again. Only archives of that time are opened. Up to 10 seconds in which nothing was recorded stay in the film, \
            longer ones become a second and are told. Of one archive, or of a binder of them (archive create), named by its path, both \
            times may be left out, or be seconds from its beginning. The file is for its owner alone, and has its name when it is whole. \
            Until then it is FILM.mp4.part: where that is interrupted, the same command with the same times goes on behind the last \
            archive that is in it. Delete both, FILM.mp4.part and FILM.mp4.part.journal, if you do not want it any more.

              sudo watchboxctl archive export front --from 10:00 --to 10:05 --kas-token-file alice.token --output front.mp4
              sudo watchboxctl archive export front --from -10m --to now --key kas.key.pem --output front.mp4
              watchboxctl archive export ./door.tdf --from 60 --to 90.5 --key kas.key.pem --output door.mp4
              watchboxctl archive export door.zip --from 10:00 --to 10:05 --key kas.key.pem --output door.mp4
            """)

    @Argument(
        help: "ID of a camera; or an archive or a binder, by a name that ends with .tdf or .zip or a path.",
        completion: CameraNames.completion)
    var camera: String

    @OptionGroup var times: RecordingTimeOptions
    @OptionGroup var place: RecordingDirectoryOption
    @OptionGroup var key: ArchiveKeyOptions

    @Option(help: "MP4 file to write, for its owner alone.", completion: .file())
    var output: String

    @Flag(help: "Replace the file of --output when it is there.")
    var force = false

    @Flag(help: "Print a JSON document.")
    var json = false

    @OptionGroup(visibility: .hidden) var box: HostOption

    /// Whether an archive or a binder is named, and no camera.
    private var isFile: Bool {
        camera.hasSuffix(RecordingName.suffix) || camera.hasSuffix(RecordingBinding.suffix) || camera.contains("/")
    }

    func validate() throws {
        if output == "-" {
            throw ValidationError("--output: an MP4 file is not written from its beginning to its end: name a file.")
        }
        if isFile, place.directory != nil {
            throw ValidationError(
                "--directory: '\(camera)' is the path of an archive, which is looked for in no directory of recordings: "
                    + "leave --directory out, or name the ID of a camera.")
        }
    }

    func run() async throws {
        let what = FilmExport.what(output)
        if !isFile, place.directory == nil { try box.requireThisMachine() }
        let parser = MomentParser.system
        let task =
            try isFile
            ? FilmTask(file: camera, times, parser, or: what)
            : FilmTask(camera: camera, times, place, parser, action: "exported", or: what)
        try task.check(output, replaces: force, or: what)
        let keys = try key.source(what: what)
        let work = ArchiveWork("exporting", total: task.sizes.reduce(0, &+))
        defer { work.end() }
        let (export, taken) = try FilmResumption.export(task, to: output, replaces: force) {
            (done) throws(ArchiveError) in try work.progress(done)
        }
        if let line = taken.line(output) { work.say(line) }
        let stream: String?
        let written: MediaWriter.Summary?
        do {
            stream = try await task.copy(to: export, output, keys, work, after: taken)
            written = try export.finish(replaces: force)
        } catch let failure as CommandFailure {
            throw export.interrupted(by: failure, times.isRelative ? task.range.options : "")
        }
        guard let summary = written else {
            throw FilmTask.nothing(
                what, "there is no frame in that time", isFile ? "name other times" : place.shelf.listHint(camera))
        }
        var document = ArchiveExportDocument(
            summary, export.timeline, output: output, stream: stream,
            bytes: (try? RandomAccessFile(output).size) ?? 0,
            archives: taken.archives + task.sources.count - taken.listed,
            isWallTime: task.clock != nil, recordsNow: task.recordsNow)
        document.resumedAt = taken.duration.map { Double($0.milliseconds) / 1000 }
        document.unfinished = task.unfinished
        StandardOutput.show(
            document, json: json, document.lines(export.timeline, asked: task.range, clock: task.clock))
    }
}
