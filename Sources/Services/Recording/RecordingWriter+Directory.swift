internal import Archive
internal import CameraModel
internal import Platform

extension RecordingWriter {
    /// Between two looks at how much is free, once recordings went for it.
    private static let roomDelay: UInt64 = 10_000_000_000
    /// Recordings that go for one write that found no room.
    private static let maxGone = 3
    /// Files that may be stuck: more are no accident of one file.
    private static let maxStuck = 16
    /// After which those that are stuck are tried again.
    private static let stuckDelay: UInt64 = 3_600_000_000_000

    /// The directory as it is: recordings may have been deleted or pinned meanwhile, and one may have been left behind.
    func prepare() throws(RecordingFault) {
        if lock == nil { lock = try RecordingLock(settings.directory) }
        if hasLeftovers { try look() } else { try refresh() }
    }

    /// Looks again where somebody else has changed something.
    /// - Returns: whether there was a reason to.
    @discardableResult
    func refresh() throws(RecordingFault) -> Bool {
        guard seen == nil || seen != settings.directory.modified else { return false }
        try look()
        return true
    }

    private func look() throws(RecordingFault) {
        // Before it is read: what changes while it is read is seen the next time.
        var modified = settings.directory.modified
        var listing = try list()
        index = listing.recordings
        nextSequence = max(nextSequence, listing.nextSequence)
        for sequence in listing.growing where sequence != growing && !stuck.contains(sequence) {
            do throws(RecordingFault) { try endLeftover(sequence) } catch {
                try pass(over: sequence, error, "a recording that was cut off cannot be ended")
            }
        }
        if !listing.growing.isEmpty {
            modified = settings.directory.modified
            listing = try list()
            index = listing.recordings
        }
        stuck.formIntersection(index.map(\.name.sequence) + listing.growing)
        if stuck.isEmpty { stuckReason = nil }
        if growing == nil { hasLeftovers = false }
        seen = modified
    }

    /// One file is not worth all that comes after it.
    private func pass(over sequence: UInt64, _ error: RecordingFault, _ what: String) throws(RecordingFault) {
        guard error.isOfOneFile, stuck.count < Self.maxStuck else { throw error }
        if stuck.isEmpty { stuckAt = system.monotonic() }
        stuck.insert(sequence)
        stuckReason = "\(what): \(error.reason)"
    }

    private func endLeftover(_ sequence: UInt64) throws(RecordingFault) {
        _ = try withRoom { () throws(RecordingFault) in
            try archive { () throws(ArchiveError) in
                try GrowingArchive.finish(RecordingName.stem(sequence), in: settings.directory.path) {
                    RecordingName(sequence: sequence, begin: $0, duration: $1).fileName
                }
            }
        }
    }

    private func list() throws(RecordingFault) -> RecordingDirectory.Listing {
        try file { () throws(FileFailure) in try settings.directory.list() }
    }

    private func file<R>(_ body: () throws(FileFailure) -> R) throws(RecordingFault) -> R {
        do throws(FileFailure) { return try body() } catch { throw .directory(error) }
    }

    /// A short change of our own, which `index` knows; one of somebody else's before it is not lost. One within the same
    /// milliseconds is seen when the next recording begins.
    func changing<R>(_ body: () throws(RecordingFault) -> R) throws(RecordingFault) -> R {
        let isKnown = seen != nil && seen == settings.directory.modified
        defer { seen = isKnown ? settings.directory.modified : nil }
        return try body()
    }

