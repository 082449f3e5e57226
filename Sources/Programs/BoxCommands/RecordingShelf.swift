import Archive
import ArgumentParser
import BoxConfiguration
import BoxView
import Console
import ControlAPI
import Glibc
import Platform
import Wire

/// Where cameras record to: a directory for each of them in one.
struct RecordingShelf {
    static let defaultDirectory = CameraSettings.recordings

    /// Of all cameras.
    let directory: String

    /// The cameras that have a directory, whether something is in it or not.
    func cameras(or what: String) throws(CommandFailure) -> [String] {
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw failure(FileFailure(call: "open", path: directory, number: errno), or: what)
        }
        defer { close(descriptor) }
        do throws(FileFailure) {
            return try Directory.names(of: descriptor, path: directory).filter { name in
                guard Self.isCamera(name) else { return false }
                var status = stat()
                // systemd puts a link there, and the directory where nobody but root looks (DynamicUser): who may not look is told when
                // what is in it is listed.
                guard fstatat(descriptor, name, &status, 0) == 0 else { return errno == EACCES }
                return status.st_mode & S_IFMT == S_IFDIR
            }
        } catch {
            throw failure(error, or: what)
        }
    }

    func recordings(of camera: String) -> RecordingDirectory { RecordingDirectory("\(directory)/\(camera)") }

    /// What there is of a camera, with the recordings that have something between two times.
    func listing(
        of camera: String, between range: RecordingRange, or what: String
    ) throws(CommandFailure) -> RecordedListing {
        do throws(FileFailure) {
            return try recordings(of: camera).look().listing(between: range)
        } catch {
            throw failure(error, or: what)
        }
    }

    /// The same for whoever takes films: also what is being recorded, as far as it is written, when it has something between both times.
    ///
    /// - Parameter what: what does not happen when that cannot be read.
    func films(
        of camera: String, between range: RecordingRange, or what: String
    ) throws(CommandFailure) -> (listing: RecordedListing, grown: GrownArchive?) {
        let directory = recordings(of: camera)
        var looks = 0
        while true {
            looks += 1
            let look: RecordingLook
            do throws(FileFailure) { look = try directory.look() } catch {
                throw failure(error, or: what)
            }
            // It has just got its end: another look finds it under its name.
            if !look.hasNewest, looks < Self.looks { continue }
            var listing = look.listing(between: range)
            guard look.isWriting else { return (listing, nil) }
            do throws(ArchiveError) {
                // Those before it nobody writes any more.
                guard let newest = look.newest, let grown = try directory.grown(newest) else { return (listing, nil) }
                listing.recordsNow = range.to > grown.end
                return (listing, range.overlaps(grown.begin, grown.end) ? grown : nil)
            } catch {
                if error.isMissing, looks < Self.looks { continue }
                // What was recorded before can be had without it.
                guard listing.recordsNow, !error.isMissing else { return (listing, nil) }
                var failure = CommandFailure(error, what: "\(what), because of what is being recorded now")
                if let end = listing.newestEnd {
                    failure.hint += "; or leave it out: --to \(CalendarTime.iso8601(end))"
                }
                throw failure
            }
        }
    }

    /// At a directory in which a recording ends meanwhile: between two ends there is a second or more.
    private static let looks = 3

    /// - Throws: when a text is no ID of a camera.
    func check(_ camera: String, or what: String) throws(CommandFailure) {
        guard Self.isCamera(camera) else {
            throw CommandFailure(
                what: what, why: "'\(ShownText.line(camera, bytes: 60, mark: "…"))' is no ID of a camera",
                hint: listHint(), status: .usage)
        }
    }

    /// Where somebody sees what there is.
    ///
    /// - Parameter camera: nil: of which cameras there is something.
    func listHint(_ camera: String? = nil) -> String {
        let command = "watchboxctl archive list" + (camera.map { " \($0)" } ?? "") + option
        return camera == nil ? "see of which there is something: \(command)" : "see what is there: \(command)"
    }

    /// As commands take it that are to look at the same place.
    private var option: String {
        directory == Self.defaultDirectory ? "" : " --directory \(ShellWord.quoted(directory))"
    }

    /// As the ID of one is written; it becomes a part of a path.
    static func isCamera(_ text: String) -> Bool { Names.isHyphenated(text, limit: 24) }

    private func failure(_ error: FileFailure, or what: String) -> CommandFailure {
        switch error.number {
        case EACCES, EPERM:
            CommandFailure(
                what: what, why: "\(error.path): \(error.reason)",
                hint: "run it as root, who alone may see recordings: sudo watchboxctl archive …", status: .notPermitted)
        case ENOENT where error.path == directory:
            CommandFailure(
                what: what, why: "there is no \(directory): nothing was ever recorded on this machine",
                hint: "switch it on: watchboxctl recording on CAMERA; or name the --directory that cameras record to",
                status: .notFound)
        case ENOENT:
            CommandFailure(
                what: what, why: "there is no \(error.path): nothing was ever recorded of that camera",
                hint: listHint(), status: .notFound)
        default:
            CommandFailure(
                what: what, why: "\(error.path): \(error.reason)", hint: "name another --directory", status: .failed)
        }
    }
}

