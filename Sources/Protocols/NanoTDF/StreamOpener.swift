/// An item that authenticated.
public struct OpenedItem<Context: Sendable>: Sendable {
    public let plaintext: [UInt8]
    public let counter: UInt32
    /// SHA-256 of the header of its collection.
    public let collection: [UInt8]
    public let medium: ItemMedium
    /// What the caller gave along with the item.
    public let context: Context
}

extension OpenedItem: Equatable where Context: Equatable {}

/// The live reader of one stream: headers, keys and items in, authenticated plaintexts out.
///
/// Duties:
/// 1. distinguishes new headers from repeats, bounds their rate, and names the one key request that each is worth;
/// 2. keeps up to three keys, finds the nonce rule of each by trial on the first item that authenticates, and wipes the
///    old key two seconds after the first item under the new one;
/// 3. holds items that come before their key, within limits, and hands them out in order of arrival;
/// 4. refuses what does not authenticate, repeats, counter 0 and everything over its limits, and counts it;
/// 5. hands each medium out with strictly growing counters, collection after collection: what a relay has put in another
///    order is dropped and counted.
///
/// Time is in nanoseconds of any monotonic clock. The driver calls ``timePassed(at:)`` when ``nextDeadline`` comes.
///
/// The odd case: an item that no key opens although none is awaited. It may be damaged, or the first of a collection
/// whose header is still behind it (Arkavo's publisher seals audio under the new key while the header is being sent).
/// Collections count from 1, so only items with a counter within the hold limit are kept for that.
public struct StreamOpener<Context: Sendable>: ~Copyable, Sendable {
    public struct Configuration: Sendable {
        public var hold = HoldLimits()
        /// How long the previous key lives on, in nanoseconds.
        public var overlap: UInt64 = 2_000_000_000
        /// Bytes of one item at most.
        public var itemLimit = 4 << 20
        /// New headers per second; the excess is ignored.
        public var headersPerSecond = 4
        /// Accept 8-byte tags. They are weak for a stream of many items.
        public var allowsShortTags = false
        public var headerLimits = HeaderLimits()

        public init() {}
    }

    /// What a header means for the driver.
    public enum HeaderDecision: Equatable, Sendable {
        /// New: ask the KAS for its key, once, and report with `keyArrived` or `keyFailed`.
        case requestKey(header: [UInt8], hash: [UInt8])
        /// Known, or over: nothing to do.
        case duplicate
        /// Too many new headers within a second: ignored.
        case rateLimited
        case invalid(NanoTDFError)
    }

    public enum Outcome: Sendable {
        case opened(OpenedItem<Context>)
        /// Kept; it comes out of a later call, or is counted when it is given up.
        case held
        case dropped(DropReason)
    }

    /// Why an item is not handed out. Each is counted.
    public enum DropReason: Equatable, Sendable {
        case malformed(NanoTDFError)
        /// No key for it, and no room to hold it.
        case noKey
        case authenticationFailed
        /// Authentic, but its counter was seen before.
        case replayed
        /// Authentic, but behind one of the same medium that was sealed after it, or more than 64 behind any.
        case disordered
    }

    public struct Counters: Equatable, Sendable {
        public var opened: UInt64 = 0
        /// Given up for lack of a key.
        public var noKey: UInt64 = 0
        public var authenticationFailed: UInt64 = 0
        public var replayed: UInt64 = 0
        public var disordered: UInt64 = 0
        /// Counters that were skipped and did not come late: items that are lost.
        public var gaps: UInt64 = 0
        /// Invalid items: counter 0, wrong lengths, over the limit.
        public var malformed: UInt64 = 0
        public var headersIgnored: UInt64 = 0
        public var headersInvalid: UInt64 = 0
        /// Decryptions tried for all items.
        public var opens: UInt64 = 0
    }

    private let configuration: Configuration
    private let crypto: any NanoTDFCrypto
    private var ring: KeyRing
    private var headers: HeaderLog
    private var held: HoldQueue<Context>
    private var counts = Counters()
    /// Since `streamResumed` nothing of the newest collection has come.
    private var isResuming = false
    /// The collection of the item of each medium that was handed out last.
    private var newestVideo: UInt64 = 0
    private var newestAudio: UInt64 = 0

    public init(crypto: some NanoTDFCrypto, configuration: Configuration = Configuration()) {
        self.crypto = crypto
        self.configuration = configuration
        ring = KeyRing(overlap: configuration.overlap)
        headers = HeaderLog(perSecond: configuration.headersPerSecond)
        held = HoldQueue(limits: configuration.hold)
    }

    public var counters: Counters {
        var counters = counts
        counters.opens = ring.opens
        return counters
    }

    /// Items that wait for a key.
    public var heldItemCount: Int { held.entries.count }

    /// When `timePassed` has something to do; nil if nothing is due.
    public var nextDeadline: UInt64? {
        [held.nextDeadline, ring.nextDeadline].compactMap { $0 }.min()
    }

    /// The relay plays again, on a new connection or for a new publisher. It begins with the group of pictures that runs:
    /// what was seen of it is repeated, in unchanged order.
    public mutating func streamResumed() {
        isResuming = true
        ring.resumed()
    }

