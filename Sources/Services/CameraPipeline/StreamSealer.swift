internal import FLV
public import Media
public import NanoTDF

/// Turns access units into the messages of an encrypted stream (docs/ref/wire-format.md).
///
/// Duties:
/// 1. Everything that a reader needs comes first. A stream begins with metadata, header frame, video and audio
///    sequence header, in this order; video begins at a key frame. A changed format is announced before the unit that
///    needs it.
/// 2. A collection begins in one place: metadata, header frame and the key frame that it begins with are one
///    `SealedEntry`, so that nothing can come between them. A stream without video changes before an audio frame.
/// 3. Collections come from outside, made ahead (`offer(_:)`), and are used once. Each relay connection and each
///    rotation takes a new one. When none is there, a running stream goes on under the old one as long as its counter
///    may run, and drops frames afterwards: it never sends clear and never wraps.
/// 4. One timeline. The first unit's decode time is zero for audio and video; time stamps never decrease within a
///    medium.
/// 5. Every unit is counted once: sealed, dropped, or refused.
/// 6. What a viewer needs to identify what it sees is sealed along: notes (`NoteSchedule`), and an empty item as the end
///    of an orderly stream (`finish`). The next collection is announced with the one that begins.
///
/// Time is an argument, crypto is inside the collections. Event loops, clocks and the KAS are the driver's.
public struct StreamSealer: Sendable {
    public enum Outcome: Equatable, Sendable {
        /// A format; it goes out with the first unit that needs it.
        case noted
        /// `entry` is to be written now, whole and in order.
        case send(SealedUnit)
        case dropped(DropReason, requestKeyFrame: Bool)
    }

    public enum DropReason: Equatable, Sendable {
        /// A decoder could not begin here.
        case awaitingKeyFrame
        /// No format was delivered for this medium.
        case noFormat
        /// No collection is ready, and the stream must not go on without one.
        case noCollection
        /// The collection's counter has come so far that only a key frame under a new one may follow.
        case rotationDue
        /// Above `Options.messageLimit`. A refused frame is asked for again as a key frame, a refused key frame too:
        /// it may come out smaller, and without one the frame stands still.
        case tooLong
        case sealingFailed(NanoTDFError)
    }

    public let options: Options
    public private(set) var counters = Counters()
    /// The messages of the last `.send`; valid until the next call.
    public private(set) var entry = SealedEntry()

    private let permit: ClearPermit?
    private var prepared: [PreparedCollection] = []
    private var current: CurrentCollection?
    private var videoFormat: VideoFormat?
    /// The stream has a picture, as far as is known.
    public var hasVideo: Bool { videoFormat != nil }
    private var audioFormat: AudioFormat?
    private var videoHeaderDue = true
    private var audioHeaderDue = true
    private var awaitingKeyFrame = true
    private var rotation = RotationState(at: 0)
    /// Units were dropped because no collection was there.
    private var isStarved = false
    private var requestedAt: MediaTime?
    private var timeline = StreamTimeline()
    private var notes = NoteSchedule()
    /// Of the newest frame that was sent on this connection.
    private var sentCodec: VideoCodec?
    /// Nil: no notes.
    private let clock: (@Sendable (UInt64) -> StreamNote.Time)?

    private struct CurrentCollection {
        let collection: PreparedCollection
        /// Its header was sent.
        var isAnnounced = false
    }

    /// - Parameter clock: what time it was at an instant of the clock that `seal` is given; without it no notes are
    ///   sealed.
    public init(
        options: Options = Options(), clock: (@Sendable (UInt64) -> StreamNote.Time)? = nil
    ) {
        self.options = options
        self.clock = clock
        permit = nil
    }

    /// For tests against peers that cannot open NanoTDF: seals nothing.
    public init(clearForTests permit: ClearPermit, options: Options = Options()) {
        self.options = options
        clock = nil
        self.permit = permit
    }

    // MARK: - Collections

    /// Collections that are ready and not in use.
    public var preparedCount: Int { prepared.count }

