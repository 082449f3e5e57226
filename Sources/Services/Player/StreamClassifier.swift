public import KeyAccess
public import KeyAccessClient
public import Media
internal import Wire

/// Determines whether a stream is what its viewer asked for, and live. No I/O; time is an argument.
///
/// Whoever runs the relay can play a recording, hand out another camera's stream, change the order of frames and leave
/// the end out; all of it decrypts. What he cannot change is what the publisher sealed: the time and the collection
/// before (`StreamNote`), the counters, the empty item at the end; and what the KAS says of a collection
/// (`CollectionFacts`).
public struct StreamClassifier: Sendable {
    public struct Configuration: Sendable {
        /// Name that the stream is registered under; nil when any will do.
        public var stream: String?
        /// Milliseconds; older frames are not live.
        public var mostAge: Int64
        public var allowsRecording: Bool
        /// `sha256//…` of the device key that must have signed; nil when none need have.
        public var publisher: String?

        public init(
            stream: String? = nil, mostAge: Int64 = 15_000, allowsRecording: Bool = false, publisher: String? = nil
        ) {
            self.publisher = publisher
            self.stream = stream
            self.mostAge = mostAge
            self.allowsRecording = allowsRecording
        }
    }

    /// What was noticed so far.
    public struct Counters: Equatable, Sendable {
        /// Collections whose key belongs to another stream.
        public var notThisStream: UInt64 = 0
        /// Collections that the device which was asked for has not signed.
        public var notThisPublisher: UInt64 = 0
        /// Ends of a stream, or of a collection, whose last items never came.
        public var truncated: UInt64 = 0
    }

    public struct Verdict: Equatable, Sendable {
        public var verdict: ViewerStatistics.Verdict
        /// For a person; nil for what is live.
        public var reason: String?
        /// Milliseconds since the newest note was sealed; nil when nobody knows.
        public var age: Int64?
    }

    private struct Anchor {
        var time: Int64
        var at: UInt64

        func time(at now: UInt64) -> Int64 {
            now >= at
                ? time &+ Int64((now - at) / 1_000_000) : time &- Int64(min(at - now, 1 << 62) / 1_000_000)
        }
    }

    /// A collection whose key we have.
    private struct Collection {
        var hash: [UInt8]
        var facts: CollectionFacts?
        var publisher: PublisherProof
        /// Highest counter that was opened; 0 before the first.
        var highest: UInt32 = 0
    }

    /// A collection whose last items are missing as yet: audio may still be on its way.
    private struct MissingTail {
        var name: [UInt8]
        var lastCounter: UInt32
        var deadline: UInt64
    }

    /// Publishers register a few collections ahead, and a viewer may come late.
    static let maxNewerRegistrations = 8
    /// How long something that was noticed stays the verdict, nanoseconds.
    private static let remembrance: UInt64 = 10_000_000_000
    private static let timeout: UInt64 = 2_000_000_000
    private static let maxCollections = 6
    /// The end of the year 9999: no clock shows more.
    private static let latestTime: Int64 = 253_402_300_799_999

    public let configuration: Configuration
    public private(set) var counters = Counters()

    private var collections: [Collection] = []
    /// Headers whose key has not come.
    private var announced: [[UInt8]] = []
    private var current: [UInt8]?
    /// The one that the stream began with on this connection: what was before it is not missed.
    private var firstCollection: [UInt8]?
    /// Its predecessor was looked at: each key frame names it again.
    private var examined: [UInt8]?
    /// What the KAS said, and this machine's clock for a KAS that says nothing.
    private var keyAccessClock: Anchor?
    private var localClock: Anchor?
    private var note: (note: StreamNote, at: UInt64)?
    private var otherStream: String?
    /// Why the publisher is not the one that was asked for.
    private var otherPublisher: String?
    private var missing: [MissingTail] = []
    private var disorderedAt: UInt64?
    private var clearAt: UInt64?
    private var truncatedAt: UInt64?
    /// The newest item was the end of its stream.
    private var isEnded = false
    /// Items came on this connection and from this publisher.
    private var isPlaying = false
    /// Ended without an end, and nothing has come since.
    private var isCut = false
    private var isConnectionLost = false

    public init(_ configuration: Configuration = Configuration()) {
        self.configuration = configuration
    }

    // MARK: What happens

    /// This machine's clock, in Unix milliseconds: for a KAS that does not say what time it is.
    public mutating func clockReads(_ milliseconds: Int64, at now: UInt64) {
        localClock = Anchor(time: milliseconds, at: now)
    }

