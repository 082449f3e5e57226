internal import FLV
public import KeyAccess
public import KeyAccessClient
public import Media
public import NanoTDF
internal import Wire

/// A stream as a relay sends it, turned into formats and opened access units. No I/O; time is an argument.
///
/// Duties:
/// 1. finds the NanoTDF header, in metadata or in band, and names the one key request that each is worth;
/// 2. opens what is sealed, and hands it on in sending order, each format before the first unit that needs it;
/// 3. tells a stream in clear from a sealed one, and refuses it unless it may be shown;
/// 4. keeps time growing when the relay, the publisher or this viewer came back;
/// 5. takes the publisher's notes out of the units, has the stream classified by them (`StreamClassifier`), and hands on
/// nothing
///    that is old unless it may.
///
/// The odd case: a format that comes while frames before it still wait for their key. Formats are numbered, and a frame
/// knows the number of those that came before it.
public struct ViewerSession: ~Copyable {
    /// Where an opened unit comes from.
    public struct Provenance: Equatable, Sendable {
        /// The item's IV.
        public var counter: UInt32
        /// SHA-256 of the collection's header.
        public var collection: [UInt8]
        /// When it was opened, in nanoseconds of the caller's clock.
        public var instant: UInt64
    }

    public enum Action: Equatable, Sendable {
        /// Ask the KAS, then report with `keyArrived` or `keyFailed`.
        case requestKey(header: [UInt8], hash: [UInt8])
        /// The collection that will probably come next: its key may be asked for ahead, at any moment before its time.
        /// - rotation: seconds from one collection to the next.
        case prepareKey(header: [UInt8], rotation: Double)
        /// Nil provenance: a format, or a unit of a stream in clear.
        case deliver(MediaEvent, Provenance?)
        /// A unit was opened that is too old to be shown.
        case withhold
        /// The stream is not encrypted, and may not be shown.
        case refuseClear
    }

    struct FrameContext: Sendable {
        enum Tag: Sendable {
            case video(VideoTagHeader)
            case audio(AudioTagHeader)
        }

        var tag: Tag
        var timestamp: UInt32
        /// Count of formats that came before.
        var formats: Int
    }

    /// Formats that wait for the unit behind them; more than that is a relay's game.
    private static let maxWaitingFormats = 32
    /// Bytes of one format; those of cameras have less than a thousand.
    private static let maxFormatLength = 64 << 10

    private let allowsClear: Bool
    private var opener: StreamOpener<FrameContext>
    private var depacketizer = Depacketizer()
    private var waitingFormats: [(number: Int, type: UInt8, body: [UInt8])] = []
    private var formatCount = 0
    private var hasHeader = false
    /// Nil until the first video key frame of a connection without a header showed it.
    private var isClear: Bool?
    private var timeline = OutputTimeline()
    private var unreadableCount: UInt64 = 0
    private var classifier: StreamClassifier
    private var withheld = WithheldUnits()
    private var nextHeader: [UInt8]?
    private var disordered: UInt64 = 0
    /// The stream has ended, and items of it still wait for their key.
    private var isEndDue = false

    /// - Parameter hold: how long frames may wait for their key.
    public init(
        crypto: some NanoTDFCrypto, hold: HoldLimits, allowsClear: Bool,
        judging: StreamClassifier.Configuration = StreamClassifier.Configuration()
    ) {
        var configuration = StreamOpener<FrameContext>.Configuration()
        configuration.hold = hold
        opener = StreamOpener(crypto: crypto, configuration: configuration)
        // Nobody has signed what is clear.
        self.allowsClear = allowsClear && judging.publisher == nil
        classifier = StreamClassifier(judging)
    }

    /// Something came that was, or could have been, a frame or audio.
    public private(set) var hasFrames = false

    /// Items wait for a key.
    public var isWaitingForKey: Bool { opener.heldItemCount > 0 }