    /// The collection in use, as statistics name it.
    public var currentCollection: PreparedCollection? { current?.collection }

    /// Adds a collection that was made ahead. The sealer uses it once, for one part of one stream.
    /// - Returns: the stream stood still for want of it and needs a key frame to go on.
    @discardableResult
    public mutating func offer(_ collection: PreparedCollection) -> Bool {
        prepared.append(collection)
        defer { isStarved = false }
        guard isStarved, videoFormat != nil else { return false }
        counters.keyFrameRequests += 1
        return true
    }

    /// Forgets the collections made ahead: they were made for a key that the KAS has replaced.
    public mutating func discardPrepared() {
        prepared.removeAll()
    }

    /// Forgets those that were made so long ago that their registration may end while they are in use.
    /// - Returns: the hashes of their headers.
    public mutating func discardPrepared(madeBefore instant: UInt64) -> [[UInt8]] {
        let old = prepared.filter { $0.madeAt < instant }
        guard !old.isEmpty else { return [] }
        prepared.removeAll { $0.madeAt < instant }
        return old.map(\.sealer.headerHash)
    }

    /// The next key frame begins a new collection, whatever the rule says.
    public mutating func forceRotation() {
        rotation.rotationDemanded()
    }

    /// Whether a stream that begins with this unit misses nothing of it.
    public func canBegin(with event: MediaEvent) -> Bool {
        guard case .accessUnit(let unit) = event else { return false }
        return unit.track.isVideo ? unit.isKeyFrame : videoFormat == nil
    }

    // MARK: - Connections

    /// A relay accepted the stream and knows nothing of it. The next unit begins a stream at zero, in a new
    /// collection.
    public mutating func begin() {
        end()
        videoHeaderDue = true
        audioHeaderDue = true
        awaitingKeyFrame = true
        requestedAt = nil
        timeline = StreamTimeline()
        sentCodec = nil
    }

    /// The stream is over as it should be: the next message is the last. An item without content, authenticated like
    /// any other, and readers pass over it.
    /// - Returns: `entry` is to be written; false when there was no stream.
    public mutating func finish() -> Bool {
        entry.removeAll()
        guard permit == nil, let current, current.isAnnounced,
            let track = sentCodec.map(AccessUnit.Track.video) ?? audioTrack
        else { return false }
        let unit = AccessUnit(
            track: track, isKeyFrame: !track.isVideo, presentationTime: .zero, decodeTime: .zero, data: [])
        do throws(NanoTDFError) {
            _ = try entry.append(
                unit, compositionTime: 0, under: .collection(current.collection.sealer), wraps: options.wrapsItems,
                at: timeline.latest(isVideo: track.isVideo))
        } catch {
            return false
        }
        counters.overheadBytes += UInt64(entry.reduce(0) { $0 + $1.byteCount })
        return true
    }

    /// The connection is gone, and its collection with it.
    public mutating func end() {
        leaveCollection()
        current = nil
        entry.removeAll()
    }

    private var audioTrack: AccessUnit.Track? { audioFormat.map { .audio($0.codec) } }

    private mutating func leaveCollection() {
        if let current, current.isAnnounced { notes.left(current.collection.sealer) }
    }

    // MARK: - Media

    public mutating func seal(_ event: MediaEvent, at now: UInt64) -> Outcome {
        entry.removeAll()
        switch event {
        case .videoFormat(let format):
            if videoFormat != format {
                videoFormat = format
                videoHeaderDue = true
            }
            return .noted
        case .audioFormat(let format):
            if audioFormat != format {
                audioFormat = format
                audioHeaderDue = true
            }
            return .noted
        case .accessUnit(let unit):
            return seal(unit, at: now)
        }
    }

