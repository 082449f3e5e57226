internal import Archive
internal import CameraModel
internal import ErrorCatalog
internal import Media
internal import MediaFile
internal import NanoTDF
internal import Platform
internal import TDF
internal import TDFCryptography

/// Writes what a camera delivers into archives, one after the other, and lets the oldest ones go. Used by one thread at a time, which
/// it may block for as long as a disk does.
final class RecordingWriter {
    struct Settings: Sendable {
        var directory: RecordingDirectory
        var policy: PlaintextPolicy
        /// Opens what is recorded as well as the KAS does; nil: nothing else does.
        var recoveryKey: RecoveryKey?
        var retention: Retention
        /// Nil: all that comes is recorded.
        var occasions: Occasions?
        /// After which a recording ends at the next key frame.
        var length = MediaTime(milliseconds: 60_000)
        /// Nanoseconds after which what was written is flushed.
        var flushAfter: UInt64 = 2_000_000_000
        /// Nanoseconds without a frame after which a recording ends.
        var silence: UInt64 = 10_000_000_000
        /// Bytes of media that wait for a key frame, at most.
        var maxFragment = 4 << 20

        /// Bytes after which a recording ends at the next key frame: several fit into what there may be.
        var largeBytes: Int64 { max(retention.maxBytes / 8, 1 << 20) }
    }

    /// When a camera is recorded that is not recorded all the time.
    struct Occasions: Sendable {
        var gate = EventGate.Settings()
        var preRoll = PreRoll.Limits(duration: 10_000_000_000)
        var schedule: [WeekSpan] = []
    }

    /// Whom the next recording is wrapped for; nil: nothing may be written.
    var recipient: TDFRecipient?
    /// Why there is none.
    var recipientFailure: (reason: String, code: ErrorCode)?
    var statistics = RecordingStatistics()

    let settings: Settings
    let system: RecordingSystem
    var cuts: RecordingCuts
    var open: OpenRecording?
    var fault: RecordingFault?
    var lastFlush: UInt64
    var lastFrame: UInt64
    /// Monotonic, nanoseconds: nothing is tried before.
    var retryAt: UInt64 = 0
    var retryDelay = RecordingWriter.firstDelay
    /// The recording that is written, until it has its end: no leftover.
    var growing: UInt64?
    /// Monotonic, nanoseconds: when the first recording began.
    var beganAt: UInt64?
    /// Frames come, and are not to be recorded.
    var isHolding = false
    /// Monotonic, nanoseconds: when the first frame came that was not to be recorded.
    var heldAt: UInt64?

    /// When what is recorded did not get to the relay.
    var live: LiveGapLog
    /// As it was last written.
    var keptLiveGaps: [LiveGap] = []
    /// Monotonic, nanoseconds: when that was.
    var liveKeptAt: UInt64?

    // Of the directory.
    var index: [RecordingDirectory.Recording] = []
    var nextSequence: UInt64 = 1
    /// While it is there no other process writes here.
    var lock: RecordingLock?
    /// Left behind by a disk that refused, to be ended when it takes something again.
    var hasLeftovers = true
    /// Those that cannot be ended, nor deleted: told, and passed over.
    var stuck: Set<UInt64> = []
    var stuckReason: String?
    /// Monotonic, nanoseconds: since when.
    var stuckAt: UInt64 = 0
    /// When the directory was last changed, as far as `index` knows; nil: somebody else changed it.
    var seen: Int64?
    /// Room that was made is not seen at once everywhere.
    var roomMadeAt: UInt64?
    /// When recordings of this process began, monotonic: what their names should say once the clock is right.
    var captured: [UInt64: UInt64] = [:]
    /// Milliseconds that the wall clock was ahead of the other one when the names were last made right.
    var correctedOffset: Int64?

    static let firstDelay: UInt64 = 2_000_000_000
    static let maxDelay: UInt64 = 60_000_000_000

    init(_ settings: Settings, system: RecordingSystem) {
        self.settings = settings
        self.system = system
        cuts = RecordingCuts(length: settings.length)
        live = LiveGapLog(at: system.monotonic())
        statistics.recoveryKey = settings.recoveryKey?.fingerprint
        lastFlush = system.monotonic()
        lastFrame = lastFlush
    }

    /// Ends what an earlier run was writing, and sees what there is. Done before the first frame; what fails is tried again.
    func start() {
        attempt { () throws(RecordingFault) in try prepare() }
    }

    func take(_ event: MediaEvent) {
        isHolding = false
        switch event {
        case .videoFormat(let format): cuts.take(format)
        case .audioFormat(let format): cuts.take(format)
        case .accessUnit(let unit): take(unit)
        }
    }

    /// A recording may begin with the next key frame, as far as is known.
    var canBegin: Bool { recipient != nil && fault == nil }

    /// This one is not to be recorded, or not yet.
    func hold(_ event: MediaEvent) {
        isHolding = true
        guard case .accessUnit(let unit) = event, unit.track.isVideo else { return }
        lastFrame = system.monotonic()
        heldAt = heldAt ?? lastFrame
    }

