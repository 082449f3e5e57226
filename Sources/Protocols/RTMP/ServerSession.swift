internal import AMF0

/// A relay's side of one connection: handshake, `connect`, `createStream`, then one publisher or one player.
///
/// Its duties:
/// 1. answer each read with one write, in the order that FFmpeg, OBS, rtmpdump and the Arkavo apps expect;
/// 2. ask its owner about every `publish` and `play`, and say nothing to the client before the owner has decided;
/// 3. hand on the publisher's messages, and write the player's;
/// 4. deadlines, pings for silent clients, and limits: commands are few, and large messages are read from publishers
/// only.
///
/// After `.closed` nothing happens any more; the driver writes what came before it and closes.
public struct ServerSession: Sendable {
    public enum Action: Equatable, Sendable {
        case write([UInt8])
        /// Answer with `acceptPublish` or `rejectPublish`, now or later.
        case publishRequested(PublishRequest)
        /// Answer with `acceptPlay` or `rejectPlay`, now or later.
        case playRequested(PlayRequest)
        /// Audio, video or data (always as type 18) of the accepted publisher.
        case message(RTMPMessage)
        /// The publisher ended its stream or withdrew its request, or its connection ended.
        case publisherFinished
        /// The player ended its stream or withdrew its request, or its connection ended.
        case playerFinished
        /// The last action of every session.
        case closed(RTMPSessionError)
    }

    public struct Configuration: Equatable, Sendable {
        /// Bytes of payload per chunk that we send.
        public var chunkSize = 4096
        public var windowAcknowledgementSize: UInt32 = 2_500_000
        /// Nanoseconds for the handshake.
        public var handshakeDeadline: UInt64 = 10_000_000_000
        /// Nanoseconds from the handshake to `publish` or `play`.
        public var requestDeadline: UInt64 = 10_000_000_000
        /// Nanoseconds without a byte from the client until it is pinged.
        public var pingAfter: UInt64 = 30_000_000_000
        /// Nanoseconds that it then has to send anything.
        public var pingDeadline: UInt64 = 15_000_000_000
        /// Limits for publishers; everybody else is held to `ChunkLimits.unauthenticated`, then `ChunkLimits.player`.
        public var limits = ChunkLimits()
        /// Nanoseconds from the first byte of a message to its last, for everybody but publishers.
        public var messageDeadline: UInt64 = 10_000_000_000
        /// Bytes that anybody but a publisher may send before `play`, and in each 10 s after it.
        public var maxCommandBytes = 256 << 10
        /// Commands before `publish` or `play`, and in each further 10 s.
        public var maxCommands = 64
        /// Longest application and stream name in bytes.
        public var maxNameLength = 1024

        public init() {}
    }

    enum State: Equatable {
        case idle, handshaking, awaitingConnect, awaitingRequest
        case publishRequested(streamID: UInt32)
        case publishing(streamID: UInt32)
        case playRequested(streamID: UInt32)
        case playing(streamID: UInt32)
        case closed
    }

    let configuration: Configuration
    var state = State.idle
    var writer = ChunkWriter()
    var connection = ConnectProperties()
    private var handshake: ServerHandshake
    private var reader = ChunkReader(limits: .unauthenticated)
    private var deadline: UInt64 = 0

    /// Bytes that the client has sent.
    public private(set) var bytesReceived: UInt64 = 0
    /// When the client last sent anything.
    public private(set) var lastReceived: UInt64 = 0
    private var acknowledged: UInt64 = 0
    private var window: UInt64
    private var pinged: UInt64?
    private var pingValue: UInt32 = 0
    private var commands = (count: 0, bytes: 0, since: UInt64(0))
    /// Since when there was always some message that had begun and not ended.
    private var unfinishedSince: UInt64?
    /// Was accepted as a publisher once: what it sent before it knew that its stream is over is not an offence.
    var hasPublished = false
    var nextStreamID: UInt32 = 1

    /// - Parameters:
    ///   - random: 1528 random bytes, fresh for each session.
    ///   - digests: `hmacSHA256` is used for clients with a digest handshake.
    public init(configuration: Configuration = Configuration(), random: [UInt8], digests: RTMPDigests) {
        self.configuration = configuration
        handshake = ServerHandshake(random: random, digests: digests)
        window = UInt64(configuration.windowAcknowledgementSize)
    }

