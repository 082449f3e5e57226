import Archive
import ArgumentParser
import BoxView
import Console
import ControlAPI

struct ArchiveListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "What cameras of this machine recorded: from when to when, and how much.",
        discussion: """
            On a terminal a line for each day: a block for each half hour, as high as the part of it that is recorded; ^ is what \
            is pinned, x what did not get to the relay. Elsewhere a row for each stretch without a gap. Times are this machine's; those \
            of --json are UTC. It opens no recording, and needs no key.

              sudo watchboxctl archive list
              sudo watchboxctl archive list front --from "yesterday 20:00" --to now
              sudo watchboxctl archive list front --json --files
            """)

    @Argument(help: "ID of a camera; none: all of them.", completion: CameraNames.completion)
    var camera: String?

    @OptionGroup var times: RecordingTimeOptions
    @OptionGroup var place: RecordingDirectoryOption

    @Flag(help: "Also each file, in the document of --json.")
    var files = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if files, output.chosen == .table {
            throw ValidationError("--files is for a document: add --json, or leave it out.")
        }
    }

    func run() async throws {
        if place.directory == nil { try output.box.requireThisMachine() }
        let what = "recordings cannot be listed"
        let parser = MomentParser.system
        let range = try times.optionalRange(parser, or: what)
        let shelf = place.shelf
        if let camera { try shelf.check(camera, or: what) }
        var listings: [(camera: String, listing: RecordedListing)] = []
        for camera in try camera.map({ [$0] }) ?? shelf.cameras(or: what) {
            listings.append((camera, try shelf.listing(of: camera, between: range, or: what)))
        }
        let document = RecordingsDocument(
            directory: shelf.directory,
            cameras: listings.map { .init($0.camera, $0.listing, hasFiles: files) })
        output.show(document, rows: document.cameras) { style in
            guard !listings.isEmpty else { return [style.paint("No camera has recorded anything.", .plain)] }
            return listings.enumerated().flatMap { index, entry in
                (index == 0 ? [] : [""])
                    + RecordingsView(camera: entry.camera, listing: entry.listing, clock: parser.clock)
                    .lines(style, header: !output.noHeaders)
            }
        }
    }
}
