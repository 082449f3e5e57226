internal import Compression
internal import FoundationEssentials
public import NanoTDF
internal import Platform
public import TDF
internal import TDFCryptography
internal import Wire

/// An archive that is written for as long as a recording goes on: `NAME.part` is the file as it will be, without its end, and
/// `NAME.journal` what it takes to end it (``ArchiveJournal``). The wrapped key is on the disk before the first byte that was
/// sealed under it.
///
/// Whoever lets go of it leaves both files: ``finish(_:in:named:)`` ends them, now or after a crash, without a key. Used by one
/// thread at a time.
public final class GrowingArchive {
    /// What became of an archive that grew.
    public enum Ending: Equatable, Sendable {
        /// It has its name now.
        ///
        /// - Parameter milliseconds: of media in it.
        case archive(path: String, milliseconds: UInt32)
        /// Neither of its files is left: nothing in it was whole, or it had got its name before.
        case empty
    }

    /// Bytes of plaintext that are in it.
    public private(set) var clearSize: Int64 = 0
    /// Bytes of both files.
    public var size: Int64 { content.end + journalEnd }

    private let place: Place
    private let payload: PlainFile
    private let journal: PlainFile
    private var sealer: TDFSealer
    private var content: Content
    private var journalEnd: Int64
    private var checksum = CRC32()
    private var sealed: [UInt8] = []
    private var isEnded = false

    /// - Parameters:
    ///   - name: without a suffix, of files that are not there.
    ///   - alternatives: who can open it as well, each by itself.
    ///   - begin: when its first frame was captured, in milliseconds since 1970.
    /// - Throws: then nothing was made.
    public init(
        _ name: String, in directory: String, recipient: TDFRecipient, alternatives: [TDFRecipient] = [],
        policy: PlaintextPolicy, begin: Int64, mimeType: String = "video/mp4"
    ) throws(ArchiveError) {
        place = Place(name, in: directory)
        let head: [UInt8]
        do throws(TDFError) {
            sealer = try TDFSealer(
                recipient: recipient, alternatives: alternatives, policy: policy, crypto: OpenSSLTDFCrypto())
            content = Content(
                Head(
                    envelope: sealer.envelope, mimeType: mimeType,
                    meta: .init(
                        assetId: RandomUUID().description.uppercased(),
                        protectedAt: Date(timeIntervalSince1970: Double(begin / 1000)).formatted(.iso8601)),
                    begin: begin))
            // What no reader would open later is refused before it is recorded.
            try content.head.check()
            head = try ArchiveJournal.head(try ManifestJSON.encode(value: content.head)) { CRC32($0).value }
        } catch {
            throw .format(error)
        }
        do throws(FileFailure) { (journal, payload) = try place.create(head) } catch { throw .output(error) }
        journalEnd = Int64(head.count)
    }

    /// Seals a segment and writes it.
    ///
    /// - Parameters:
    ///   - plaintext: at most `TDFSegmentEntry.maxClearSize` bytes.
    ///   - milliseconds: of media in it.
    /// - Throws: then nothing of it counts, and the archive goes on without it: after `.output` (the disk is full) other
    ///   segments may follow, after `.format` (more than `TDFManifest.maxWrittenSegments`, or too long) it is to be ended.
    public func append(_ plaintext: ArraySlice<UInt8>, milliseconds: UInt32) throws(ArchiveError) {
        precondition(!isEnded, "appended to what was ended: the caller's fault")
        let segment = try ArchiveReader.format { () throws(TDFError) in
            try sealer.seal(plaintext, into: &sealed, at: 0)
        }
        var checksum = checksum
        checksum.update(sealed[...])
        let (sum, isTooLong) = content.duration.addingReportingOverflow(milliseconds)
        let entry = ArchiveJournal.Entry(
            segment: segment, payloadCRC32: checksum.value, duration: isTooLong ? .max : sum)
        let bytes = ArchiveJournal.encode(entry) { CRC32($0).value }
        do throws(FileFailure) {
            try payload.write(sealed[...], at: content.end)
            try journal.write(bytes[...], at: journalEnd)
        } catch {
            // What is there of it lies behind the end, and the next one takes its place.
            sealer.withdraw()
            throw .output(error)
        }
        self.checksum = checksum
        content.append(entry)
        journalEnd += Int64(bytes.count)
        clearSize += Int64(plaintext.count)
    }

    /// What was appended survives a power cut from here on.
    public func flush() throws(ArchiveError) {
        precondition(!isEnded, "flushed after its end: the caller's fault")
        do throws(FileFailure) {
            try payload.flush()
            try journal.flush()
        } catch {
            throw .output(error)
        }
    }

    /// Ends the archive and gives it its name; what was written of the payload is not read again. One that nothing was appended
    /// to is discarded.
    ///
    /// - Parameter named: what the file is to be called; is given what `begin` was, and how many milliseconds of media it has.
    ///   A file of that name is replaced.
    /// - Throws: then nothing is lost; what was appended is flushed first. It can be tried again, such as when the disk has room once more; and
    ///   ``finish(_:in:named:)`` does the same later.
    public func end(named: (_ begin: Int64, _ milliseconds: UInt32) -> String) throws(ArchiveError) -> Ending {
        // Whatever happens from here on, all of it is there.
        try flush()
        let ending = try place.complete(payload, content, named: named)
        isEnded = true
        return ending
    }

    /// Ends the archive `name` without its key, such as after a crash: what journal and payload have of it becomes an archive,
    /// what lies behind it goes. Done again, also after a crash in the middle of it, it comes to the same. Nobody writes
    /// the archive meanwhile.
    ///
    /// - Parameter named: what the file is to be called; is given when the recording began, in milliseconds since 1970, and
    ///   how many milliseconds of media it has. A file of that name is replaced.
    /// - Throws: then nothing is lost, and it can be tried again; `.output` also when one of both is no plain file.
    public static func finish(
        _ name: String, in directory: String, named: (_ begin: Int64, _ milliseconds: UInt32) -> String
    ) throws(ArchiveError) -> Ending {
        let place = Place(name, in: directory)
        let found: (payload: PlainFile, content: Content)?
        do throws(FileFailure) { found = try place.open() } catch { throw .output(error) }
        guard let found else { return try place.discard() }
        return try place.complete(found.payload, found.content, named: named)
    }
}