    /// A header came, in metadata or in band.
    public mutating func headerArrived(_ bytes: [UInt8], at now: UInt64) -> HeaderDecision {
        let header: NanoTDFHeader
        do throws(NanoTDFError) {
            header = try NanoTDFHeader.parse(bytes, limits: configuration.headerLimits)
            guard header.tagByteCount >= 12 || configuration.allowsShortTags else {
                throw .unsupported(.shortTag(header.tagByteCount))
            }
        } catch {
            counts.headersInvalid += 1
            return .invalid(error)
        }
        let hash = crypto.sha256(bytes[...])
        guard !ring.contains(hash), !headers.isKnown(hash) else { return .duplicate }
        guard headers.admits(at: now) else {
            counts.headersIgnored += 1
            return .rateLimited
        }
        headers.announced(hash, tagByteCount: header.tagByteCount)
        return .requestKey(header: bytes, hash: hash)
    }

    /// The KAS gave the key for the header with this hash.
    /// - Returns: held items that are due now, in order of arrival.
    public mutating func keyArrived(
        _ key: CollectionKey, forHeader hash: [UInt8], at now: UInt64
    ) -> [OpenedItem<Context>] {
        guard let header = headers.settled(hash) else { return [] }
        guard let context = try? crypto.makeOpening(key) else { return drain() }
        headers.retire(ring.wipeExpired(at: now))
        headers.retire(
            ring.insert(
                KeyRing.Collection(
                    hash: hash, sequence: header.sequence, tagByteCount: header.tagByteCount, context: context)))
        openHeld(under: hash, at: now)
        return drain()
    }

    /// The KAS said no, for now: of headers that wait, those that were refused give way first.
    public mutating func keyRefused(forHeader hash: [UInt8]) {
        headers.refused(hash)
    }

    /// The key is not needed: its header is not asked for again.
    /// - Returns: items that had been waiting behind items of that collection, in order of arrival.
    public mutating func keyDiscarded(forHeader hash: [UInt8]) -> [OpenedItem<Context>] {
        if headers.settled(hash) != nil { headers.retire([hash]) }
        return drain()
    }

    /// The KAS refused or did not answer. The same header is worth a new request when it comes again.
    /// - Returns: items that had been waiting behind items of that collection, in order of arrival.
    public mutating func keyFailed(forHeader hash: [UInt8], at now: UInt64) -> [OpenedItem<Context>] {
        _ = headers.settled(hash)
        return drain()
    }

    /// An item came. `context` is handed back with its plaintext, now or later.
    /// - Parameter other: where the lengths of what came fit two forms, the item in the form that is less likely. One of
    ///   the two authenticates at most. It does not wait for a key that is on its way.
    public mutating func open(
        _ item: ArraySlice<UInt8>, orElse other: ArraySlice<UInt8>? = nil, medium: ItemMedium, context: Context,
        at now: UInt64
    ) -> Outcome {
        var envelope: ItemEnvelope
        do throws(NanoTDFError) {
            envelope = try ItemEnvelope.parse(item, limit: configuration.itemLimit)
            guard envelope.counter != 0 else { throw .invalid(.itemCount, offset: 0) }
        } catch {
            counts.malformed += 1
            return .dropped(.malformed(error))
        }
        headers.retire(ring.wipeExpired(at: now))
        var budget = KeyRing.opensPerItem
        var wiped: [[UInt8]] = []
        var attempt = ring.attempt(envelope, medium, budget: &budget, at: now, wiped: &wiped)
        if case .failed = attempt, let other,
            let second = try? ItemEnvelope.parse(other, limit: configuration.itemLimit), second.counter != 0
        {
            attempt = ring.attempt(second, medium, budget: &budget, at: now, wiped: &wiped)
            if case .opened = attempt { envelope = second }
        }
        headers.retire(wiped)
        switch attempt {
        case .opened(let plaintext, let hash, let sequence, let arrival):
            if let reason = refusal(of: arrival) { return .dropped(reason) }
            let opened = OpenedItem(
                plaintext: plaintext, counter: envelope.counter, collection: hash, medium: medium, context: context)
            return deliver(opened, sequence: sequence, byteCount: item.count, at: now)
        case .failed:
            return hold(item, envelope, medium, context, opensLeft: budget, at: now)
        }
    }

    /// Gives up held items whose time is over and wipes old keys.
    /// - Returns: items that had been waiting behind those, in order of arrival.
    public mutating func timePassed(at now: UInt64) -> [OpenedItem<Context>] {
        headers.retire(ring.wipeExpired(at: now))
        var delivered: [OpenedItem<Context>] = drain()
        while let first = held.entries.first, held.isExpired(first, at: now) {
            switch held.removeFirst().content {
            case .sealed(_, _, let wasTried): giveUp(wasTried: wasTried)
            case .opened(let item, let sequence): if isInOrder(item, sequence) { delivered.append(item) }
            }
            delivered += drain()
        }
        return delivered
    }
}

