import ArgumentParser
import Console
import FoundationEssentials
import KeyAccess
import KeyAccessServer
import Platform
import ServiceLifecycle
import Systemd

struct KASCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kas",
        abstract: "Give the keys of streams to those who may have them.",
        discussion: """
            Makes its own keys in the state directory on first start. Serves plain HTTP on loopback only; anywhere else it \
            needs a certificate. Tokens for boxes and viewers: watchboxctl kas token.

              watchboxd kas --state /var/lib/watchbox/kas
              watchboxd kas --config /etc/watchbox/kas.json
            """)

    @Option(help: "JSON file with every setting; the other options override it.")
    var config: String?

    @Option(help: "Directory for keys and registrations; made with mode 0700.")
    var state: String?

    @Option(help: ArgumentHelp("Address to serve on; port 0 takes any free one.", valueName: "host:port"))
    var listen: ListenAddress?

    @Option(help: "PEM file: certificate chain. Needed outside loopback.")
    var tlsCertificate: String?

    @Option(help: "PEM file: private key of the certificate.")
    var tlsKey: String?

    @Option(help: "Salt of the session wrap for clients without a setting of their own: L1L, empty or TDF.")
    var sessionSalt: String?

    @Flag(
        help:
            "Give keys for headers that no publisher has registered, too: anyone who can reach the relay can then swap a policy."
    )
    var acceptUnregisteredHeaders = false

    @Flag(help: "Print events as JSON lines on standard output.")
    var json = false

    @Flag(name: .shortAndLong, help: "Log what only a developer reads.")
    var verbose = false

    func run() async throws {
        DescriptorLimit.raise()
        let settings = try configuration()
        let isJSON = json
        let logger = LogSetup.logger(label: "watchbox-kas", verbose: verbose)
        let notifier = Notifier.environment
        let service: KeyAccessService
        do {
            service = try KeyAccessService(
                configuration: settings,
                keyStore: try KeyStore(
                    directory: settings.stateDirectory, overlapSeconds: settings.keyOverlapSeconds,
                    epochSeconds: settings.scheduledEpochSeconds, now: Clocks.wallSeconds),
                logger: logger,
                onRunning: { port in
                    if isJSON { StandardOutput.writeJSON(ReadyEvent(address: settings.host, port: port)) }
                    notifier.ready(status: "listening on port \(port)")
                })
        } catch {
            throw CommandFailure(
                what: "the KAS does not start", why: "\(error)", hint: "correct that, then start it again",
                status: .invalidConfiguration)
        }
        let supervision = UnitSupervision(notifier: notifier) { await service.statusLine() }
        try await ServiceGroup.untilSignalled(service, supervision, StartPages(), logger: logger)
    }

    private func configuration() throws -> KeyAccessServerConfiguration {
        var settings: KeyAccessServerConfiguration
        if let config {
            settings = try JSONFile.read(KeyAccessServerConfiguration.self, from: config)
        } else if let state {
            settings = KeyAccessServerConfiguration(stateDirectory: state)
            settings.port = 9443
        } else {
            throw CommandFailure(
                what: "the KAS does not start", why: "no state directory is named",
                hint: "add --state DIRECTORY or --config FILE", status: .usage)
        }
        if let state { settings.stateDirectory = state }
        if let listen {
            settings.host = listen.host
            settings.port = listen.port
        }
        switch (tlsCertificate, tlsKey) {
        case (let certificate?, let key?):
            settings.tls = .init(certificateChainFile: certificate, privateKeyFile: key)
        case (nil, nil): break
        default:
            throw CommandFailure(
                what: "the KAS does not start", why: "--tls-certificate and --tls-key belong together",
                hint: "name both files", status: .usage)
        }
        if let sessionSalt {
            guard let salt = SessionSalt(rawValue: sessionSalt) else {
                throw CommandFailure(
                    what: "the KAS does not start", why: "--session-salt \(sessionSalt) is unknown",
                    hint: "use L1L, empty or TDF", status: .usage)
            }
            settings.defaultSessionSalt = salt
        }
        if acceptUnregisteredHeaders { settings.requiresRegisteredHeaders = false }
        return settings
    }
}
