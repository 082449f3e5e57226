internal import CommonEncryption
public import NanoTDF
internal import Platform
internal import TDF
internal import Wire

/// Whether an archive plays, and on what, part by part.
public struct PlayabilityReport: Codable, Equatable, Sendable {
    public enum Verdict: String, Codable, Sendable {
        /// A player of files plays what `archive open` makes of it.
        case playableLocally = "playable-locally"
        /// A FairPlay player would play it as it is, when somebody delivered it the key: that needs Apple's module, which WatchBox does not have.
        case fairplayReady = "fairplay-ready (module missing)"
        /// Encrypted as a whole, which FairPlay has no way to play.
        case notFairplay = "not-fairplay (CBC whole payload)"
    }

    public struct Row: Codable, Equatable, Sendable {
        public var part: String
        public var finding: String
    }

    public var rows: [Row]
    public var verdict: Verdict

    /// Looks at all of the file. What is damaged, or contradicts itself, throws.
    ///
    /// - Parameter key: of an archive of profile P, when somebody has it, and the entry of `keyAccess` that it came from.
    public static func look(
        _ path: String, key: (content: ContentKey, index: Int)? = nil,
        progress: ArchiveProgress = { (_) throws(ArchiveError) in }
    ) throws(ArchiveError) -> PlayabilityReport {
        let files = try PlayableArchiveFiles(path)
        var rows = [Row(part: "container", finding: "ZIP, stored, \(files.entries.count) files")]
        if files.entries[TDFContainer.payloadName] == nil {
            let archive = try PlayableArchiveReader(path)
            rows += try archive.rows(key: key, progress: progress)
            return PlayabilityReport(rows: rows, verdict: .fairplayReady)
        }
        let name = TDFContainer.manifestNames.first { files.entries[$0] != nil } ?? PlayableContainer.manifestName
        let json = try files.read(name)
        do throws(TDFError) {
            if let simple = try? ManifestJSON.decode(PlayableManifest.self, json),
                simple.encryptionInformation.method.algorithm == "AES-128-CBC"
            {
                rows.append(Row(part: "profile", finding: "F: the film encrypted as a whole, AES-128-CBC"))
                return PlayabilityReport(rows: rows, verdict: .notFairplay)
            }
            let map = try TDFSegmentMap(try ManifestJSON.decode(json))
            rows.append(Row(part: "profile", finding: "S: \(map.count) segments of AES-256-GCM"))
        } catch {
            throw .format(error)
        }
        return PlayabilityReport(rows: rows, verdict: .playableLocally)
    }
}

extension PlayableArchiveReader {
    fileprivate func rows(
        key: (content: ContentKey, index: Int)?, progress: ArchiveProgress
    ) throws(ArchiveError) -> [PlayabilityReport.Row] {
        let inspector: CBCSInspector
        do throws(CommonEncryptionError) {
            inspector = try CBCSInspector(initSegment: initSegment)
        } catch {
            throw .playable(.media(error, file: metadata.initFilename))
        }
        let tracks = inspector.tracks.map { track in
            let how = track.encrypted + track.clear == 0 ? "whole samples" : "\(track.encrypted):\(track.clear)"
            return "\(track.format) (\(how)\(track.isUsual ? "" : ", which FairPlay players may not decrypt"))"
        }
        var count = CBCSInspector.Count()
        var done: Int64 = 0
        for name in metadata.segmentFilenames {
            try progress(done)
            let bytes = try segment(name)
            do throws(CommonEncryptionError) { try inspector.add(bytes, to: &count) } catch {
                throw .playable(.media(error, file: name))
            }
            done += Int64(bytes.count)
        }
        var unwrapped = "not looked at: nobody named a key (--key, or --kas and --kas-token-file)"
        if let key {
            _ = try opened(key.content, fromKeyAccess: key.index)
            unwrapped = "unwraps, and vouches for policy and files"
        }
        return [
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
    }
}