extension StreamOpener {
    /// Counts an authentic item.
    /// - Returns: why it must not be handed out.
    private mutating func refusal(of arrival: ReplayWindow.Arrival) -> DropReason? {
        switch arrival {
        case .ahead(let gaps): counts.gaps += UInt64(gaps)
        case .late(let fillsGap): if fillsGap { counts.gaps -= 1 }
        case .repeated:
            counts.replayed += 1
            return .replayed
        case .disordered:
            counts.disordered += 1
            return .disordered
        }
        counts.opened += 1
        return nil
    }

    /// Whether no item of a later collection went before this one in its medium; counts it if so. Called for every item
    /// that is handed out.
    private mutating func isInOrder(_ item: OpenedItem<Context>, _ sequence: UInt64) -> Bool {
        let newest = item.medium == .video ? newestVideo : newestAudio
        guard sequence >= newest else {
            counts.opened -= 1
            if isResuming { counts.replayed += 1 } else { counts.disordered += 1 }
            return false
        }
        if sequence == max(newestVideo, newestAudio) { isResuming = false }
        if item.medium == .video { newestVideo = sequence } else { newestAudio = sequence }
        return true
    }

    /// Hands `item` out, unless items that came before it still wait for an older key.
    private mutating func deliver(
        _ item: OpenedItem<Context>, sequence: UInt64, byteCount: Int, at now: UInt64
    ) -> Outcome {
        guard !held.isEmpty, headers.awaitsKey(before: sequence) else {
            return isInOrder(item, sequence) ? .opened(item) : .dropped(isResuming ? .replayed : .disordered)
        }
        guard held.admits(byteCount) else {
            counts.opened -= 1
            counts.noKey += 1
            return .dropped(.noKey)
        }
        held.append(
            .init(
                content: .opened(item, sequence: sequence), medium: item.medium, context: item.context,
                arrivedAt: now, byteCount: byteCount))
        return .held
    }

    private mutating func hold(
        _ item: ArraySlice<UInt8>, _ envelope: ItemEnvelope, _ medium: ItemMedium, _ context: Context, opensLeft: Int,
        at now: UInt64
    ) -> Outcome {
        let wasTried = !ring.isEmpty && !headers.awaitsKey()
        let mayBeEarly = !wasTried || Int(envelope.counter) <= configuration.hold.items
        guard mayBeEarly, held.admits(item.count) else {
            giveUp(wasTried: wasTried)
            return .dropped(wasTried ? .authenticationFailed : .noKey)
        }
        held.append(
            .init(
                content: .sealed(Array(item), opensLeft: opensLeft, wasTried: wasTried), medium: medium,
                context: context, arrivedAt: now, byteCount: item.count))
        return .held
    }

    private mutating func giveUp(wasTried: Bool) {
        if wasTried { counts.authenticationFailed += 1 } else { counts.noKey += 1 }
    }

    /// Tries a key that just came on everything that waits.
    private mutating func openHeld(under hash: [UInt8], at now: UInt64) {
        let isLast = !headers.awaitsKey()
        var dropped = Set<Int>()
        for index in held.entries.indices {
            guard case .sealed(let bytes, var opensLeft, _) = held.entries[index].content,
                let envelope = try? ItemEnvelope.parse(bytes[...], limit: bytes.count)
            else { continue }
            var wiped: [[UInt8]] = []
            let medium = held.entries[index].medium
            let attempt = ring.attempt(envelope, medium, only: hash, budget: &opensLeft, at: now, wiped: &wiped)
            headers.retire(wiped)
            switch attempt {
            case .opened(let plaintext, _, let sequence, let arrival):
                guard refusal(of: arrival) == nil else {
                    dropped.insert(index)
                    continue
                }
                let item = OpenedItem(
                    plaintext: plaintext, counter: envelope.counter, collection: hash, medium: medium,
                    context: held.entries[index].context)
                held.replaceContent(at: index, by: .opened(item, sequence: sequence))
            case .failed where isLast && Int(envelope.counter) > configuration.hold.items:
                giveUp(wasTried: true)
                dropped.insert(index)
            case .failed:
                held.replaceContent(at: index, by: .sealed(bytes, opensLeft: opensLeft, wasTried: isLast))
            }
        }
        guard !dropped.isEmpty else { return }
        held.replaceAll(held.entries.enumerated().filter { !dropped.contains($0.offset) }.map(\.element))
    }

    /// Takes out what is opened, up to the first item that must wait for one before it.
    private mutating func drain() -> [OpenedItem<Context>] {
        var delivered: [OpenedItem<Context>] = []
        var kept: [HoldQueue<Context>.Entry] = []
        var isBlocked = false
        let waiting = held.entries.count
        for entry in held.entries {
            switch entry.content {
            case .opened(let item, let sequence) where !isBlocked:
                if !kept.isEmpty && headers.awaitsKey(before: sequence) {
                    isBlocked = true
                    kept.append(entry)
                } else if isInOrder(item, sequence) {
                    delivered.append(item)
                }
            case .opened, .sealed: kept.append(entry)
            }
        }
        if kept.count < waiting { held.replaceAll(kept) }
        return delivered
    }
}
