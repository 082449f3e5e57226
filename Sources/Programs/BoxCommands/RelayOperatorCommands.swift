import ArgumentParser
import BoxView
import Console
import HTTPClient
import Relay

struct RelayStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "What the relay on this machine does at this moment.",
        discussion: """
            The relay needs an API for it (relay_server.api_listen).

              watchboxctl relay status
            """)

    @OptionGroup var options: RelayAPIOptions

    func run() async throws {
        let document = try await options.client().get(RelayStreamsDocument.self, "/v1/streams")
        let statistics = document.statistics
        let rows = [
            ("state", document.state.rawValue),
            ("streams", "\(statistics.publishers) published, \(statistics.streams.count) known"),
            ("players", "\(statistics.subscribers)"),
            ("received", Quantity.bytes(statistics.bytesReceived)),
            ("sent", Quantity.bytes(statistics.bytesSent)),
            ("dropped", "\(statistics.framesDropped) frames, \(statistics.subscribersClosed) players closed"),
            ("refused", "\(statistics.refused)"),
            (
                "forwards",
                "\(statistics.forwards.count { $0.state == .forwarding }) of \(statistics.forwards.count) up"
            ),
        ]
        StandardOutput.show(
            document, json: options.json,
            rows.map { label, value in label + String(repeating: " ", count: 12 - label.count) + value })
    }
}

struct RelayStreamsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "streams", abstract: "The streams of the relay on this machine.",
        discussion: "  watchboxctl relay streams")

    @OptionGroup var options: RelayAPIOptions

    func run() async throws {
        let document = try await options.client().get(RelayStreamsDocument.self, "/v1/streams")
        let table = Table(
            [
                .init("STREAM", isIdentifier: true), .init("PUBLISHED"), .init("PLAYERS", .right),
                .init("RECEIVED", .right), .init("FRAMES", .right), .init("DROPPED", .right),
            ],
            rows: document.statistics.streams.map { stream in
                [
                    .init(stream.path), .init(stream.publishedFor.map { Quantity.time(seconds: $0) } ?? "no"),
                    .init("\(stream.subscribers)"), .init(Quantity.bytes(stream.bytesReceived)),
                    .init("\(stream.videoFrames)"), .init("\(stream.dropped.frames)"),
                ]
            })
        StandardOutput.show(document, json: options.json, table.lines(OutputOptions.style(.never)))
    }
}

struct RelayConnectionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "connections", abstract: "Who publishes to the relay on this machine, and who plays from it.",
        discussion: "  watchboxctl relay connections")

    @OptionGroup var options: RelayAPIOptions

    func run() async throws {
        let document = try await options.client().get(RelayConnectionsDocument.self, "/v1/connections")
        let table = Table(
            [
                .init("ID", .right, isIdentifier: true), .init("ROLE"), .init("STREAM", isIdentifier: true),
                .init("PEER"), .init("FOR", .right), .init("RECEIVED", .right), .init("SENT", .right),
                .init("DROPPED", .right),
            ],
            rows: document.connections.map { connection in
                [
                    .init("\(connection.id)"), .init(connection.role.rawValue), .init(connection.stream),
                    .init(connection.peer), .init(Quantity.time(seconds: connection.seconds)),
                    .init(Quantity.bytes(Int(clamping: connection.bytesReceived))),
                    .init(Quantity.bytes(Int(clamping: connection.bytesSent))), .init("\(connection.framesDropped)"),
                ]
            })
        StandardOutput.show(document, json: options.json, table.lines(OutputOptions.style(.never)))
    }
}

struct RelayKickCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kick", abstract: "End one connection of the relay on this machine, or the publisher of a stream.",
        discussion: """
            It is notified, and may come back: to keep it away, change its key.

              watchboxctl relay kick 17
              watchboxctl relay kick live/door
            """)

    @Argument(help: "ID of a connection (see connections), or app/stream for its publisher.")
    var target: String

    @OptionGroup var options: RelayAPIOptions

    func validate() throws {
        guard UInt64(target) != nil || target.contains("/") else {
            throw ValidationError("Name the ID of a connection, or a stream as app/stream.")
        }
    }

    func run() async throws {
        let path =
            UInt64(target).map { "/v1/connections/\($0)" }
            ?? "/v1/streams/\(RelayAPIClient.path(ofStream: target))/publisher"
        let document = try await options.client().send(.delete, path, as: RelayKickDocument.self)
        StandardOutput.show(
            document, json: options.json,
            ["Ended the \(document.role.rawValue) \(document.connection) of \(document.stream.terminalSafe)."])
    }
}

struct RelayDrainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drain", abstract: "Take the relay on this machine out of service.",
        discussion: """
            It accepts no clients any more. Cameras of ours move at once, to the relay of --to or to the same address; what cannot be \
            asked to move is closed after --seconds. It stays out of service until it is started again.

              watchboxctl relay drain --to rtmp://relay2.example.net/live --yes
            """)

    @Option(
        help: ArgumentHelp("rtmp[s]://host/app that clients move to; without user, key or stream.", valueName: "url"))
    var to: String?

    @Option(help: "How long the others may stay, 0 to 3600 seconds.")
    var seconds = 30.0

    @Flag(help: "Do not ask.")
    var yes = false

    @OptionGroup var options: RelayAPIOptions

    func validate() throws {
        guard (0...3600).contains(seconds) else { throw ValidationError("--seconds is 0 to 3600.") }
    }

    func run() async throws {
        try Question.confirm(
            "Take the relay out of service? It accepts no clients until it is started again.", flag: "--yes",
            isConfirmed: yes)
        let request = RelayDrainRequest(to: to, seconds: seconds)
        let document = try await options.client().send(
            .post, "/v1/drain", body: Array(JSONLine.text(request).utf8), as: RelayDrainDocument.self)
        let connections = Quantity.count(document.connections, "connection")
        StandardOutput.show(
            document, json: options.json,
            ["The relay is \(document.state.rawValue): \(document.asked) of \(connections) asked to move."])
    }
}

struct RelayEventsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events", abstract: "Show what happens at the relay on this machine, until it is interrupted.",
        discussion: "  watchboxctl relay events")

    @OptionGroup var options: RelayAPIOptions

    func run() async throws {
        let isJSON = options.json
        try await options.client().events { event in
            if isJSON { return StandardOutput.writeJSON(event) }
            let parts = [
                Quantity.date(Int64(exactly: event.time.rounded(.down)) ?? 0), event.event.rawValue, event.stream,
                event.connection.map { "connection \($0)" },
                event.peer.map { "from \($0)" }, event.reason.map { "(\($0))" },
            ]
            StandardOutput.writeLine(parts.compactMap { $0 }.joined(separator: " ").terminalSafe)
        }
        throw CommandFailure(
            what: "the events ended", why: "the relay stopped, or this listener was too slow", hint: "run it again",
            status: .daemonUnreachable)
    }
}
