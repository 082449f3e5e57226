import Archive
import ArgumentParser
import Console
import KeyAccess
import KeyAccessClient
import Platform

struct ArchiveExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "A part of what a camera recorded, or of one archive, as an MP4 file.",
        discussion: """
            The film begins at the last key frame at or before --from, and ends at --to: frames are those of the camera, nothing \
            is coded again. Only archives of that time are opened. Up to 10 seconds in which nothing was recorded stay in the film, \
            longer ones become a second and are told. Of one archive, named by its path, both times may be left out, or be \
            seconds from its beginning. The file is for its owner alone, and has its name when it is whole.

              sudo watchboxctl archive export front --from 10:00 --to 10:05 --kas-token-file alice.token --output front.mp4
              sudo watchboxctl archive export front --from -10m --to now --key kas.key.pem --output front.mp4
              watchboxctl archive export ./door.tdf --from 60 --to 90.5 --key kas.key.pem --output door.mp4
            """)

    @Argument(
        help: "ID of a camera; or an archive, by a name that ends with .tdf or a path.",
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

    /// What is taken from, in its order.
    private struct Task {
        var sources: [FilmExport.Source]
        var range: RecordingRange
        /// Nil: nobody knows when it was recorded.
        var clock: LocalClock?
        var recordsNow = false
    }

    /// Whether one archive is named, and no camera.
    private var isFile: Bool { camera.hasSuffix(RecordingName.suffix) || camera.contains("/") }

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
        let task = try isFile ? fileTask(parser, or: what) : cameraTask(parser, or: what)
        for source in task.sources {
            try ArchiveOutput.check(output, input: source.path, replaces: force, or: what)
        }
        let keys = try key.source(what: what)
        let sizes = task.sources.map { Self.size($0.path) }
        let work = ArchiveWork("exporting", total: sizes.reduce(0, &+))
        defer { work.end() }
        let export = try FilmExport(to: output, clock: task.clock)
        var done: Int64 = 0
        var stream: String?
        for (listed, size) in zip(task.sources, sizes) {
            let before = done
            do throws(ArchiveError) { try work.progress(before) } catch {
                throw FilmExport.failure(error, output, listed, task.clock)
            }
            let (source, archive) = try FilmExport.open(listed, isListed: !isFile, output, task.clock)
            let opened = try await keys.open(archive, what: FilmExport.what(output, source))
            stream = archive.policy?.stream
            try export.check(source, isOf: stream)
            let bytes = ArchiveBytes(opened, map: archive.map) { (place) throws(ArchiveError) in
                try work.progress(before &+ place)
            }
            try export.add(source, bytes, task.range)
            done = done &+ size
        }
        guard let summary = try export.finish(replaces: force) else {
            throw Self.nothing(what, "there is no frame in that time", isFile ? "name other times" : listHint)
        }
        let document = ArchiveExportDocument(
            summary, export.timeline, output: output, stream: stream, bytes: Self.size(output),
            archives: task.sources.count, isWallTime: task.clock != nil, recordsNow: task.recordsNow)
        StandardOutput.show(
            document, json: json, document.lines(export.timeline, asked: task.range, clock: task.clock))
    }

    private var listHint: String { place.shelf.listHint(camera) }

    private func cameraTask(_ parser: MomentParser, or what: String) throws(CommandFailure) -> Task {
        try place.shelf.check(camera, or: what)
        let range = try times.range(parser, or: what)
        let listing = try place.shelf.listing(of: camera, between: range, or: what)
        guard !listing.recordings.isEmpty else {
            throw Self.nothing(
                what,
                "nothing of \(camera) is recorded from \(parser.clock.text(range.from)) to \(parser.clock.text(range.to))",
                listing.recordsNow
                    ? "what is being recorded now can be exported when it is finished, after a minute" : listHint)
        }
        let directory = place.shelf.recordings(of: camera)
        return Task(
            sources: listing.recordings.map {
                .init(path: directory.path(of: $0.name), begin: $0.name.begin, duration: Int64($0.name.duration))
            }, range: range, clock: parser.clock, recordsNow: listing.recordsNow)
    }

    private func fileTask(_ parser: MomentParser, or what: String) throws(CommandFailure) -> Task {
        let name = RecordingName(camera.split(separator: "/").last.map(String.init) ?? camera)
        let begin = name?.begin ?? 0
        var range = RecordingRange.all
        for (text, option) in [(times.from, "--from"), (times.to, "--to")] {
            guard let text else { continue }
            let time: Int64
            switch try RecordingTimeOptions.moment(text, option, parser, or: what) {
            case .offset(let offset): time = begin + offset
            case .instant(let instant):
                guard name != nil else {
                    throw CommandFailure(
                        what: what, why: "\(option): the name of \(camera) does not say when it was recorded",
                        hint: "write seconds from its beginning: \(option) 60", status: .usage)
                }
                time = instant
            }
            if option == "--from" { range.from = time } else { range.to = time }
        }
        guard range.from < range.to else {
            throw CommandFailure(
                what: what, why: "--to is not after --from", hint: "name a later --to", status: .usage)
        }
        return Task(
            sources: [.init(path: camera, begin: begin, duration: nil)], range: range,
            clock: name == nil ? nil : parser.clock)
    }

    private static func nothing(_ what: String, _ why: String, _ hint: String) -> CommandFailure {
        CommandFailure(what: what, why: why, hint: hint, status: .notFound)
    }

    /// Of a file, for people alone: what cannot be read is said when it is opened.
    private static func size(_ path: String) -> Int64 { (try? RandomAccessFile(path).size) ?? 0 }
}
