internal import AMF0

/// A player's side of one connection to a relay: handshake, `connect`, `createStream`, `play`, then messages.
///
/// A relay may accept the play long before anybody publishes; then the session waits. When the publisher leaves it says
/// `streamEnded` and waits again, on the same connection. A relay that has answered a ping must go on answering them.
public struct PlayerSession: Sendable {
    public enum Action: Equatable, Sendable {
        case write([UInt8])
        /// The relay accepted the play, or a publisher is back after `streamEnded`.
        case playing
        /// Audio, video or data (always as type 18); metadata and sequence headers come like any other.
        case message(RTMPMessage)
        /// The publisher left; the connection stays and waits.
        case streamEnded
        /// A ping came back.
        case roundTrip(nanoseconds: UInt64)
        /// Connect to another place.
        case reconnectRequested(tcURL: String?)
        /// The last action of every session.
        case closed(RTMPSessionError)
    }

    public struct Configuration: Equatable, Sendable {
        /// What `closed(.continueOnNewConnection)` of the connection before this one carried.
        public var hints = ConnectHints()
        /// Announce `capsEx` 1. Only when the owner acts upon `reconnectRequested`.
        public var announcesReconnect = false
        /// Announced as `fourCcList`: without it MediaMTX hands out legacy codecs only.
        public var fourCCs: [String] = ["hvc1"]
        public var chunkSize = 4096
        public var windowAcknowledgementSize: UInt32 = 2_500_000
        public var flashVersion = "LNX 9,0,124,2"
        /// Our buffer, as announced to the relay.
        public var bufferMilliseconds: UInt32 = 100
        public var handshakeDeadline: UInt64 = 5_000_000_000
        public var commandDeadline: UInt64 = 5_000_000_000
        public var liveness = LivenessRules()
        public var limits = ChunkLimits()

        public init() {}
    }

    public enum Status: Equatable, Sendable {
        case idle
        case connecting(SessionPhase)
        /// Accepted; no publisher, or it has left.
        case waiting
        case playing
        case closed
    }

    private enum State: Equatable {
        case idle, handshaking, connecting, creatingStream
        case startingPlay(streamID: UInt32)
        case waiting(streamID: UInt32)
        case playing(streamID: UInt32)
        case closed
    }

    private enum Transaction {
        static let createStream: Double = 2
        static let play: Double = 3
        static let deleteStream: Double = 4
    }

    private let url: RTMPURL
    private let configuration: Configuration
    private var state = State.idle
    private var link: ClientLink
    private var liveness: RelayLiveness
    private var deadline: UInt64 = 0

    /// - Parameter random: 1528 random bytes, fresh for each session.
    public init(
        url: RTMPURL, configuration: Configuration = Configuration(), random: [UInt8], digests: RTMPDigests
    ) {
        self.url = url
        self.configuration = configuration
        var properties: AMF0Object = [
            "flashVer": .string(configuration.flashVersion), "tcUrl": .null, "fpad": .boolean(false),
            "capabilities": .number(15), "audioCodecs": .number(4071), "videoCodecs": .number(252),
            "videoFunction": .number(1),
        ]
        if configuration.announcesReconnect { properties["capsEx"] = .number(1) }
        let setup = ClientLink.Setup(
            url: url, properties: properties, fourCCs: configuration.fourCCs, hints: configuration.hints,
            chunkSize: configuration.chunkSize, windowAcknowledgementSize: configuration.windowAcknowledgementSize,
            announcesWindow: true, limits: configuration.limits)
        link = ClientLink(setup: setup, random: random, digests: digests)
        liveness = RelayLiveness(rules: configuration.liveness)
    }

    public var status: Status {
        switch state {
        case .idle: .idle
        case .handshaking: .connecting(.handshake)
        case .connecting: .connecting(.connect)
        case .creatingStream: .connecting(.createStream)
        case .startingPlay: .connecting(.play)
        case .waiting: .waiting
        case .playing: .playing
        case .closed: .closed
        }
    }

    // MARK: Inputs

