internal import AMF0

/// What a client's `connect` said.
struct ConnectProperties: Equatable, Sendable {
    var app = ""
    var query: String?
    var tcURL = ""
    var flashVersion = ""
    var fourCCs: [String] = []
    /// Speaks Enhanced RTMP at all.
    var isEnhanced = false
    /// `capsEx` bit 0: understands a ReconnectRequest.
    var canReconnect = false
    var chain = RelayChain()

    init() {}

    init(_ object: AMF0Object) {
        let (path, query) = Queries.split(object["app"]?.stringValue ?? "")
        // FFmpeg and OBS keep a trailing slash of the address.
        app = String(path.reversed().drop { $0 == "/" }.reversed())
        self.query = query
        tcURL = object["tcUrl"]?.stringValue ?? object["tcurl"]?.stringValue ?? ""
        flashVersion = object["flashVer"]?.stringValue ?? ""
        if case .strictArray(let values)? = object["fourCcList"] { fourCCs = values.compactMap(\.stringValue) }
        isEnhanced = object["fourCcList"] != nil || object["capsEx"] != nil || object["videoFourCcInfoMap"] != nil
        let capabilities = object["capsEx"]?.numberValue ?? 0
        canReconnect = (UInt32(whole: capabilities) ?? 0) & 1 != 0
        chain = RelayChain(object[RelayChain.property])
    }
}

extension ServerSession {
    /// Streams that one connection may create; FFmpeg and OBS need one.
    private static let maxStreams: UInt32 = 8

    mutating func handle(_ command: RTMPCommand, streamID: UInt32, reply: inout Reply) {
        switch command.name {
        case "connect": connect(command, reply: &reply)
        case "createStream": createStream(command, reply: &reply)
        case "releaseStream", "FCPublish", "FCSubscribe": acknowledge(command, reply: &reply)
        case "publish": publish(command, streamID: streamID, reply: &reply)
        case "play": play(command, streamID: streamID, reply: &reply)
        case "FCUnpublish":
            acknowledge(command, reply: &reply)
            if case .publishing = state { finish(reply: &reply) }
        case "deleteStream":
            if command.arguments.first?.numberValue.flatMap({ UInt32(whole: $0) }) == activeStreamID {
                finish(reply: &reply)
            }
        case "closeStream": finish(reply: &reply)
        case "_checkbw": acknowledge(command, reply: &reply)
        default: return  // getStreamLength, receiveAudio, pause, seek and answers of the client: no meaning for live
        }
    }

    /// The stream that is published, played, or asked for.
    var activeStreamID: UInt32? {
        switch state {
        case .publishRequested(let id), .publishing(let id), .playRequested(let id), .playing(let id): id
        case .idle, .handshaking, .awaitingConnect, .awaitingRequest, .closed: nil
        }
    }

    private mutating func connect(_ command: RTMPCommand, reply: inout Reply) {
        guard state == .awaitingConnect else { return }
        connection = ConnectProperties(command.commandObject.objectValue ?? [:])
        guard !connection.app.isEmpty, connection.app.utf8.count <= configuration.maxNameLength else {
            let answer = RTMPCommand.status(
                "_error", transactionID: command.transactionID, level: "error",
                code: "NetConnection.Connect.InvalidApp", description: "no application")
            writer.append(answer, streamID: 0, to: &reply.output)
            reply.results += close(.rejected(code: "NetConnection.Connect.InvalidApp"))
            return
        }
        state = .awaitingRequest
        writer.append(.windowAcknowledgementSize(configuration.windowAcknowledgementSize), to: &reply.output)
        writer.append(.setPeerBandwidth(configuration.windowAcknowledgementSize, limit: 2), to: &reply.output)
        writer.setChunkSize(configuration.chunkSize, to: &reply.output)
        var more: AMF0Object = ["objectEncoding": .number(0)]
        if connection.isEnhanced {
            // 4: can forward. A relay of sealed frames decodes nothing.
            more["videoFourCcInfoMap"] = .object(["*": .number(4)])
            more["audioFourCcInfoMap"] = .object(["*": .number(4)])
            more["capsEx"] = .number(1)
        }
        let properties: AMF0Object = ["fmsVer": .string("FMS/3,5,1,1"), "capabilities": .number(31)]
        let answer = RTMPCommand.status(
            "_result", transactionID: command.transactionID, commandObject: .object(properties),
            code: "NetConnection.Connect.Success", description: "Connection succeeded.", more: more)
        writer.append(answer, streamID: 0, to: &reply.output)
    }

