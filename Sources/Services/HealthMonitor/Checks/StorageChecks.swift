internal import BoxReadings
internal import ControlAPI
internal import ErrorCatalog
internal import Glibc
internal import Platform

enum StorageChecks {
    /// - Parameter canary: nil when none was written yet.
    static func readOnly(
        _ mounts: MountReading, canary: CanaryReading?, root: RootWatch.Outcome = .fine
    ) -> Finding {
        if let data = mounts.data, data.isFileSystemReadOnly {
            return Finding(
                .storageReadOnly, nil, .fail, "\(data.source) at \(data.point) is read-only", code: .readOnly)
        }
        if case .failed(let text) = root {
            return Finding(.storageReadOnly, nil, .fail, text, code: .readOnly)
        }
        guard let canary else {
            return Finding(.storageReadOnly, nil, .unknown, "nothing was written yet to try it")
        }
        if let number = canary.failure {
            let code: ErrorCode =
                number == EROFS ? .readOnly : number == ENOSPC || number == EDQUOT ? .diskFull : .writeFailed
            return Finding(
                .storageReadOnly, nil, .fail,
                "a test file could not be written: \(canary.call ?? "write"): \(SystemMessage.text(number))",
                code: code)
        }
        if case .closed(let text) = root {
            return Finding(.storageReadOnly, nil, .warn, text, code: .readOnly)
        }
        let place = mounts.data.map { "\($0.source) at \($0.point)" } ?? "the data directory"
        return Finding(
            .storageReadOnly, nil, .ok, "\(place) takes writes, flushed in \(canary.milliseconds.tenths) ms")
    }

    static func disk(_ reading: DiskReading?, limits: HealthThresholds.Pair, was: HealthState?) -> Finding {
        guard let reading else { return Finding(.disk, nil, .unknown, "the data directory is not there") }
        let state = reading.verdict(limits: limits, was: was)
        var evidence = "\(reading.blocksUsed.percent) used, \(reading.freeBytes / 1_000_000) MB free"
        if let share = reading.inodesUsed { evidence += ", \(share.percent) of the inodes used" }
        return Finding(.disk, nil, state, evidence, code: state == .fail ? .diskFull : .diskSpaceLow)
    }
}

/// Tells a root file system that failed while the box ran from one that was mounted read-only, and from one that somebody
/// made so: only the first is a reason to reboot.
struct RootWatch: Sendable {
    enum Outcome: Equatable, Sendable {
        case fine
        /// Read-only since a moment ago, and nothing says why.
        case closed(String)
        /// Read-only since an error.
        case failed(String)
    }

    private var wasWritable = false
    /// What was on record before it was seen writable.
    private var errorsBefore: Int64?

    init() {}

    mutating func took(_ reading: MountReading) -> Outcome {
        guard let root = reading.root else { return .fine }
        guard root.isFileSystemReadOnly else {
            if !wasWritable { errorsBefore = reading.rootErrors }
            wasWritable = true
            return .fine
        }
        let hasNewErrors = reading.rootErrors.map { $0 > errorsBefore ?? 0 } ?? false
        // The kernel's own remount after an error leaves `rw` among the options of the mount.
        guard wasWritable || !root.isReadOnly else { return .fine }
        let text = "the root file system (\(root.source)) became read-only"
        return root.isStopped || hasNewErrors
            ? .failed("\(text) after an error") : .closed("\(text), and no error of it is known")
    }
}
