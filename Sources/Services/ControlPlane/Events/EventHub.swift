internal import BoxMemory
internal import CameraModel
internal import ControlAPI
internal import ErrorCatalog
internal import Synchronization

/// Keeps what happened in the memory's ring and publishes it to those who watch.
///
/// A watcher that is slower than the events is sent away with what it has; it comes back with the ID of the last one
/// that it saw and gets the rest out of the ring. So nobody waits for a watcher, and no watcher misses an event.
final class EventHub: Sendable {
    /// Of events and of followed logs together.
    static let watcherLimit = 32
    /// Events that wait for one watcher.
    static let bufferLimit = 256
    /// Events of the past in one answer; who wants more comes back.
    static let replayLimit = 1000

    private struct Watcher {
        var topics: Set<String>?
        var isPatient: Bool
        var continuation: AsyncStream<ServerEvent>.Continuation
    }

    private struct State {
        var watchers: [Int: Watcher] = [:]
        var next = 0
        /// Slots that other streams hold.
        var guests: Set<Int> = []
        var isClosed = false

        var count: Int { watchers.count + guests.count }
    }

    private let state = Mutex(State())
    private let memory: BoxMemory?
    private let now: @Sendable () -> Int64

    /// - Parameters:
    ///   - memory: nil when there is none at the moment: events are published, but not kept.
    ///   - now: microseconds since 1970.
    init(memory: BoxMemory?, now: @escaping @Sendable () -> Int64) {
        self.memory = memory
        self.now = now
    }

    var watchers: Int { state.withLock { $0.count } }

    /// Whether somebody looks on at this moment who wants to know soon.
    var isWatched: Bool { state.withLock { !$0.watchers.values.allSatisfy(\.isPatient) } }

    /// Of the newest event; 0 before the first, and while events are not kept.
    var latestID: Int64 { (try? memory?.latestEventID()) ?? 0 }

    @discardableResult
    func publish(
        _ topic: EventTopic, object: String? = nil, code: ErrorCode? = nil, _ text: String,
        sensorEvent: SensorEvent? = nil
    ) -> EventDocument {
        state.withLock { state in
            let time = now()
            let stored = StoredEvent(
                realtimeMicroseconds: time, topic: topic.rawValue, code: code.map { "\($0)" }, object: object,
                text: text, details: sensorEvent.map { JSONDocument.text($0) })
            // A full disk does not keep events from being published.
            let id = (try? memory?.append(stored)) ?? 0
            let document = EventDocument(
                id: id, time: time, topic: topic.rawValue, object: object, code: code, text: text,
                sensorEvent: sensorEvent)
            let event = Self.serverEvent(document)
            for (number, watcher) in state.watchers where watcher.topics?.contains(topic.rawValue) ?? true {
                if case .dropped = watcher.continuation.yield(event) {
                    state.watchers[number] = nil
                    watcher.continuation.finish()
                }
            }
            return document
        }
    }

    /// - Parameters:
    ///   - topics: nil: all.
    ///   - after: the last event that the client saw; nil: only what happens from now on.
    ///   - isPatient: nothing is looked at more often because of it.
    func watch(topics: Set<String>?, after: Int64?, isPatient: Bool = false) throws -> AsyncStream<ServerEvent> {
        try state.withLock { state in
            try Self.checkRoom(state)
            var replay: [StoredEvent] = []
            if let after, let memory {
                replay = try memory.events(after: after, limit: Self.replayLimit, topics: topics?.sorted())
            }
            let (stream, continuation) = AsyncStream.makeStream(
                of: ServerEvent.self, bufferingPolicy: .bufferingOldest(replay.count + Self.bufferLimit))
            for event in replay { continuation.yield(Self.serverEvent(EventDocument(event))) }
            guard replay.count < Self.replayLimit else {
                continuation.finish()
                return stream
            }
            let number = state.next
            state.next += 1
            state.watchers[number] = Watcher(
                topics: topics, isPatient: isPatient, continuation: continuation)
            continuation.onTermination = { [weak self] _ in
                // Not at once: it may come out of `finish`, under the lock.
                Task { self?.state.withLock { $0.watchers[number] = nil } }
            }
            return stream
        }
    }

    /// One of the watchers' places for another stream; given back by `leave`.
    func enter() throws -> Int {
        try state.withLock { state in
            try Self.checkRoom(state)
            let number = state.next
            state.next += 1
            state.guests.insert(number)
            return number
        }
    }

    func leave(_ place: Int) {
        state.withLock { _ = $0.guests.remove(place) }
    }

    /// Ends all streams; there are no new ones.
    func close() {
        let watchers = state.withLock { state in
            state.isClosed = true
            defer { state.watchers = [:] }
            return state.watchers.values
        }
        for watcher in watchers { watcher.continuation.finish() }
    }

    private static func checkRoom(_ state: State) throws(CodedError) {
        guard !state.isClosed else { throw CodedError(.busy, "the daemon is stopping") }
        guard state.count < watcherLimit else {
            throw CodedError(
                .tooMuch, "\(watcherLimit) clients watch already", hint: "End one of them, or try again later")
        }
    }

    private static func serverEvent(_ document: EventDocument) -> ServerEvent {
        ServerEvent(
            id: document.id > 0 ? "\(document.id)" : nil, event: document.topic, data: JSONDocument.text(document))
    }
}

extension EventDocument {
    init(_ event: StoredEvent) {
        self.init(
            id: event.id, time: event.realtimeMicroseconds, topic: event.topic, object: event.object,
            code: event.code.flatMap { ErrorCode($0) }, text: event.text,
            sensorEvent: event.details.flatMap { try? JSONDocument.decode(SensorEvent.self, from: Array($0.utf8)) })
    }
}
