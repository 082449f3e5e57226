import Archive
import BoxView
import Console
import KeyAccess
import TDF
import TDFCryptography
import Wire

/// What the commands about archives print: what the file is, and what was verified of it.
struct ArchiveDocument: Codable, Equatable {
    enum Verified: String, Codable {
        /// Without a key: the file as such, and each segment against its hash.
        case structure
        /// With the key: policy, list of segments, and each segment. Not what the file says of itself beside that: `protectedAt`, `assetId`,
        /// `mimeType`, `kas`, `kid`, `recoveryKey`.
        case content
    }

    var schema = "watchbox.archive/1"
    var file: String
    var verified: Verified
    /// Where the film was written.
    var output: String?
    /// Bytes of the file.
    var size: Int64
    /// `s`, `f` or `p` (docs/ref/archive-format.md).
    var profile: String
    /// Bytes of what is sealed in it; of profile F up to 16 more, which its padding is, and of profile P some more, which say how it is encrypted.
    var clearSize: Int64
    /// True: it is being recorded, and this is what was written of it; nil: it has its end.
    var growing: Bool?
    /// Nil: the form has none.
    var segments: Int?
    /// False: of profile F, and nobody can tell whether it was changed; nil: of another profile.
    var hasMAC: Bool?
    var mimeType: String?
    var assetId: String?
    /// ISO 8601.
    var protectedAt: String?
    /// The KAS that its writer named.
    var kas: String?
    var kid: String?
    /// `sha256//…` of the key that its writer named beside the KAS; nil: none.
    var recoveryKey: String?
    /// False: what it says of who may open it is in a form that only its own KAS may read.
    var hasReadablePolicy: Bool
    var stream: String?
    /// What a viewer must be granted.
    var attributes: [String]
    /// Who may open it; none: whoever has the attributes.
    var dissem: [String]

    init(_ archive: ArchiveReader, file: String, verified: Verified, output: String? = nil) {
        let manifest = archive.manifest
        self.init(
            .s, file: file, verified: verified, output: output, manifest.meta,
            manifest.encryptionInformation.keyAccess, archive.policy)
        size = archive.size
        clearSize = archive.map.clearSize
        segments = archive.map.count
        mimeType = manifest.payload.mimeType
        growing = archive.isGrowing ? true : nil
    }

    init(_ archive: CBCArchiveReader, file: String, verified: Verified, output: String? = nil) {
        let manifest = archive.manifest
        self.init(
            .f, file: file, verified: verified, output: output, manifest.meta,
            manifest.encryptionInformation.keyAccess, archive.policy)
        size = archive.size
        clearSize = archive.payloadSize
        hasMAC = archive.isAuthenticated
        mimeType = manifest.payload?.mimeType
    }

    init(_ archive: PlayableArchiveReader, file: String, verified: Verified, output: String? = nil) {
        let manifest = archive.manifest
        self.init(
            .p, file: file, verified: verified, output: output, manifest.meta,
            manifest.encryptionInformation.keyAccess, archive.policy)
        size = archive.size
        clearSize = archive.mediaSize
        segments = archive.playlist.segments.count
        mimeType = manifest.payload.mimeType
    }

    private init(
        _ profile: ArchiveProfile, file: String, verified: Verified, output: String?, _ meta: TDFManifest.Meta?,
        _ keyAccess: [KeyAccessObject], _ policy: AccessPolicy?
    ) {
        self.profile = profile.rawValue
        self.file = file
        self.verified = verified
        self.output = output
        size = 0
        clearSize = 0
        assetId = meta?.assetId
        protectedAt = meta?.protectedAt
        let service = keyAccess.first { !$0.isForRecoveryKey }
        kas = service?.url
        kid = service?.kid
        recoveryKey = keyAccess.first { $0.isForRecoveryKey }?.kid
        hasReadablePolicy = policy != nil
        stream = policy?.stream
        attributes = policy?.body.dataAttributes.map(\.name) ?? []
        dissem = policy?.body.dissem ?? []
    }

    /// Of an archive that was just written.
    ///
    /// - Parameter what: what does not happen when it cannot be read.
    static func reading(
        _ file: String, _ profile: ArchiveProfile, or what: String
    ) throws(CommandFailure) -> ArchiveDocument {
        switch profile {
        case .s: ArchiveDocument(try ArchiveReader.reading(file, or: what), file: file, verified: .structure)
        case .p: ArchiveDocument(try PlayableArchiveReader.reading(file, or: what), file: file, verified: .structure)
        case .f: ArchiveDocument(try CBCArchiveReader.reading(file, or: what), file: file, verified: .structure)
        }
    }

    /// Who may open it, for people.
    var audience: String {
        let granted = attributes + (stream.map { ["access to stream \($0)"] } ?? [])
        return !hasReadablePolicy
            ? "who may open it is not in a form that is known here"
            : "for \(dissem.isEmpty ? "every viewer of its KAS" : dissem.joined(separator: ", "))"
                + (granted.isEmpty ? "" : " with \(granted.joined(separator: ", "))")
    }

    /// - Parameter action: what was done with it, in the past.
    func lines(_ action: String) -> [String] {
        [
            "\(file): \(action)\(growing == true ? ", as far as it is written: it grows" : "").",
            "    \(Quantity.bytes(Int(clearSize))) in \(segments.map { Quantity.count($0, "segment") } ?? "one piece"), \(audience)",
            "    says of itself, which nobody can verify: sealed at \(protectedAt ?? "no time"), for \(kas ?? "no KAS")"
                + (kid.map { " (key \($0))" } ?? "") + (recoveryKey.map { " and the recovery key \($0)" } ?? ""),
        ].map { Style.oneLine(ShownText.line($0, bytes: Self.lineLimit, mark: "…")) }
    }

    /// Bytes: what the file says may be long.
    private static let lineLimit = 1000
}