    /// What is open ends: nothing is to be recorded now.
    ///
    /// - Parameter next: when the frame after it is decoded; nil: none is known.
    func pause(before next: MediaTime?) {
        finish(before: next)
        cuts.end()
        isHolding = true
    }

    /// Nanoseconds until `tick` has something to flush; nil: there is nothing.
    var untilFlush: UInt64? {
        guard let open, open.isDirty else { return nil }
        let waited = elapsed(since: lastFlush, at: system.monotonic())
        return waited < settings.flushAfter ? settings.flushAfter - waited : 0
    }

    /// What is due without a frame.
    func tick() {
        let now = system.monotonic()
        if open != nil, elapsed(since: lastFrame, at: now) >= cuts.silence(least: settings.silence) {
            finish()
            cuts.end()
        }
        if let open, open.isDirty, elapsed(since: lastFlush, at: now) >= settings.flushAfter {
            attempt { () throws(RecordingFault) in
                try archive { () throws(ArchiveError) in try open.flush() }
                statistics.newest = system.wall()
            }
            lastFlush = now
        }
        if open == nil, hasLeftovers, now >= retryAt {
            attempt { () throws(RecordingFault) in
                try prepare()
                forgetDirectoryFault()
            }
        }
        if lock != nil, fault == nil || now >= retryAt {
            attempt { () throws(RecordingFault) in
                try refresh()
                guard open == nil, isHolding else {
                    try letGo(incoming: 0, beside: open)
                    if open == nil { forgetDirectoryFault() }
                    return
                }
                // While no frame is written, that is all that can be known of the next one.
                try letGo(incoming: 1, beside: nil)
                if let fault, fault.isOfWriting { try probe() }
                fault = nil
                retryDelay = Self.firstDelay
            }
        }
        keepLiveGaps()
        report()
    }

    /// No more will come.
    func end() {
        finish()
        cuts.end()
        keepLiveGaps(isLast: true)
        report()
        statistics.state = .stopped
        lock = nil
    }

    /// What fails ends the recording that is open, and is tried again later.
    func attempt(_ body: () throws(RecordingFault) -> Void) {
        do throws(RecordingFault) {
            try body()
        } catch {
            fault = error
            retryAt = system.monotonic() + retryDelay
            retryDelay = min(2 * retryDelay, Self.maxDelay)
            guard let open else { return }
            self.open = nil
            cuts.end()
            hasLeftovers = true
            statistics.droppedFrames += open.takeFrames()
            guard !error.isFlush else {
                // The kernel tells of a lost write once: whoever ends this one has to read it again.
                growing = nil
                return
            }
            // Without what the muxer holds: it may be what failed.
            try? close(open)
        }
    }

    /// Writes a file that nobody needs: the disk may be read-only, or broken.
    private func probe() throws(RecordingFault) {
        let path = "\(settings.directory.path)/.probe"
        do throws(FileFailure) {
            // Of a power cut.
            try? DurableFile.remove(path, isFlushed: false)
            let file = try PlainFile(creating: path)
            try file.write([UInt8](repeating: 0, count: 4096)[...], at: 0)
            try file.flush()
            try DurableFile.remove(path, isFlushed: false)
        } catch {
            throw .directory(error)
        }
    }

    /// Of any other fault only a write shows that it is over.
    private func forgetDirectoryFault() {
        switch fault {
        case .directory?, .taken?: fault = nil
        default: break
        }
    }

    func elapsed(since instant: UInt64, at now: UInt64) -> UInt64 { now > instant ? now - instant : 0 }
}

extension RecordingWriter {
    private func take(_ unit: AccessUnit) {
        let size = open?.size ?? 0
        // Without a key frame for so long: what there is must not push out all that was before.
        if size >= 2 * settings.largeBytes, !unit.isKeyFrame {
            finish()
            cuts.end()
        }
        let step = cuts.take(unit, isLarge: size >= settings.largeBytes)
        guard step != .pass else {
            // Before the first frame of all there is nothing to be lost.
            if beganAt != nil || fault != nil || recipient == nil { statistics.droppedFrames += 1 }
            return
        }
        let now = system.monotonic()
        if unit.track.isVideo { lastFrame = now }
        // A disk that took long over this one was no silence of the camera.
        defer { lastFrame += elapsed(since: now, at: system.monotonic()) }
        if step == .cut { finish(before: unit.decodeTime) }
        if step != .go {
            guard now >= retryAt, let recipient else { return drop() }
            attempt { () throws(RecordingFault) in try begin(with: unit, for: recipient) }
        }
        guard let open else { return drop() }
        attempt { () throws(RecordingFault) in
            if unit.isKeyFrame, unit.track.isVideo, step == .go {
                // A fragment is a group of pictures. Left to itself the muxer waits for audio, also for one that has ended.
                try endFragment(of: open, at: unit.decodeTime)
            }
            open.took(unit)
            try media { () throws(MediaWriterError) in try open.muxer.write(.accessUnit(unit)) }
            if open.waiting >= settings.maxFragment {
                try endFragment(of: open, at: open.last)
            } else {
                // Where it ended one by itself.
                try writeFragment(of: open, until: open.last)
            }
        }
    }

