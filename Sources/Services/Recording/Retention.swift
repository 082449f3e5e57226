internal import Archive

/// Which recordings have to go. Without I/O.
struct Retention: Equatable, Sendable {
    /// Bytes that all of them may take together, with the one that grows.
    var maxBytes: Int64
    /// Milliseconds.
    var maxAge: Int64
    /// Bytes that stay free on the file system.
    var minFree: Int64

    enum Reason: Equatable, Sendable {
        case age
        case size
        /// Others fill the disk: it went before its time.
        case room
    }

    struct Surplus: Equatable, Sendable {
        var recording: RecordingDirectory.Recording
        var reason: Reason
    }

    /// The oldest first, and none that is pinned.
    ///
    /// - Parameters:
    ///   - recordings: in the order in which they were made.
    ///   - growing: bytes of the one that grows, and of what is to be written next.
    ///   - free: bytes of the file system; nil: not to be looked at now.
    ///   - floor: bytes that are to stay free, where it is not `minFree`.
    ///   - now: milliseconds since 1970; nil when the clock may be wrong: then age is no reason.
    func surplus(
        of recordings: [RecordingDirectory.Recording], growing: Int64, free: Int64?, floor: Int64? = nil, now: Int64?
    ) -> [Surplus] {
        var surplus: [Surplus] = []
        var bytes = Self.sum(recordings, growing)
        /// The latest end so far that may be true.
        var newest: Int64?
        var lack = free.map { (floor ?? minFree) - $0 } ?? 0
        for recording in recordings {
            // None is older than one that was made before it, whatever the clock showed meanwhile. An end that is yet to come says
            // nothing.
            if let now, recording.name.end <= now { newest = max(newest ?? 0, recording.name.end) }
            guard !recording.name.isPinned else { continue }
            let reason: Reason
            if let now, let newest, now - newest > maxAge {
                reason = .age
            } else if bytes > maxBytes {
                reason = .size
            } else if lack > 0 {
                reason = .room
            } else {
                break
            }
            surplus.append(Surplus(recording: recording, reason: reason))
            bytes = bytes.subtractingReportingOverflow(recording.size).partialValue
            lack = lack.subtractingReportingOverflow(recording.size).partialValue
        }
        return surplus
    }

    /// Whether as many bytes are within what is allowed at all, pinned ones included.
    func fits(_ recordings: [RecordingDirectory.Recording], growing: Int64) -> Bool {
        Self.sum(recordings, growing) <= maxBytes
    }

    /// Whoever can write to the directory chooses sizes: files with holes.
    static func sum(_ recordings: [RecordingDirectory.Recording], _ more: Int64) -> Int64 {
        recordings.reduce(more) { sum, recording in
            let (total, overflow) = sum.addingReportingOverflow(recording.size)
            return overflow ? .max : total
        }
    }
}
