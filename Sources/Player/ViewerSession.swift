internal import FLV
public import Media
public import NanoTDF
internal import Wire

/// A stream as a relay sends it, turned into formats and opened access units. No I/O; time is an argument.
///
/// Duties:
/// 1. finds the NanoTDF header, in metadata or in band, and names the one key request that each is worth;
/// 2. opens what is sealed, and hands it on in sending order, each format before the first unit that needs it;
/// 3. tells a stream in clear from a sealed one, and refuses it unless it may be shown;
/// 4. keeps time growing when the relay, the publisher or this viewer came back.
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
        /// Nil provenance: a format, or a unit of a stream in clear.
        case deliver(MediaEvent, Provenance?)
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
    private static let mostWaitingFormats = 32
    /// Bytes of one format; those of cameras have less than a thousand.
    private static let longestFormat = 64 << 10

    private let allowsClear: Bool
    private var opener: StreamOpener<FrameContext>
    private var depacketizer = Depacketizer()
    private var waitingFormats: [(number: Int, type: UInt8, body: [UInt8])] = []
    private var formatCount = 0
    private var hasHeader = false
    /// Nil until the first video key frame of a connection without a header told.
    private var isClear: Bool?
    private var timeline = OutputTimeline()
    private var unreadableCount: UInt64 = 0

    /// - Parameter hold: how long frames may wait for their key.
    public init(crypto: some NanoTDFCrypto, hold: HoldLimits, allowsClear: Bool) {
        var configuration = StreamOpener<FrameContext>.Configuration()
        configuration.hold = hold
        opener = StreamOpener(crypto: crypto, configuration: configuration)
        self.allowsClear = allowsClear
    }

    /// Something came that was, or could have been, a picture or sound.
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
    }

    /// A new connection to the relay, or a new publisher: formats and header come again, and time may begin anew. Frames
    /// of before that still wait for their key keep their formats.
    public mutating func streamStarted() {
        isClear = nil
        hasHeader = false
        timeline.sourceRestarted()
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

    public mutating func keyArrived(_ key: CollectionKey, forHeader hash: [UInt8], at now: UInt64) -> [Action] {
        deliver(opener.keyArrived(key, forHeader: hash, at: now), at: now)
    }

    public mutating func keyFailed(forHeader hash: [UInt8], at now: UInt64) -> [Action] {
        deliver(opener.keyFailed(forHeader: hash, at: now), at: now)
    }

    /// To be called some times a second.
    public mutating func timePassed(at now: UInt64) -> [Action] {
        deliver(opener.timePassed(at: now), at: now)
    }
}

extension ViewerSession {
    private mutating func metadata(_ body: ArraySlice<UInt8>, at now: UInt64) -> [Action] {
        do {
            guard let header = try StreamMetadata.parse(body)?.ntdfHeader else { return [] }
            return headerArrived(header, at: now)
        } catch {
            unreadableCount += 1
            return []
        }
    }

    private mutating func headerArrived(_ header: [UInt8], at now: UInt64) -> [Action] {
        hasHeader = true
        switch opener.headerArrived(header, at: now) {
        case .requestKey(let header, let hash): return [.requestKey(header: header, hash: hash)]
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
        guard body.count <= Self.longestFormat else {
            unreadableCount += 1
            return
        }
        if waitingFormats.count >= Self.mostWaitingFormats { waitingFormats.removeFirst() }
        formatCount += 1
        waitingFormats.append((formatCount, type, Array(body)))
    }

    private mutating func frame(_ context: FrameContext, _ payload: ArraySlice<UInt8>, at now: UInt64) -> [Action] {
        hasFrames = true
        if !hasHeader {
            if isClear == nil { isClear = Self.looksClear(context, payload) }
            if isClear == true {
                guard allowsClear else { return [.refuseClear] }
                return deliver(context, Array(payload), nil)
            }
        }
        switch opener.open(payload, context: context, at: now) {
        case .opened(let item): return deliver([item], at: now)
        case .held, .dropped: return []
        }
    }

    /// Nil while nothing can be told. A sealed item is not made of NAL units; the chance that its random bytes are is
    /// less than one in 2^32. A stream without video can only be told by its first bytes: an item's counter is small.
    private static func looksClear(_ context: FrameContext, _ payload: ArraySlice<UInt8>) -> Bool? {
        guard !payload.isEmpty else { return nil }
        switch context.tag {
        case .video:
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
        items.flatMap { item in
            deliver(
                item.context, item.plaintext,
                Provenance(counter: item.counter, collection: item.collection, instant: now))
        }
    }

    private mutating func deliver(
        _ context: FrameContext, _ payload: [UInt8], _ provenance: Provenance?
    ) -> [Action] {
        var actions: [Action] = []
        while let format = waitingFormats.first, format.number <= context.formats {
            waitingFormats.removeFirst()
            do {
                let event = try depacketizer.message(type: format.type, timestamp: 0, body: format.body[...])
                if let event { actions.append(.deliver(event, nil)) }
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
            if case .accessUnit(let unit) = event {
                actions.append(.deliver(.accessUnit(timeline.placed(unit)), provenance))
            }
        } catch {
            unreadableCount += 1
        }
        return actions
    }
}