    // MARK: Inputs

    /// The transport (with its TLS) is established.
    public mutating func connected(at now: UInt64) {
        precondition(state == .idle, "connected twice")
        state = .handshaking
        lastReceived = now
        deadline = now &+ configuration.handshakeDeadline
    }

    public mutating func received(_ bytes: ArraySlice<UInt8>, at now: UInt64) -> [Action] {
        guard state != .closed else { return [] }  // was in flight when we closed
        precondition(state != .idle, "bytes before the transport was established: a fault of the driver")
        guard !bytes.isEmpty else { return [] }
        bytesReceived += UInt64(bytes.count)
        lastReceived = now
        pinged = nil
        var reply = Reply()
        if state == .handshaking {
            shakeHands(bytes, reply: &reply)
        } else {
            reader.append(bytes)
        }
        if state != .handshaking { readMessages(at: now, reply: &reply) }
        if isHolding, reader.unreadBytes > configuration.limits.messageLength {
            let limit = configuration.limits.messageLength
            reply.results += close(.protocolViolation(.partialMessagesTooLarge(limit: limit, offset: reader.offset)))
        }
        if !countBytes(bytes.count, at: now) { reply.results += close(.commandFlood) }
        unfinishedSince = isPublisher || !reader.isInsideMessage ? nil : unfinishedSince ?? now
        return reply.actions
    }

    /// Some encoders send metadata and sequence headers right behind `publish`: what comes before the owner's decision
    /// is kept unread, up to the length of one message.
    private var isHolding: Bool {
        if case .publishRequested = state { true } else { false }
    }

    private var isPublisher: Bool {
        switch state {
        case .publishRequested, .publishing: true
        case .idle, .handshaking, .awaitingConnect, .awaitingRequest, .playRequested, .playing, .closed: false
        }
    }

    /// The driver calls it about every second.
    public mutating func timePassed(at now: UInt64) -> [Action] {
        if let unfinishedSince, state != .closed, now.elapsed(since: unfinishedSince) >= configuration.messageDeadline {
            return close(.timedOut(phase))
        }
        switch state {
        case .idle, .closed: return []
        case .handshaking:
            return now >= deadline ? close(.timedOut(.handshake)) : []
        case .awaitingConnect:
            return now >= deadline ? close(.timedOut(.connect)) : []
        case .awaitingRequest:
            return now >= deadline ? close(.timedOut(.createStream)) : []
        case .publishRequested, .publishing, .playRequested, .playing:
            if let pinged {
                let waiting = now.elapsed(since: pinged)
                return waiting >= configuration.pingDeadline ? close(.pingUnanswered(nanoseconds: waiting)) : []
            }
            guard now.elapsed(since: lastReceived) >= configuration.pingAfter else { return [] }
            pinged = now
            pingValue &+= 1
            var output: [UInt8] = []
            writer.append(.userControl(.pingRequest(pingValue)), to: &output)
            return [.write(output)]
        }
    }

    /// The client sent FIN. No client of this field half-closes and goes on; a player that has exited must not hold its
    /// place until the next ping.
    public mutating func peerHalfClosed(at now: UInt64) -> [Action] { transportClosed(at: now) }

    public mutating func transportClosed(at now: UInt64) -> [Action] {
        guard state != .closed else { return [] }
        return close(.peerClosed(phase))
    }

    // MARK: Reading

    private mutating func shakeHands(_ bytes: ArraySlice<UInt8>, reply: inout Reply) {
        switch handshake.received(bytes) {
        case .wait: return
        case .write(let bytes): reply.output += bytes
        case .finish(let bytes, let surplus):
            reply.output += bytes
            reader.append(surplus)
            awaitRequest()
            state = .awaitingConnect
        case .close(let error): reply.results += close(.protocolViolation(error))
        }
    }

    mutating func readMessages(at now: UInt64, reply: inout Reply) {
        do throws(RTMPError) {
            while state != .closed, !isHolding, let message = try reader.next() {
                try handle(message, at: now, reply: &reply)
            }
        } catch {
            reply.results += close(.protocolViolation(error))
        }
        guard state != .closed else { return }
        if let value = reply.ping { writer.append(.userControl(.pingResponse(value)), to: &reply.output) }
        guard bytesReceived - acknowledged >= window else { return }
        acknowledged = bytesReceived
        writer.append(.acknowledgement(UInt32(truncatingIfNeeded: bytesReceived)), to: &reply.output)
    }