    private func drop() {
        cuts.end()
        statistics.droppedFrames += 1
    }

    private func begin(with unit: AccessUnit, for recipient: TDFRecipient) throws(RecordingFault) {
        try prepare()
        let sequence = nextSequence
        let now = system.monotonic()
        let instant = min(unit.captureInstant ?? now, now)
        try letGo(incoming: 1, beside: nil)
        let file = try withRoom { () throws(RecordingFault) in
            try changing { () throws(RecordingFault) in
                try archive { () throws(ArchiveError) in
                    try GrowingArchive(
                        RecordingName.stem(sequence), in: settings.directory.path, recipient: recipient,
                        alternatives: settings.recoveryKey.map { [$0.recipient] } ?? [], policy: settings.policy,
                        begin: wall(at: instant))
                }
            }
        }
        nextSequence = sequence + 1
        growing = sequence
        let muxer = MediaWriter(.fragmentedMP4, to: .memory, isOrdered: true)
        open = OpenRecording(
            sequence: sequence, archive: file, muxer: muxer, captured: instant, first: unit.decodeTime)
        beganAt = beganAt ?? now
        statistics.writtenBytes += UInt64(clamping: file.size)
        lastFlush = now
        try media { () throws(MediaWriterError) in
            if let video = cuts.video { try muxer.write(.videoFormat(video)) }
            if let audio = cuts.audio { try muxer.write(.audioFormat(audio)) }
        }
    }

    private func endFragment(of open: OpenRecording, at end: MediaTime) throws(RecordingFault) {
        try media { () throws(MediaWriterError) in try open.muxer.endFragment() }
        try writeFragment(of: open, until: end)
    }

    /// What the muxer has let go of.
    ///
    /// - Parameter end: of the media in it.
    private func writeFragment(of open: OpenRecording, until end: MediaTime) throws(RecordingFault) {
        try open.muxer.drain { (bytes) throws(RecordingFault) in
            if !bytes.isEmpty { try write(bytes, of: open, until: end) }
        }
    }

    private func write(
        _ bytes: ArraySlice<UInt8>, of open: OpenRecording, until end: MediaTime
    ) throws(RecordingFault) {
        let milliseconds = open.milliseconds(until: end)
        let before = open.size
        try letGo(incoming: Int64(bytes.count), beside: open)
        try withRoom { () throws(RecordingFault) in
            try archive { () throws(ArchiveError) in try open.archive.append(bytes, milliseconds: milliseconds) }
        }
        open.appended(milliseconds: milliseconds)
        statistics.writtenBytes += UInt64(clamping: open.size - before)
        statistics.frames += open.takeFrames()
        fault = nil
        retryDelay = Self.firstDelay
    }

    /// Ends the recording that is open; there may be none.
    ///
    /// - Parameter next: when the frame after it is decoded; nil: none follows.
    private func finish(before next: MediaTime? = nil) {
        guard let open else { return }
        self.open = nil
        attempt { () throws(RecordingFault) in
            hasLeftovers = true
            do throws(RecordingFault) {
                try media { () throws(MediaWriterError) in try open.muxer.finish() }
                let end = next.map { open.end(before: $0) } ?? open.estimatedEnd
                try writeFragment(of: open, until: end)
            } catch {
                statistics.droppedFrames += open.takeFrames()
                // What was written before is there, and is worth a name.
                try close(open)
                throw error
            }
            try close(open)
        }
    }

    private func close(_ open: OpenRecording) throws(RecordingFault) {
        defer { growing = nil }
        // That takes some time, in which others may change something as well.
        seen = nil
        let ending = try withRoom { () throws(RecordingFault) in
            try archive { () throws(ArchiveError) in
                try open.archive.end { _, milliseconds in
                    // The clock may have been set since it began: what it says now counts.
                    RecordingName(
                        sequence: open.sequence, begin: self.wall(at: open.captured), duration: milliseconds
                    ).fileName
                }
            }
        }
        hasLeftovers = false
        guard case .archive(let path, _) = ending else { return }
        statistics.newest = system.wall()
        let name = path.split(separator: "/").last.flatMap { RecordingName(String($0)) }
        guard let name, let size = settings.directory.size(of: name) else { return }
        // Index and header, beside the media.
        statistics.writtenBytes += UInt64(clamping: max(0, size - open.archive.clearSize))
        index.append(.init(name: name, size: size))
        captured[name.sequence] = open.captured
        // A week of them: older ones are not worth a correction.
        if captured.count > 10_080 { captured[captured.keys.min() ?? 0] = nil }
    }

    func archive<R>(_ body: () throws(ArchiveError) -> R) throws(RecordingFault) -> R {
        do throws(ArchiveError) { return try body() } catch { throw .archive(error) }
    }

    private func media(_ body: () throws(MediaWriterError) -> Void) throws(RecordingFault) {
        do throws(MediaWriterError) { try body() } catch { throw .muxer(error) }
    }

    /// Milliseconds since 1970 at an instant of CLOCK_MONOTONIC.
    func wall(at instant: UInt64) -> Int64 {
        system.wall() - Int64(clamping: elapsed(since: instant, at: system.monotonic()) / 1_000_000)
    }
}