    /// The transport (with its TLS) is established.
    public mutating func connected(at now: UInt64) -> [Action] {
        switch state {
        case .idle:
            enter(.handshaking, at: now, within: configuration.handshakeDeadline)
            var output: [UInt8] = []
            link.connected(to: &output)
            return actions(writing: output, at: now)
        case .closed: return []  // stopped before the transport was established
        case .handshaking, .connecting, .creatingStream, .startingPlay, .waiting, .playing:
            preconditionFailure("connected twice")
        }
    }

    public mutating func received(_ bytes: ArraySlice<UInt8>, at now: UInt64) -> [Action] {
        guard state != .closed else { return [] }  // was in flight when we closed
        precondition(state != .idle, "bytes before the transport was established: a fault of the driver")
        var output: [UInt8] = []
        var results: [Action] = []
        var event = link.append(bytes, to: &output) ?? link.next(to: &output)
        while state != .closed, let happened = event {
            handle(happened, at: now, output: &output, results: &results)
            event = state == .closed ? nil : link.next(to: &output)
        }
        return actions(writing: output, at: now) + results
    }

    /// The driver calls it about every 250 ms.
    public mutating func timePassed(at now: UInt64) -> [Action] {
        switch state {
        case .idle, .closed: return []
        case .handshaking, .connecting, .creatingStream, .startingPlay:
            guard now >= deadline else { return [] }
            return close(.timedOut(phase))
        case .waiting, .playing:
            if let error = liveness.verdict(at: now) { return close(error) }
            var output: [UInt8] = []
            writePing(liveness.duePing(at: now), output: &output)
            return actions(writing: output, at: now)
        }
    }

    /// The peer sent FIN: nothing can come any more.
    public mutating func peerHalfClosed(at now: UInt64) -> [Action] { transportClosed(at: now) }

    public mutating func transportClosed(at now: UInt64) -> [Action] {
        guard state != .closed else { return [] }
        return close(.peerClosed(phase))
    }

    /// Ends the session in good order from any state.
    public mutating func stop(at now: UInt64) -> [Action] {
        var output: [UInt8] = []
        switch state {
        case .closed: return []
        case .idle, .handshaking, .connecting, .creatingStream: break
        case .startingPlay(let streamID), .waiting(let streamID), .playing(let streamID):
            let delete = RTMPCommand(
                "deleteStream", transactionID: Transaction.deleteStream, arguments: [.number(Double(streamID))])
            link.write(delete, to: &output)
        }
        return actions(writing: output, at: now) + close(.stopped)
    }

    // MARK: Events

    private mutating func handle(
        _ event: ClientLink.Event, at now: UInt64, output: inout [UInt8], results: inout [Action]
    ) {
        switch event {
        case .failed(let error): results += close(error)
        case .handshakeDone: enter(.connecting, at: now, within: configuration.commandDeadline)
        case .connected:
            guard state == .connecting else { return }
            enter(.creatingStream, at: now, within: configuration.commandDeadline)
            link.write(RTMPCommand("createStream", transactionID: Transaction.createStream), to: &output)
            // Answered before the play is: without an answer nothing would distinguish a frozen relay from a silent camera.
            writePing(liveness.nextPing(at: now), output: &output)
        case .command(let command): handle(command, at: now, output: &output, results: &results)
        case .media(let message):
            started(at: now, output: &output, results: &results)
            liveness.mediaWritten()  // flows, in the other direction
            results.append(.message(message))
        case .streamBegin(let streamID): began(streamID, at: now, output: &output)
        case .streamEOF: ended(&results)
        case .pingAnswered(let value):
            if let time = liveness.pingAnswered(value, at: now) { results.append(.roundTrip(nanoseconds: time)) }
        }
    }

