internal import CameraModel
internal import ControlAPI
internal import ErrorCatalog
internal import Logging
internal import Settings

/// Sends one hook its events, one after the other, for as long as its process runs. No hook waits for another.
actor HookRunner {
    /// Of the unit of this very process: what is wrong with hooks is not reported by hooks.
    private static let ownUnit = "watchbox-hooks.service"

    nonisolated let name: String
    private let receiver: Result<HookReceiver, CodedError>
    private let topics: Set<String>
    /// None: all.
    private let cameras: Set<String>
    private let clock: HookClock
    private let logger: Logger
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    private var queue: HookQueue
    private var outage = OutageReport()
    private var lastDelivered: Int64?
    private var problem: (code: ErrorCode?, reason: String)?
    private var isTesting = false

    init(
        _ hook: HookServiceSettings.Hook, receiver: Result<HookReceiver, CodedError>, place: HookPlace,
        clock: HookClock, logger: Logger
    ) {
        name = hook.name
        self.receiver = receiver
        topics = Set(hook.events)
        cameras = Set(hook.cameras)
        self.clock = clock
        var logger = logger
        logger[metadataKey: "hook"] = "\(hook.name)"
        self.logger = logger
        queue = HookQueue(place: place)
        // Once for all that happens while it is busy.
        (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        if case .failure(let error) = receiver { problem = (error.code, "\(error.what): \(error.why ?? "")") }
    }

    var place: HookPlace { queue.place }
    var position: Int64? { queue.position }

    var state: HookState {
        HookState(
            isFailing: queue.isFailing || problem != nil, queued: queue.length, delivered: queue.counts.delivered,
            missed: queue.counts.missed, lastDelivered: lastDelivered, code: problem?.code, reason: problem?.reason)
    }

    func began(at newest: Int64) { queue.began(at: newest) }

    func happened(_ event: EventDocument) {
        guard reports(event) else { return queue.passed(event.id) }
        queue.happened(event, age: clock.age(of: event.time), at: clock.sinceBoot())
        wake.yield()
    }

    private func reports(_ event: EventDocument) -> Bool {
        guard topics.contains(event.topic), event.object != Self.ownUnit else { return false }
        guard !cameras.isEmpty, HookTopic(rawValue: event.topic)?.isAboutCameras == true else { return true }
        return event.object.map { cameras.contains($0) } ?? true
    }

    /// Until it is cancelled. What is being sent then is not settled, and is sent again by the next process.
    ///
    /// - Parameter keep: saves where this hook is.
    func run(keep: @Sendable () async -> Void) async {
        guard case .success(let receiver) = receiver else {
            if let problem {
                logger.warning("hook \(name): \(problem.reason)", metadata: problem.code.map { ["code": "\($0)"] })
            }
            return
        }
        var wakes = wakes.makeAsyncIterator()
        while !Task.isCancelled {
            switch queue.next(at: clock.sinceBoot()) {
            case .send(let message):
                let report = await receiver.send(message)
                guard !Task.isCancelled else { return }
                ended(report)
                await keep()
            case .wait(let until):
                let pause = until - clock.sinceBoot()
                let timer = Task { [clock, wake] in
                    guard (try? await clock.sleep(max(pause, .zero))) != nil else { return }
                    wake.yield()
                }
                _ = await wakes.next(isolation: self)
                timer.cancel()
            case .rest: _ = await wakes.next(isolation: self)
            }
        }
    }

    private func ended(_ report: HookReceiver.Report) {
        let now = clock.sinceBoot()
        queue.ended(report.outcome, at: now)
        guard report.outcome != .delivered else { return arrived(at: now) }
        let reason = report.reason ?? ""
        problem = (report.code, reason)
        guard let word = outage.missed(reason, code: report.code, at: now) else { return }
        logger.warning(
            "hook \(name): \(reason)\(word.note)", metadata: report.code.map { ["code": "\($0)"] })
    }

    private func arrived(at now: Duration) {
        lastDelivered = clock.realtimeMicroseconds()
        problem = nil
        guard let word = outage.returned(at: now) else { return }
        logger.notice("hook \(name): messages arrive again\(word.note)")
    }

    /// One message now, whatever waits. When it arrives, what waits is sent at once.
    func test() async throws(CodedError) -> HookTestDocument {
        let receiver = try receiver.get()
        guard !isTesting else {
            throw CodedError(.busy, "hook \(name) is being tested already", hint: "Wait for that", object: name)
        }
        isTesting = true
        defer { isTesting = false }
        let began = clock.sinceBoot()
        let event = EventDocument(
            id: 0, time: clock.realtimeMicroseconds(), topic: "test", text: "This is a test of the hook \(name).")
        let report = await receiver.send(HookMessage(event: event))
        let now = clock.sinceBoot()
        if report.outcome == .delivered {
            arrived(at: now)
            queue.reached()
            wake.yield()
        }
        return HookTestDocument(
            name: name, isDelivered: report.outcome == .delivered, status: report.status,
            milliseconds: Int((now - began) / .milliseconds(1)), code: report.code, reason: report.reason,
            hint: report.hint.map { $0.replacing("NAME", with: name) })
    }
}