    /// Copies the counters of what was opened and what was not.
    public func report(into statistics: inout ViewerStatistics) {
        let counters = opener.counters
        statistics.opened = counters.opened
        statistics.noKey = counters.noKey
        statistics.authenticationFailed = counters.authenticationFailed
        statistics.replayed = counters.replayed
        statistics.gaps = counters.gaps
        statistics.malformed = counters.malformed
        statistics.unreadable = unreadableCount
        statistics.headersIgnored = counters.headersIgnored
        statistics.headersInvalid = counters.headersInvalid
        statistics.disordered = counters.disordered
        statistics.stale = withheld.dropped
        statistics.notThisStream = classifier.counters.notThisStream
        statistics.truncated = classifier.counters.truncated
        statistics.notThisPublisher = classifier.counters.notThisPublisher
        switch classifier.publisher {
        case .device(let fingerprint, _): statistics.publisher = fingerprint
        case .none?, .invalid?: statistics.publisher = nil
        case nil: break
        }
    }

    /// Whether it is the stream that was asked for, and live; nil before the first frame.
    public func verdict(at now: UInt64) -> StreamClassifier.Verdict? {
        classifier.hasBegun ? classifier.verdict(at: now) : nil
    }

    /// This machine's clock, in Unix milliseconds.
    public mutating func clockReads(_ milliseconds: Int64, at now: UInt64) {
        classifier.clockReads(milliseconds, at: now)
    }

    /// The machine slept, and the clock of `now` with it.
    public mutating func slept(milliseconds: Int64) {
        classifier.slept(milliseconds: milliseconds)
    }

    /// A new connection to the relay, or a new publisher: formats and header come again, and time may begin again.
    /// Frames of before that still wait for their key keep their formats.
    public mutating func streamStarted(at now: UInt64) {
        isClear = nil
        hasHeader = false
        timeline.sourceRestarted()
        settleEnd(at: now, always: true)
        classifier.streamStarted(at: now)
        opener.streamResumed()
    }

    /// The relay says that the publisher has left.
    public mutating func streamEnded(at now: UInt64) {
        isEndDue = true
        settleEnd(at: now)
    }

    /// The connection to the relay is gone.
    public mutating func connectionLost(at now: UInt64) {
        classifier.connectionLost(at: now)
    }

    /// Nothing more will be given to it.
    /// - Parameter isStreamOver: because the stream ended, and not because somebody has seen enough.
    public mutating func finish(isStreamOver: Bool, at now: UInt64) {
        settleEnd(at: now, always: true)
        classifier.finish(isStreamOver: isStreamOver, at: now)
        withheld.drop()
    }

    /// What still waits may hold the end that the publisher sealed.
    private mutating func settleEnd(at now: UInt64, always: Bool = false) {
        guard isEndDue, always || !isWaitingForKey else { return }
        isEndDue = false
        classifier.streamEnded(at: now)
    }

    /// An audio, video or data message of the relay.
    public mutating func received(
        type: UInt8, timestamp: UInt32, body: ArraySlice<UInt8>, at now: UInt64
    ) -> [Action] {
        switch type {
        case FLVTag.script: metadata(body, at: now)
        case FLVTag.video: video(timestamp: timestamp, body: body, at: now)
        case FLVTag.audio: audio(timestamp: timestamp, body: body, at: now)
        default: []
        }
    }

    /// - Parameters:
    ///   - facts: what the KAS knows of the collection; a key of another stream is not used.
    ///   - publisher: the device that registered it.
    ///   - receivedAt: when the KAS answered, if that was not now.
    public mutating func keyArrived(
        _ key: CollectionKey, facts: CollectionFacts? = nil, publisher: PublisherProof = .none,
        receivedAt: UInt64? = nil, forHeader hash: [UInt8], at now: UInt64
    ) -> [Action] {
        guard classifier.keyArrived(facts, publisher: publisher, forHeader: hash, receivedAt: receivedAt ?? now) else {
            return deliver(opener.keyDiscarded(forHeader: hash), at: now)
        }
        return deliver(opener.keyArrived(key, forHeader: hash, at: now), at: now)
    }

