public import ControlAPI
internal import ErrorCatalog
public import Logging
internal import PrometheusText
public import ServiceLifecycle
internal import Synchronization
public import Systemd

/// `watchboxd health`: looks at everything every few seconds, reports what it found, and takes the smallest step that may
/// help.
///
/// `WATCHDOG=1` is sent at the end of a round, by the round itself, and only while readings come in: a monitor that
/// learns nothing any more is to be restarted.
public final class HealthService: Service {
    struct Shared: Sendable {
        var runner: CheckRunner
        var ladder: LadderState
    }

    let paths: HealthPaths
    let notifier: Notifier
    let clock: any HealthClock
    let logger: Logger
    let reader: ProbeReader
    let steps: RecoverySteps
    let history: HealthHistory
    let shared: Mutex<Shared>
    private let version: String

    /// Between two rounds.
    static let pause = Duration.seconds(2)
    /// How long a round waits for its readings; those that take longer are collected by a later one.
    static let timeout = Duration.seconds(3)
    /// Seconds without any reading after which the monitor does not call itself alive.
    static let blindness = 25.0
    /// For a file of a disk that may be dead.
    static let diskTimeout = Duration.seconds(4)

    /// - Parameters:
    ///   - clockControl: says whether the clock follows a time server, where the kernel may not be asked.
    ///   - version: of the program, for `watchbox_build_info`.
    ///   - clock: a test's own; the kernel's else.
    public init(
        paths: HealthPaths = HealthPaths(), units: any UnitControl, clockControl: (any ClockControl)? = nil,
        cameras: any CameraStatusReading, notifier: Notifier, version: String, logger: Logger,
        clock: any HealthClock = KernelClock()
    ) {
        self.paths = paths
        self.notifier = notifier
        self.version = version
        self.logger = logger
        self.clock = clock
        reader = ProbeReader(
            paths: paths, units: units, cameras: cameras, clock: clock, clockAsker: ClockAsker(clockControl))
        steps = RecoverySteps(units: units, paths: paths)
        history = HealthHistory(directory: paths.stateDirectory)
        shared = Mutex(Shared(runner: CheckRunner(lastEnd: .unknown), ladder: LadderState()))
    }

    /// For the daemon's socket.
    public var router: APIRouter {
        APIRouter(
            HealthRoutes.routes(
                HealthRoutes.Source(
                    report: { [self] in
                        let now = clock.now()
                        return shared.withLock { $0.runner.report(state: $0.ladder, at: now) }
                    },
                    history: { [self] check, hours in
                        let since = clock.now().realtimeSeconds - Int64(hours) * 3600
                        return HealthHistoryDocument(
                            events: await history.events(check: check, since: since, clock: clock))
                    },
                    acknowledge: { [self] check, object in
                        shared.withLock { $0.runner.acknowledge(check, object: object) }
                    },
                    metrics: { [self] in metricsText }
                )))
    }

    /// The same text as `/metrics`, for a listener of its own.
    public var metricsText: String {
        let now = clock.now()
        let input = shared.withLock { $0.runner.metrics(state: $0.ladder, version: version, at: now) }
        return MetricFamily.text(HealthMetrics.families(input))
    }

    /// Until graceful shutdown.
    public func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                var round = await HealthRound(self)
                while !Task.isCancelled {
                    for action in await round.turn() {
                        // A step may take as long as a unit takes to start; the rounds go on meanwhile.
                        group.addTask { await self.take(action) }
                    }
                    try? await self.clock.sleep(for: Self.pause)
                }
                // Not in this task: it is cancelled, and what is to be saved would not be waited for.
                await Task { [round] in
                    var round = round
                    await round.end()
                }.value
                group.cancelAll()
            }
        }
        notifier.stopping(status: "ended")
    }

    /// Puts an action into history and log, and carries it out.
    private func take(_ action: EscalationLadder.Action) async {
        var event = RecoverySteps.event(action, time: clock.now().realtimeSeconds)
        report(event)
        guard let trouble = await steps.take(action) else { return }
        event.time = clock.now().realtimeSeconds
        event.text = "\(event.text); it did not work: \(trouble)"
        event.code = .systemManager
        report(event)
    }

    func report(_ event: HealthEvent) {
        history.add(event)
        var logger = logger
        logger[metadataKey: "event"] = "\(event.kind)"
        logger[metadataKey: "check"] = "\(event.check)"
        if let code = event.code { logger[metadataKey: "code"] = "\(code)" }
        if let object = event.object {
            logger[metadataKey: "object"] = "\(object)"
            if event.check == CheckName.camera.rawValue || event.check == CheckName.publish.rawValue {
                logger[metadataKey: "camera"] = "\(object)"
            }
        }
        switch event.kind == "recovery" ? HealthState.warn : event.to ?? .ok {
        case .fail: logger.error("\(event.text)")
        case .warn: logger.warning("\(event.text)")
        case .ok, .unknown: logger.notice("\(event.text)")
        }
    }
}
