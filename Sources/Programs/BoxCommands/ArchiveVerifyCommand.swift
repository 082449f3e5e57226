import Archive
import ArgumentParser
import Console
import KeyAccess
import TDF

struct ArchiveVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Whether an archive or a binder is whole; with its key, whether the film is the one that was sealed.",
        discussion: """
            Without a key it reads the file, the manifest, and each segment against its hash: that notices accidents. With --key, \
            or a KAS and its token, the film, the order of its segments and its policy are verified. What the file says of itself \
            beside that, when and for which KAS it was sealed, nobody can verify.

              watchboxctl archive verify door.tdf
              watchboxctl archive verify door.zip
              watchboxctl archive verify door.tdf --kas https://kas/kas --kas-token-file alice.token
              watchboxctl archive verify door.tdf --key kas.key.pem
            """)

    @Argument(help: "Archive, or binder.", completion: .file())
    var file: String

    @OptionGroup var key: ArchiveKeyOptions

    @Flag(help: "Print a JSON document.")
    var json = false

    func run() async throws {
        let what = "\(file) was not verified"
        if BinderReader.isMeant(by: file) {
            try await verifyBinder(or: what)
            return
        }
        if CBCArchiveReader.isMeant(by: file) {
            try await verifyWhole(or: what)
            return
        }
        if PlayableArchiveReader.isMeant(by: file) {
            try await verifyPlayable(or: what)
            return
        }
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
        show(ArchiveDocument(archive, file: file, verified: opened == nil ? .structure : .content))
    }

    /// One of profile F.
    private func verifyWhole(or what: String) async throws {
        let archive = try CBCArchiveReader.reading(file, or: what)
        let opened =
            key.isNamed
            ? try await key.source(what: what).open(archive, isUnauthenticatedAllowed: false, what: what) : nil
        try ArchiveWork.perform("verifying", total: archive.payloadSize + (opened?.work ?? 0), or: what) {
            (work) throws(ArchiveError) in
            try opened?.read(progress: work.progress) { (_) throws(ArchiveError) in }
            try archive.verifyStructure { (done) throws(ArchiveError) in
                try work.progress((opened?.work ?? 0) + done)
            }
        }
        show(ArchiveDocument(archive, file: file, verified: opened == nil ? .structure : .content))
    }

    /// One of profile P.
    private func verifyPlayable(or what: String) async throws {
        let archive = try PlayableArchiveReader.reading(file, or: what)
        let opened = key.isNamed ? try await key.source(what: what).open(archive, what: what) : nil
        try ArchiveWork.perform("verifying", total: archive.mediaSize, or: what) { (work) throws(ArchiveError) in
            if let opened {
                try opened.read(progress: work.progress) { (_) throws(ArchiveError) in }
            } else {
                try archive.verifyStructure(progress: work.progress)
            }
        }
        show(ArchiveDocument(archive, file: file, verified: opened == nil ? .structure : .content))
    }

    private func show(_ document: ArchiveDocument) {
        StandardOutput.show(
            document, json: json,
            document.lines(
                document.verified == .structure
                    ? "whole, so far as that shows without its key (--key, or --kas and --kas-token-file)"
                    : "whole, and the film that was sealed"))
    }

    /// Each recording as an archive of its own.
    private func verifyBinder(or what: String) async throws {
        let binder = try BinderReader.reading(file, or: what)
        let keys = key.isNamed ? try key.source(what: what) : nil
        let work = ArchiveWork("verifying", total: binder.size &* (keys == nil ? 2 : 3))
        defer { work.end() }
        var done: Int64 = 0
        var streams = StreamAgreement()
        var stream: String?
        var mixture: (what: String, why: String)?
        for recording in binder.recordings {
            let what = "\(what), because of \(recording.name.fileName)"
            let size = recording.file.size
            func step(_ place: Int64) throws(ArchiveError) { try work.progress(done &+ place) }
            let archive: ArchiveReader
            do throws(ArchiveError) {
                try recording.verifyBytes(progress: step)
                archive = try ArchiveReader(recording.file)
            } catch {
                throw CommandFailure(error, what: what)
            }
            done = done &+ size
            let opened = try await keys?.open(archive, what: what)
            do throws(ArchiveError) {
                if let opened {
                    try opened.verify(progress: step)
                    done = done &+ size
                }
                try archive.verifyStructure(progress: step)
                done = done &+ size
            } catch {
                throw CommandFailure(error, what: what)
            }
            guard opened != nil else { continue }
            stream = archive.policy?.stream
            if let why = streams.disagreement(stream), mixture == nil { mixture = (what, why) }
        }
        if let mixture {
            throw CommandFailure(
                what: mixture.what, why: mixture.why,
                hint:
                    "each of them is whole; they are of several cameras, or the stream got another name meanwhile: unzip them, and look at those of each stream"
            )
        }
        var document = BinderDocument(binder, file: file, verified: keys == nil ? .structure : .content)
        document.stream = stream
        StandardOutput.show(
            document, json: json,
            document.lines(
                keys == nil
                    ? "whole, so far as that shows without the recordings' keys (--key, or --kas and --kas-token-file)"
                    : "whole, and each recording the film that was sealed; nobody vouches that none is missing",
                binder, .system))
    }
}