    /// The KAS said no, and is asked again.
    public mutating func keyRefused(forHeader hash: [UInt8]) {
        opener.keyRefused(forHeader: hash)
    }

    public mutating func keyFailed(forHeader hash: [UInt8], at now: UInt64) -> [Action] {
        deliver(opener.keyFailed(forHeader: hash, at: now), at: now)
    }

    /// To be called some times a second.
    public mutating func timePassed(at now: UInt64) -> [Action] {
        classifier.timePassed(at: now)
        return deliver(opener.timePassed(at: now), at: now)
    }
}

extension ViewerSession {
    private mutating func metadata(_ body: ArraySlice<UInt8>, at now: UInt64) -> [Action] {
        do {
            guard let metadata = try StreamMetadata.parse(body) else { return [] }
            let actions = metadata.ntdfHeader.map { headerArrived($0, at: now) } ?? []
            guard let next = metadata.nextNTDFHeader, next != nextHeader, next != metadata.ntdfHeader,
                let rotation = metadata.rotationSeconds, (try? NanoTDFHeader.parse(next)) != nil
            else { return actions }
            nextHeader = next
            return actions + [.prepareKey(header: next, rotation: rotation)]
        } catch {
            unreadableCount += 1
            return []
        }
    }

    private mutating func headerArrived(_ header: [UInt8], at now: UInt64) -> [Action] {
        hasHeader = true
        switch opener.headerArrived(header, at: now) {
        case .requestKey(let header, let hash):
            classifier.headerArrived(hash)
            return [.requestKey(header: header, hash: hash)]
        case .duplicate, .rateLimited, .invalid: return []
        }
    }

    private mutating func video(timestamp: UInt32, body: ArraySlice<UInt8>, at now: UInt64) -> [Action] {
        do {
            if NTDFHeaderFrame.matches(body) {
                return headerArrived(Array(try NTDFHeaderFrame.parse(body)), at: now)
            }
            let (header, payload) = try VideoTagHeader.parse(body)
            switch header.kind {
            case .sequenceHeader:
                formatArrived(type: FLVTag.video, body: body)
                return []
            case .codedFrame:
                return frame(
                    .init(tag: .video(header), timestamp: timestamp, formats: formatCount), payload, at: now)
            default: return []
            }
        } catch {
            unreadableCount += 1
            return []
        }
    }

    private mutating func audio(timestamp: UInt32, body: ArraySlice<UInt8>, at now: UInt64) -> [Action] {
        do {
            let (header, payload) = try AudioTagHeader.parse(body)
            switch header.kind {
            case .sequenceHeader:
                formatArrived(type: FLVTag.audio, body: body)
                return []
            case .rawFrame:
                return frame(
                    .init(tag: .audio(header), timestamp: timestamp, formats: formatCount), payload, at: now)
            case .other: return []
            }
        } catch {
            unreadableCount += 1
            return []
        }
    }

    /// Keeps a format until the first unit behind it comes out; of too many the oldest goes.
    private mutating func formatArrived(type: UInt8, body: ArraySlice<UInt8>) {
        guard body.count <= Self.maxFormatLength else {
            unreadableCount += 1
            return
        }
        if waitingFormats.count >= Self.maxWaitingFormats { waitingFormats.removeFirst() }
        formatCount += 1
        waitingFormats.append((formatCount, type, Array(body)))
    }

