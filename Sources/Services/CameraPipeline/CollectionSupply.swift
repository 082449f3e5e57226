internal import CameraModel
internal import Cryptography
internal import KeyAccessClient
internal import Logging
internal import NanoTDF
internal import NanoTDFCryptography
internal import Synchronization

/// Makes collections ahead of their use, off the path of a frame, and has their headers registered.
///
/// Its duties:
/// 1. Hold a recipient: the KAS's public key. Without one nothing can be sealed, and the camera waits; with one, a KAS
///    outage is no more than a note.
/// 2. Keep `target` collections ready at the sealer; replace them when the KAS has a new key, and when they have waited
///    so long (an outage of the relay, rare rotations) that too little of their registration would be left.
/// 3. Register each header before it is used, where that is possible in a short time; afterwards where it is not.
final class CollectionSupply: Sendable {
    struct Settings: Sendable {
        var stream: String
        var policy: CameraConfiguration.Policy
        /// Collections that are kept ready.
        var target = 3
        /// How often the KAS is asked whether its key changed.
        var refresh: Duration = .seconds(300)
        /// How long a collection is held back for its registration.
        var registrationTimeout: Duration = .seconds(3)
        /// Between attempts to get a first key, and to register what nobody waits for yet.
        var retry: ClosedRange<Duration> = .milliseconds(500)...(.seconds(15))
        /// Between attempts to register the header in use, without which no viewer gets its key: a KAS that comes back
        /// finds it within this time.
        var urgentRetry: ClosedRange<Duration> = .milliseconds(100)...(.milliseconds(750))
        /// A header is vouched for this long: recordings and late viewers need it.
        var lifetime: Duration = .seconds(86_400)
        /// No collection begins to be used later than this after it was made.
        var longestWait: Duration = .seconds(3600)
    }

    /// What waits at the sealer.
    struct Stock: Sendable {
        var ready: Int
        /// Header hashes of the collections that were too old.
        var discarded: [[UInt8]] = []
    }

    /// What happened, for the sealer and for the state that people see.
    enum Report: Sendable {
        case collection(PreparedCollection)
        /// Collections made before are for a key that the KAS has replaced.
        case keyChanged
        /// There is no key, and there never was one in this process.
        /// - Parameter isDistrust: what answers is not who it should be.
        case noKey(reason: String, isDistrust: Bool)
        /// - Parameters:
        ///   - waiting: headers that are not registered yet.
        ///   - time: the KAS's, Unix milliseconds; nil when it does not report it.
        case registered(waiting: Int, time: Int64?)
        case notRegistered(RegistrationFailure, waiting: Int)
    }

    private struct State {
        var unregistered = RegistrationQueue()
        var registrationIsDown = false
        /// This KAS takes registrations.
        var hasRegistered = false
    }