    private mutating func seal(_ unit: AccessUnit, at now: UInt64) -> Outcome {
        let isVideo = unit.track.isVideo
        guard isVideo ? videoFormat != nil : audioFormat != nil else { return drop(unit, .noFormat) }
        if isVideo {
            // Behind a new format an inter frame refers to frames that were never sent.
            if videoHeaderDue, !unit.isKeyFrame { awaitingKeyFrame = true }
            if awaitingKeyFrame, !unit.isKeyFrame { return drop(unit, .awaitingKeyFrame) }
        }
        let room = options.messageLimit - largestPrefix(unit) - Self.itemOverhead
        guard unit.data.count <= room else { return refuse(unit) }
        if permit == nil, let reason = chooseCollection(for: unit, at: now) { return drop(unit, reason) }
        return send(unit, room: room, at: now)
    }

    /// Takes the next collection where one must or may begin.
    /// - Returns: why the unit cannot be sealed.
    private mutating func chooseCollection(for unit: AccessUnit, at now: UInt64) -> DropReason? {
        guard let current else {
            guard take(at: now) else { return .noCollection }
            notes.began(at: now)
            rotation = RotationState(policy: options.rotation, at: now)
            return nil
        }
        let items = current.collection.sealer.itemCount
        switch rotation.frameArrives(isKeyFrame: canBegin(with: .accessUnit(unit)), itemCount: items, at: now) {
        case .proceed: return nil
        case .dropUntilKeyFrame: return .rotationDue
        case .rotate:
            // One that was never announced is as good as new.
            guard current.isAnnounced else { return nil }
            if take(at: now) {
                rotation.rotated(at: now)
                counters.rotations += 1
                return nil
            }
            counters.rotationsDeferred += 1
            return items >= options.rotation.forcedItems ? .noCollection : nil
        }
    }

    private mutating func take(at now: UInt64) -> Bool {
        guard !prepared.isEmpty else { return false }
        leaveCollection()
        current = CurrentCollection(collection: prepared.removeFirst())
        counters.collections += 1
        return true
    }

    /// Builds the entry: what must be announced, then the unit.
    private mutating func send(_ unit: AccessUnit, room: Int, at now: UInt64) -> Outcome {
        let isVideo = unit.track.isVideo
        let time = timeline.place(unit)
        let begins = permit == nil ? current?.isAnnounced == false : timeline.isFirst
        // Where a stream begins, both sequence headers go out, whichever medium is first.
        let withVideoHeader = videoHeaderDue && videoFormat != nil && (isVideo || begins)
        let withAudioHeader = audioHeaderDue && audioFormat != nil && (!isVideo || begins)
        let repeats = options.repeatsHeader && isVideo && unit.isKeyFrame
        let noted = clock.flatMap { clock in
            notes.noted(unit, audioFormat: audioFormat, room: room, at: now) {
                clock(min(unit.captureInstant ?? now, now))
            }
        }
        var carrier = unit
        if let noted { carrier.data = noted }
        let iv: UInt32
        do throws(NanoTDFError) {
            if begins || withVideoHeader || withAudioHeader { entry.append(metadata, at: time.timestamp) }
            // Who parses frames takes a header frame before the sequence header for a frame of an unknown kind.
            if begins || repeats, !options.wrapsItems { try announce(at: time.timestamp) }
            if withVideoHeader, let videoFormat { entry.append(videoFormat, at: time.timestamp) }
            if withAudioHeader, let audioFormat { entry.append(audioFormat, at: time.timestamp) }
            if begins || repeats, options.wrapsItems { try announce(at: time.timestamp) }
            iv = try entry.append(
                carrier, compositionTime: time.compositionTime, under: protection(), wraps: options.wrapsItems,
                at: time.timestamp)
        } catch {
            // Nothing of the entry goes out: what it announced is announced again before the next key frame.
            entry.removeAll()
            awaitingKeyFrame = true
            return drop(unit, .sealingFailed(error))
        }
        current?.isAnnounced = true
        if withVideoHeader { videoHeaderDue = false }
        if withAudioHeader { audioHeaderDue = false }
        if case .video(let codec) = unit.track {
            awaitingKeyFrame = false
            requestedAt = nil
            sentCodec = codec
        }
        timeline.commit(time, isVideo: isVideo)
        notes.sealed(unit, withNote: noted != nil, at: now)
        count(unit)
        return .send(
            SealedUnit(
                track: unit.track, isKeyFrame: unit.isKeyFrame, decodeMilliseconds: time.milliseconds,
                compositionMilliseconds: time.compositionTime, byteCount: unit.data.count,
                noteByteCount: carrier.data.count - unit.data.count, iv: iv,
                collection: current?.collection.name, beginsCollection: begins && permit == nil))
    }

