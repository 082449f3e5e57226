public import Logging
internal import Platform
internal import Synchronization

/// One search for cameras: WS-Discovery on the networks of this machine, and a scan of what is named.
///
/// Sends no credentials, ever. Runs once, on a thread of its own.
public final class Search: Sendable {
    private let options: SearchOptions
    private let logger: Logger
    private let hasRun = Mutex(false)
    private let wakeup = Wakeup()

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
        let isFirst = hasRun.withLock { hasRun in
            defer { hasRun = true }
            return !hasRun
        }
        guard isFirst else { throw .ranAlready }
        let interfaces = try NetworkInterfaces.list()
        let plan = try SearchPlan(options, interfaces: interfaces)
        if wakeup.isStopped { return [] }
        let (wakeup, logger) = (wakeup, logger)
        let found: [FoundDevice]? = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isStarted = OwnThread.start {
                    continuation.resume(
                        returning: SearchWork(plan, wakeup: wakeup, logger: logger, progress: progress).run())
                }
                if !isStarted { continuation.resume(returning: nil) }
            }
        } onCancel: {
            cancel()
        }
        guard let found else { throw .system(call: "pthread_create", reason: "no thread can be made") }
        return found
    }

    /// Ends it soon; `run` returns what was found until then. Cancelling the task that runs it does the same.
    public func cancel() { wakeup.stop() }
}
