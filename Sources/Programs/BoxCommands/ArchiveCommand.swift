import Archive
import ArgumentParser
import BoxView
import Console
import Glibc
import KeyAccessClient
import Platform
import TDF
import Wire

struct ArchiveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "archive",
        abstract: "Films in files that nobody reads without a key of the KAS (OpenTDF), and what cameras recorded.",
        discussion: """
            A film is sealed under a key of its own, and that key is wrapped for the KAS, which gives it to whom the policy in \
            the file allows. OpenTDF's tools open the same files. A camera that records makes one each minute.
            """,
        subcommands: [
            ArchiveListCommand.self, ArchiveThumbnailsCommand.self, ArchiveExportCommand.self, ArchivePinCommand.self,
            ArchiveUnpinCommand.self, ArchiveDeleteCommand.self, ArchiveCreateCommand.self, ArchiveVerifyCommand.self,
            ArchiveOpenCommand.self, ArchivePlayabilityCommand.self,
        ])
}

/// Shows how far the work on an archive is, when it takes longer than a person waits, and ends it at Ctrl-C, so that
/// what is left behind is up to who does it.
final class ArchiveWork {
    private let interruption = Interruption()
    private let line = ProgressLine()
    private let begin = ContinuousClock.now
    private let verb: String
    private let total: Int64
    private var shownPercent = -1

    /// To be ended with ``end()``.
    init(_ verb: String, total: Int64) {
        self.verb = verb
        self.total = total
    }

    /// From here on Ctrl-C ends the command.
    func end() {
        line.clear()
        interruption.end()
    }

    /// - Parameters:
    ///   - verb: what is done, such as `sealing`.
    ///   - total: bytes of plaintext that ``progress(_:)`` counts up to.
    ///   - what: what does not happen when it fails.
    static func perform(
        _ verb: String, total: Int64, or what: String, _ body: (ArchiveWork) throws(ArchiveError) -> Void
    ) throws(CommandFailure) {
        let work = ArchiveWork(verb, total: total)
        defer { work.end() }
        do throws(ArchiveError) { try body(work) } catch { throw CommandFailure(error, what: what) }
    }

    /// A line that stays, on standard error.
    func say(_ text: String) {
        line.clear()
        StandardError.writeLine(Style.oneLine(ShownText.line(text, bytes: 1000, mark: "…")))
    }

    func progress(_ done: Int64) throws(ArchiveError) {
        if interruption.isThere { throw .cancelled }
        guard total > 0, ContinuousClock.now - begin > .seconds(1) else { return }
        let fraction = Double(done) / Double(total)
        let percent = Int(fraction * 100)
        guard percent != shownPercent else { return }
        shownPercent = percent
        line.update("\(verb): \(percent) %", fraction: fraction)
    }
}

extension ArchiveReader {
    /// - Parameter what: what does not happen when it cannot be read.
    static func reading(_ file: String, or what: String) throws(CommandFailure) -> ArchiveReader {
        do throws(ArchiveError) { return try ArchiveReader(file) } catch {
            guard BinderReader.isMeant(by: file) else { throw CommandFailure(error, what: what) }
            throw CommandFailure(
                what: what, why: "\(file) is a binder of several archives",
                hint: "take a film out of it: watchboxctl archive export; or unzip it", status: .usage)
        }
    }
}

extension CBCArchiveReader {
    /// - Parameter what: what does not happen when it cannot be read.
    static func reading(_ file: String, or what: String) throws(CommandFailure) -> CBCArchiveReader {
        do throws(ArchiveError) { return try CBCArchiveReader(file) } catch { throw CommandFailure(error, what: what) }
    }
}

extension PlayableArchiveReader {
    /// - Parameter what: what does not happen when it cannot be read.
    static func reading(_ file: String, or what: String) throws(CommandFailure) -> PlayableArchiveReader {
        do throws(ArchiveError) { return try PlayableArchiveReader(file) } catch {
            throw CommandFailure(error, what: what)
        }
    }
}