    private mutating func announce(at timestamp: UInt32) throws(NanoTDFError) {
        guard let sealer = current?.collection.sealer else { return }
        do { try entry.append(headerOf: sealer, at: timestamp) } catch {
            throw .tooLarge(
                .policy, count: sealer.headerBytes.count, limit: NTDFHeaderFrame.maximumHeaderSize, offset: 0)
        }
    }

    private func protection() -> Protection {
        if let permit { return .clear(permit) }
        guard let current else { preconditionFailure("a unit got past the choice of its collection without one") }
        return .collection(current.collection.sealer)
    }

    private var metadata: StreamMetadata {
        var metadata = StreamMetadata(video: videoFormat, audio: audioFormat)
        if videoFormat != nil { metadata.videoDataRate = options.videoDataRate }
        if audioFormat != nil { metadata.audioDataRate = options.audioDataRate }
        metadata.encoder = "WatchBox"
        metadata.ntdfHeader = current?.collection.sealer.headerBytes
        if current != nil, let next = prepared.first {
            metadata.nextNTDFHeader = next.sealer.headerBytes
            metadata.rotationSeconds = options.rotation.everyKeyFrame ? 1 : Double(options.rotation.age) / 1e9
        }
        return metadata
    }

    /// Clear bytes before the item: 5 for AVC, 8 for HEVC (Enhanced RTMP), 2 for AAC; and those of the wrapper.
    private func largestPrefix(_ unit: AccessUnit) -> Int {
        switch unit.track {
        case .video(let codec):
            (codec == .h264 ? 5 : 8) + (options.wrapsItems ? NALWrapper.byteCount(codec) : 0)
        case .audio: 2
        }
    }

    /// IV, length and tag.
    private static let itemOverhead = 22

    // MARK: - Counting

    private mutating func count(_ unit: AccessUnit) {
        if unit.track.isVideo {
            counters.video.sealed += 1
            counters.video.bytes += UInt64(unit.data.count)
        } else {
            counters.audio.sealed += 1
            counters.audio.bytes += UInt64(unit.data.count)
        }
        counters.overheadBytes += UInt64(entry.reduce(0) { $0 + $1.byteCount } - unit.data.count)
    }

    private mutating func refuse(_ unit: AccessUnit) -> Outcome {
        if unit.track.isVideo {
            counters.video.refused += 1
            awaitingKeyFrame = true
        } else {
            counters.audio.refused += 1
        }
        return .dropped(.tooLong, requestKeyFrame: unit.track.isVideo && requestKeyFrame(at: unit.decodeTime))
    }

    private mutating func drop(_ unit: AccessUnit, _ reason: DropReason) -> Outcome {
        if unit.track.isVideo {
            counters.video.dropped += 1
            awaitingKeyFrame = true
        } else {
            counters.audio.dropped += 1
        }
        if reason == .noCollection { isStarved = true }
        let helps: Bool =
            switch reason {
            case .awaitingKeyFrame, .sealingFailed: unit.track.isVideo
            // Also asked for by audio: the stream stands still until a key frame rotates it.
            case .rotationDue: true
            // Asked for when there is one: see `offer`.
            case .noCollection, .noFormat, .tooLong: false
            }
        return .dropped(reason, requestKeyFrame: helps && requestKeyFrame(at: unit.decodeTime))
    }

    /// Once per two seconds of media: the encoder may have lost the first request.
    private mutating func requestKeyFrame(at time: MediaTime) -> Bool {
        if let requestedAt, time >= requestedAt, time - requestedAt < MediaTime(milliseconds: 2000) { return false }
        requestedAt = time
        counters.keyFrameRequests += 1
        return true
    }
}
