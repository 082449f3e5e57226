internal import Cryptography
internal import Glibc
internal import Media
internal import NIOPosix
internal import Platform
internal import Synchronization
internal import Wire

/// One JSON line per sealed access unit, for proofs that what a viewer opens is what the camera sealed, and for
/// measurements of latency.
///
/// The event loop only appends to memory; a thread of its own hashes and writes, so that a slow disk delays no frame.
/// A log that cannot be written any more falls silent and says so once.
final class FrameLog: Sendable {
    struct Record: Sendable {
        var unit: SealedUnit
        var data: [UInt8]
        /// CLOCK_MONOTONIC, nanoseconds; nil where the source does not know it.
        var captured: UInt64?
        /// CLOCK_MONOTONIC, nanoseconds.
        var sealed: UInt64
    }

    private struct State {
        var waiting: [Record] = []
        var isWriting = false
        /// The thread begins with the first record: a camera that never runs owes no end to it.
        var isStarted = false
        var failure: Int32?
    }

    private let descriptor: CInt
    private let thread = NIOThreadPool(numberOfThreads: 1)
    private let state = Mutex(State())
    /// Records that may wait for the disk; further ones are lost, and the log with them.
    private static let capacity = 8192

    /// Creates the file, or empties it; readable by its owner only, as it shows what happens in front of the camera.
    init(path: String) throws(FrameLogError) {
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FrameLogError(path: path, code: errno) }
    }

    deinit {
        _ = Glibc.close(descriptor)
    }

    func append(_ record: Record) {
        let writes = state.withLock { state in
            guard state.failure == nil else { return false }
            guard state.waiting.count < Self.capacity else {
                state.failure = ENOBUFS
                return false
            }
            if !state.isStarted {
                thread.start()
                state.isStarted = true
            }
            state.waiting.append(record)
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if writes { thread.submit { _ in self.writeAll() } }
    }

    /// Why the log is not complete; nil while it is.
    var failure: String? {
        state.withLock { state in state.failure.map { SystemMessage.text($0) } }
    }

    /// Writes what waits and ends the thread.
    func finish() async {
        guard state.withLock({ $0.isStarted }) else { return }
        try? await thread.shutdownGracefully()
    }

    private func writeAll() {
        var lines: [UInt8] = []
        while true {
            let records: [Record] = state.withLock { state in
                let records = state.waiting
                state.waiting = []
                if records.isEmpty { state.isWriting = false }
                return records
            }
            guard !records.isEmpty else { return }
            lines.removeAll(keepingCapacity: true)
            for record in records { Self.append(record, to: &lines) }
            if let code = write(lines) { state.withLock { $0.failure = code } }
        }
    }

    /// - Returns: `errno` of a failure.
    private func write(_ bytes: [UInt8]) -> Int32? {
        var offset = 0
        while offset < bytes.count {
            let written = bytes[offset...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written >= 0 {
                offset += written
            } else if errno != EINTR {
                return errno
            }
        }
        return nil
    }

    static func append(_ record: Record, to lines: inout [UInt8]) {
        let unit = record.unit
        var text = "{\"track\":\"\(unit.track.isVideo ? "video" : "audio")\",\"dts\":\(unit.decodeMilliseconds)"
        text += ",\"cts\":\(unit.compositionMilliseconds),\"key\":\(unit.isKeyFrame),\"bytes\":\(unit.byteCount)"
        if unit.noteByteCount > 0 { text += ",\"note\":\(unit.noteByteCount)" }
        text += ",\"sha256\":\"\(Hexadecimal.encode(Digest.sha256(record.data)))\",\"instant\":\(record.sealed)"
        if let captured = record.captured { text += ",\"captured\":\(captured)" }
        if let collection = unit.collection { text += ",\"iv\":\(unit.iv),\"collection\":\"\(collection)\"" }
        lines.append(contentsOf: text.utf8)
        lines.append(contentsOf: "}\n".utf8)
    }
}

/// Why the frame log could not be made.
struct FrameLogError: Error, Equatable, CustomStringConvertible {
    var path: String
    /// `errno` of `open`.
    var code: Int32

    var description: String {
        "cannot write the frame log \(path): \(SystemMessage.text(code)). "
            + "Check the path and its permissions, or leave frameLog out"
    }
}
