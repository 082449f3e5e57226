internal import AMF0

/// A publisher's side of one connection to a relay, from the handshake to `deleteStream` (RTMP 1.0 §5, §7).
///
/// Its duties:
/// 1. handshake, `connect` (with Adobe authentication and `fourCcList` where they are needed), `releaseStream`,
///    `FCPublish`, `createStream`, `publish`; each step within its deadline, answers matched by transaction id;
/// 2. reading all the time: acknowledgements per window, pongs; nothing that we send waits for the peer's;
/// 3. pings of its own and the verdict that a relay is dead (`RelayLiveness`). The first one goes out behind
///    `createStream`: a relay that keeps order has answered it before it says `NetStream.Publish.Start`, so that there
///    is not a frame for which we could not notice that it is not read;
/// 4. an orderly end from every state.
///
/// The odd case is a peer's FIN while publishing: Twitch half-closes on purpose, so publishing goes on until a write
/// fails. After `.closed` nothing happens any more; the driver writes what came before it, sends FIN, drains and
/// closes.
public struct PublisherSession: Sendable {
    public enum Action: Equatable, Sendable {
        /// Ahead of waiting frames.
        case write([UInt8])
        /// Media may be sent.
        case published
        /// Move to another place at the next key frame (`RTMPURL.redirected(to:)`); nil: connect again to this one.
        case reconnectRequested(tcURL: String?)
        /// A ping came back.
        case roundTrip(nanoseconds: UInt64)
        /// The last action of every session.
        case closed(RTMPSessionError)
    }

    public struct Configuration: Equatable, Sendable {
        /// What `closed(.continueOnNewConnection)` of the connection before this one carried.
        public var hints = ConnectHints()
        /// Announced as `fourCcList`, for instance `hvc1`; empty for AVC and AAC.
        public var fourCCs: [String] = []
        /// Announce `capsEx` 1. Only when the owner acts upon `reconnectRequested`.
        public var announcesReconnect = false
        /// The relays that the stream came through; empty for one that begins here.
        public var chain = RelayChain()
        /// Bytes of payload per chunk that we send.
        public var chunkSize = 4096
        /// Bytes after which we acknowledge while the server names no window.
        public var windowAcknowledgementSize: UInt32 = 2_500_000
        public var flashVersion = "FMLE/3.0 (compatible; WatchBox)"
        /// Nanoseconds for the handshake.
        public var handshakeDeadline: UInt64 = 5_000_000_000
        /// Nanoseconds for each command.
        public var commandDeadline: UInt64 = 5_000_000_000
        public var liveness = LivenessRules()
        public var limits = ChunkLimits.commandsOnly

        public init() {}
    }

    public enum Status: Equatable, Sendable {
        case idle
        case connecting(SessionPhase)
        case publishing
        case closed
    }

    private enum State: Equatable {
        case idle, handshaking, connecting, creatingStream
        case startingPublish(streamID: UInt32)
        case publishing(streamID: UInt32)
        case closed
    }

    private enum Transaction {
        static let releaseStream: Double = 2
        static let fcPublish: Double = 3
        static let createStream: Double = 4
        static let publish: Double = 5
        static let fcUnpublish: Double = 6
        static let deleteStream: Double = 7
    }

    private let url: RTMPURL
    private let configuration: Configuration
    private var state = State.idle
    private var link: ClientLink
    private var liveness: RelayLiveness
    private var deadline: UInt64 = 0

    /// - Parameters:
    ///   - random: 1528 random bytes, fresh for each session.
    ///   - digests: hash functions; only used for Adobe authentication.
    public init(
        url: RTMPURL, configuration: Configuration = Configuration(), random: [UInt8], digests: RTMPDigests
    ) {
        self.url = url
        self.configuration = configuration
        var properties: AMF0Object = [
            "type": .string("nonprivate"), "flashVer": .string(configuration.flashVersion), "tcUrl": .null,
        ]
        if configuration.announcesReconnect { properties["capsEx"] = .number(1) }
        if !configuration.chain.relays.isEmpty {
            properties[RelayChain.property] = .string(configuration.chain.text)
        }
        let setup = ClientLink.Setup(
            url: url, properties: properties, fourCCs: configuration.fourCCs, hints: configuration.hints,
            chunkSize: configuration.chunkSize, windowAcknowledgementSize: configuration.windowAcknowledgementSize,
            announcesWindow: false, limits: configuration.limits)
        link = ClientLink(setup: setup, random: random, digests: digests)
        liveness = RelayLiveness(rules: configuration.liveness)
    }