    /// The machine slept: the clock that `now` comes from stood still, and the time did not.
    public mutating func slept(milliseconds: Int64) {
        keyAccessClock?.time &+= max(0, milliseconds)
        localClock?.time &+= max(0, milliseconds)
    }

    /// A key is asked for. A collection whose key does not come is missing for another reason.
    public mutating func headerArrived(_ hash: [UInt8]) {
        if announced.count >= Self.maxCollections { announced.removeFirst() }
        announced.append(hash)
    }

    /// The KAS gave a key.
    /// - Parameter receivedAt: when its answer came: not when the key was put to use.
    /// - Returns: false when it is another stream's or publisher's and must not be used.
    public mutating func keyArrived(
        _ facts: CollectionFacts?, publisher: PublisherProof = .none, forHeader hash: [UInt8], receivedAt: UInt64
    ) -> Bool {
        if let facts {
            if (0...Self.latestTime).contains(facts.time), keyAccessClock.map({ receivedAt >= $0.at }) ?? true {
                keyAccessClock = Anchor(time: facts.time, at: receivedAt)
            }
            // Bytes: two names that look the same to a person are two streams.
            if let stream = configuration.stream, !facts.stream.utf8.elementsEqual(stream.utf8) {
                counters.notThisStream += 1
                otherStream = facts.stream
                return false
            }
        }
        otherStream = nil
        if let fault = self.fault(of: publisher) {
            counters.notThisPublisher += 1
            otherPublisher = fault
            return false
        }
        otherPublisher = nil
        collections.removeAll { $0.hash == hash }
        if collections.count >= Self.maxCollections { collections.removeFirst() }
        collections.append(Collection(hash: hash, facts: facts, publisher: publisher))
        announced.removeAll { $0 == hash }
        return true
    }

    /// Why this is not the publisher that was asked for; nil when it is, or any will do.
    private func fault(of publisher: PublisherProof) -> String? {
        guard let requested = configuration.publisher else { return nil }
        switch publisher {
        case .device(requested, _): return nil
        case .device(let other, _): return "the device \(other) signed it, not the one that was asked for"
        case .invalid: return "the signature that the key access server reports does not hold"
        case .none: return "the key access server reports no device that signed it"
        }
    }

    /// An item was opened.
    /// - Parameters:
    ///   - note: what it carried besides the media.
    ///   - isEmpty: it had no content: the end of a stream, if nothing follows.
    public mutating func opened(
        _ counter: UInt32, in hash: [UInt8], note: StreamNote?, isEmpty: Bool, at now: UInt64
    ) {
        if !isPlaying { firstCollection = hash }
        current = hash
        otherStream = nil
        otherPublisher = nil
        isEnded = isEmpty
        isPlaying = true
        isCut = false
        isConnectionLost = false
        if let index = collections.firstIndex(where: { $0.hash == hash }) {
            collections[index].highest = max(collections[index].highest, counter)
        }
        missing.removeAll { hash.starts(with: $0.name) && counter >= $0.lastCounter }
        guard let note else { return }
        self.note = (note, now)
        // Only what we were there for can be missing.
        guard let predecessor = note.predecessor, hash != firstCollection, examined != hash else { return }
        examined = hash
        if let before = collections.first(where: { $0.hash.starts(with: predecessor.name) }) {
            guard before.highest < predecessor.lastCounter else { return }
            missing.append(
                MissingTail(
                    name: predecessor.name, lastCounter: predecessor.lastCounter,
                    deadline: now &+ Self.timeout))
        } else if !announced.contains(where: { $0.starts(with: predecessor.name) }) {
            truncated(at: now)
        }
    }

    /// A frame came without encryption, and is shown: anybody on the way may have made it.
    public mutating func clearArrived(at now: UInt64) {
        clearAt = now
    }

    /// The relay handed items on in another order.
    public mutating func disordered(at now: UInt64) {
        disorderedAt = now
    }

    /// The relay says that the publisher has left.
    public mutating func streamEnded(at now: UInt64) {
        for _ in missing { truncated(at: now) }
        missing = []
        if isPlaying, !isEnded, note != nil, !isConnectionLost {
            truncated(at: now)
            isCut = true
        }
        isPlaying = false
    }

    /// The connection to the relay is gone: nobody says whether the stream goes on.
    public mutating func connectionLost(at now: UInt64) {
        guard isPlaying, !isEnded, note != nil else { return }
        isConnectionLost = true
    }

