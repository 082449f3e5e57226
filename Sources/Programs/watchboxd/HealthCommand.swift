import APIServer
import ArgumentParser
import Console
import ControlAPI
import ErrorCatalog
import HealthMonitor
import Logging
import ServiceLifecycle
import Systemd

struct HealthCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health",
        abstract: "Watch the box: what comes out of it, what it needs, and what to do when it fails.",
        discussion: """
            Runs as watchbox-health.service. Reads outcomes (frames that the relay acknowledged, bytes that were written) \
            and sensors, and climbs the ladder of recoveries within budgets that survive a reboot.

              watchboxd health
            """)

    @Option(help: "Directory for the history and the ladder's budgets.")
    var state = "/var/lib/watchbox-health"

    @Option(help: "Directory of the cameras' sockets and of the settings that control writes.")
    var runtime = "/run/watchbox"

    @Option(help: "Directory whose file system is watched.")
    var data = "/var/lib/watchbox"

    @Flag(name: .shortAndLong, help: "Log what only a developer reads.")
    var verbose = false

    func run() async throws {
        let logger = LogSetup.logger(label: "watchbox-health", verbose: verbose)
        let bus = SystemBus()
        var paths = HealthPaths()
        paths.stateDirectory = state
        paths.dataDirectory = data
        paths.cameraSockets = runtime + "/camera"
        paths.settingsFile = runtime + "/service/health.json"
        let service = HealthService(
            paths: paths, units: bus, clockControl: bus, cameras: CameraSockets(directory: paths.cameraSockets),
            notifier: .environment, version: Version.current, logger: logger)
        let server = APIServer(
            configuration: .init(
                listener: HandedOver.listener(named: "health", orSocket: runtime + "/health.sock", group: "watchbox")),
            router: service.router, logger: logger)
        let metrics = MetricsListener(settingsFile: paths.settingsFile, router: service.router, logger: logger)
        try await ServiceGroup.untilSignalled(service, server, metrics, StartPages(), logger: logger)
        bus.close()
    }
}