    private mutating func frame(_ context: FrameContext, _ payload: ArraySlice<UInt8>, at now: UInt64) -> [Action] {
        hasFrames = true
        if !hasHeader {
            if isClear == nil { isClear = Self.looksClear(context, payload) }
            if isClear == true {
                guard allowsClear else { return [.refuseClear] }
                classifier.clearArrived(at: now)
                return deliver(context, Array(payload), nil)
            }
        }
        let medium: ItemMedium =
            switch context.tag {
            case .video: .video
            case .audio: .audio
            }
        var (item, other) = (payload, ArraySlice<UInt8>?.none)
        if case .video(let header) = context.tag {
            switch NALWrapper.form(of: payload, codec: header.codec) {
            case .item: break
            case .wrapped(let inner): item = inner
            case .either(let inner): (item, other) = (inner, payload)
            }
        }
        switch opener.open(item, orElse: other, medium: medium, context: context, at: now) {
        case .opened(let item): return deliver([item], at: now)
        case .held, .dropped: return deliver([], at: now)
        }
    }

    /// Nil while nothing can be determined. A sealed item is not made of NAL units, or of one that holds nothing but the
    /// item; the chance that random bytes are is less than one in 2^24. A stream without video can only be recognised by its
    /// first bytes: an item's counter is small.
    private static func looksClear(_ context: FrameContext, _ payload: ArraySlice<UInt8>) -> Bool? {
        guard !payload.isEmpty else { return nil }
        switch context.tag {
        case .video(let header):
            guard NALWrapper.form(of: payload, codec: header.codec) == .item else { return false }
            var reader = ByteReader(payload)
            while !reader.isAtEnd {
                guard let length = try? reader.readUInt32(), length > 0, (try? reader.skip(Int(length))) != nil
                else { return false }
            }
            return true
        case .audio:
            var reader = ByteReader(payload)
            guard (try? reader.skip(3)) != nil, let length = try? reader.readUInt24() else { return true }
            return Int(length) != reader.remaining
        }
    }

    private mutating func deliver(_ items: [OpenedItem<FrameContext>], at now: UInt64) -> [Action] {
        if opener.counters.disordered > disordered {
            disordered = opener.counters.disordered
            classifier.disordered(at: now)
        }
        let actions = items.flatMap { item in
            var plaintext = item.plaintext
            let note: StreamNote? =
                switch item.context.tag {
                case .video(let header): StreamNote.removed(fromVideo: &plaintext, codec: header.codec)
                case .audio: StreamNote.removed(fromAudio: &plaintext)
                }
            classifier.opened(
                item.counter, in: item.collection, note: note, isEmpty: item.plaintext.isEmpty, at: now)
            return deliver(
                item.context, plaintext,
                Provenance(counter: item.counter, collection: item.collection, instant: now))
        }
        settleEnd(at: now)
        return actions
    }

    private mutating func deliver(
        _ context: FrameContext, _ payload: [UInt8], _ provenance: Provenance?
    ) -> [Action] {
        var formats: [MediaEvent] = []
        while let format = waitingFormats.first, format.number <= context.formats {
            waitingFormats.removeFirst()
            do {
                let event = try depacketizer.message(type: format.type, timestamp: 0, body: format.body[...])
                if let event { formats.append(event) }
            } catch {
                unreadableCount += 1
            }
        }
        do {
            let event =
                switch context.tag {
                case .video(let header):
                    try depacketizer.video(header, payload: payload[...], timestamp: context.timestamp)
                case .audio(let header):
                    try depacketizer.audio(header, payload: payload[...], timestamp: context.timestamp)
                }
            if case .accessUnit(let unit) = event { return show(timeline.placed(unit), provenance, formats) }
        } catch {
            unreadableCount += 1
        }
        return formats.map { .deliver($0, nil) }
    }

    private mutating func show(
        _ unit: AccessUnit, _ provenance: Provenance?, _ formats: [MediaEvent]
    ) -> [Action] {
        guard let provenance else {
            return formats.map { .deliver($0, nil) } + [.deliver(.accessUnit(unit), nil)]
        }
        guard classifier.isShowable(at: provenance.instant) else {
            withheld.withhold(unit, provenance, formats: formats)
            return [.withhold]
        }
        return withheld.release(unit, provenance, formats: formats).map { .deliver($0.event, $0.provenance) }
    }
}
