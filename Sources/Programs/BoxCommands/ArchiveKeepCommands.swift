import Archive
import ArgumentParser
import BoxView
import Console
import Glibc
import Platform

/// What was done with recordings, for `delete`, `pin` and `unpin`.
struct RecordingsChange: Codable, Equatable {
    var schema = "watchbox.recordings.change/1"
    var camera: String
    /// `deleted`, `pinned`, `unpinned`.
    var action: String
    /// The names that they have, or had: of those with which it was done.
    var files: [String]
    var bytes: Int64
    /// Left alone by `delete`, since they are pinned.
    var keptPinned: Int
    /// Left alone by `delete`, since a part of them is outside of the time.
    var keptPartly: Int
    /// Somebody else deleted, pinned or unpinned them meanwhile.
    var gone: Int
    /// Something is recorded now that may be of the time: it is not looked at before it is finished.
    var recordsNow: Bool
    /// Recordings that a power cut left, which are not looked at either.
    var unfinished: Int

    fileprivate init(
        _ action: String, _ camera: String, _ changed: [RecordingDirectory.Recording], of count: Int,
        _ listing: RecordedListing
    ) {
        self.camera = camera
        self.action = action
        files = changed.map(\.name.fileName)
        bytes = RecordingSpans(changed).total.bytes
        keptPinned = 0
        keptPartly = 0
        gone = count - changed.count
        recordsNow = listing.recordsNow
        unfinished = listing.unfinished
    }

    func lines(_ clock: LocalClock, _ changed: [RecordingDirectory.Recording]) -> [String] {
        let total = RecordingSpans(changed).total
        var lines = [
            changed.isEmpty
                ? "\(camera): there was nothing to be \(action)."
                : "\(camera): \(action) \(Quantity.count(files.count, "recording")), \(Quantity.bytes(Int(bytes))), "
                    + "\(clock.text(total.from)) to \(clock.text(total.to))."
        ]
        if keptPinned > 0 {
            lines.append(
                "    \(Quantity.count(keptPinned, "recording")) stayed: pinned (--pinned deletes these as well)")
        }
        if keptPartly > 0 {
            lines.append("    \(Quantity.count(keptPartly, "recording")) stayed: partly outside of the time")
        }
        if gone > 0 {
            lines.append(
                "    \(Quantity.count(gone, "recording")) \(gone == 1 ? "was" : "were") gone meanwhile: deleted, or renamed by pin or unpin"
            )
        }
        if recordsNow {
            lines.append("    What is being recorded now was not looked at: it can be \(action) when it is finished")
        }
        if let text = RecordedListing.unfinishedText(unfinished) { lines.append("    \(text)") }
        return lines
    }
}

/// Which recordings, for commands that change them.
struct RecordingsArguments: ParsableArguments {
    @Argument(help: "ID of the camera.", completion: CameraNames.completion)
    var camera: String

    @OptionGroup var times: RecordingTimeOptions
    @OptionGroup var place: RecordingDirectoryOption
    @OptionGroup var output: OutputOptions

    func listing(
        _ parser: MomentParser, or what: String
    ) throws -> (range: RecordingRange, listing: RecordedListing) {
        if place.directory == nil { try output.box.requireThisMachine() }
        try place.shelf.check(camera, or: what)
        let range = try times.range(parser, or: what)
        return (range, try place.shelf.listing(of: camera, between: range, or: what))
    }
}

struct ArchiveDeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete recordings of a camera that lie within a time.",
        discussion: """
            Deleted is what lies in it from beginning to end, and is not pinned. There is no way back. What is being recorded \
            now stays.

              sudo watchboxctl archive delete front --from "yesterday 10:00" --to "yesterday 11:00"
              sudo watchboxctl archive delete front --from 2026-11-28T10:00 --to 2026-11-28T11:00 --yes
            """)

    @OptionGroup var chosen: RecordingsArguments

    @Flag(help: "Also those that are pinned.")
    var pinned = false

    @Flag(help: "Do not ask.")
    var yes = false

    func run() async throws {
        let parser = MomentParser.system
        let (range, listing) = try chosen.listing(parser, or: "nothing was deleted")
        let whole = listing.recordings.filter { range.contains($0.name) }
        let recordings = whole.filter { pinned || !$0.name.isPinned }
        if !recordings.isEmpty {
            let total = RecordingSpans(recordings).total
            try Question.confirm(
                "Delete \(Quantity.count(recordings.count, "recording")) of \(chosen.camera), "
                    + "\(Quantity.bytes(Int(total.bytes))), \(parser.clock.text(total.from)) to "
                    + "\(parser.clock.text(total.to))? There is no way back.",
                flag: "--yes", isConfirmed: yes)
        }
        let directory = chosen.place.shelf.recordings(of: chosen.camera)
        // By names: what was pinned while the question waited has another one, and stays.
        let deleted = try chosen.place.shelf.each(recordings, of: chosen.camera, "deleted") {
            (name) throws(FileFailure) in
            let path = directory.path(of: name)
            guard unlink(path) == 0 else { throw FileFailure(call: "unlink", path: path, number: errno) }
        }
        var change = RecordingsChange("deleted", chosen.camera, deleted, of: recordings.count, listing)
        change.keptPinned = whole.count - recordings.count
        change.keptPartly = listing.recordings.count - whole.count
        let shown = change
        chosen.output.show(shown) { style in
            shown.lines(parser.clock, deleted).map { style.paint($0, .plain) }
        }
    }
}

