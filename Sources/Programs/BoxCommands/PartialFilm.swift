import Archive
import Console
import Cryptography
import Glibc
import Platform
import TDF

/// A film that is not whole yet, `FILM.part`, and its journal, `FILM.part.journal`: where a command ends in between, the next one goes on behind
/// the last source that was committed.
///
/// The film is flushed before its journal is, so what a power cut leaves ends at a commit. Both are this user's alone, as the film will be; what
/// anybody else can have written is not gone on with. The journal is locked while a command has it.
final class PartialFilm {
    static let suffix = ".part"
    static let journalSuffix = ".part.journal"

    /// Of the film when it is whole.
    let path: String
    /// Where another export was interrupted, which nobody goes on with.
    private(set) var wasForAnother = false
    private let subject: FilmJournal.Subject
    private let journal: PlainFile
    private let media: PlainFile
    private var chain: FilmJournal.Chain
    /// Of the block that was looked at last.
    private var nextChain: FilmJournal.Chain = []
    private var nextSize: Int64 = 0
    /// Bytes of both up to the last commit.
    private var journalEnd: Int64
    private var mediaEnd: Int64 = 0
    /// A commit is there, whether it was looked at already or not.
    private(set) var hasCommit = false
    /// Since the last commit, encoded; nil: there is more than one block holds, and nothing is committed any more.
    private var records: [UInt8]? = []
    private var unitBytes: Int64 = 0
    private var isKept = false
    private var isFinished = false

    /// Where the film's writer writes.
    var descriptor: CInt { media.descriptor }

    static func name(_ path: String) -> String { path + suffix }

    /// Begins both files, or takes what an interrupted export left.
    ///
    /// - Parameters:
    ///   - subject: what the film is of.
    ///   - replaces: also what was committed of another film.
    /// - Returns: nil: there is no place for them here, such as on a file system without owners.
    static func open(
        _ path: String, _ subject: FilmJournal.Subject, replaces: Bool
    ) throws(CommandFailure) -> PartialFilm? {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        guard name.utf8.count + journalSuffix.utf8.count <= Int(NAME_MAX) else { return nil }
        let found: (film: PartialFilm, subject: FilmJournal.Subject?)
        do throws(FileFailure) {
            guard let (journal, isNew) = try openedJournal(path) else { return nil }
            if isNew { return try begun(path, subject, journal) }
            found = try self.found(path, subject, journal)
        } catch {
            var status = stat()
            let isInTheWay =
                [PartialFilm.name(path), path + journalSuffix].contains(error.path)
                && [ELOOP, EINVAL, EISDIR, EACCES].contains(error.number) && lstat(error.path, &status) == 0
            if error.isThere || error.number == EWOULDBLOCK || isInTheWay { throw refusal(path, error) }
            // Of the film, whatever the name is that it has so far.
            throw CommandFailure(
                .output(FileFailure(call: error.call, path: path, number: error.number)), what: FilmExport.what(path))
        }
        if found.subject != subject { try found.film.leave(found.subject, replaces: replaces) }
        return found.film
    }

    /// What another export left goes, unless that is work that somebody may want.
    private func leave(_ other: FilmJournal.Subject?, replaces: Bool) throws(CommandFailure) {
        do throws(ArchiveError) {
            wasForAnother = try next() != nil
            if replaces || !wasForAnother { return try beginAgain() }
        } catch {
            _ = keep()
            throw CommandFailure(error, what: FilmExport.what(path))
        }
        _ = keep()
        let options = other.map { $0.range == subject.range ? "" : $0.range.options } ?? ""
        throw CommandFailure(
            what: FilmExport.what(path),
            why: options.isEmpty
                ? "\(path)\(Self.suffix) is what is there of another film"
                : "\(path)\(Self.suffix) is what is there of a film of another time, \(options)",
            hint: (options.isEmpty ? "" : "go on with that: name its times; or ")
                + "name another --output; or begin anew with --force", status: .usage)
    }

    /// What has the name of one of them and is not ours: EEXIST, or EWOULDBLOCK where another export has it.
    private static func refusal(_ path: String, _ error: FileFailure) -> CommandFailure {
        if error.number == EWOULDBLOCK {
            return CommandFailure(
                what: FilmExport.what(path), why: "another export is writing it, in \(path)\(suffix)",
                hint: "wait until that has ended, or name another --output", status: .conflict)
        }
        return CommandFailure(
            what: FilmExport.what(path),
            why: error.isThere
                ? "\(error.path) is in the way, which no export left, which others can write to, or which has a second name"
                : "\(error.path) is in the way: \(error.reason)",
            hint: "move it away, or name another --output", status: .usage)
    }