extension RecordedListing {
    /// What is to be said of so many that are unfinished; nil: nothing.
    static func unfinishedText(_ count: Int) -> String? {
        switch count {
        case 0: nil
        case 1: "1 unfinished: it is finished when the camera is recorded again"
        default: "\(count) unfinished: they are finished when the camera is recorded again"
        }
    }
}

/// `--directory`.
struct RecordingDirectoryOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Where cameras record to, a directory for each: \(RecordingShelf.defaultDirectory), or a copy of it.",
            valueName: "directory"),
        completion: .directory)
    var directory: String?

    var shelf: RecordingShelf { RecordingShelf(directory: directory ?? RecordingShelf.defaultDirectory) }
}

/// `--from` and `--to`.
struct RecordingTimeOptions: ParsableArguments {
    // A time before now begins with a hyphen, as options do.
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Begin: 10:00, 'yesterday 10:00', 2026-11-28T10:00, -10m.", valueName: "time"))
    var from: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("End, in the same forms, or now.", valueName: "time"))
    var to: String?

    /// They may be others when the command runs again: all that has no date, and is no number of seconds from a beginning.
    var isRelative: Bool {
        [from, to].contains { text in
            guard let text = text?.filter({ $0 != " " }) else { return false }
            return text.firstMatch(of: /[0-9]{4}-[0-9]{2}-[0-9]{2}/) == nil && Double(text).map { $0 < 0 } ?? true
        }
    }

    /// Both times, which have to be on a clock.
    func range(_ parser: MomentParser, or what: String) throws(CommandFailure) -> RecordingRange {
        guard let from, let to else {
            throw CommandFailure(
                what: what, why: "\(from == nil ? "--from" : "--to") is missing", hint: "name both, --from and --to",
                status: .usage)
        }
        return try Self.range(
            try Self.instant(from, "--from", parser, or: what), try Self.instant(to, "--to", parser, or: what),
            parser.clock, or: what)
    }

    /// Times of which both may be left out.
    func optionalRange(_ parser: MomentParser, or what: String) throws(CommandFailure) -> RecordingRange {
        var range = RecordingRange.all
        if let from { range.from = try Self.instant(from, "--from", parser, or: what) }
        if let to { range.to = try Self.instant(to, "--to", parser, or: what) }
        return try Self.range(range.from, range.to, parser.clock, or: what)
    }

    static func moment(
        _ text: String, _ option: String, _ parser: MomentParser, or what: String
    ) throws(CommandFailure) -> Moment {
        do throws(MomentParser.Fault) { return try parser.parse(text) } catch {
            throw CommandFailure(
                what: what, why: "\(option): \(error)", hint: "write a time as \(MomentParser.forms)", status: .usage)
        }
    }

    private static func instant(
        _ text: String, _ option: String, _ parser: MomentParser, or what: String
    ) throws(CommandFailure) -> Int64 {
        guard case .instant(let instant) = try moment(text, option, parser, or: what) else {
            throw CommandFailure(
                what: what, why: "\(option): '\(text)' are seconds from the beginning of a file, and no file was named",
                hint: "write a time as \(MomentParser.forms)", status: .usage)
        }
        return instant
    }

    private static func range(
        _ from: Int64, _ to: Int64, _ clock: LocalClock, or what: String
    ) throws(CommandFailure) -> RecordingRange {
        guard from < to else {
            throw CommandFailure(
                what: what, why: "--to (\(clock.text(to))) is not after --from (\(clock.text(from)))",
                hint: "name the day as well: 2026-11-28T10:00", status: .usage)
        }
        return RecordingRange(from: from, to: to)
    }
}

extension MomentParser {
    /// Now, and here.
    static var system: MomentParser { MomentParser(now: Clocks.wallMilliseconds, clock: .system) }
}