/// The file that a command writes.
enum ArchiveOutput {
    /// Before a person waits for it in vain; whoever makes such a file meanwhile keeps theirs as well.
    ///
    /// - Parameters:
    ///   - input: which is never replaced.
    ///   - replaces: with --force.
    static func check(_ path: String, input: String, replaces: Bool, or what: String) throws(CommandFailure) {
        var status = stat()
        guard stat(path, &status) == 0 else { return }
        var source = stat()
        if stat(input, &source) == 0, source.st_dev == status.st_dev, source.st_ino == status.st_ino {
            throw CommandFailure(
                what: what, why: "\(path) is what is read", hint: "name another --output", status: .usage)
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw CommandFailure(
                what: what, why: "\(path) is no plain file", hint: "name another --output", status: .usage)
        }
        guard !replaces else { return }
        throw CommandFailure(
            what: what, why: "\(path) is there already", hint: "name another --output, or replace it with --force",
            status: .usage)
    }
}

extension CommandFailure {
    /// - Parameter what: what did not happen.
    init(_ error: ArchiveError, what: String) {
        switch error {
        case .input:
            self.init(what: what, why: "\(error)", hint: "check the file and its permissions", status: .usage)
        case .output(let failure):
            self.init(
                what: what, why: "\(error)",
                hint: failure.isThere ? "name another --output, or replace it with --force" : "name another --output",
                status: failure.isThere ? .usage : .failed)
        case .format(.payloadNotAuthenticated), .format(.policyNotBound):
            self.init(
                what: what, why: "\(error)",
                hint: "if you trust where the file came from: watchboxctl archive open --unauthenticated")
        case .format(.manifest("encryptionInformation.method.algorithm", .unsupported(_, _))):
            self.init(
                what: what, why: "\(error)",
                hint: "archive open and archive verify take profiles S, F and P, the other commands take profile S")
        case .format(.policyBinding), .format(.rootSignature), .format(.payloadMAC), .format(.payloadDecryption):
            self.init(
                what: what, why: "\(error)",
                hint:
                    "make sure that the key is this archive's; if so, the file was changed: look for another copy of it"
            )
        case .format(.crypto(.rsaSize(_))):
            self.init(
                what: what, why: "\(error)", hint: "name a key of the KAS of 2048 bits: --kas-key", status: .usage)
        case .format(.crypto(.invalidPublicKey)):
            self.init(what: what, why: "\(error)", hint: "name the public key of the KAS: --kas-key", status: .usage)
        case .format(.policyTooLong(_, _)):
            self.init(what: what, why: "\(error)", hint: "name fewer --attribute and --dissem", status: .usage)
        case .format(.crypto(.libraryFailed(_))):
            self.init(
                what: what, why: "\(error)",
                hint: "run it again; if it goes on, free some memory or restart the machine")
        case .readBack:
            self.init(
                what: what, why: "\(error)", hint: "write to another disk: this one does not keep what it is given")
        case .format(.segmentsExhausted(_)), .format(.segmentTooLarge(_, _)):
            self.init(what: what, why: "\(error)", hint: "divide the film into shorter ones")
        case .format:
            self.init(
                what: what, why: "\(error)",
                hint: "look for another copy of the file: this one is damaged, or no archive")
        case .playable(.filmPart(_, _, _)):
            self.init(
                what: what, why: "\(error)",
                hint: "give it key frames more often, or fewer bits: it has to be cut into parts that fit into memory")
        case .playable(.readBack(_)):
            self.init(
                what: what, why: "\(error)",
                hint: "write to another disk; if it is the same there, the film is what WatchBox cannot seal: tell us")
        case .playable(.tooLong):
            self.init(what: what, why: "\(error)", hint: "divide the film into shorter ones")
        case .playable(.noFilm), .playable(.media(_, file: nil)):
            self.init(
                what: what, why: "\(error)",
                hint:
                    "name a fragmented MP4 of H.264 or H.265, and AAC, as ffmpeg -i FILM -c copy -movflags frag_keyframe+empty_moov+default_base_moof makes one"
            )
        case .playable:
            self.init(
                what: what, why: "\(error)",
                hint: "look for another copy of the file: this one is damaged, or no archive")
        case .cancelled:
            self.init(what: what, why: "\(error)", hint: "run it again", status: .abortedByUser)
        }
    }

    init(_ error: KeyAccessError, what: String) {
        let status: ExitStatus =
            switch error {
            case .tokenUnreadable, .configuration, .signingKey: .usage
            case .unreachable, .slow, .notAKeyService: .remoteUnreachable
            case .denied, .status(401, _), .status(403, _): .notPermitted
            // It is there, and has no time: another moment, or another recording, has nothing to do with this archive.
            case .status where error.retry == .soon: .remoteUnreachable
            default: .failed
            }
        self.init(what: what, why: "\(error.what): \(error.why)", hint: error.hint, status: status)
    }
}