    /// The journal with its lock; nil: nothing can be locked there.
    private static func openedJournal(_ path: String) throws(FileFailure) -> (PlainFile, isNew: Bool)? {
        let name = path + journalSuffix
        // Whoever ends in between takes the name away; and one that is about to end gets a second for it.
        for attempt in 0..<20 {
            if attempt > 0 { usleep(50_000) }
            do throws(FileFailure) {
                let journal = try PlainFile(creating: name)
                if try journal.lock() { return (journal, true) }
            } catch {
                if error.call == "flock" {
                    try DurableFile.remove(name, isFlushed: false)
                    return nil
                }
                guard error.isThere else { throw error }
            }
            do throws(FileFailure) {
                let journal = try PlainFile(opening: name)
                if try journal.lock() { return (journal, false) }
            } catch {
                guard error.isMissing else { throw error }
            }
        }
        throw FileFailure(call: "flock", path: name, number: EWOULDBLOCK)
    }

    private static func begun(
        _ path: String, _ subject: FilmJournal.Subject, _ journal: PlainFile
    ) throws(FileFailure) -> PartialFilm? {
        do throws(FileFailure) {
            guard try journal.isOwn() else {
                try DurableFile.remove(journal.path, isFlushed: false)
                return nil
            }
            var status = stat()
            guard lstat(name(path), &status) != 0 else {
                throw FileFailure(call: "open", path: name(path), number: EEXIST)
            }
            // What is flushed first says of the second file, if there is one, that it is ours.
            let head = FilmJournal.head(subject)
            try journal.write(head.bytes[...], at: 0)
            try journal.flush()
            try DurableFile.flushDirectory(of: path)
            let media = try PlainFile(creating: name(path))
            return PartialFilm(path, subject, journal, media, head.chain)
        } catch {
            try? DurableFile.remove(journal.path, isFlushed: false)
            throw error
        }
    }

    private static func found(
        _ path: String, _ subject: FilmJournal.Subject, _ journal: PlainFile
    ) throws(FileFailure) -> (PartialFilm, FilmJournal.Subject?) {
        let start = try journal.read(0..<Int64(FilmJournal.headSize))
        let isOwn = try journal.isOwn()
        guard isOwn, FilmJournal.isBegun(start) else {
            throw FileFailure(call: "open", path: journal.path, number: EEXIST)
        }
        let head = FilmJournal.readHead(start)
        let media = try foundMedia(name(path), isOurs: head != nil)
        let size = try media.size()
        // An empty one begins as one of ours does that lost its power at once.
        guard head != nil || size == 0 else { throw FileFailure(call: "open", path: media.path, number: EEXIST) }
        let film = PartialFilm(path, subject, journal, media, head?.chain ?? [])
        // Until somebody has looked, there may be something.
        let length = try journal.size()
        film.hasCommit = head != nil && length > Int64(FilmJournal.headSize)
        return (film, head?.subject)
    }

    /// - Parameter isOurs: the journal says so.
    private static func foundMedia(_ name: String, isOurs: Bool) throws(FileFailure) -> PlainFile {
        do throws(FileFailure) {
            let media = try PlainFile(opening: name)
            if try media.isOwn() { return media }
            // A film that had got its name when the power failed has this one as well.
            var status = stat()
            guard isOurs, fstat(media.descriptor, &status) == 0, status.st_uid == geteuid(), status.st_nlink > 1 else {
                throw FileFailure(call: "open", path: name, number: EEXIST)
            }
            try DurableFile.remove(name, isFlushed: false)
        } catch {
            guard error.isMissing else { throw error }
        }
        return try PlainFile(creating: name)
    }

    private init(
        _ path: String, _ subject: FilmJournal.Subject, _ journal: PlainFile, _ media: PlainFile,
        _ chain: FilmJournal.Chain
    ) {
        self.path = path
        self.subject = subject
        self.journal = journal
        self.media = media
        self.chain = chain
        journalEnd = Int64(FilmJournal.headSize)
    }

    deinit {
        guard !isKept, !isFinished else { return }
        // What is gone on with needs both: the film goes first, so that none is without its journal.
        try? DurableFile.remove(media.path, isFlushed: false)
        try? DurableFile.remove(journal.path, isFlushed: false)
    }

    // MARK: - What is there

    /// What was committed next, behind what was taken; nil: no more, or nothing that is whole.
    func next() throws(ArchiveError) -> FilmJournal.Block? {
        try Self.output { () throws(FileFailure) in
            let start = try journal.read(journalEnd..<(journalEnd + Int64(FilmJournal.lengthSize)))
            guard let size = try? FilmJournal.size(ofBlock: start) else { return nil }
            let bytes = try journal.read(journalEnd..<(journalEnd + Int64(size)))
            guard let found = try? FilmJournal.readBlock(bytes, after: chain) else { return nil }
            (nextChain, nextSize) = (found.chain, Int64(size))
            return found.block
        }
    }

    /// Whether the media of a block are there, behind those before it, as they were written.
    ///
    /// - Parameter progress: bytes of them.
    func holds(_ block: FilmJournal.Block, progress: ArchiveProgress) throws(ArchiveError) -> Bool {
        let size = try Self.output { () throws(FileFailure) in try media.size() }
        guard block.media.lowerBound == mediaEnd || mediaEnd == 0, block.media.upperBound <= size else { return false }
        return try digest(of: block.media, progress: progress) == block.digest
    }

    /// The film has the block that ``next()`` gave.
    func take(_ block: FilmJournal.Block) {
        chain = nextChain
        journalEnd += nextSize
        mediaEnd = block.media.upperBound
    }

