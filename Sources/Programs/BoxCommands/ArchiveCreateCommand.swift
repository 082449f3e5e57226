import Archive
import ArgumentParser
import Console
import KeyAccess
import KeyAccessClient
import NanoTDF
import Platform
import Settings
import TDF
import Wire

struct ArchiveCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Seal a film into an archive.",
        discussion: """
            The key is wrapped for the RSA key of the KAS, which is asked for it, or read from --kas-key. Nobody needs a token \
            for that. The archive has its name when it is whole.

              watchboxctl archive create --file door.mp4 --kas https://kas/kas --stream door --output door.tdf
              watchboxctl archive create --file door.mp4 --kas https://kas/kas --kas-key kas.pem --output door.tdf
            """)

    @Option(help: "Film to seal; it stays as it is.", completion: .file())
    var file: String

    @Option(help: "Archive to write, for its owner alone.", completion: .file())
    var output: String

    @Flag(help: "Replace the archive when it is there.")
    var force = false

    @Option(
        help: ArgumentHelp(
            "PEM file of the public RSA key of the KAS, instead of asking it for one.", valueName: "file"),
        completion: .file())
    var kasKey: String?

    @OptionGroup var keyAccess: KeyAccessOptions

    @Option(help: "Stream that the film is of: only who may see that may open it.")
    var stream: String?

    @Option(help: "Attribute URI that viewers must hold; may be repeated.")
    var attribute: [String] = []

    @Option(help: "Subject that may open it; may be repeated; none: every one with a token of this KAS for viewers.")
    var dissem: [String] = []

    @Flag(help: "Print a JSON document.")
    var json = false

    private static let what = "no archive was made"

    func validate() throws {
        // An empty variable of a shell would make an archive that nobody can open.
        for (name, texts) in [
            ("--dissem", dissem), ("--attribute", attribute), ("--stream", stream.map { [$0] } ?? []),
        ]
        where texts.contains(where: \.isEmpty) {
            throw ValidationError("\(name) is empty: leave it out, or name one.")
        }
        if let other = attribute.first(where: { !Self.isAttribute($0) }) {
            throw ValidationError(
                "--attribute \(ShownText.ascii(other, limit: 80)) is not the URI of an attribute: https://example.net/attr/role/value/family"
            )
        }
        guard keyAccess.url.hasPrefix("https://") || keyAccess.url.hasPrefix("http://") else {
            throw ValidationError("--kas is the base URL of a key access server: https://kas.example.net/kas")
        }
    }

    /// `https://AUTHORITY/attr/NAME/value/VALUE`, as OpenTDF's SDKs write them.
    private static func isAttribute(_ text: String) -> Bool {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 7 && ["https:", "http:"].contains(parts[0]) && parts[1].isEmpty && parts[3] == "attr"
            && parts[5] == "value" && [parts[2], parts[4], parts[6]].allSatisfy { !$0.isEmpty }
    }

    func run() async throws {
        let input: RandomAccessFile
        do throws(RandomAccessFile.Failure) { input = try RandomAccessFile(file) } catch {
            throw CommandFailure(.input(error), what: Self.what)
        }
        try ArchiveOutput.check(output, input: file, replaces: force, or: Self.what)
        let recipient = try await recipient()
        // Once to seal, and once to read again what was written.
        try ArchiveWork.perform("sealing", total: 2 * input.size, or: Self.what) { (work) throws(ArchiveError) in
            let writer = try ArchiveWriter(
                output, recipient: recipient,
                policy: PlaintextPolicy(stream: stream, dataAttributes: attribute, dissemination: dissem),
                mimeType: Self.mimeType(file))
            var offset: Int64 = 0
            while offset < input.size {
                try work.progress(offset)
                let end = min(offset + Int64(ArchiveWriter.segmentSize), input.size)
                try writer.write(try Self.read(offset..<end, of: input)[...])
                offset = end
            }
            try writer.finish(at: Clocks.wallSeconds, replaces: force) { (done) throws(ArchiveError) in
                try work.progress(input.size + done)
            }
        }
        let archive = try ArchiveReader.reading(output, or: "the archive cannot be read again")
        let document = ArchiveDocument(archive, file: output, verified: .structure)
        StandardOutput.show(document, json: json, document.lines("written"))
    }

    private static func read(_ range: Range<Int64>, of file: RandomAccessFile) throws(ArchiveError) -> [UInt8] {
        do { return try file.read(range) } catch { throw .input(error) }
    }

    private func recipient() async throws(CommandFailure) -> TDFRecipient {
        let configuration = keyAccess.configuration
        guard let kasKey else {
            do throws(KeyAccessError) {
                let key = try await KASArchiveKey.fetch(configuration)
                return TDFRecipient(url: key.url, kid: key.kid, publicKeyPEM: key.publicKeyPEM)
            } catch {
                throw CommandFailure(error, what: Self.what)
            }
        }
        do throws(SmallFile.Failure) {
            let bytes = try SmallFile.whole(kasKey, limit: 8192)
            return TDFRecipient(url: configuration.base, publicKeyPEM: String(decoding: bytes, as: UTF8.self))
        } catch {
            throw CommandFailure(
                what: Self.what, why: "\(kasKey): \(error)", hint: "check the file and its permissions", status: .usage)
        }
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
