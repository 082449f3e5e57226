public import Logging
internal import Platform
internal import Synchronization

/// Hears Hello and Bye of the devices on all networks of this machine.
///
/// Networks that come later are joined when they are seen. What stands in the way, such as another program that keeps the
/// port for itself, is tried again and reported in `status`.
public final class AnnouncementListener: Sendable {
    public struct Status: Equatable, Sendable {
        /// Interfaces that are listened on, by name.
        public var networks: [String] = []
        /// Why some are not, or none is; for a person.
        public var problem: String?
        /// Announcements that came, each message once.
        public var heard: UInt64 = 0
        /// Messages that were not read: too many in a second, or their reader was too slow.
        public var dropped: UInt64 = 0

        public init() {}
    }

    /// Announcements that wait for their reader; the oldest ones are dropped.
    public static let queueLimit = 256

    private let rescanInterval: Duration
    private let interfaces: [String]?
    private let logger: Logger
    private let state = Mutex(Status())

    /// - Parameters:
    ///   - rescanInterval: how soon a network that comes is joined.
    ///   - interfaces: names of those that are listened on; nil for all that can carry multicast, but loopback.
    public init(rescanInterval: Duration = .seconds(30), interfaces: [String]? = nil, logger: Logger) {
        self.rescanInterval = rescanInterval
        self.interfaces = interfaces
        self.logger = logger
    }

    /// Of the reader that came last.
    public var status: Status { state.withLock { $0 } }

    /// What is announced from now on, each message once. Ends when its reader does; each reader has a thread and sockets of
    /// its own.
    public func announcements() -> AsyncStream<Announcement> {
        AsyncStream(bufferingPolicy: .bufferingNewest(Self.queueLimit)) { continuation in
            let wakeup = Wakeup()
            continuation.onTermination = { _ in wakeup.stop() }
            let isStarted = OwnThread.start { [self] in
                let work = ListenerWork(
                    rescanInterval: MonotonicTime.nanoseconds(rescanInterval), interfaces: interfaces, wakeup: wakeup,
                    logger: logger, changed: { change in self.state.withLock { change(&$0) } }
                )
                work.run { announcement in
                    switch continuation.yield(announcement) {
                    case .enqueued: true
                    case .dropped, .terminated: false
                    @unknown default: false
                    }
                }
                continuation.finish()
            }
            if !isStarted { fail(continuation, "no thread can be made") }
        }
    }

    private func fail(_ continuation: AsyncStream<Announcement>.Continuation, _ reason: String) {
        state.withLock { $0.problem = reason }
        logger.error("Announcements of cameras are not heard", metadata: ["reason": "\(reason)"])
        continuation.finish()
    }
}
