public import ControlAPI
public import CredentialStore
internal import Discovery
internal import FoundationEssentials
public import Logging
public import ServiceLifecycle
public import Systemd

/// `watchboxd control`: keeps the box's configuration, makes units of it, and answers the API's questions.
///
/// Not in the frame path: a camera whose file is the same never notices that control was restarted.
public final class ControlService: Service {
    /// What the API server answers with.
    public let router: APIRouter
    /// What the server answers with at the socket of the hooks' process: events, and nothing else.
    public let eventRouter: APIRouter

    let core: ControlCore
    private let notifier: Notifier
    private let watchdogInterval: Duration?
    private let announcements: @Sendable () -> AsyncStream<Announcement>
    private let clock: ControlClock
    private let logger: Logger

    /// - Parameters:
    ///   - units: `SystemBus`, or a stand-in.
    ///   - journal: for the route `logs`.
    ///   - watchdogInterval: what systemd waits for a sign of life; nil: no watchdog.
    public convenience init(
        paths: ControlPaths, units: any UnitControl, credentials: CredentialStore, notifier: Notifier,
        journal: JournalAccess = .system, watchdogInterval: Duration? = ControlService.watchdogInterval,
        version: String, logger: Logger,
        clock: ControlClock = .system()
    ) {
        self.init(
            paths: paths, units: units, credentials: credentials, notifier: notifier, journal: journal,
            watchdogInterval: watchdogInterval, version: version, logger: logger, clock: clock,
            transaction: FileTransaction(),
            network: .system(logger: logger))
    }

    /// `$WATCHDOG_USEC` of this process; nil when systemd does not watch it.
    public static var watchdogInterval: Duration? {
        Notifier.watchdogInterval(
            environment: ProcessInfo.processInfo.environment,
            processIdentifier: ProcessInfo.processInfo.processIdentifier)
    }

    init(
        paths: ControlPaths, units: any UnitControl, credentials: CredentialStore, notifier: Notifier,
        journal: JournalAccess, watchdogInterval: Duration?, version: String, logger: Logger, clock: ControlClock,
        transaction: FileTransaction, network: NetworkTools, keyAccess: KeyAccessTools = .system,
        deadlines: ProcessDeadlines = ProcessDeadlines()
    ) {
        self.notifier = notifier
        self.watchdogInterval = watchdogInterval
        self.clock = clock
        self.logger = logger
        announcements = network.announcements
        core = ControlCore(
            paths: paths, transaction: transaction, units: units, credentials: credentials, network: network,
            keyAccess: keyAccess, version: version, logger: logger, clock: clock, deadlines: deadlines)
        let routes = ControlRoutes(core: core, journal: journal, paths: paths)
        router = Self.router(routes.all, after: core.booted)
        eventRouter = Self.router(routes.eventsAlone, after: core.booted)
    }

    /// Nobody is answered before control has booted.
    private static func router(_ routes: [APIRoute], after booted: BootGate) -> APIRouter {
        APIRouter(
            routes.map { route in
                var waiting = route
                waiting.handler = { request in
                    try await booted.passed()
                    return try await route.handler(request)
                }
                return waiting
            })
    }

    /// Boots, then looks after the units until graceful shutdown or cancellation, or until a database that could not be
    /// opened can be: systemd starts the process again then. Cameras go on when it ends.
    public func run() async throws {
        await core.boot()
        let summary = await core.summary
        notifier.ready(status: summary)
        logger.notice("control runs: \(summary)")
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.supervise() }
            if let watchdogInterval = self.watchdogInterval {
                group.addTask { await self.feedWatchdog(every: watchdogInterval / 3) }
            }
            group.addTask { await self.listen() }
            group.addTask { try? await gracefulShutdown() }
            // Supervision ends by itself when a new process would do better.
            await group.next()
            group.cancelAll()
            await core.jobs.close()
            // Watchers are let go first: the API's server waits for their streams.
            core.hub.close()
        }
        notifier.stopping()
    }

    /// Reads the operator's files again, as `systemctl reload` wants it.
    public func reload() async {
        // What boot reads is what the reload is about.
        guard (try? await core.booted.passed()) != nil else { return }
        notifier.reloading()
        await core.reload()
        notifier.ready(status: await core.summary)
    }

    /// Devices on the network that announce themselves. Without a network there are none, and the box goes on.
    private func listen() async {
        for await announcement in announcements() { await core.heard(announcement) }
        // The end of this is not the end of control.
        while (try? await Task.sleep(for: .seconds(3600))) != nil {}
    }

    private func supervise() async {
        var reported = ""
        while !Task.isCancelled {
            guard (try? await clock.sleep(ControlCore.period)) != nil else { return }
            await core.tick()
            if await core.canStartAgain {
                logger.notice("what could not be opened can be again: control starts again")
                return
            }
            let summary = await core.summary
            if summary != reported { notifier.status(summary) }
            reported = summary
        }
    }

    /// systemd hears from it only when the actor and its memory have answered.
    private func feedWatchdog(every interval: Duration) async {
        while !Task.isCancelled {
            await core.isAlive()
            notifier.watchdog()
            guard (try? await clock.sleep(interval)) != nil else { return }
        }
    }
}
