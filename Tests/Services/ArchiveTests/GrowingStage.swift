import Cryptography
import Foundation
import KeyAccess
import NanoTDF
import TDF
import TDFCryptography
import Testing

@testable import Archive

/// Archives that grow, of known segments, and what has to be true of them afterwards.
enum GrowingStage {
    static let name = "00000007"
    static let begin: Int64 = 1_795_893_721_040

    /// Of different sizes; empty ones too.
    static let segments: [[UInt8]] = [600, 1, 4000, 0, 911, 1500, 28, 700].enumerated().map { index, count in
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ index &* 41) }
    }

    static func archive(in directory: String, alternatives: [TDFRecipient] = []) throws -> GrowingArchive {
        try GrowingArchive(
            name, in: directory, recipient: try ArchiveStage.recipient(), alternatives: alternatives,
            policy: PlaintextPolicy(stream: "door"), begin: begin)
    }

    /// As a recorder does after a crash.
    @discardableResult
    static func finish(in directory: String) throws -> GrowingArchive.Ending {
        try GrowingArchive.finish(name, in: directory) { fileName($0, $1) }
    }

    static func fileName(_ begin: Int64, _ milliseconds: UInt32) -> String {
        RecordingName(sequence: 7, begin: begin, duration: milliseconds).fileName
    }

    static func files(in directory: String) throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
            files[name] = try ArchiveStage.bytes("\(directory)/\(name)")
        }
        return files
    }

    /// How many segments are in what `finish` left of one archive: it is the only file, verifies, opens, and is a prefix of what was
    /// appended, in whole segments.
    ///
    /// - Parameter segments: those that were appended.
    /// - Returns: nil and a reason when something of that is not so.
    static func count(in directory: String, of segments: [[UInt8]] = segments) -> (count: Int?, reason: String) {
        do {
            let names = try FileManager.default.contentsOfDirectory(atPath: directory)
            guard let name = names.first else { return (0, "nothing") }
            guard names.count == 1, let recording = RecordingName(name) else { return (nil, "\(names)") }
            let archive = try ArchiveReader("\(directory)/\(name)")
            try archive.verifyStructure()
            let count = archive.map.count
            guard count <= segments.count, recording.duration == UInt32(count) * 1000 else {
                return (nil, "\(count) segments, \(recording.duration) ms")
            }
            var plaintext: [UInt8] = []
            let wrapped = archive.manifest.encryptionInformation.keyAccess[0]
            let key = try Keys.shared.key(wrapped.wrappedKey ?? "") { try ArchiveStage.key.archiveKey(from: wrapped) }
            try archive.opened(key).read { (bytes) throws(ArchiveError) in plaintext += bytes }
            guard plaintext == Array(segments.prefix(count).joined()) else { return (nil, "another plaintext") }
            return (count, "\(count)")
        } catch {
            return (nil, "\(error)")
        }
    }

    /// RSA takes a while, and thousands of states have the same key.
    private final class Keys: @unchecked Sendable {
        static let shared = Keys()
        private let lock = NSLock()
        private var keys: [String: CollectionKey] = [:]

        func key(_ wrapped: String, _ unwrap: () throws -> CollectionKey) rethrows -> CollectionKey {
            try lock.withLock {
                if let key = keys[wrapped] { return key }
                let key = try unwrap()
                keys[wrapped] = key
                return key
            }
        }
    }
}
