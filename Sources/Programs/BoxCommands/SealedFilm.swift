import Archive
import BoxView
import Console
import Glibc
import KeyAccess
import MediaFile
import NanoTDF
import Platform
import TDF
import Wire

/// One archive of what was recorded: a fragment at a time goes through memory, and none of it to a disk before it is sealed.
final class SealedFilm: FilmTarget {
    private let output: String
    private let profile: ArchiveProfile
    private let recipient: TDFRecipient
    private let makePolicy: (AccessPolicy) -> PlaintextPolicy
    private var recorded: AccessPolicy?
    private var writer: (any ArchiveSealing)?
    private var groups = FragmentGroups()

    /// - Parameter policy: of the archive, of what the recordings have.
    init(
        _ output: String, as profile: ArchiveProfile, for recipient: TDFRecipient,
        _ policy: @escaping (AccessPolicy) -> PlaintextPolicy
    ) {
        self.output = output
        self.profile = profile
        self.recipient = recipient
        makePolicy = policy
    }

    /// Begins the archive under the policy of what goes into it first; all of it has to have the same.
    func accept(_ policy: AccessPolicy?, of source: FilmSource, after end: Int64?) throws(CommandFailure) {
        let what = FilmExport.what(output, source)
        guard let policy else {
            throw CommandFailure(
                what: what, why: "who may open it is not in a form that is known here, and nobody else is to get it",
                hint: "bind the recordings as they are: leave --profile out")
        }
        guard let recorded else {
            self.recorded = policy
            do throws(ArchiveError) {
                writer = try profile.writer(
                    output, recipient: recipient, policy: makePolicy(policy), mimeType: "video/mp4",
                    segmentSize: TDFSegmentEntry.maxClearSize)
            } catch {
                throw CommandFailure(error, what: FilmExport.what(output))
            }
            return
        }
        guard Self.isSame(policy, recorded) else {
            throw CommandFailure(
                what: what,
                why: "who may open it is not the same as of those before it, and one archive has one policy",
                hint:
                    "make two archives: --to \(CalendarTime.iso8601(source.begin)), and --from \(CalendarTime.iso8601(max(source.begin, end ?? .min)))"
            )
        }
    }

    private static func isSame(_ left: AccessPolicy, _ right: AccessPolicy) -> Bool {
        left.stream == right.stream && Set(left.body.dissem) == Set(right.body.dissem)
            && Set(left.body.dataAttributes.map(\.name)) == Set(right.body.dataAttributes.map(\.name))
    }

    func makeWriter(_ tracks: MediaWriter.Tracks) -> MediaWriter {
        MediaWriter(.fragmentedMP4, to: .memory, tracks: tracks)
    }

    func take(from writer: MediaWriter) throws(ArchiveError) {
        let fragment = writer.take()
        guard !fragment.isEmpty else { return }
        guard let archive = self.writer else {
            throw .output(FileFailure(call: "write", path: output, number: EBADF))
        }
        if groups.endsSegment(before: fragment.count) { try archive.endSegment() }
        try archive.write(fragment[...])
    }

    func finish(replaces: Bool, progress: ArchiveProgress) throws(ArchiveError) {
        guard let writer else { throw .output(FileFailure(call: "write", path: output, number: EBADF)) }
        try writer.finish(at: Clocks.wallSeconds, replaces: replaces, progress: progress)
    }
}

extension ArchiveProfile {
    /// A writer of an archive of this form.
    ///
    /// - Parameter segmentSize: bytes of plaintext in a segment that nobody ends before, of a form that has segments.
    func writer(
        _ path: String, recipient: TDFRecipient, policy: PlaintextPolicy, mimeType: String,
        segmentSize: Int = ArchiveWriter.segmentSize
    ) throws(ArchiveError) -> any ArchiveSealing {
        switch self {
        case .s:
            try ArchiveWriter(
                path, recipient: recipient, policy: policy, mimeType: mimeType, segmentSize: segmentSize)
        case .f:
            try CBCArchiveWriter(path, recipient: recipient, policy: policy, mimeType: mimeType)
        case .p:
            try PlayableArchiveWriter(path, recipient: recipient, policy: policy)
        }
    }
}