    /// What does not fit goes, the oldest first.
    ///
    /// - Parameters:
    ///   - incoming: bytes that are to be written next; 0: none.
    ///   - open: the recording that grows.
    func letGo(incoming: Int64, beside open: OpenRecording?) throws(RecordingFault) {
        let now = system.monotonic()
        if !stuck.isEmpty, elapsed(since: stuckAt, at: now) >= Self.stuckDelay {
            stuck = []
            stuckReason = nil
            hasLeftovers = true
        }
        let current = system.free(settings.directory.path).map { $0 - incoming }
        let isRoomSeen = roomMadeAt.map { elapsed(since: $0, at: now) >= Self.roomDelay } ?? true
        // While room that was made may not be seen yet, no more goes for it.
        let free = isRoomSeen ? current : nil
        if system.isClockRight() { correctNames() }
        let growing = (open?.size ?? 0) + incoming
        let wall = system.isClockRight() ? system.wall() : nil
        // None begins that would have to end, and go, at once.
        let floor = settings.retention.minFree + (open == nil && incoming > 0 ? settings.retention.minFree / 16 : 0)
        var made: Int64 = 0
        // One that cannot be deleted stays, and the next one goes in its place.
        while true {
            let surplus = settings.retention.surplus(
                of: removable, growing: growing, free: free.map { $0 + made }, floor: floor, now: wall)
            var isDone = true
            for item in surplus {
                if try delete(item.recording, for: item.reason) { made += item.recording.size } else { isDone = false }
            }
            if isDone { break }
        }
        guard incoming > 0 else { return }
        let fits = settings.retention.fits(index, growing: growing)
        let lacks = (open == nil ? current : free).map { $0 + made < floor } ?? false
        guard !fits || lacks else { return }
        // Perhaps somebody has just let one go.
        if try refresh() { return try letGo(incoming: incoming, beside: open) }
        if fits, let current { throw .noRoom(free: current + incoming, floor: floor) }
        throw .pinned(bytes: settings.retention.maxBytes)
    }

    /// As `index`, with what cannot be deleted as pinned.
    private var removable: [RecordingDirectory.Recording] {
        guard !stuck.isEmpty else { return index }
        return index.map { recording in
            var recording = recording
            if stuck.contains(recording.name.sequence) { recording.name.isPinned = true }
            return recording
        }
    }

    /// - Parameter isFlushed: the room is needed at once.
    /// - Returns: whether there is more room for it.
    private func delete(
        _ recording: RecordingDirectory.Recording, for reason: Retention.Reason, isFlushed: Bool = false
    ) throws(RecordingFault) -> Bool {
        let sequence = recording.name.sequence
        guard settings.directory.size(of: recording.name) != nil else {
            // Somebody deleted or pinned it: seen at the next look.
            index.removeAll { $0.name.sequence == sequence }
            seen = nil
            return false
        }
        do throws(RecordingFault) {
            try changing { () throws(RecordingFault) in
                try file { () throws(FileFailure) in
                    try DurableFile.remove(settings.directory.path(of: recording.name), isFlushed: false)
                }
            }
        } catch {
            try pass(over: sequence, error, "a recording cannot be deleted")
            return false
        }
        if isFlushed {
            try file { () throws(FileFailure) in
                try DurableFile.flushDirectory(of: settings.directory.path(of: recording.name))
            }
        }
        index.removeAll { $0.name.sequence == sequence }
        captured[sequence] = nil
        statistics.deletedFiles += 1
        if reason == .room { roomMadeAt = system.monotonic() }
        return true
    }

    /// Does it again when the file system is full and there is something that can go; not without end, since room may show late.
    func withRoom<R>(_ body: () throws(RecordingFault) -> R) throws(RecordingFault) -> R {
        var gone = 0
        while true {
            do throws(RecordingFault) {
                return try body()
            } catch {
                guard error.isFull, gone < Self.maxGone, let oldest = removable.first(where: { !$0.name.isPinned })
                else { throw error }
                if try delete(oldest, for: .room, isFlushed: true) { gone += 1 }
            }
        }
    }

    /// Gives recordings of this process the time that they began at, once the clock is right: a box without a battery begins with
    /// whatever time it had last, and age must not count from there.
    private func correctNames() {
        let offset = system.wall() - Int64(clamping: system.monotonic() / 1_000_000)
        if let correctedOffset, abs(offset - correctedOffset) <= 1000 { return }
        correctedOffset = offset
        live.clockChanged()
        for (place, recording) in index.enumerated() {
            guard let instant = captured[recording.name.sequence] else { continue }
            let begin = wall(at: instant)
            guard abs(begin - recording.name.begin) > 2000 else { continue }
            let name = RecordingName(
                sequence: recording.name.sequence, begin: begin, duration: recording.name.duration,
                isPinned: recording.name.isPinned)
            do throws(RecordingFault) {
                try changing { () throws(RecordingFault) in
                    try file { () throws(FileFailure) in
                        // Not flushed: there may be thousands, and after a power cut they have the old names.
                        try DurableFile.move(
                            settings.directory.path(of: recording.name), to: settings.directory.path(of: name),
                            isFlushed: false)
                    }
                }
                index[place].name = name
            } catch {
                // It keeps the name that it has.
                captured[recording.name.sequence] = nil
            }
        }
    }
}
