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

    @Flag(help: "Replace the file of --output when it is there.")
    var force = false

    @Flag(help: "Print a JSON document (on standard error with --output -).")
    var json = false

    func run() async throws {
        let what = "\(file) was not opened"
        let isStandardOutput = output == "-"
        if !isStandardOutput { try ArchiveOutput.check(output, input: file, replaces: force, or: what) }
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
        let document = ArchiveDocument(archive, file: file, verified: .content, output: output)
        if !isStandardOutput {
            StandardOutput.show(document, json: json, document.lines("opened into \(output)"))
        } else if json {
            StandardError.writeLine(JSONLine.text(document))
        }
    }
}
