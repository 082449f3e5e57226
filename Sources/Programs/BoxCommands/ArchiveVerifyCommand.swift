import Archive
import ArgumentParser
import Console
import TDF

struct ArchiveVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Whether an archive is whole; with its key, whether the film is the one that was sealed.",
        discussion: """
            Without a key it reads the file, the manifest, and each segment against its hash: that notices accidents. With --key, \
            or a KAS and its token, the film, the order of its segments and its policy are verified. What the file says of itself \
            beside that, when and for which KAS it was sealed, nobody can verify.

              watchboxctl archive verify door.tdf
              watchboxctl archive verify door.tdf --kas https://kas/kas --kas-token-file alice.token
              watchboxctl archive verify door.tdf --key kas.key.pem
            """)

    @Argument(help: "Archive.", completion: .file())
    var file: String

    @OptionGroup var key: ArchiveKeyOptions

    @Flag(help: "Print a JSON document.")
    var json = false

    func run() async throws {
        let what = "\(file) was not verified"
        let archive = try ArchiveReader.reading(file, or: what)
        let opened = key.isNamed ? try await key.open(archive, what: what) : nil
        let size = archive.map.clearSize
        try ArchiveWork.perform("verifying", total: (opened == nil ? 1 : 2) * size, or: what) {
            (work) throws(ArchiveError) in
            // The key first: it finds the segment, where a checksum finds the payload.
            try opened?.verify(progress: work.progress)
            try archive.verifyStructure { (done) throws(ArchiveError) in
                try work.progress((opened == nil ? 0 : size) + done)
            }
        }
        let document = ArchiveDocument(archive, file: file, verified: opened == nil ? .structure : .content)
        StandardOutput.show(
            document, json: json,
            document.lines(
                opened == nil
                    ? "whole, so far as that shows without its key (--key, or --kas and --kas-token-file)"
                    : "whole, and the film that was sealed"))
    }
}
