import ArgumentParser
import Console
import ControlPlane
import FoundationEssentials
import Logging
import RTMPTransport
import Relay
import ServiceLifecycle
import Systemd

struct RelayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "relay",
        abstract: "Pass streams on from publishers to players; sees no picture of a sealed one.",
        discussion: """
              watchboxd relay
              watchboxd relay --listen 0.0.0.0:443 --tls-certificate chain.pem --tls-key key.pem --publish-keys keys
            """)

    @Option(
        help:
            "JSON file with every setting, as control writes it; then no other option but --json and --verbose is read."
    )
    var config: String?

    @Option(help: ArgumentHelp("Address to serve on; port 0 takes any free one.", valueName: "host:port"))
    var listen = ListenAddress("127.0.0.1:1935")!

    @Option(help: "PEM file: certificate chain; makes it rtmps.")
    var tlsCertificate: String?

    @Option(help: "PEM file: private key of the certificate.")
    var tlsKey: String?

    @Option(
        help:
            "File with a line `app/stream = key` for each who may publish; `*` stands for every stream. Without it, anybody may."
    )
    var publishKeys: String?

    @Option(help: "Seconds that players wait for a publisher that was lost.")
    var grace = 10.0

    @Flag(help: "Print events as JSON lines on standard output, the statistics last.")
    var json = false

    @Flag(name: .shortAndLong, help: "Log what only a developer reads.")
    var verbose = false

    private struct FinalLine: Encodable {
        var schema = "watchbox.relay/1"
        var event = "final"
        var statistics: RelayStatistics
    }

    func validate() throws {
        guard grace.isFinite, (0...3600).contains(grace) else { throw ValidationError("--grace is 0 to 3600 seconds.") }
        guard (tlsCertificate == nil) == (tlsKey == nil) else {
            throw ValidationError("--tls-certificate and --tls-key belong together.")
        }
    }

    func run() async throws {
        let options = RelayServiceSettings(
            host: listen.host, port: listen.port, tlsCertificateFile: tlsCertificate, tlsKeyFile: tlsKey,
            publishKeysFile: publishKeys, graceSeconds: grace)
        let chosen = try config.map { try JSONFile.read(RelayServiceSettings.self, from: $0) } ?? options
        let settings = try Self.configuration(chosen)
        let logger = LogSetup.logger(label: "watchbox-relay", verbose: verbose)
        let isJSON = json
        do {
            let notifier = Notifier.environment
            let socket = try notifier.isActive ? Self.keptSocket(settings, notifier: notifier, logger: logger) : nil
            let service = RelayService(
                configuration: settings, socket: socket, logger: logger,
                onRunning: { port in
                    if isJSON { StandardOutput.writeJSON(ReadyEvent(address: settings.host, port: port)) }
                    notifier.ready(status: "listening on port \(port)")
                })
            // The count comes from the loop that carries the streams: when it hangs, so does the ping.
            let supervision = UnitSupervision(notifier: notifier) {
                let statistics = await service.statistics()
                return "\(statistics.publishers) publishers, \(statistics.subscribers) viewers"
            }
            try await ServiceGroup.untilSignalled(service, supervision, logger: logger)
            if json { StandardOutput.writeJSON(FinalLine(statistics: await service.statistics())) }
        } catch let error as RTMPTransportError {
            throw CommandFailure(what: "the relay does not run: \(error.what)", why: error.why, next: error.next)
        }
    }

    private static func configuration(_ chosen: RelayServiceSettings) throws -> RelayConfiguration {
        var settings = RelayConfiguration(host: chosen.host, port: chosen.port)
        if let certificate = chosen.tlsCertificateFile, let key = chosen.tlsKeyFile {
            settings.tls = RTMPServerTLS(certificateFile: certificate, privateKeyFile: key)
        }
        settings.limits.grace = UInt64(min(max(chosen.graceSeconds, 0), 3600) * 1_000_000_000)
        if let file = chosen.publishKeysFile { settings.authorization = try authorization(file) }
        return settings
    }

    /// The listening socket that the supervisor kept while the relay restarted, or a new one that it keeps from now on:
    /// boxes and viewers that come meanwhile wait instead of being refused.
    private static func keptSocket(
        _ settings: RelayConfiguration, notifier: Notifier, logger: Logger
    ) throws -> ListeningSocket {
        let name = "relay-listen"
        for handed in HandedOver.take() where handed.name == name {
            let socket = ListeningSocket(descriptor: handed.descriptor)
            if socket.serves(host: settings.host, port: settings.port) {
                logger.info("took over the listening socket")
                return socket
            }
            socket.close()
            notifier.removeStored(name: name)
        }
        let socket = try ListeningSocket.open(host: settings.host, port: settings.port)
        let copy = try socket.duplicate()
        defer { ListeningSocket(descriptor: copy).close() }
        do {
            try notifier.store(descriptor: copy, name: name)
        } catch {
            logger.warning("the supervisor does not keep the listening socket: \(error)")
        }
        return socket
    }

    private static func authorization(_ path: String) throws -> PublishAuthorization {
        do {
            let text = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
            return try PublishAuthorization.parse(text)
        } catch {
            throw CommandFailure(
                what: "the relay does not run", why: "\(path) is no file of publish keys (\(error))",
                next: "write one line `app/stream = key` for each stream", status: .invalidConfiguration)
        }
    }
}
