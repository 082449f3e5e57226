import Compression
import Foundation
import KeyAccess
import NanoTDF
import TDF
import TDFCryptography
import TestSupport

@testable import Archive

/// A film as a fragmented MP4, and archives of profile P of it.
final class PlayableStage {
    let archives: ArchiveStage
    let ffmpeg: ForeignFFmpeg
    /// Three fragments of twelve pictures each, with a tone.
    let film: [UInt8]

    /// - Parameter encoder: one that ffmpeg has.
    init(encoder: String = "libx264") throws {
        archives = try ArchiveStage()
        ffmpeg = try ForeignFFmpeg()
        let quiet = encoder == "libx265" ? ["-x265-params", "log-level=none:keyint=12", "-tag:v", "hvc1"] : []
        let made = try ffmpeg.make(
            "film.mp4",
            [
                "-f", "lavfi", "-i", "testsrc2=s=192x160:r=25,format=yuv420p", "-f", "lavfi", "-i",
                "sine=f=440:r=48000", "-frames:v", "36", "-t", "1.44", "-c:v", encoder, "-g", "12", "-b:v", "800k",
            ] + quiet + [
                "-c:a", "aac", "-movflags", "frag_keyframe+empty_moov+delay_moov+default_base_moof",
            ])
        // Without the index at the end, which no piece of ours has.
        film = Self.boxes(made).filter { $0.kind != "mfra" }.flatMap(\.bytes)
    }

    static func boxes(_ bytes: [UInt8]) -> [(kind: String, bytes: ArraySlice<UInt8>)] {
        var found: [(kind: String, bytes: ArraySlice<UInt8>)] = []
        var rest = bytes[...]
        while rest.count >= 8 {
            let size = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            guard size >= 8, size <= rest.count else { break }
            found.append((String(decoding: rest.dropFirst(4).prefix(4), as: UTF8.self), rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        return found
    }

    func writer(_ name: String = "film.tdf", segmentDuration: Double = 0.1) throws -> PlayableArchiveWriter {
        try PlayableArchiveWriter(
            archives.path(name), recipient: try ArchiveStage.recipient(), policy: PlaintextPolicy(stream: "door"),
            segmentDuration: segmentDuration)
    }

    @discardableResult
    func make(_ name: String = "film.tdf", segmentDuration: Double = 0.1) throws -> String {
        let writer = try writer(name, segmentDuration: segmentDuration)
        for begin in stride(from: 0, to: film.count, by: 1777) {
            try writer.write(film[begin..<min(begin + 1777, film.count)])
        }
        try writer.finish(at: 1_800_000_000)
        return archives.path(name)
    }

    static func opened(_ path: String) throws -> OpenedPlayableArchive {
        let archive = try PlayableArchiveReader(path)
        try archive.verifyStructure()
        return try archive.opened(
            try ArchiveStage.key.contentKey(from: archive.manifest.encryptionInformation.keyAccess[0]))
    }

    static func film(_ path: String) throws -> [UInt8] {
        var film: [UInt8] = []
        try opened(path).read { (bytes) throws(ArchiveError) in film += bytes }
        return film
    }

    /// Packs the files of an archive again, so that only what profile P itself verifies can notice.
    func repacked(_ path: String, _ change: (inout [String: [UInt8]]) throws -> Void) throws -> String {
        let files = try PlayableArchiveFiles(path)
        var contents: [String: [UInt8]] = [:]
        for name in files.entries.keys { contents[name] = try files.read(name) }
        try change(&contents)
        var bytes: [UInt8] = []
        var entries: [ZIPEntry] = []
        for (name, content) in contents.sorted(by: { $0.key < $1.key }) {
            let checksum = CRC32(content).value
            entries.append(
                ZIPEntry(name: name, size: Int64(content.count), crc32: checksum, offset: Int64(bytes.count)))
            bytes += PlayableContainer.header(name: name, size: content.count, crc32: checksum) + content
        }
        bytes += PlayableContainer.trailer(entries, offset: Int64(bytes.count))
        try ArchiveStage.write(bytes, archives.path("changed.tdf"))
        return archives.path("changed.tdf")
    }

    /// The same, with other metadata.
    func repacked(
        _ path: String, metadata change: (inout PlayableMetadata) -> Void,
        files: (inout [String: [UInt8]]) -> Void = { _ in }
    ) throws -> String {
        try repacked(path) { contents in
            var manifest = try ManifestJSON.decode(PlayableManifest.self, contents["manifest.json"] ?? [])
            var metadata = try ManifestJSON.decode(PlayableMetadata.self, try manifest.metadataJSON())
            change(&metadata)
            manifest.encryptionInformation.keyAccess[0].encryptedMetadata =
                Data(try ManifestJSON.encode(value: metadata)).base64EncodedString()
            contents["manifest.json"] = try ManifestJSON.encode(value: manifest)
            files(&contents)
        }
    }
}
