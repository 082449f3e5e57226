import Archive
import ArgumentParser
import Console
import NanoTDF
import Platform
import TDF

struct ArchiveCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Seal a film into an archive, bind what a camera recorded, or make one archive of it.",
        discussion: """
            Of a camera and a time: the recordings that have something of it, each as it is, with an index, in one ZIP file; that \
            needs no key. With --profile it is one archive of that time, from the last key frame before it on, under a new key: \
            the recordings are opened with --key, or by the KAS and --kas-token-file, and what was opened is in memory alone.

            An archive's key is wrapped for the RSA key of the KAS, which is asked for it, or read from --kas-key. Nobody needs a \
            token for that. The file has its name when it is whole.

              sudo watchboxctl archive create door --from 10:00 --to 10:20 --output door.zip
              sudo watchboxctl archive create door --from 10:00 --to 10:20 --profile s --kas-token-file alice.token --output door.tdf
              watchboxctl archive create --file door.mp4 --kas https://kas/kas --stream door --output door.tdf
              watchboxctl archive create --file door.mp4 --kas https://kas/kas --kas-key kas.pem --profile f --output door.tdf
            """)

    @Argument(help: "ID of a camera.", completion: CameraNames.completion)
    var camera: String?

    @OptionGroup var times: RecordingTimeOptions
    @OptionGroup var place: RecordingDirectoryOption

    @Option(help: "Film to seal, instead of what a camera recorded; it stays as it is.", completion: .file())
    var file: String?

    @Option(
        help: """
            Form of the archive: s for OpenTDF's tools, f for readers of whole archives with AES-128-CBC, p for FairPlay players. \
            Unless given: s of a film; recordings are bound as they are.
            """)
    var profile: ArchiveProfile?

    @Option(
        help: ArgumentHelp(
            "PEM file of the private RSA key that recordings were wrapped for, instead of asking a KAS.",
            valueName: "file"),
        completion: .file())
    var key: String?

    @Option(help: "File to write, for its owner alone; of bound recordings a .zip.", completion: .file())
    var output: String

    @Flag(help: "Replace the file of --output when it is there.")
    var force = false

    @OptionGroup var sealing: ArchiveSealingOptions

    @Flag(help: "Print a JSON document.")
    var json = false

    @OptionGroup(visibility: .hidden) var box: HostOption

    private static let what = "no archive was made"

    func validate() throws {
        guard (camera == nil) != (file == nil) else {
            throw ValidationError(
                camera == nil
                    ? "Name the ID of a camera with --from and --to, or a film: --file."
                    : "--file and the ID of a camera: name one of both.")
        }
        if output == "-" {
            throw ValidationError("--output: an archive is not written from its beginning to its end: name a file.")
        }
        if camera == nil {
            for (name, text) in [
                ("--from", times.from), ("--to", times.to), ("--directory", place.directory), ("--key", key),
            ] where text != nil {
                throw ValidationError("\(name) is for what a camera recorded: leave it out with --file.")
            }
            return
        }
        if profile == nil {
            if let named = key == nil ? sealing.named : "--key" {
                throw ValidationError(
                    "\(named): recordings are bound as they are, under the keys that they have. "
                        + "Leave it out, or make one archive of them: --profile s.")
            }
            guard output.hasSuffix(RecordingBinding.suffix) else {
                throw ValidationError(
                    "--output: bound recordings are a ZIP file, so its name ends with \(RecordingBinding.suffix). "
                        + "For one archive add --profile s.")
            }
        } else if sealing.stream != nil {
            throw ValidationError("--stream is that of the recordings: leave it out.")
        } else if key != nil, sealing.keyAccess.tokenFile != nil {
            throw ValidationError(
                "--key opens the recordings without a KAS: leave out either it or --kas-token-file.")
        }
    }

    func run() async throws {
        guard let camera else {
            try await sealFile()
            return
        }
        let what = FilmExport.what(output)
        if place.directory == nil { try box.requireThisMachine() }
        let parser = MomentParser.system
        let action = profile == nil ? "bound" : "sealed"
        let task = try FilmTask(
            camera: camera, times, place, parser, action: action, takesGrowing: profile != nil, or: what)
        if let profile {
            try await seal(task, as: profile, or: what)
        } else {
            let binder = try RecordingBinding(camera: camera, task: task, output: output, replaces: force).run()
            var document = BinderDocument(binder, file: output, verified: .structure)
            document.recordsNow = task.recordsNow
            document.unfinished = task.unfinished
            StandardOutput.show(
                document, json: json, document.lines("written, each recording as it is", binder, parser.clock))
        }
    }

    /// One archive of recordings.
    private func seal(_ task: FilmTask, as profile: ArchiveProfile, or what: String) async throws {
        try task.check(output, replaces: force, or: what)
        let configuration = sealing.keyAccess.configuration
        let keys = try ArchiveKeySource(key: key, configuration, what: what)
        let recipient = try await sealing.recipient(or: what)
        let total = task.sizes.reduce(0, &+)
        // Once to open and seal, and once to read again what was written.
        let work = ArchiveWork("sealing", total: total &* 2)
        defer { work.end() }
        let target = SealedFilm(output, as: profile, for: recipient, sealing.policy(from:))
        let export = FilmExport(to: output, clock: task.clock, into: target)
        let stream = try await task.copy(to: export, output, keys, work)
        let summary = try export.finish(replaces: force) { (done) throws(ArchiveError) in
            try work.progress(total &+ done)
        }
        guard let summary else {
            throw FilmTask.nothing(
                what, "there is no frame in that time", place.shelf.listHint(camera))
        }
        var document = ArchiveExportDocument(
            summary, export.timeline, output: output, stream: stream,
            bytes: (try? RandomAccessFile(output).size) ?? 0, archives: task.sources.count,
            isWallTime: true, recordsNow: task.recordsNow)
        document.unfinished = task.unfinished
        document.say(try ArchiveDocument.reading(output, profile, or: "the archive cannot be read again"))
        StandardOutput.show(
            document, json: json, document.lines(export.timeline, asked: task.range, clock: task.clock))
    }

    private func sealFile() async throws {
        guard let file else { return }
        let input: RandomAccessFile
        do throws(RandomAccessFile.Failure) { input = try RandomAccessFile(file) } catch {
            throw CommandFailure(.input(error), what: Self.what)
        }
        try ArchiveOutput.check(output, input: file, replaces: force, or: Self.what)
        ClearFilm.forbidCoreDumps()
        let recipient = try await sealing.recipient(or: Self.what)
        // Once to seal, and once to read again what was written.
        try ArchiveWork.perform("sealing", total: 2 &* input.size, or: Self.what) { (work) throws(ArchiveError) in
            let writer = try (profile ?? .s).writer(
                output, recipient: recipient, policy: sealing.policy, mimeType: Self.mimeType(file))
            var offset: Int64 = 0
            while offset < input.size {
                try work.progress(offset)
                let end = min(offset + Int64(ArchiveWriter.segmentSize), input.size)
                try writer.write(try Self.read(offset..<end, of: input)[...])
                offset = end
            }
            try writer.finish(at: Clocks.wallSeconds, replaces: force) { (done) throws(ArchiveError) in
                try work.progress(input.size &+ done)
            }
        }
        let document = try ArchiveDocument.reading(output, profile ?? .s, or: "the archive cannot be read again")
        StandardOutput.show(document, json: json, document.lines("written"))
    }

    private static func read(_ range: Range<Int64>, of file: RandomAccessFile) throws(ArchiveError) -> [UInt8] {
        do { return try file.read(range) } catch { throw .input(error) }
    }

    /// By the name of the film: players of archives ask for nothing else.
    private static func mimeType(_ path: String) -> String {
        switch path.split(separator: ".").last?.lowercased() {
        case "mp4", "m4v": "video/mp4"
        case "ts": "video/mp2t"
        default: "application/octet-stream"
        }
    }
}
