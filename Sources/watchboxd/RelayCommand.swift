import ArgumentParser
import Console
import FoundationEssentials
import RTMPTransport
import Relay
import ServiceLifecycle

struct RelayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "relay",
        abstract: "Pass streams on from publishers to players; sees no picture of a sealed one.",
        discussion: """
              watchboxd relay
              watchboxd relay --listen 0.0.0.0:443 --tls-certificate chain.pem --tls-key key.pem --publish-keys keys
            """)

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
        var settings = RelayConfiguration(host: listen.host, port: listen.port)
        if let tlsCertificate, let tlsKey {
            settings.tls = RTMPServerTLS(certificateFile: tlsCertificate, privateKeyFile: tlsKey)
        }
        settings.limits.grace = UInt64(grace * 1_000_000_000)
        if let publishKeys { settings.authorization = try Self.authorization(publishKeys) }
        let logger = LogSetup.logger(label: "watchbox-relay", verbose: verbose)
        let (host, isJSON) = (listen.host, json)
        let service = RelayService(
            configuration: settings, logger: logger,
            onRunning: { port in
                if isJSON { StandardOutput.writeJSON(ReadyEvent(address: host, port: port)) }
            })
        do {
            try await ServiceGroup.untilSignalled(service, logger: logger)
        } catch let error as RTMPTransportError {
            throw CommandFailure(what: "the relay does not run: \(error.what)", why: error.why, next: error.next)
        }
        if json { StandardOutput.writeJSON(FinalLine(statistics: await service.statistics())) }
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