    private mutating func handle(_ message: RTMPMessage, at now: UInt64, reply: inout Reply) throws(RTMPError) {
        if let control = try ControlMessage.parse(message, offset: reader.offset) {
            switch control {
            case .windowAcknowledgementSize(let size): if size > 0 { window = UInt64(size) }
            case .userControl(.pingRequest(let value)): reply.ping = value
            case .setChunkSize, .abort, .acknowledgement, .setPeerBandwidth, .userControl: break
            }
        } else if let command = try RTMPCommand.parse(message) {
            guard countCommand(at: now) else {
                reply.results += close(.commandFlood)
                return
            }
            handle(command, streamID: message.streamID, reply: &reply)
            holdReaderToState()
        } else {
            switch message.type {
            case .audio, .video, .dataAMF0, .dataAMF3, .aggregate: try media(message, reply: &reply)
            default: break  // shared objects and other relics
            }
        }
    }

    private func media(_ message: RTMPMessage, reply: inout Reply) throws(RTMPError) {
        guard case .publishing = state else {
            // Some are early with it, and some is still on its way when a stream ended. To read and throw away what a
            // player sends would cost everybody else the event loop.
            if state == .awaitingRequest { return }
            throw .unexpectedMedia(message.type, offset: reader.offset)
        }
        switch message.type {
        case .dataAMF3: reply.results.append(.message(message.asAMF0Data()))
        case .aggregate: reply.results += try AggregateMessage.split(message).map { .message($0) }
        default: reply.results.append(.message(message))
        }
    }

    /// Before anybody publishes, nobody may make us hold more than a command's worth.
    private mutating func holdReaderToState() {
        switch state {
        case .publishRequested, .publishing: reader.limits = configuration.limits
        case .playRequested, .playing: reader.limits = .player
        // In flight, as with `hasPublished`.
        case .awaitingRequest where hasPublished: break
        case .idle, .handshaking, .awaitingConnect, .awaitingRequest, .closed: reader.limits = .unauthenticated
        }
    }

    private mutating func renewBudget(at now: UInt64) {
        guard now.elapsed(since: commands.since) >= 10_000_000_000, activeStreamID != nil else { return }
        commands = (0, 0, now)
    }

    private mutating func countBytes(_ count: Int, at now: UInt64) -> Bool {
        guard state != .closed, !isPublisher, !hasPublished else { return true }
        renewBudget(at: now)
        commands.bytes += count
        return commands.bytes <= configuration.maxCommandBytes
    }

    private mutating func countCommand(at now: UInt64) -> Bool {
        renewBudget(at: now)
        commands.count += 1
        return commands.count <= configuration.maxCommands
    }

    // MARK: Transitions

    /// What one read led to: bytes first, then the rest, so that there is one write.
    struct Reply {
        var output: [UInt8] = []
        var results: [Action] = []
        /// The last ping of the read, to be answered behind everything else: it speaks for those before it, and a
        /// flood of them costs one answer.
        var ping: UInt32?

        var actions: [Action] { (output.isEmpty ? [] : [.write(output)]) + results }
    }

    var phase: SessionPhase {
        switch state {
        case .idle, .handshaking: .handshake
        case .awaitingConnect: .connect
        case .awaitingRequest: .createStream
        case .publishRequested: .publish
        case .playRequested: .play
        case .publishing, .playing, .closed: .streaming
        }
    }

    mutating func awaitRequest() {
        state = .awaitingRequest
        deadline = lastReceived &+ configuration.requestDeadline
    }

    /// Also says that the stream is over, when there was one.
    mutating func close(_ error: RTMPSessionError) -> [Action] {
        let finished: [Action]
        switch state {
        case .publishRequested, .publishing: finished = [.publisherFinished]
        case .playRequested, .playing: finished = [.playerFinished]
        case .idle, .handshaking, .awaitingConnect, .awaitingRequest, .closed: finished = []
        }
        state = .closed
        return finished + [.closed(error)]
    }
}