    private mutating func handle(
        _ command: RTMPCommand, at now: UInt64, output: inout [UInt8], results: inout [Action]
    ) {
        switch (command.name, command.transactionID) {
        case ("_result", Transaction.createStream):
            guard state == .creatingStream else { return }
            guard let number = command.arguments.first?.numberValue, let streamID = UInt32(whole: number) else {
                results += close(.rejected(code: "createStream"))
                return
            }
            enter(.startingPlay(streamID: streamID), at: now, within: configuration.commandDeadline)
            // −2000: live when there is a publisher, else what the server has under this name (RTMP 1.0 §7.2.2.1).
            let play = RTMPCommand(
                "play", transactionID: Transaction.play, arguments: [.string(url.streamName), .number(-2000)])
            link.write(play, streamID: streamID, to: &output)
            link.write(
                .userControl(.setBufferLength(streamID, milliseconds: configuration.bufferMilliseconds)), to: &output)
        case ("_error", Transaction.createStream), ("_error", Transaction.play):
            results += close(command.refusal)
        case ("onStatus", _): handleStatus(command, at: now, output: &output, results: &results)
        case ("close", _): results += close(.endedByPeer(code: "close"))
        default: return  // onBWDone, onFCSubscribe and the like
        }
    }

    private mutating func handleStatus(
        _ status: RTMPCommand, at now: UInt64, output: inout [UInt8], results: inout [Action]
    ) {
        let code = status.statusCode
        switch code {
        case "NetStream.Play.Start", "NetStream.Play.PublishNotify":
            started(at: now, output: &output, results: &results)
        case "NetStream.Play.Reset":
            if case .startingPlay(let streamID) = state { began(streamID, at: now, output: &output) }
        case "NetStream.Play.UnpublishNotify", "NetStream.Play.Stop", "NetStream.Play.Complete":
            ended(&results)
        case "NetConnection.Connect.ReconnectRequest":
            results.append(.reconnectRequested(tcURL: status.statusTCURL))
        case "NetConnection.Connect.AppShutdown", "NetConnection.Connect.Closed", "NetStream.Play.Failed",
            "NetStream.Failed":
            results += close(.endedByPeer(code: code))
        default:
            guard status.statusLevel == "error" || status.isRefusalByCode else { return }
            results += close(status.refusal)
        }
    }

    /// The relay took the play; a publisher may be missing.
    private mutating func began(_ streamID: UInt32, at now: UInt64, output: inout [UInt8]) {
        guard case .startingPlay(let ours) = state, ours == streamID else { return }
        state = .waiting(streamID: ours)
        writePing(liveness.nextPing(at: now), output: &output)
    }

    private mutating func started(at now: UInt64, output: inout [UInt8], results: inout [Action]) {
        switch state {
        case .startingPlay(let streamID), .waiting(let streamID):
            began(streamID, at: now, output: &output)
            state = .playing(streamID: streamID)
            results.append(.playing)
        case .playing, .idle, .handshaking, .connecting, .creatingStream, .closed: return
        }
    }

    private mutating func ended(_ results: inout [Action]) {
        guard case .playing(let streamID) = state else { return }
        state = .waiting(streamID: streamID)
        results.append(.streamEnded)
    }

    private mutating func writePing(_ value: UInt32?, output: inout [UInt8]) {
        guard let value else { return }
        link.write(.userControl(.pingRequest(value)), to: &output)
    }

    // MARK: Transitions

    private var phase: SessionPhase {
        switch state {
        case .idle, .handshaking: .handshake
        case .connecting: .connect
        case .creatingStream: .createStream
        case .startingPlay: .play
        case .waiting, .playing, .closed: .streaming
        }
    }

    private mutating func enter(_ next: State, at now: UInt64, within allowed: UInt64) {
        state = next
        deadline = now &+ allowed
    }

    private mutating func close(_ error: RTMPSessionError) -> [Action] {
        var reason = error
        if state == .connecting, let other = link.withoutFourCCs {
            switch error {
            case .peerClosed, .timedOut: reason = other
            default: break
            }
        }
        state = .closed
        return [.closed(reason)]
    }

    private mutating func actions(writing output: [UInt8], at now: UInt64) -> [Action] {
        guard !output.isEmpty else { return [] }
        liveness.bytesWritten(at: now)
        return [.write(output)]
    }
}