    private mutating func createStream(_ command: RTMPCommand, reply: inout Reply) {
        guard isConnected else { return }
        guard nextStreamID <= Self.maxStreams else {
            let answer = RTMPCommand.status(
                "_error", transactionID: command.transactionID, level: "error",
                code: "NetConnection.Call.Failed", description: "too many streams")
            writer.append(answer, streamID: 0, to: &reply.output)
            return
        }
        let answer = RTMPCommand(
            "_result", transactionID: command.transactionID, arguments: [.number(Double(nextStreamID))])
        nextStreamID += 1
        writer.append(answer, streamID: 0, to: &reply.output)
    }

    private var isConnected: Bool {
        switch state {
        case .idle, .handshaking, .awaitingConnect, .closed: false
        case .awaitingRequest, .publishRequested, .publishing, .playRequested, .playing: true
        }
    }

    /// Commands without effect that some clients wait upon all the same.
    private mutating func acknowledge(_ command: RTMPCommand, reply: inout Reply) {
        guard command.transactionID != 0 else { return }
        let answer = RTMPCommand("_result", transactionID: command.transactionID, arguments: [.undefined])
        writer.append(answer, streamID: 0, to: &reply.output)
    }

    private mutating func publish(_ command: RTMPCommand, streamID: UInt32, reply: inout Reply) {
        guard let name = requestedName(command) else {
            refuse(streamID, code: "NetStream.Publish.BadName", reply: &reply)
            return
        }
        state = .publishRequested(streamID: streamID)
        reply.results.append(
            .publishRequested(
                PublishRequest(
                    app: connection.app, streamName: name.path, queries: queries(name.query),
                    kind: command.arguments.dropFirst().first?.stringValue ?? "live", tcURL: connection.tcURL,
                    flashVersion: connection.flashVersion, fourCCs: connection.fourCCs, chain: connection.chain)))
    }

    private mutating func play(_ command: RTMPCommand, streamID: UInt32, reply: inout Reply) {
        guard let name = requestedName(command) else {
            refuse(streamID, code: "NetStream.Play.StreamNotFound", reply: &reply)
            return
        }
        state = .playRequested(streamID: streamID)
        reply.results.append(
            .playRequested(
                PlayRequest(
                    app: connection.app, streamName: name.path, queries: queries(name.query),
                    start: command.arguments.dropFirst().first?.numberValue ?? -2, tcURL: connection.tcURL,
                    flashVersion: connection.flashVersion, fourCCs: connection.fourCCs)))
    }

    /// Nil when this is not the time for a request or the name is unusable.
    private func requestedName(_ command: RTMPCommand) -> (path: String, query: String?)? {
        guard state == .awaitingRequest, let text = command.arguments.first?.stringValue else { return nil }
        let name = Queries.split(text)
        guard !name.path.isEmpty, text.utf8.count <= configuration.maxNameLength else { return nil }
        return name
    }

    private func queries(_ ofName: String?) -> [String] {
        [ofName, connection.query, Queries.split(connection.tcURL).query].compactMap { $0 }
    }

    private mutating func refuse(_ streamID: UInt32, code: String, reply: inout Reply) {
        let status = RTMPCommand.status(level: "error", code: code, description: "refused")
        writer.append(status, streamID: streamID, to: &reply.output)
        reply.results += close(.rejected(code: code))
    }

    /// The client ended its stream; it may ask for another one.
    private mutating func finish(reply: inout Reply) {
        switch state {
        case .publishRequested, .publishing: reply.results.append(.publisherFinished)
        case .playRequested, .playing: reply.results.append(.playerFinished)
        case .idle, .handshaking, .awaitingConnect, .awaitingRequest, .closed: return
        }
        awaitRequest()
    }
}
