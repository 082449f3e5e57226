public import Logging
internal import Synchronization

/// One search for cameras: WS-Discovery on the networks of this machine, and a scan of what is named.
///
/// Sends no credentials, ever. Runs once, on a thread of its own.
public final class Search: Sendable {
    private struct State {
        var hasRun = false
        var isCancelled = false
        /// Wakes the thread while it lives.
        var wake: WakeUp?
    }

    private let options: SearchOptions
    private let logger: Logger
    private let state = Mutex(State())

    public init(_ options: SearchOptions, logger: Logger) {
        self.options = options
        self.logger = logger
    }

    /// Everything that was found, each camera once, sorted by address.
    ///
    /// - Parameter progress: called from the search's own thread: at finds, no more than ten times a second, and at least
    ///   twice a second until the end; with more than 256 finds once a second.
    /// - Throws: before anything is sent.
    public func run(
        progress: @escaping @Sendable (SearchProgress) -> Void
    ) async throws(DiscoveryError) -> [FoundDevice] {
        let isFirst = state.withLock { state in
            defer { state.hasRun = true }
            return !state.hasRun
        }
        guard isFirst else { throw .ranAlready }
        let interfaces = try NetworkInterfaces.list()
        let plan = try SearchPlan(options, interfaces: interfaces)
        guard let wake = WakeUp() else { throw .system(call: "socketpair", reason: ErrorText.current) }
        let isCancelled = state.withLock { state in
            state.wake = wake
            return state.isCancelled
        }
        if isCancelled { return [] }
        let logger = logger
        let found: [FoundDevice]? = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isStarted = WorkThread.start { [self] in
                    let work = SearchWork(plan, wake: wake, logger: logger, progress: progress)
                    continuation.resume(returning: work.run { self.state.withLock { $0.isCancelled } })
                }
                if !isStarted { continuation.resume(returning: nil) }
            }
        } onCancel: {
            cancel()
        }
        state.withLock { $0.wake = nil }
        guard let found else { throw .system(call: "pthread_create", reason: "no thread can be made") }
        return found
    }

    /// Ends it soon; `run` returns what was found until then. Cancelling the task that runs it does the same.
    public func cancel() {
        state.withLock { state in
            state.isCancelled = true
            state.wake?.ring()
        }
    }
}
