package import Foundation

/// One line of a frame log, as `watchboxd camera --frame-log` and `watchboxctl play --frame-log` write it.
package struct FrameRecord: Codable {
    package var track: String
    /// Decoding time on the stream's timeline, milliseconds.
    package var dts: Int64
    package var key: Bool
    /// Size of the access unit in the clear.
    package var bytes: Int
    /// What the camera sealed along with it; only in its log.
    package var note: Int?
    /// SHA-256 of the access unit in the clear, hexadecimal.
    package var sha256: String
    /// When it was sealed (camera) or opened (viewer): CLOCK_MONOTONIC, nanoseconds.
    package var instant: UInt64
    /// When it was captured; only in the camera's log.
    package var captured: UInt64?
    package var iv: UInt32?
    /// The first digits of the collection header's SHA-256.
    package var collection: String?

    package init(
        track: String, dts: Int64, key: Bool, bytes: Int, sha256: String, instant: UInt64, captured: UInt64? = nil,
        iv: UInt32? = nil, collection: String? = nil
    ) {
        self.track = track
        self.dts = dts
        self.key = key
        self.bytes = bytes
        self.sha256 = sha256
        self.instant = instant
        self.captured = captured
        self.iv = iv
        self.collection = collection
    }

    /// Nil where the log does not exist or holds nothing yet; a half-written last line (its writer was killed) is left out.
    package static func read(_ url: URL) throws -> [FrameRecord] {
        let text = try String(contentsOf: url, encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: true)
        let complete = text.hasSuffix("\n") ? lines[...] : lines.dropLast()
        let decoder = JSONDecoder()
        return try complete.map { try decoder.decode(FrameRecord.self, from: Data($0.utf8)) }
    }
}
