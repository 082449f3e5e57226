import Archive
import ArgumentParser
import BoxView
import Console
import NanoTDF
import Wire

struct ArchivePlayabilityCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "playability",
        abstract: "Whether an archive plays, and on what.",
        discussion: """
            It reads all of the file, and says of each part what it is. With --key, or a KAS and its token, it also has the key, and says what \
            that vouches for. No FairPlay player is asked: whether one plays it shows on \
            a device of Apple's alone, with a module that WatchBox does not have.

              watchboxctl archive playability door.tdf
            """)

    @Argument(help: "Archive.", completion: .file())
    var file: String

    @OptionGroup var key: ArchiveKeyOptions

    @Flag(help: "Print a JSON document.")
    var json = false

    func run() async throws {
        let what = "\(file) was not looked at"
        var own: (content: ContentKey, index: Int)?
        if key.isNamed, PlayableArchiveReader.isMeant(by: file) {
            let archive = try PlayableArchiveReader.reading(file, or: what)
            own = try await key.source(what: what).contentKey(of: archive, what: what)
        }
        let opened = try await openedOther(what)
        do throws(ArchiveError) {
            let document = ArchivePlayabilityDocument(
                file: file, report: try PlayabilityReport.look(file, key: own, opened: opened))
            StandardOutput.show(document, json: json, document.lines)
        } catch {
            throw CommandFailure(error, what: what)
        }
    }

    /// What the key of an archive of another profile vouches for; nil: nobody named one.
    private func openedOther(_ what: String) async throws -> String? {
        guard key.isNamed, !PlayableArchiveReader.isMeant(by: file) else { return nil }
        guard CBCArchiveReader.isMeant(by: file) else {
            _ = try await key.open(try ArchiveReader.reading(file, or: what), what: what)
            return "unwraps, and vouches for policy and segments"
        }
        let archive = try CBCArchiveReader.reading(file, or: what)
        _ = try await key.source(what: what).open(archive, isUnauthenticatedAllowed: true, what: what)
        return archive.isAuthenticated
            ? "unwraps; the MAC was not looked at (archive verify does)"
            : "unwraps, and vouches for nothing: there is no MAC"
    }
}

/// What `archive playability` prints.
struct ArchivePlayabilityDocument: Codable, Equatable {
    var schema = "watchbox.archive.playability/1"
    var file: String
    var verdict: String
    var parts: [PlayabilityReport.Row]

    init(file: String, report: PlayabilityReport) {
        self.file = file
        verdict = report.verdict.rawValue
        parts = report.rows
    }

    var lines: [String] {
        let width = parts.map(\.part.count).max() ?? 0
        let rows = parts.map { row in
            "    \(row.part)\(String(repeating: " ", count: width - row.part.count))  \(row.finding)"
        }
        return (["\(file): \(verdict)"] + rows).map { Style.oneLine(ShownText.line($0, bytes: 1000, mark: "…")) }
    }
}
