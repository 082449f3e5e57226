import Archive
import ArgumentParser
import Console
import TDF

struct ArchiveOpenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open", abstract: "The film in an archive, into a file or to standard output.",
        discussion: """
            The key comes from the KAS that you name here, whatever the archive says, or from --key. The file has its name \
            when all of the film was verified; on standard output stands what was verified so far when it ends with an error.

              watchboxctl archive open door.tdf --kas https://kas/kas --kas-token-file alice.token --output door.mp4
              watchboxctl archive open door.tdf --key kas.key.pem --output - | ffplay -
            """)

    @Argument(help: "Archive.", completion: .file())
    var file: String

    @OptionGroup var key: ArchiveKeyOptions

    @Option(help: "File to write, for its owner alone; - for standard output.", completion: .file())
    var output: String

    @Flag(
        help:
            "Also an archive of profile F without a MAC or a policy binding: whether anybody changed the film, or its policy, cannot be told."
    )
    var unauthenticated = false

    @Flag(help: "Replace the file of --output when it is there.")
    var force = false

    @Flag(help: "Print a JSON document (on standard error with --output -).")
    var json = false

    func run() async throws {
        let what = "\(file) was not opened"
        let isStandardOutput = output == "-"
        if !isStandardOutput { try ArchiveOutput.check(output, input: file, replaces: force, or: what) }
        if CBCArchiveReader.isMeant(by: file) {
            try await openWhole(or: what)
            return
        }
        if PlayableArchiveReader.isMeant(by: file) {
            try await openPlayable(or: what)
            return
        }
        let archive = try ArchiveReader.reading(file, or: what)
        let opened = try await key.open(archive, what: what)
        try ArchiveWork.perform("opening", total: opened.size, or: what) { (work) throws(ArchiveError) in
            if isStandardOutput {
                try opened.read(progress: work.progress) { (bytes) throws(ArchiveError) in
                    StandardOutput.write(bytes)
                }
            } else {
                try opened.export(to: output, replaces: force, progress: work.progress)
            }
        }
        show(ArchiveDocument(archive, file: file, verified: .content, output: output), "opened into \(output)")
    }

    /// One of profile F, of which nothing comes out before all of it was verified.
    private func openWhole(or what: String) async throws {
        let archive = try CBCArchiveReader.reading(file, or: what)
        let opened = try await key.source(what: what).open(
            archive, isUnauthenticatedAllowed: unauthenticated, what: what)
        try ArchiveWork.perform("opening", total: opened.work, or: what) { (work) throws(ArchiveError) in
            if output == "-" {
                try opened.read(progress: work.progress) { (bytes) throws(ArchiveError) in
                    StandardOutput.write(bytes)
                }
            } else {
                try opened.export(to: output, replaces: force, progress: work.progress)
            }
        }
        let doubt: String? =
            if !opened.isAuthenticated {
                "whether anybody changed it cannot be told"
            } else {
                opened.isPolicyBound ? nil : "whether anybody changed its policy cannot be told"
            }
        show(
            ArchiveDocument(archive, file: file, verified: doubt == nil ? .content : .structure, output: output),
            "opened into \(output)" + (doubt.map { "; \($0)" } ?? ""))
    }

    /// One of profile P.
    private func openPlayable(or what: String) async throws {
        let archive = try PlayableArchiveReader.reading(file, or: what)
        let opened = try await key.source(what: what).open(archive, what: what)
        try ArchiveWork.perform("opening", total: archive.mediaSize, or: what) { (work) throws(ArchiveError) in
            if output == "-" {
                try opened.read(progress: work.progress) { (bytes) throws(ArchiveError) in
                    StandardOutput.write(bytes)
                }
            } else {
                try opened.export(to: output, replaces: force, progress: work.progress)
            }
        }
        show(ArchiveDocument(archive, file: file, verified: .content, output: output), "opened into \(output)")
    }

    private func show(_ document: ArchiveDocument, _ action: String) {
        if output != "-" {
            StandardOutput.show(document, json: json, document.lines(action))
        } else if json {
            StandardError.writeLine(JSONLine.text(document))
        }
    }
}