    /// What is behind the last block that was taken goes: from here on the film is written.
    func goOn() throws(ArchiveError) {
        try Self.output { () throws(FileFailure) in
            // In this order: a block whose media are gone would be told as one that somebody changed.
            try journal.truncate(to: journalEnd)
            try journal.flush()
            try media.truncate(to: mediaEnd)
        }
        hasCommit = journalEnd > Int64(FilmJournal.headSize)
    }

    /// All of it goes.
    func beginAgain() throws(ArchiveError) {
        try Self.output { () throws(FileFailure) in
            // In this order: a film without a journal would be nobody's.
            try media.truncate(to: 0)
            try media.flush()
            try journal.truncate(to: 0)
            let head = FilmJournal.head(subject)
            try journal.write(head.bytes[...], at: 0)
            try journal.flush()
            guard lseek(media.descriptor, 0, SEEK_SET) == 0 else {
                throw FileFailure(call: "lseek", path: media.path, number: errno)
            }
            chain = head.chain
        }
        journalEnd = Int64(FilmJournal.headSize)
        mediaEnd = 0
        hasCommit = false
    }

    private static func output<R>(_ body: () throws(FileFailure) -> R) throws(ArchiveError) -> R {
        do throws(FileFailure) { return try body() } catch { throw .output(error) }
    }

    // MARK: - What comes

    /// What the film's writer is given next.
    func note(_ record: FilmRecord) {
        guard records != nil else { return }
        if case .unit(let unit) = record { unitBytes += Int64(unit.size) }
        guard record.append(to: &records!), records!.count <= FilmJournal.maxRecords else {
            records = nil
            return
        }
    }

    /// All that was noted stays, whatever happens from here on.
    ///
    /// - Parameter place: of the media in the film, as far as they are written.
    /// - Returns: false: there is too much of it at once, and it does not.
    func commit(_ place: Range<Int64>) throws(ArchiveError) -> Bool {
        guard let records else { return false }
        // The first ones begin behind the film's header, whose size of the media is written over at its end.
        let brought = (mediaEnd == 0 ? place.lowerBound : mediaEnd)..<place.upperBound
        guard unitBytes <= FilmJournal.limit(Int64(brought.count)) else {
            self.records = nil
            return false
        }
        let digest = try digest(of: brought) { (_) throws(ArchiveError) in }
        let block = FilmJournal.block(brought, digest, records: records, after: chain)
        try Self.output { () throws(FileFailure) in
            // In this order: a journal never says more than the film has.
            try media.flush()
            try journal.write(block.bytes[...], at: journalEnd)
            try journal.flush()
            if !hasCommit { try DurableFile.flushDirectory(of: path) }
        }
        chain = block.chain
        journalEnd += Int64(block.bytes.count)
        mediaEnd = brought.upperBound
        hasCommit = true
        self.records!.removeAll(keepingCapacity: true)
        unitBytes = 0
        return true
    }

    /// SHA-256 of a part of the film; of fewer bytes where it ends before.
    private func digest(of range: Range<Int64>, progress: ArchiveProgress) throws(ArchiveError) -> [UInt8] {
        var digest = try Self.crypto { () throws(CryptoError) in try RunningSHA256() }
        var offset = range.lowerBound
        while offset < range.upperBound {
            try progress(offset - range.lowerBound)
            let end = min(offset + Self.pieceSize, range.upperBound)
            let bytes = try Self.output { () throws(FileFailure) in try media.read(offset..<end) }
            try Self.crypto { () throws(CryptoError) in try digest.update(bytes[...]) }
            offset = end
        }
        do throws(CryptoError) { return try digest.value() } catch {
            throw .format(.crypto(.libraryFailed(call: "SHA-256: \(error)")))
        }
    }

    private static func crypto<R: ~Copyable>(_ body: () throws(CryptoError) -> R) throws(ArchiveError) -> R {
        do throws(CryptoError) { return try body() } catch {
            throw .format(.crypto(.libraryFailed(call: "SHA-256: \(error)")))
        }
    }

    private static let pieceSize: Int64 = 1 << 20

    // MARK: - Its end

    /// Leaves both files to the next command, if there is anything for it to go on with.
    ///
    /// - Returns: whether there is.
    func keep() -> Bool {
        isKept = hasCommit
        return isKept
    }

    /// What is behind the last commit goes, so that a full disk has that room again.
    func trim() {
        try? media.truncate(to: mediaEnd)
        try? journal.truncate(to: journalEnd)
    }

    /// Gives the film its name.
    ///
    /// - Parameter replaces: a file of that name.
    func finish(replaces: Bool) throws(FileFailure) {
        try media.flush()
        do throws(FileFailure) {
            try DurableFile.name(media.path, as: path, replaces: replaces)
            isFinished = true
            try DurableFile.flushDirectory(of: path)
        } catch {
            throw FileFailure(call: error.call, path: path, number: error.number)
        }
        // One without a film beside it is begun anew, or stays without harm.
        try? DurableFile.remove(journal.path)
    }
}
