internal import Logging
public import ONVIF
internal import Platform
internal import Synchronization

extension ONVIFDevice {
    /// What the device announces, until the reader stops (then it unsubscribes) or the device says at the very first that
    /// it has no events. Whatever else goes wrong is tried again, after a quarter of an hour at the latest. At most 10 in a
    /// second are kept of motion, tampering and inputs, 10 of all others, and the newest 64 wait for the reader.
    ///
    /// The first ones report the current state (`operation` is `.initialized`).
    public func events() -> AsyncStream<Event> {
        AsyncStream(bufferingPolicy: .bufferingNewest(64)) { continuation in
            // Under the lock, so that the task cannot end before it is known.
            let task = state.withLock { state in
                state.readerCount += 1
                let number = state.readerCount
                let task = Task {
                    await self.pullEvents { continuation.yield($0) }
                    continuation.finish()
                    self.state.withLock { $0.readers[number] = nil }
                }
                state.readers[number] = task
                return task
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    /// Returns when the device was informed of every reader that stopped: three seconds at most for each.
    public func settle() async {
        let stopping = state.withLock { state in state.readers.values.filter(\.isCancelled) }
        for task in stopping { await task.value }
    }

    private func pullEvents(_ deliver: (Event) -> Void) async {
        var dialogue = PullPointDialogue(refusalPause: refusalPause)
        var budget = EventBudget(perSecond: 10)
        while !Task.isCancelled {
            let step = dialogue.next(at: Clocks.boot)
            if step.action == .finish { break }
            guard await wait(until: step.time) else { break }
            await perform(step.action, &dialogue) { event in
                if budget.take(event, at: Clocks.boot) { deliver(event) }
            }
        }
        if budget.dropped > 0 {
            logger.info("Events of the camera were left out", metadata: ["count": "\(budget.dropped)"])
        }
        guard let reference = dialogue.reference else { return }
        // The reader is gone and this task is cancelled; the device is informed all the same.
        await Task {
            await self.unsubscribe(reference)
        }.value
    }

    private func unsubscribe(_ reference: EndpointReference) async {
        let deadline = Clocks.boot + 3_000_000_000
        let request = EventMessages.unsubscribe(reference)
        _ = try? await call(request, at: url(reference.address), until: deadline)
    }

    private func perform(
        _ action: PullPointDialogue.Action, _ dialogue: inout PullPointDialogue,
        _ deliver: (Event) -> Void
    ) async {
        let begin = Clocks.boot
        do throws(ONVIFError) {
            switch action {
            case .create(let style):
                // Capabilities lie in both directions: it is tried, whatever they say.
                let address = url(try await services().events)
                let answer = try await call(EventMessages.create(termination(style)), at: address)
                guard let subscription = EventMessages.Subscription(answer) else {
                    throw .malformed(operation: "CreatePullPointSubscription", reason: "no address in it")
                }
                dialogue.created(subscription, at: Clocks.boot)
            case .pull(let reference, let seconds):
                let answer = try await call(
                    EventMessages.pull(reference, seconds: seconds), at: url(reference.address),
                    timeout: .seconds(seconds + 5))
                let events = EventMessages.notifications(answer)
                for event in events { deliver(event) }
                dialogue.pulled(
                    messages: events.count, lifetime: EventMessages.lifetime(answer), from: begin,
                    at: Clocks.boot)
            case .renew(let reference, let style):
                let request = EventMessages.renew(reference, termination(style))
                let answer = try await call(request, at: url(reference.address))
                dialogue.renewed(lifetime: EventMessages.lifetime(answer), at: Clocks.boot)
            case .unsubscribe(let reference):
                await unsubscribe(reference)
                dialogue.unsubscribed()
            case .finish: break
            }
        } catch {
            guard error != .cancelled else { return }
            logger.debug("A request for events failed", metadata: ["reason": "\(error)"])
            let failure = Self.failure(error)
            switch action {
            case .create: dialogue.createFailed(failure, at: Clocks.boot)
            case .pull: dialogue.pullFailed(failure, from: begin, at: Clocks.boot)
            case .renew: dialogue.renewFailed(failure, at: Clocks.boot)
            case .unsubscribe, .finish: break
            }
        }
    }

    private func termination(_ style: PullPointDialogue.TerminationStyle) -> EventMessages.Termination {
        switch style {
        case .relative: return .afterSeconds(PullPointDialogue.lifetimeSeconds)
        case .absolute:
            let now = state.withLock { state -> Int64? in
                guard let clock = state.clock else { return nil }
                // A login that was accepted proves the clock; otherwise the first candidate is the best there is.
                return (state.login?.provenReading ?? clock.candidates.readings.first).map { clock.milliseconds($0) }
            }
            return .at((now ?? Clocks.wallMilliseconds) + Int64(PullPointDialogue.lifetimeSeconds) * 1000)
        }
    }

    private static func failure(_ error: ONVIFError) -> PullPointDialogue.Failure {
        switch error {
        case .unreachable, .timedOut, .cancelled, .malformed, .notONVIF: .connection
        case .notSupported, .invalidRequest, .unavailable: .notSupported
        case .loginNeeded, .loginRefused, .forbidden, .certificateChanged, .certificate: .login
        case .fault(_, let fault): fault.kind == .resourceUnknown ? .forgotten : .refused
        }
    }

    /// False when the task was cancelled.
    private func wait(until time: UInt64) async -> Bool {
        let now = Clocks.boot
        guard time > now else { return !Task.isCancelled }
        return (try? await Task.sleep(for: .nanoseconds(Int64(clamping: time - now)))) != nil
    }
}
