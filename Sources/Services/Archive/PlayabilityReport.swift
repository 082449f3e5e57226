internal import CommonEncryption
public import NanoTDF
internal import Platform
internal import TDF
internal import Wire

/// Whether an archive plays, and on what, part by part.
public struct PlayabilityReport: Codable, Equatable, Sendable {
    /// What a person reads of it, and a program: the text is the same.
    public struct Verdict: RawRepresentable, Codable, Equatable, Sendable {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        /// A player of files plays what `archive open` makes of it.
        public static let playableLocally = Verdict(rawValue: "playable-locally")
        /// A FairPlay player would play it as it is, when somebody delivered it the key: that needs Apple's module, which WatchBox does not have.
        public static let fairplayReady = Verdict(rawValue: "fairplay-ready (module missing)")
        /// FairPlay has no way to play it: it is encrypted as a whole, or in another way than its players decrypt.
        public static func notFairplay(_ reason: String) -> Verdict { Verdict(rawValue: "not-fairplay (\(reason))") }
        /// What is in it is no video.
        public static func noVideo(_ mimeType: String) -> Verdict { Verdict(rawValue: "no-video (\(mimeType))") }
    }

    public struct Row: Codable, Equatable, Sendable {
        public var part: String
        public var finding: String
    }

    public var rows: [Row]
    public var verdict: Verdict

    /// Looks at all of the file. What is damaged, or contradicts itself, throws.
    ///
    /// - Parameters:
    ///   - key: of an archive of profile P, when somebody has it, and the entry of `keyAccess` that it came from.
    ///   - opened: the key of an archive of another profile was there, and vouches for this.
    public static func look(
        _ path: String, key: (content: ContentKey, index: Int)? = nil, opened: String? = nil,
        progress: ArchiveProgress = { (_) throws(ArchiveError) in }
    ) throws(ArchiveError) -> PlayabilityReport {
        let files = try PlayableArchiveFiles(path)
        var rows = [Row(part: "container", finding: "ZIP, stored, \(files.entries.count) files")]
        if files.entries[TDFContainer.payloadName] == nil {
            let (more, reason) = try PlayableArchiveReader(path).look(key: key, progress: progress)
            return PlayabilityReport(rows: rows + more, verdict: reason.map(Verdict.notFairplay) ?? .fairplayReady)
        }
        let verdict: Verdict
        if CBCArchiveReader.isMeant(by: path) {
            let archive = try CBCArchiveReader(path)
            try archive.verifyStructure(progress: progress)
            rows += [
                Row(part: "profile", finding: "F: the film encrypted as a whole, AES-128-CBC"),
                Row(part: "payload", finding: "\(archive.payloadSize) bytes with the CRC-32 that the file lists"),
            ]
            verdict = .notFairplay("CBC whole payload")
        } else {
            let archive = try ArchiveReader(path)
            try archive.verifyStructure(progress: progress)
            rows += [
                Row(part: "profile", finding: "S: \(archive.map.count) segments of AES-256-GCM"),
                Row(part: "payload", finding: "each segment has the hash that the manifest lists"),
            ]
            let type = archive.manifest.payload.mimeType ?? "no type named"
            verdict =
                type.hasPrefix("video/")
                ? .playableLocally : .noVideo(ShownText.ascii(type, limit: 40, replacing: "?"))
        }
        rows.append(Row(part: "key", finding: opened ?? Self.noKey))
        return PlayabilityReport(rows: rows, verdict: verdict)
    }

    fileprivate static let noKey = "not looked at: nobody named a key (--key, or --kas and --kas-token-file)"
}

extension PlayableArchiveReader {
    /// - Returns: what is to be said of its parts, and why no FairPlay player would play it; nil: one would.
    fileprivate func look(
        key: (content: ContentKey, index: Int)?, progress: ArchiveProgress
    ) throws(ArchiveError) -> (rows: [PlayabilityReport.Row], reason: String?) {
        let inspector = try inspector()
        let tracks = inspector.tracks.map { track in
            let how = track.encrypted + track.clear == 0 ? "whole samples" : "\(track.encrypted):\(track.clear)"
            return "\(track.format) (\(how)\(track.isUsual ? "" : ", which FairPlay players may not decrypt"))"
        }
        var count = CBCSInspector.Count()
        var done: Int64 = 0
        for name in segments {
            try progress(done)
            let bytes = try segment(name)
            try inspect(bytes, name, inspector, &count)
            done += Int64(bytes.count)
        }
        var unwrapped = PlayabilityReport.noKey
        if let key {
            _ = try opened(key.content, fromKeyAccess: key.index)
            unwrapped = "unwraps, and vouches for policy and files"
        }
        let rows: [PlayabilityReport.Row] = [
            .init(part: "profile", finding: "P: HTTP Live Streaming, encrypted sample by sample"),
            .init(part: "boxes", finding: "cbcs: \(tracks.joined(separator: ", "))"),
            .init(
                part: "subsamples",
                finding:
                    "\(count.samples) samples in \(count.fragments) fragments, all add up; \(count.protectedBytes) of \(count.bytes) bytes are protected"
            ),
            .init(
                part: "playlist",
                finding:
                    "\(playlist.segments.count) segments, all there; the key is \(playlist.keyURI), as the metadata have it"
            ),
            .init(part: "files", finding: "each has the SHA-256 that the metadata list"),
            .init(part: "key", finding: unwrapped),
            .init(part: "certificate", finding: "none: it comes from Apple, to who has a contract"),
            .init(part: "CKC module", finding: "none configured"),
        ]
        return (rows, obstacle(inspector, count))
    }

    /// Why no FairPlay player would play it, although it is whole; nil: nothing is known.
    private func obstacle(_ inspector: CBCSInspector, _ count: CBCSInspector.Count) -> String? {
        for track in inspector.tracks {
            // Formats come from the file.
            let format = ShownText.ascii(track.format, limit: 4, replacing: "?")
            guard track.isUsual else { return "pattern of \(format)" }
            guard (track.isVideo ? ["avc1", "hvc1"] : ["mp4a"]).contains(track.format) else {
                return "\(format), whose players need avc1, hvc1 or mp4a"
            }
            guard track.keyID == assetKeyID else { return "key ID of \(format) is not the asset's" }
            guard track.iv == manifest.iv else { return "IV of \(format) is not the manifest's" }
        }
        guard inspector.tracks.contains(where: \.isVideo) else { return "no video" }
        guard count.protectedVideoBytes > 0 else { return "no picture is encrypted" }
        guard manifest.meta?.assetId == metadata.assetId else { return "two asset IDs" }
        return nil
    }

    /// The 16 bytes of the UUID that the asset's name is.
    private var assetKeyID: [UInt8]? {
        let digits = metadata.assetId.filter { $0 != "-" }
        guard digits.utf8.count == 32 else { return nil }
        return try? Hexadecimal.decode(digits)
    }
}