    public var status: Status {
        switch state {
        case .idle: .idle
        case .handshaking: .connecting(.handshake)
        case .connecting: .connecting(.connect)
        case .creatingStream: .connecting(.createStream)
        case .startingPublish: .connecting(.publish)
        case .publishing: .publishing
        case .closed: .closed
        }
    }

    /// False until the relay has answered a ping: until then only TCP shows whether it is alive.
    public var relayAnswersPings: Bool { liveness.answersPings }

    /// What was written up to then the relay has read, by the clock of the calls; nil: it answers no pings, and nothing is known.
    public var readUntil: UInt64? { liveness.readUntil }

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
        case .handshaking, .connecting, .creatingStream, .startingPublish, .publishing:
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

    /// The driver calls it about every 250 ms; pings and deadlines depend on it.
    public mutating func timePassed(at now: UInt64) -> [Action] {
        switch state {
        case .idle, .closed: return []
        case .handshaking, .connecting, .creatingStream, .startingPublish:
            guard now >= deadline else { return [] }
            return close(.timedOut(phase))
        case .publishing:
            if let error = liveness.verdict(at: now) { return close(error) }
            var output: [UInt8] = []
            writePing(liveness.duePing(at: now), output: &output)
            return actions(writing: output, at: now)
        }
    }

    /// TCP made progress (`TCP_INFO` bytes acked).
    /// - Parameter outstanding: bytes that were written are still not acknowledged.
    public mutating func bytesAcknowledged(outstanding: Bool = true, at now: UInt64) {
        liveness.bytesAcknowledged(someOutstanding: outstanding, at: now)
    }

    /// What `TCP_INFO` says at a look: distinguishes a relay that does not read from a link that does not deliver.
    /// - Parameters:
    ///   - acknowledged: bytes that the peer's kernel has, since the beginning.
    ///   - written: bytes that were handed to the transport by now, counted in the same way.
    public mutating func transportObserved(acknowledged: UInt64, written: UInt64, at now: UInt64) {
        liveness.transportObserved(acknowledged: acknowledged, written: written, at: now)
    }

    /// Media was handed to the transport: arms the rule for a transport that acknowledges nothing.
    public mutating func bytesWritten(at now: UInt64) {
        liveness.bytesWritten(at: now)
    }

    /// The peer sent FIN.
    public mutating func peerHalfClosed(at now: UInt64) -> [Action] {
        switch state {
        case .publishing:
            liveness.peerHalfClosed()
            return []
        case .closed: return []
        case .idle, .handshaking, .connecting, .creatingStream, .startingPublish: return transportClosed(at: now)
        }
    }

    /// The transport is gone: reset, failed write, or the end of TLS.
    public mutating func transportClosed(at now: UInt64) -> [Action] {
        guard state != .closed else { return [] }
        return close(.peerClosed(phase))
    }

    /// Appends one message in chunks. False, and nothing appended, unless published, or when the message is longer than
    /// a chunk stream can say (16 MiB).
    /// - Parameters:
    ///   - type: `audio`, `video` or `dataAMF0`.
    ///   - timestamp: DTS in milliseconds modulo 2^32.
    ///   - prefix: first part of the body, usually the FLV tag header.
    @discardableResult
    public mutating func encode(
        _ type: MessageType, timestamp: UInt32, prefix: ArraySlice<UInt8> = [], payload: ArraySlice<UInt8>,
        into output: inout [UInt8]
    ) -> Bool {
        guard case .publishing(let streamID) = state else { return false }
        guard prefix.count + payload.count <= ChunkWriter.maxMessageLength else { return false }
        link.write(type, timestamp: timestamp, streamID: streamID, prefix: prefix, payload: payload, to: &output)
        liveness.mediaWritten()
        return true
    }

