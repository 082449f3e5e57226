import Archive
import ArgumentParser
import BoxView
import Console
import VideoCodec

struct ArchiveThumbnailsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "thumbnails",
        abstract: "A page of what a camera recorded, day by day: a small picture of where each recording begins.",
        discussion: """
            Pictures are made now, with the key: beside recordings there are none. Only the first segment of each is opened. The page \
            is one file, FOLDER/index.html, for its owner alone and not encrypted; it needs no other file and loads none. It has \
            \(ThumbnailPlan.most) pictures at most: of more recordings one for each few minutes or hours (--every). A recording that \
            is damaged is on it without a picture. Without --day, or --from and --to, it is of all that there is.

              sudo watchboxctl archive thumbnails front --day today --kas-token-file alice.token --output front
              sudo watchboxctl archive thumbnails front --from -2h --to now --every 10m --key kas.key.pem --output front
            """)

    @Argument(help: "ID of a camera.", completion: CameraNames.completion)
    var camera: String

    @Option(help: ArgumentHelp("A day, instead of --from and --to: today, yesterday, 2026-11-28.", valueName: "day"))
    var day: String?

    @OptionGroup var times: RecordingTimeOptions

    @Option(
        help: ArgumentHelp(
            "One picture for so long at most, by the clock: 90s, 5m, 2h, 1d.", valueName: "duration"))
    var every: WrittenDuration?

    @OptionGroup var place: RecordingDirectoryOption
    @OptionGroup var key: ArchiveKeyOptions

    @Option(help: "Folder that index.html is written into; made where there is none.", completion: .directory)
    var output: String

    @Flag(help: "Replace the index.html that is there.")
    var force = false

    @Flag(help: "Print a JSON document.")
    var json = false

    @OptionGroup(visibility: .hidden) var box: HostOption

    /// After so many that were refused a key, and no picture, nobody is asked any more.
    private static let mostRefusals = 3

    func validate() throws {
        if output.isEmpty || output == "-" { throw ValidationError("--output: name a folder.") }
        if day != nil, times.from != nil || times.to != nil {
            throw ValidationError("--day is all of a day: leave out either it or --from and --to.")
        }
    }

    func run() async throws {
        let path = ThumbnailFile.path(in: output)
        let what = FilmExport.what(path)
        if place.directory == nil { try box.requireThisMachine() }
        let parser = MomentParser.system
        try place.shelf.check(camera, or: what)
        let task = try FilmTask(
            camera: camera, between: try range(parser, or: what), place, parser, action: "shown", or: what)
        let plan = try plan(task, parser.clock, or: what)
        try ArchiveOutput.check(path, input: output, replaces: force, or: what)
        guard MachineEncoders.canProbe else {
            throw CommandFailure(
                what: what, why: "there is no \(MachineEncoders.daemon), which decodes frames in a sandbox",
                hint: "install watchboxd beside watchboxctl")
        }
        let keys = try key.source(what: what)
        let file = try ThumbnailFile(in: output, or: what)
        let (document, refusal) = try await write(plan, of: task, keys, to: file, parser.clock, path)
        if let lack = SandboxShortfall.take() { StandardError.writeLine(lack) }
        StandardOutput.show(document, json: json, document.lines())
        if let refusal {
            StandardError.writeLine("\(refusal.why). Next: \(refusal.hint)")
            throw ExitCode(refusal.status.rawValue)
        }
    }

    private func range(_ parser: MomentParser, or what: String) throws(CommandFailure) -> RecordingRange {
        guard let day else {
            return times.from == nil && times.to == nil ? .all : try times.range(parser, or: what)
        }
        do throws(MomentParser.Fault) {
            let (from, to) = try parser.day(day)
            return RecordingRange(from: from, to: to)
        } catch {
            throw CommandFailure(
                what: what, why: "--day: \(error)", hint: "write a day as 2026-11-28, today or yesterday",
                status: .usage)
        }
    }

    private func plan(
        _ task: FilmTask, _ clock: LocalClock, or what: String
    ) throws(CommandFailure) -> ThumbnailPlan {
        do throws(ThumbnailPlan.TooMany) {
            return try ThumbnailPlan(
                task.sources.map { ($0.begin, $0.end ?? $0.begin) }, from: task.range.from, every: every?.seconds,
                clock: clock)
        } catch {
            throw CommandFailure(
                what: what,
                why: "that would be \(error.count) pictures, and a page has \(ThumbnailPlan.most) at most",
                hint: WrittenDuration.range.contains(error.enough)
                    ? "take --every \(WrittenDuration(seconds: error.enough).text) or more, or a shorter time"
                    : "take a shorter time",
                status: .usage)
        }
    }

    /// - Returns: what was made, and why a recording of it was refused its key; nil: none was.
    private func write(
        _ plan: ThumbnailPlan, of task: FilmTask, _ keys: ArchiveKeySource, to file: ThumbnailFile,
        _ clock: LocalClock, _ path: String
    ) async throws -> (ThumbnailsDocument, CommandFailure?) {
        let what = FilmExport.what(path)
        let parts = task.sources.map {
            RecordingPicture.Part(from: $0.begin, to: $0.end ?? $0.begin, isPinned: $0.isPinned)
        }
        var page = ThumbnailPage(camera: camera, RecordingPicture(parts, clock: clock), clock)
        var maker = ThumbnailMaker(
            keys, FrameDecoderChild(executable: MachineEncoders.daemon), output: path, clock: clock)
        var document = ThumbnailsDocument(
            camera: camera, path: path, recordings: task.sources.count, every: plan.every,
            recordsNow: task.recordsNow, unfinished: task.unfinished ?? 0)
        let work = ArchiveWork("making pictures", total: Int64(plan.tiles.count))
        defer { work.end() }
        var refusal: CommandFailure?
        var refusals = 0
        try file.append(page.head(), or: what)
        for (number, planned) in plan.tiles.enumerated() {
            let source = task.sources[planned.index]
            var tile = ThumbnailPage.Tile(
                file: source.name, begin: source.begin, duration: source.duration ?? 0, isPinned: source.isPinned,
                breaks: planned.breaks, content: .nothing(""))
            do throws(ThumbnailMaker.Fault) {
                tile.content = .jpeg(
                    try await maker.picture(of: source) { () throws(ArchiveError) in try work.progress(Int64(number)) })
            } catch {
                switch error {
                case .skipped(let reason): tile.content = .nothing(reason)
                case .refused(let failure):
                    refusal = refusal ?? failure
                    refusals += 1
                    if document.pictures.isEmpty, refusals >= Self.mostRefusals { throw failure }
                    tile.content = .nothing(failure.why)
                case .ended(let failure): throw failure
                }
            }
            document.add(tile)
            try file.append(page.tile(tile), or: what)
        }
        guard !document.pictures.isEmpty else {
            throw refusal
                ?? CommandFailure(
                    what: what,
                    why: "none of \(Quantity.count(plan.tiles.count, "recording")) gives a picture; the first: "
                        + (document.skipped.first.map { "\($0.file): \($0.reason)" } ?? ""),
                    hint: "look at it: watchboxctl archive verify; or take another time")
        }
        try file.append(page.end(document.summary, plan.trailing), or: what)
        document.bytes = file.size
        try file.finish(replaces: force, or: what)
        return (document, refusal)
    }
}