    private let settings: Settings
    private let authority: any CollectionAuthority
    private let logger: Logger
    private let report: @Sendable (Report) async -> Void
    private let now: @Sendable () -> UInt64
    private let stock: @Sendable (_ madeBefore: UInt64) async -> Stock
    private let state = Mutex(State())
    private let demand: AsyncStream<Void>
    private let want: AsyncStream<Void>.Continuation
    private let pending: AsyncStream<Void>
    private let pend: AsyncStream<Void>.Continuation
    /// - Parameters:
    ///   - now: CLOCK_MONOTONIC, nanoseconds.
    ///   - stock: has the sealer forget what was made before an instant, and reports what it has ready then.
    ///   - report: takes what happened, in order.
    init(
        settings: Settings, authority: any CollectionAuthority, logger: Logger,
        now: @escaping @Sendable () -> UInt64, stock: @escaping @Sendable (_ madeBefore: UInt64) async -> Stock,
        report: @escaping @Sendable (Report) async -> Void
    ) {
        self.settings = settings
        self.authority = authority
        self.logger = logger
        self.now = now
        self.stock = stock
        self.report = report
        (demand, want) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        (pending, pend) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// The sealer took one: the stream goes on under this header. From any thread, and cheap.
    func collectionTaken(_ headerHash: [UInt8]) {
        state.withLock { $0.unregistered.taken(headerHash) }
        want.yield()
    }

    /// Headers that the KAS has not confirmed.
    var unregisteredCount: Int { state.withLock { $0.unregistered.count } }

    /// Until cancelled.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.refill() }
            group.addTask { await self.remind() }
            if authority.registersHeaders { group.addTask { await self.retryRegistrations() } }
            await group.waitForAll()
        }
    }

    /// Wakes `refill` now and then, so that a new key of the KAS is noticed, and what has become old is replaced.
    private func remind() async {
        while (try? await Task.sleep(for: settings.refresh)) != nil { want.yield() }
    }

    private func refill() async {
        var known: KASRecipient?
        var failures = 0
        want.yield()
        var requests = demand.makeAsyncIterator()
        while await requests.next() != nil, !Task.isCancelled {
            do {
                let recipient = try await authority.recipient()
                failures = 0
                if let known, known != recipient {
                    logger.notice("the key access service has a new key: rotating")
                    await report(.keyChanged)
                }
                known = recipient
            } catch {
                if Task.isCancelled { return }
                guard known != nil else {
                    failures += 1
                    let isDistrust = (error as? KeyAccessError)?.isDistrust ?? false
                    await report(.noKey(reason: "\(error)", isDistrust: isDistrust))
                    guard (try? await Task.sleep(for: Self.delay(after: failures, in: settings.retry))) != nil else {
                        return
                    }
                    want.yield()
                    continue
                }
                logger.warning("the key access service does not answer, going on with its last key: \(error)")
            }
            guard let known else { continue }
            while !Task.isCancelled, await readyCount() < settings.target {
                do {
                    let collection = try makeCollection(for: known)
                    await register(collection)
                    await report(.collection(collection))
                } catch {
                    logger.error("cannot make a collection: \(error)")
                    guard (try? await Task.sleep(for: settings.retry.upperBound)) != nil else { return }
                }
            }
        }
    }

    /// Of collections that will still be young enough when the next look comes.
    private func readyCount() async -> Int {
        let now = now()
        let wait = max(.zero, settings.longestWait - settings.refresh)
        let stock = await stock(now - min(now, UInt64(clamping: wait.components.seconds) * 1_000_000_000))
        // Nobody will ever need these; the one in use must not give way to them.
        if !stock.discarded.isEmpty { state.withLock { $0.unregistered.discarded(stock.discarded) } }
        return stock.ready
    }

    private func makeCollection(for recipient: KASRecipient) throws(NanoTDFError) -> PreparedCollection {
        let policy = PlaintextPolicy(
            stream: settings.stream, dataAttributes: settings.policy.dataAttributes,
            dissemination: settings.policy.dissem)
        return PreparedCollection(
            try CollectionSealer(recipient: recipient, policy: policy.encoded(), crypto: OpenSSLCrypto()),
            madeAt: now())
    }

    // MARK: - Registration

    /// Waits for the registration a short while; what is not confirmed then is retried in the background, and the
    /// stream does not wait for it.
    private func register(_ collection: PreparedCollection) async {
        guard authority.registersHeaders else { return }
        let claim = collection.sealer.claim
        let isDown = state.withLock { state in
            state.unregistered.made(claim)
            return state.registrationIsDown
        }
        guard !isDown else {
            pend.yield()
            return
        }
        let timeout = settings.registrationTimeout
        await withTaskGroup(of: Bool.self) { group in
            group.addTask { await self.attempt(claim) }
            group.addTask {
                try? await Task.sleep(for: timeout)
                return false
            }
            let settled = await group.next() ?? false
            if !settled { state.withLock { $0.registrationIsDown = true } }
            group.cancelAll()
        }
        if unregisteredCount > 0 { pend.yield() }
    }

    /// Sleeps while there is nothing to do. Goes on without a pause while the KAS answers.
    private func retryRegistrations() async {
        var failures = 0
        for await _ in pending {
            while unregisteredCount > 0 {
                guard await pause(after: failures) else { return }
                let instant = now()
                guard let claim = state.withLock({ $0.unregistered.next(at: instant) }) else {
                    // All were refused lately.
                    guard (try? await Task.sleep(for: .seconds(1))) != nil else { return }
                    continue
                }
                if await attempt(claim) {
                    failures = 0
                    state.withLock { $0.registrationIsDown = false }
                } else {
                    if Task.isCancelled { return }
                    failures += 1
                }
            }
        }
    }

    /// Between attempts. In short steps: the header that nobody waited for may have come into use meanwhile.
    /// - Returns: false when the task was cancelled.
    private func pause(after failures: Int) async -> Bool {
        guard failures > 0 else { return !Task.isCancelled }
        var slept = Duration.zero
        while true {
            let isUrgent = state.withLock { $0.unregistered.isUrgent }
            let due = Self.delay(after: failures, in: isUrgent ? settings.urgentRetry : settings.retry)
            guard slept < due else { return true }
            let step = min(due - slept, settings.urgentRetry.upperBound)
            guard (try? await Task.sleep(for: step)) != nil else { return false }
            slept += step
        }
    }

    /// - Returns: the KAS has decided, and the header waits no more.
    private func attempt(_ claim: CollectionClaim) async -> Bool {
        do throws(RegistrationFailure) {
            let time = try await authority.register(claim, stream: settings.stream, lifetime: settings.lifetime)
            let isNew = state.withLock { state in
                state.hasRegistered = true
                return state.unregistered.settled(claim.headerHash)
            }
            if isNew { await report(.registered(waiting: unregisteredCount, time: time)) }
            return true
        } catch {
            if Task.isCancelled { return false }
            let instant = now()
            let isDecided = state.withLock { state in
                switch error.kind {
                case .refused: state.unregistered.refused(claim.headerHash, at: instant)
                // A KAS that has registered before is a KAS of ours: something in between answers for it.
                case .unsupported where !state.hasRegistered: state.unregistered.settled(claim.headerHash)
                case .away, .notAdmitted, .unsupported: return false
                }
                return true
            }
            await report(.notRegistered(error, waiting: unregisteredCount))
            return isDecided
        }
    }

    /// Doubles with each failure in a row, of which there is one at least, within the range.
    static func delay(after failures: Int, in range: ClosedRange<Duration>) -> Duration {
        min(range.upperBound, range.lowerBound * (1 << min(failures - 1, 10)))
    }
}

extension CollectionSupply.Settings {
    /// As long as the KAS remembers a header at most.
    private static let maxLifetime = 7 * 86_400.0

    init(_ configuration: CameraConfiguration) {
        self.init(stream: configuration.stream, policy: configuration.policy)
        // A collection waits, is in use, perhaps longer than planned, and viewers come back to it for a day.
        let seconds = min(86_400 + 3 * configuration.rotation.seconds, Self.maxLifetime)
        lifetime = .seconds(seconds.rounded(.up))
    }
}