    /// The relay plays: again, or for the first time.
    public mutating func streamStarted(at now: UInt64) {
        if !isConnectionLost { streamEnded(at: now) }
        isPlaying = false
    }

    public mutating func timePassed(at now: UInt64) {
        let over = missing.filter { now >= $0.deadline }
        guard !over.isEmpty else { return }
        for _ in over { truncated(at: now) }
        missing.removeAll { now >= $0.deadline }
    }

    /// The viewer ends.
    /// - Parameter isStreamOver: because the stream did, and not because somebody has seen enough.
    public mutating func finish(isStreamOver: Bool, at now: UInt64) {
        timePassed(at: now)
        if isConnectionLost {
            isConnectionLost = false
            truncated(at: now)
            isCut = true
        } else if isStreamOver {
            streamEnded(at: now)
        }
    }

    private mutating func truncated(at now: UInt64) {
        counters.truncated += 1
        truncatedAt = now
    }

    // MARK: The verdict

    public func verdict(at now: UInt64) -> Verdict {
        let age = age(at: now)
        func reported(_ verdict: ViewerStatistics.Verdict, _ reason: String?) -> Verdict {
            Verdict(verdict: verdict, reason: reason, age: age)
        }
        if let otherStream {
            return reported(
                .notThisStream,
                "the key access server says that this is \"\(ShownText.ascii(otherStream, limit: 64))\", not what was asked for"
            )
        }
        if let otherPublisher { return reported(.notThisPublisher, otherPublisher) }
        let staleness = staleness(age, at: now)
        if let staleness, !configuration.allowsRecording { return reported(.stale, staleness) }
        if let disorderedAt, now < disorderedAt &+ Self.remembrance {
            return reported(.disordered, "the relay hands frames on in another order than they were sealed in")
        }
        if isCut { return reported(.truncated, "the stream ended without its end") }
        if let truncatedAt, now < truncatedAt &+ Self.remembrance {
            return reported(.truncated, "the last frames of a collection never came")
        }
        if let staleness { return reported(.recording, staleness) }
        if let doubt = doubt(age, at: now) { return reported(.unverified, doubt) }
        return reported(.live, nil)
    }

    /// Whether there is anything to classify.
    public var hasBegun: Bool { current != nil || otherStream != nil || otherPublisher != nil }

    /// The device that registered what plays; nil before anything does.
    public var publisher: PublisherProof? {
        collections.first { $0.hash == current }?.publisher
    }

    /// Whether the newest unit may be shown.
    public func isShowable(at now: UInt64) -> Bool {
        configuration.allowsRecording || staleness(age(at: now), at: now) == nil
    }

    private func age(at now: UInt64) -> Int64? {
        guard let sealed = note?.note.time.milliseconds, let clock = keyAccessClock ?? localClock else { return nil }
        return clock.time(at: now) - sealed
    }

    /// Why the stream is an old one; nil when nothing says so.
    private func staleness(_ age: Int64?, at now: UInt64) -> String? {
        if let age, age > configuration.mostAge { return "it was sealed \(Self.duration(age)) ago" }
        guard age == nil else { return nil }
        if let newer = currentFacts?.newerRegistrations, newer > Self.maxNewerRegistrations {
            return "the publisher has registered \(newer) collections since"
        }
        guard let note, now > note.at, (now - note.at) / 1_000_000 > UInt64(configuration.mostAge) else { return nil }
        return "its publisher has sealed no note for \(Self.duration(Int64((now - note.at) / 1_000_000)))"
    }

    /// Why it cannot be called live; nil when it can.
    private func doubt(_ age: Int64?, at now: UInt64) -> String? {
        if let clearAt, now < clearAt &+ Self.remembrance { return "frames come without encryption" }
        guard let note else { return "its publisher seals no time, so that its age is unknown" }
        guard currentFacts != nil else {
            return "the key access server does not say whose stream a key is for"
        }
        if publisher == .invalid { return "the signature of its publisher's device does not hold" }
        guard note.note.time != .unset else { return "the camera's clock is not set, so that its age is unknown" }
        guard let age, age >= -configuration.mostAge else { return "the camera's clock is ahead of ours" }
        return nil
    }

    private var currentFacts: CollectionFacts? {
        collections.first { $0.hash == current }?.facts
    }

    private static func duration(_ milliseconds: Int64) -> String {
        let seconds = milliseconds / 1000
        return switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7200: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3600) h"
        default: "\(seconds / 86_400) days"
        }
    }
}