struct ArchivePinCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pin", abstract: "Keep recordings of a camera that have something of a time.",
        discussion: """
            Pinned ones stay when room is made for new ones. What is being recorded now is pinned when it is finished and the \
            command is given again.

              sudo watchboxctl archive pin front --from 10:00 --to 10:05
            """)

    @OptionGroup var chosen: RecordingsArguments

    func run() async throws { try ArchivePinning.run(chosen, isPinned: true) }
}

struct ArchiveUnpinCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unpin", abstract: "Let recordings go that were pinned and have something of a time.",
        discussion: "  sudo watchboxctl archive unpin front --from 10:00 --to 10:05")

    @OptionGroup var chosen: RecordingsArguments

    func run() async throws { try ArchivePinning.run(chosen, isPinned: false) }
}

private enum ArchivePinning {
    static func run(_ chosen: RecordingsArguments, isPinned: Bool) throws {
        let action = isPinned ? "pinned" : "unpinned"
        let parser = MomentParser.system
        let (_, listing) = try chosen.listing(parser, or: "nothing was \(action)")
        let recordings = listing.recordings.filter { $0.name.isPinned != isPinned }
        let taken = Set(listing.recordings.map(\.name))
        let directory = chosen.place.shelf.recordings(of: chosen.camera)
        let changed = try chosen.place.shelf.each(recordings, of: chosen.camera, action) { (name) throws(FileFailure) in
            let path = directory.path(of: name)
            var renamed = name
            renamed.isPinned = isPinned
            let target = directory.path(of: renamed)
            // Two files of one recording are nobody's work: neither takes the other's place.
            guard !taken.contains(renamed) else { throw FileFailure(call: "rename", path: target, number: EEXIST) }
            try DurableFile.move(path, to: target, isFlushed: false)
        }
        var change = RecordingsChange(action, chosen.camera, changed, of: recordings.count, listing)
        change.files = changed.map {
            var name = $0.name
            name.isPinned = isPinned
            return name.fileName
        }
        let shown = change
        chosen.output.show(shown) { style in
            shown.lines(parser.clock, changed).map { style.paint($0, .plain) }
        }
    }
}

extension RecordingShelf {
    /// Does something with each, in their order, and reports how far it came when one fails. Passes over what is gone: room is made all the
    /// time, and somebody else may pin or delete.
    ///
    /// - Parameters:
    ///   - action: what is done with each, such as `deleted`.
    ///   - body: need not flush the directory.
    /// - Returns: those with which it was done.
    func each(
        _ chosen: [RecordingDirectory.Recording], of camera: String, _ action: String,
        _ body: (RecordingName) throws(FileFailure) -> Void
    ) throws(CommandFailure) -> [RecordingDirectory.Recording] {
        var changed: [RecordingDirectory.Recording] = []
        var failure: FileFailure?
        for recording in chosen where failure == nil {
            do throws(FileFailure) {
                try body(recording.name)
                changed.append(recording)
            } catch {
                if !error.isMissing { failure = error }
            }
        }
        // Also of those before one that failed.
        if let first = changed.first {
            let path = recordings(of: camera).path(of: first.name)
            do throws(FileFailure) { try DurableFile.flushDirectory(of: path) } catch { failure = failure ?? error }
        }
        guard let failure else { return changed }
        let isForbidden = [EACCES, EPERM].contains(failure.number)
        let bytes = RecordingSpans(changed).total.bytes
        throw CommandFailure(
            what: "not everything was \(action)",
            why: "\(failure.path): \(failure.reason); "
                + "\(Quantity.count(changed.count, "recording")) of \(chosen.count) \(changed.count == 1 ? "was" : "were") \(action) before"
                + (changed.isEmpty ? "" : ", \(Quantity.bytes(Int(bytes)))"),
            hint: isForbidden ? "run it as root: sudo watchboxctl archive …" : listHint(camera),
            status: isForbidden ? .notPermitted : .failed)
    }
}