    /// Ends the session in good order from any state.
    public mutating func stop(at now: UInt64) -> [Action] {
        var output: [UInt8] = []
        switch state {
        case .closed: return []
        case .idle, .handshaking, .connecting: break
        case .creatingStream: unpublish(nil, output: &output)
        case .startingPublish(let streamID), .publishing(let streamID): unpublish(streamID, output: &output)
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
            announceStream(at: now, output: &output)
        case .command(let command): handle(command, at: now, output: &output, results: &results)
        case .pingAnswered(let value):
            if let time = liveness.pingAnswered(value, at: now) { results.append(.roundTrip(nanoseconds: time)) }
        case .media, .streamBegin, .streamEOF: return  // no business of a publisher
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
            enter(.startingPublish(streamID: streamID), at: now, within: configuration.commandDeadline)
            let publish = RTMPCommand(
                "publish", transactionID: Transaction.publish,
                arguments: [.string(url.streamName), .string("live")])
            link.write(publish, streamID: streamID, chunkStreamID: 4, to: &output)
        case ("_error", Transaction.createStream), ("_error", Transaction.publish):
            if status != .publishing { results += close(command.refusal) }
        case ("onStatus", _):
            handleStatus(command, at: now, output: &output, results: &results)
        case ("close", _):
            results += close(.endedByPeer(code: "close"))
        default:
            return  // onBWDone, onFCPublish, answers to releaseStream and FCPublish: nothing waits for them
        }
    }

    private mutating func handleStatus(
        _ status: RTMPCommand, at now: UInt64, output: inout [UInt8], results: inout [Action]
    ) {
        let code = status.statusCode
        switch code {
        case "NetStream.Publish.Start":
            guard case .startingPublish(let streamID) = state else { return }
            state = .publishing(streamID: streamID)
            results.append(.published)
            // A relay that freezes from here on owes an answer already; one that has answered none is asked again.
            writePing(liveness.nextPing(at: now), output: &output)
        case "NetConnection.Connect.ReconnectRequest":
            switch state {
            case .creatingStream, .startingPublish, .publishing:
                results.append(.reconnectRequested(tcURL: status.statusTCURL))
            case .idle, .handshaking, .connecting, .closed: return  // nothing is connected that could be moved
            }
        case "NetConnection.Connect.Failed", "NetConnection.Connect.InvalidApp", "NetConnection.Connect.AppShutdown",
            "NetConnection.Connect.Closed", "NetStream.Failed", "NetStream.Publish.Idle",
            "NetStream.Unpublish.Success":
            results += close(.endedByPeer(code: code))
        default:
            guard status.statusLevel == "error" || status.isRefusalByCode else { return }
            results += close(status.refusal)
        }
    }

    private mutating func announceStream(at now: UInt64, output: inout [UInt8]) {
        let name = AMF0Value.string(url.streamName)
        link.write(
            RTMPCommand("releaseStream", transactionID: Transaction.releaseStream, arguments: [name]), to: &output)
        link.write(RTMPCommand("FCPublish", transactionID: Transaction.fcPublish, arguments: [name]), to: &output)
        link.write(RTMPCommand("createStream", transactionID: Transaction.createStream), to: &output)
        writePing(liveness.nextPing(at: now), output: &output)
    }

    private mutating func unpublish(_ streamID: UInt32?, output: inout [UInt8]) {
        let name = AMF0Value.string(url.streamName)
        link.write(RTMPCommand("FCUnpublish", transactionID: Transaction.fcUnpublish, arguments: [name]), to: &output)
        guard let streamID else { return }
        let delete = RTMPCommand(
            "deleteStream", transactionID: Transaction.deleteStream, arguments: [.number(Double(streamID))])
        link.write(delete, to: &output)
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
        case .startingPublish: .publish
        case .publishing, .closed: .streaming
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
