import ArgumentParser
import CameraModel
import Console
import FoundationEssentials
import Logging
import RTMPTransport
import Relay
import ServiceLifecycle
import Systemd
import Wire

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
            "File with a line `app/stream = key` for each who may publish; `*` stands for every stream. Without it, anybody on this machine may."
    )
    var publishKeys: String?

    @Flag(help: "Without --publish-keys: anybody may publish, from other machines as well.")
    var open = false

    @Option(help: "File with a line `app/stream = key` for each who may play. Without it, anybody may.")
    var playKeys: String?

    @Option(help: "File with the secret that `watchboxctl relay link` signs with: such links may play as well.")
    var playLinkSecret: String?

    @Option(help: "Network that is talked to, such as 192.0.2.0/24; may be repeated. Without it, all are.")
    var allow: [String] = []

    @Option(help: "Network that is not talked to; may be repeated, and comes before --allow.")
    var deny: [String] = []

    @Option(
        help: ArgumentHelp(
            "Address of the operator's API (statistics, metrics, kicks); without it there is none.",
            valueName: "host:port"))
    var apiListen: ListenAddress?

    @Option(
        help:
            "File with the token of the API, 16 characters or more. Without it the API serves metrics and streams alone, on this machine alone."
    )
    var apiToken: String?

    @Option(
        help: ArgumentHelp(
            "File with the relays that streams are handed on to, a line `[pattern] rtmps://host/app[?key=KEY]` each; a pattern is app/*, app/name or *.",
            valueName: "file"))
    var forwardFile: String?

    @Option(
        name: .customLong("forward-ca"),
        help: "PEM file of the authorities to trust for those relays instead of the system's.")
    var forwardCA: String?

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
        for network in allow + deny where NetworkRange(network) == nil {
            throw ValidationError("\(network) is not a network; write it as 192.0.2.0/24 or 2001:db8::/32.")
        }
        let isReachable = !RelayConfiguration(host: listen.host).isLoopback
        guard config != nil || publishKeys != nil || open || !isReachable else {
            throw ValidationError(
                "Other machines reach \(listen.host), so name --publish-keys FILE, or say --open to let anybody publish."
            )
        }
        if let apiListen, apiToken == nil, !RelayConfiguration(host: apiListen.host).isLoopback {
            throw ValidationError("Other machines reach the API on \(apiListen.host), so name --api-token FILE.")
        }
        if apiToken != nil, apiListen == nil { throw ValidationError("--api-token needs --api-listen.") }
    }

    func run() async throws {
        DescriptorLimit.raise()
        let options = RelayServiceSettings(
            host: listen.host, port: listen.port, tlsCertificateFile: tlsCertificate, tlsKeyFile: tlsKey,
            publishKeysFile: publishKeys, isOpen: open, playKeysFile: playKeys,
            playLinkSecretFile: playLinkSecret, allow: allow, deny: deny, graceSeconds: grace,
            api: apiListen.map { .init(host: $0.host, port: $0.port, tokenFile: apiToken) },
            forwardFile: forwardFile, forwardCAFile: forwardCA)
        let chosen = try config.map { try JSONFile.read(RelayServiceSettings.self, from: $0) } ?? options
        let settings = try Self.configuration(chosen)
        let logger = LogSetup.logger(label: "watchbox-relay", verbose: verbose)
        if chosen.publishKeysFile == nil, settings.authorization != .open {
            logger.notice(
                "publishers need the key that this relay made, cameras of this box too: watchboxctl relay key shows it")
        }
        let isJSON = json
        do {
            let notifier = Notifier.environment
            let socket = try notifier.isActive ? Self.keptSocket(settings, notifier: notifier, logger: logger) : nil
            let service = RelayService(
                configuration: settings, socket: socket, logger: logger,
                onRunning: { port in
                    if isJSON { StandardOutput.writeJSON(ReadyEvent(address: settings.host, port: port)) }
                    notifier.ready(status: "listening on port \(port)")
                    ProgramPages.release()
                })
            // The count comes from the loop that carries the streams: when it hangs, so does the ping.
            let supervision = UnitSupervision(notifier: notifier) {
                let statistics = await service.statistics()
                return "\(statistics.publishers) publishers, \(statistics.subscribers) viewers"
            }
            try await ServiceGroup.untilSignalled(service, supervision, StartPages(), logger: logger)
            if json { StandardOutput.writeJSON(FinalLine(statistics: await service.statistics())) }
        } catch let error as RTMPTransportError {
            throw CommandFailure(what: "the relay does not run: \(error.what)", why: error.why, hint: error.hint)
        }
    }

    private static func configuration(_ chosen: RelayServiceSettings) throws -> RelayConfiguration {
        var settings = RelayConfiguration(host: chosen.host, port: chosen.port)
        if let certificate = chosen.tlsCertificateFile, let key = chosen.tlsKeyFile {
            settings.tls = RTMPServerTLS(certificateFile: certificate, privateKeyFile: key)
        }
        settings.limits.grace = UInt64(min(max(chosen.graceSeconds, 0), 3600) * 1_000_000_000)
        if let file = try publishKeysFile(chosen, isLoopback: settings.isLoopback) {
            settings.authorization = try reading(file, "publish keys") { try PublishAuthorization.parse($0) }
        }
        let secret = try chosen.playLinkSecretFile.map { file in
            try reading(file, "a secret of at least \(PlayLinkSecret.minLength) characters") { text in
                guard let secret = PlayLinkSecret(text) else { throw UnusableFile() }
                return secret
            }
        }
        if let file = chosen.playKeysFile {
            settings.players = try reading(file, "play keys") { try PlayAuthorization(keys: $0, linkSecret: secret) }
        } else if let secret {
            settings.players = try PlayAuthorization(linkSecret: secret)
        }
        settings.networks = NetworkRules(
            allow: try networks(chosen.allow ?? []), deny: try networks(chosen.deny ?? []))
        settings.api = try chosen.api.map { try api($0) }
        settings.forwards = try forwards(chosen)
        settings.forwardAuthorityFile = chosen.forwardCAFile
        return settings
    }

    private static func forwards(_ chosen: RelayServiceSettings) throws -> [ForwardTarget] {
        let listed = try (chosen.forward ?? []).map { url in
            guard let target = ForwardTarget(url) else {
                throw Self.refused(
                    "one of the relays to forward to is not understood", hint: "write it as rtmps://host/app")
            }
            return target
        }
        let inFile = try chosen.forwardFile.map { file in
            try reading(file, "relays to forward to") { try ForwardTarget.parse($0) }
        }
        let targets = listed + (inFile ?? [])
        guard targets.count <= ForwardTarget.maxCount else {
            throw Self.refused(
                "it is to forward to \(targets.count) relays", hint: "name at most \(ForwardTarget.maxCount)")
        }
        return targets
    }

    private static func api(_ chosen: RelayServiceSettings.API) throws -> RelayAPIConfiguration {
        let token = try chosen.tokenFile.map { file in
            guard let token = RelayAPIToken(try TextFile.firstLine(of: file)) else {
                throw Self.refused(
                    "\(file) holds no token of at least \(RelayAPIToken.minLength) visible characters",
                    hint: "make one: openssl rand -hex 32 > FILE")
            }
            return token
        }
        do {
            return try RelayAPIConfiguration(host: chosen.host, port: chosen.port, token: token)
        } catch {
            throw Self.refused(
                "other machines reach its API on \(chosen.host)",
                hint: "set relay_server.api_token, or let it listen on 127.0.0.1")
        }
    }

    /// Nil where anybody may publish.
    private static func publishKeysFile(_ chosen: RelayServiceSettings, isLoopback: Bool) throws -> String? {
        if let file = chosen.publishKeysFile { return file }
        if isLoopback || chosen.isOpen == true { return nil }
        guard let state = chosen.stateDirectory else {
            throw Self.refused(
                "other machines reach it, and nothing says who may publish",
                hint: "give it a file of publish keys, or say that it is open")
        }
        return try MadePublishKey.file(in: state)
    }

    /// A network that is not understood must not be left out: it may be one to keep away.
    private static func networks(_ texts: [String]) throws -> [NetworkRange] {
        try texts.map { text in
            guard let range = NetworkRange(text) else {
                throw Self.refused("\(text) is not a network", hint: "write networks as 192.0.2.0/24 or 2001:db8::/32")
            }
            return range
        }
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

    private static func refused(_ why: String, hint: String) -> CommandFailure {
        CommandFailure(what: "the relay does not run", why: why, hint: hint, status: .invalidConfiguration)
    }

    private struct UnusableFile: Error {}

    /// - Parameter content: what the file should hold, for the error.
    private static func reading<Value>(_ path: String, _ content: String, _ read: (String) throws -> Value) throws
        -> Value
    {
        do {
            return try read(String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self))
        } catch let fault as PublishAuthorization.Fault {
            throw Self.refused(
                "\(path) is not a file of \(content) (\(fault))",
                hint: "write one line `app/stream = key` for each stream")
        } catch let fault as ForwardTarget.Fault {
            throw Self.refused(
                "\(path) is not a file of \(content) (\(fault))",
                hint: "write one line `[pattern] rtmps://host/app` for each, at most \(ForwardTarget.maxCount)")
        } catch {
            throw Self.refused(
                "\(path) cannot be read, or is not a file of \(content)",
                hint: "check the path, its permissions and its content")
        }
    }
}
