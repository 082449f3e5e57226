internal import Glibc
public import Platform

/// A time in which what was recorded did not get to the relay: whoever watched live has not seen it.
public struct LiveGap: Codable, Equatable, Sendable {
    /// Milliseconds since 1970.
    public var from: Int64
    /// Nil: it was not over when this was written.
    public var to: Int64?

    public init(from: Int64, to: Int64?) {
        self.from = from
        self.to = to
    }
}

extension RecordingDirectory {
    /// Gaps that are kept, the newest.
    public static let maxLiveGaps = 1000
    /// Beside the recordings. Programs that do not know it leave it alone.
    static let liveGapsName = "live-gaps.json"
    /// Bytes: of so many gaps, and room for white space.
    private static let maxLiveGapsSize: Int64 = 256 << 10

    private struct LiveGapsFile: Codable {
        var schema = "watchbox.live-gaps/1"
        var gaps: [LiveGap]
    }

    /// When what is recorded was not seen live, in the order in which it was written. A file that is none says nothing: it may be missed,
    /// and what is recorded is there without it.
    public func liveGaps() -> [LiveGap] {
        // A link may lead to a device, which acts when it is opened.
        var status = stat()
        guard lstat("\(path)/\(Self.liveGapsName)", &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            let file = try? FilePart("\(path)/\(Self.liveGapsName)"), file.size <= Self.maxLiveGapsSize,
            let bytes = try? file.read(0..<file.size),
            let found = try? ManifestJSON.decode(LiveGapsFile.self, bytes),
            found.schema == LiveGapsFile(gaps: []).schema, found.gaps.count <= Self.maxLiveGaps
        else { return [] }
        return found.gaps.enumerated().filter { index, gap in
            RecordingName.times.contains(gap.from)
                // None but the last can be open.
                && gap.to.map { RecordingName.times.contains($0) && $0 > gap.from } ?? (index == found.gaps.count - 1)
        }.map(\.element)
    }

    /// The caller has the directory's lock: two that write would lose each other's.
    ///
    /// - Parameter gaps: at most ``maxLiveGaps`` of them are kept.
    public func keep(_ gaps: [LiveGap]) throws(FileFailure) {
        let file = LiveGapsFile(gaps: Array(gaps.suffix(Self.maxLiveGaps)))
        // Numbers and a word: always JSON.
        guard let bytes = try? ManifestJSON.encode(value: file) else { return }
        try DurableFile.replace("\(path)/\(Self.liveGapsName)", with: bytes)
    }
}
