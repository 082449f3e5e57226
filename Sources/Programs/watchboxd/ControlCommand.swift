import APIServer
import ArgumentParser
import Console
import ControlPlane
import CredentialStore
import ErrorCatalog
import FoundationEssentials
import Logging
import ServiceLifecycle
import Systemd

struct ControlCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "control",
        abstract: "Look after the box: configuration, cameras, the API that watchboxctl uses.",
        discussion: """
            Runs as watchbox-control.service, which gives it its socket. Reads the operator's TOML in the configuration \
            directory and never writes there. Not in the frame path: it may end and start while cameras publish.

              watchboxd control
            """)

    @Option(help: "Directory of watchbox.toml and conf.d.")
    var configuration = "/etc/watchbox"

    @Option(help: "Directory for the database, the generations and the sealed secrets.")
    var state = "/var/lib/watchbox"

    @Option(help: "Directory for sockets and for the files that units read; on a tmpfs.")
    var runtime = "/run/watchbox"

    @Flag(name: .shortAndLong, help: "Log what only a developer reads.")
    var verbose = false

    func run() async throws {
        let logger = LogSetup.logger(label: "watchbox-control", verbose: verbose)
        let bus = SystemBus()
        let credentials: CredentialStore
        do {
            credentials = try CredentialStore(
                stateDirectory: state, runtimeDirectory: runtime, encryption: CredentialEncryption())
        } catch {
            throw CommandFailure(
                what: "the control daemon does not start: \(error.what)", why: error.why, hint: error.hint)
        }
        let service = ControlService(
            paths: ControlPaths(
                configurationDirectory: configuration, stateDirectory: state, runtimeDirectory: runtime), units: bus,
            credentials: credentials, notifier: .environment,
            watchdogInterval: Notifier.watchdogInterval(
                environment: ProcessInfo.processInfo.environment,
                processIdentifier: ProcessInfo.processInfo.processIdentifier), version: Version.current, logger: logger)
        let server = APIServer(
            configuration: .init(
                listener: HandedOver.listener(named: "api", orSocket: runtime + "/api.sock", group: "watchbox")),
            router: service.router, logger: logger)
        // For the hooks' process; whatever is wrong with it is not a reason for control to end.
        let listener = HandedOver.listener(named: "events", orSocket: runtime + "/events.sock", group: "wb-hooks")
        let events = PersistentAPIServer(logger: logger) { [router = service.eventRouter] in
            APIServer(
                configuration: .init(listener: listener, maximumConnections: 8, maximumEventStreams: 4), router: router,
                logger: logger)
        }
        try await ServiceGroup.untilSignalled(
            service, server, events, ReloadSignal { await service.reload() }, StartPages(), logger: logger)
        bus.close()
    }
}
