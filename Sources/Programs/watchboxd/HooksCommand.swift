import APIServer
import ArgumentParser
import Console
import ControlAPI
import Hooks
import Logging
import ServiceLifecycle
import Systemd

struct HooksCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hooks",
        abstract: "Notify those whom the configuration names of what happens on the box.",
        discussion: """
            Runs as watchbox-hooks.service, which control starts when a hook is set. Follows control's events and posts \
            them; answers on hooks/hooks.sock how each hook stands.

              watchboxd hooks
            """)

    @Option(help: "JSON file with the hooks, as control writes it.")
    var config = "/run/watchbox/service/hooks.json"

    @Option(help: "Directory that keeps where each hook is.")
    var state = "/var/lib/watchbox-hooks"

    @Option(help: "Directory of the sockets.")
    var runtime = "/run/watchbox"

    @Flag(name: .shortAndLong, help: "Log what only a developer reads.")
    var verbose = false

    func run() async throws {
        let logger = LogSetup.logger(label: "watchbox-hooks", verbose: verbose)
        let notifier = Notifier.environment
        let service = HooksService(
            settings: try JSONFile.read(HookServiceSettings.self, from: config), stateDirectory: state,
            eventsSocket: runtime + "/events.sock", secret: Self.secret, logger: logger,
            onRunning: { notifier.ready() })
        let socket = runtime + "/hooks/hooks.sock"
        let server = PersistentAPIServer(logger: logger) { [router = service.router] in
            APIServer(
                configuration: .init(
                    listener: .unixSocket(path: socket, mode: 0o660, group: nil), maximumConnections: 8,
                    maximumEventStreams: 0), router: router, logger: logger)
        }
        let supervision = UnitSupervision(notifier: notifier) { await service.summary }
        try await ServiceGroup.untilSignalled(service, server, supervision, StartPages(), logger: logger)
    }

    /// As systemd opened it, or as control laid it into memory where systemd cannot seal for it (before 256).
    private static func secret(_ name: String) -> String? {
        for scope in ["box", "plain-box"] {
            if let bytes = try? CredentialDirectory.environment.read("\(scope)_\(name)") {
                return String(validating: bytes, as: UTF8.self)
            }
        }
        return nil
    }
}
