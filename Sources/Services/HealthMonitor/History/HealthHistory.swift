internal import BoxReadings
internal import ControlAPI
internal import Database
internal import ErrorCatalog
internal import Synchronization

/// What happened in the last 24 h. The newest events are in memory whatever the disk does; a thread of its own takes
/// them to SQLite, and tries again when that fails.
final class HealthHistory: Sendable {
    private struct State {
        var store: HistoryStore?
        var nextID: Int64 = 1
        /// Newest last.
        var recent: [HealthEvent] = []
        /// Not yet in the database; bounded like `recent`.
        var waiting: [HealthEvent] = []
        /// Events that were forgotten before they could be saved.
        var lost = 0
        var trouble: Trouble?
        /// The disk refused the last try; else there is only something to report.
        var hasFailed = false
        var triedAt: UInt64?
    }

    struct Trouble: Equatable, Sendable {
        var text: String
        var code: ErrorCode
    }

    private enum Outcome: Sendable {
        case saved(HistoryStore, through: Int64, renumbered: Int64)
        case failed(Trouble, HistoryStore?)
    }

    static let maxInMemory = 512
    /// Seconds between two tries after a failure.
    private static let pause = 60.0

    private let path: String
    private let state = Mutex(State())
    private let writing = ProbeSlot<Outcome>()

    init(directory: String) {
        path = "\(directory)/history.db"
    }

    /// Why events are not saved; nil when they are.
    var trouble: Trouble? { state.withLock { $0.trouble } }
    /// Events that the disk will never see.
    var lost: Int { state.withLock { $0.lost } }

    /// The event gets its number here.
    func add(_ event: HealthEvent) {
        state.withLock { state in
            var event = event
            event.id = state.nextID
            state.nextID += 1
            state.recent.append(event)
            if state.recent.count > Self.maxInMemory { state.recent.removeFirst() }
            state.waiting.append(event)
            if state.waiting.count > Self.maxInMemory {
                state.waiting.removeFirst()
                state.lost += 1
            }
        }
    }

    /// Once per round: takes what the last try brought, and begins the next one when there is something to save.
    func turn(at now: HealthInstant) {
        if let outcome = writing.take() { took(outcome, at: now) }
        let job: (store: HistoryStore?, events: [HealthEvent], isFirst: Bool)? = state.withLock { state in
            let isFirst = state.store == nil && state.triedAt == nil
            guard isFirst || !state.waiting.isEmpty else { return nil }
            if state.hasFailed, let tried = state.triedAt, now.seconds(since: tried) < Self.pause { return nil }
            return (state.store, state.waiting, isFirst)
        }
        guard let job else { return }
        let path = path
        let isStarted = writing.start(at: now.uptime) { Self.save(job.events, in: job.store, path: path, now: now) }
        if isStarted { state.withLock { $0.triedAt = now.uptime } }
    }

    /// Until what was begun has ended, for the end of the process.
    func finish(limit: Duration, clock: any HealthClock) async {
        turn(at: clock.now())
        await Waiting.until(limit: limit, clock: clock) { await self.writing.ended() }
    }

    /// Newest first.
    ///
    /// - Parameter since: seconds since 1970.
    func events(check: String?, since: Int64, clock: any HealthClock) async -> [HealthEvent] {
        let (store, recent) = state.withLock { ($0.store, $0.recent) }
        var events = recent.filter {
            ($0.time >= since || $0.time <= HealthThresholds.earliestTime) && (check == nil || $0.check == check)
        }
        if let store {
            let slot = ProbeSlot<[HealthEvent]>()
            let saved = await slot.run(limit: .seconds(5), clock: clock) {
                (try? store.events(check: check, since: since)) ?? []
            }
            let known = Set(events.map(\.id))
            events += (saved ?? []).filter { !known.contains($0.id) }
        }
        return Array(events.sorted { $0.id > $1.id }.prefix(HistoryStore.maxAnswered))
    }

    private func took(_ outcome: Outcome, at now: HealthInstant) {
        state.withLock { state in
            switch outcome {
            case .saved(let store, let through, let shift):
                state.hasFailed = false
                if shift > 0 {
                    // The database held more than memory knew: what was not in it yet follows.
                    for index in state.recent.indices { state.recent[index].id += shift }
                    for index in state.waiting.indices { state.waiting[index].id += shift }
                    state.nextID += shift
                }
                state.waiting.removeAll { $0.id <= through }
                if state.store == nil, let path = store.setAside {
                    state.trouble = Trouble(
                        text: "the history was damaged and moved to \(path)", code: .databaseDamaged)
                } else {
                    state.trouble = nil
                }
                state.store = store
            case .failed(let trouble, let store):
                state.hasFailed = true
                state.trouble = trouble
                state.store = store
            }
        }
    }

    /// On the lane's thread.
    private static func save(
        _ events: [HealthEvent], in open: HistoryStore?, path: String, now: HealthInstant
    ) -> Outcome {
        do {
            let store: HistoryStore
            var shift: Int64 = 0
            if let open {
                store = open
            } else {
                store = try HistoryStore(path: path)
                shift = try store.lastID()
            }
            let events = events.map { event in
                var event = event
                event.id += shift
                return event
            }
            if !events.isEmpty { try store.append(events, now: now.realtimeSeconds) }
            return .saved(store, through: events.last?.id ?? 0, renumbered: shift)
        } catch let failure as DatabaseFailure {
            let code: ErrorCode =
                switch failure {
                case .full, .atLimit: .diskFull
                case .readOnly: .readOnly
                case .fromFuture: .databaseFromFuture
                case .damaged: .databaseDamaged
                case .busy, .cannotOpen, .device, .refused: .writeFailed
                }
            let isDamaged = code == .databaseDamaged
            // Opened again, a damaged file is moved aside.
            return .failed(Trouble(text: "\(failure.what): \(failure.why)", code: code), isDamaged ? nil : open)
        } catch {
            return .failed(Trouble(text: "\(error)", code: .writeFailed), open)
        }
    }
}
