internal import AMF0
internal import Wire

/// What publisher and player have in common: handshake, chunk streams, acknowledgements, answers to control messages,
/// and `connect` with its authentication steps.
///
/// Its owner feeds it bytes and takes one event after the other; whatever it has to send it appends to `output`.
struct ClientLink: Sendable {
    enum Event {
        /// The handshake is done; `connect` is written.
        case handshakeDone
        /// The answer to `connect`.
        case connected
        case command(RTMPCommand)
        /// Audio, video or data.
        case media(RTMPMessage)
        case streamBegin(UInt32)
        case streamEOF(UInt32)
        case pingAnswered(UInt32)
        case failed(RTMPSessionError)
    }

    struct Setup: Sendable {
        var url: RTMPURL
        /// Of the `connect` command, without `app` and `tcUrl`.
        var properties: AMF0Object
        var fourCCs: [String]
        var hints: ConnectHints
        var chunkSize: Int
        var windowAcknowledgementSize: UInt32
        /// The player announces its window to the server; most publishers do not.
        var announcesWindow: Bool
        var limits: ChunkLimits
    }

    private let setup: Setup
    private let digests: RTMPDigests
    private let clientChallenge: String
    private var handshake: ClientHandshake
    private var isHandshakeDone = false
    private var reader: ChunkReader
    private(set) var writer = ChunkWriter()
    /// Messages of an aggregate that are still to be handed out, last one first.
    private var split: [RTMPMessage] = []

    private(set) var bytesReceived: UInt64 = 0
    private var acknowledged: UInt64 = 0
    /// The last ping of the read: it speaks for those before it, and a flood of them costs one answer.
    private var ping: UInt32?
    /// Bytes after which we acknowledge. Peers that name none expect about this.
    private var window: UInt64
    private var announcedWindow: UInt32 = 0

    static let connectTransaction: Double = 1

    init(setup: Setup, random: [UInt8], digests: RTMPDigests) {
        self.setup = setup
        self.digests = digests
        handshake = ClientHandshake(random: random)
        reader = ChunkReader(limits: setup.limits)
        window = UInt64(setup.windowAcknowledgementSize)
        // Four of the bytes that C1 shows anyway: the challenge is sent in clear, it only must not repeat.
        clientChallenge = Hexadecimal.encode(random.suffix(4))
    }

    // MARK: Sending

    mutating func connected(to output: inout [UInt8]) {
        if case .write(let bytes) = handshake.connected() { output += bytes }
    }

    mutating func write(
        _ command: RTMPCommand, streamID: UInt32 = 0, chunkStreamID: UInt32 = 3, to output: inout [UInt8]
    ) {
        writer.append(command, streamID: streamID, chunkStreamID: chunkStreamID, to: &output)
    }

    mutating func write(_ message: ControlMessage, to output: inout [UInt8]) {
        writer.append(message, to: &output)
    }

    mutating func write(
        _ type: MessageType, timestamp: UInt32, streamID: UInt32, prefix: ArraySlice<UInt8>,
        payload: ArraySlice<UInt8>, to output: inout [UInt8]
    ) {
        writer.append(
            type, timestamp: timestamp, streamID: streamID, chunkStreamID: type.mediaChunkStreamID, prefix: prefix,
            payload: payload, to: &output)
    }

    private mutating func writeConnect(to output: inout [UInt8]) {
        writer.setChunkSize(setup.chunkSize, to: &output)
        if setup.announcesWindow {
            write(.windowAcknowledgementSize(setup.windowAcknowledgementSize), to: &output)
            announcedWindow = setup.windowAcknowledgementSize
        }
        var properties: AMF0Object = ["app": .string(setup.hints.appended(to: setup.url.app))]
        properties.entries += setup.properties.entries
        properties["tcUrl"] = .string(setup.hints.appended(to: setup.url.tcURL))
        if announcesFourCCs {
            properties["fourCcList"] = .strictArray(setup.fourCCs.map { .string($0) })
        }
        let command = RTMPCommand(
            "connect", transactionID: Self.connectTransaction, commandObject: .object(properties))
        write(command, to: &output)
    }

    // MARK: Receiving

    /// Takes bytes; `next` hands out what they mean. Call `next` until nil before appending again.
    mutating func append(_ bytes: ArraySlice<UInt8>, to output: inout [UInt8]) -> Event? {
        bytesReceived += UInt64(bytes.count)
        guard !isHandshakeDone else {
            reader.append(bytes)
            return nil
        }
        switch handshake.received(bytes) {
        case .wait, .write: return nil
        case .close(let error): return .failed(.protocolViolation(error))
        case .finish(let reply, let surplus):
            isHandshakeDone = true
            output += reply
            writeConnect(to: &output)
            reader.append(surplus)
            return .handshakeDone
        }
    }

    /// The next event, nil when all bytes are used up; then the answer to a ping and an acknowledgement that is due
    /// were written.
    mutating func next(to output: inout [UInt8]) -> Event? {
        guard isHandshakeDone else { return nil }
        if let message = split.popLast() { return .media(message) }
        do throws(RTMPError) {
            while let message = try reader.next() {
                if let event = try handle(message, to: &output) { return event }
            }
        } catch {
            return .failed(.protocolViolation(error))
        }
        if let value = ping {
            ping = nil
            write(.userControl(.pingResponse(value)), to: &output)
        }
        // One per read, however small the peer's window: sending is never gated on these, by us or by sane peers.
        if bytesReceived - acknowledged >= window {
            acknowledged = bytesReceived
            write(.acknowledgement(UInt32(truncatingIfNeeded: bytesReceived)), to: &output)
        }
        return nil
    }

    private mutating func handle(_ message: RTMPMessage, to output: inout [UInt8]) throws(RTMPError) -> Event? {
        if let control = try ControlMessage.parse(message, offset: reader.offset) {
            return handle(control, to: &output)
        }
        if let command = try RTMPCommand.parse(message) { return handle(command) }
        switch message.type {
        case .audio, .video, .dataAMF0: return .media(message)
        case .dataAMF3: return .media(message.asAMF0Data())
        case .aggregate:
            split = try AggregateMessage.split(message).reversed()
            return split.popLast().map { .media($0) }
        default: return nil
        }
    }

    private mutating func handle(_ control: ControlMessage, to output: inout [UInt8]) -> Event? {
        switch control {
        case .setChunkSize, .abort, .acknowledgement: return nil  // the reader has obeyed; acknowledgements inform
        case .windowAcknowledgementSize(let size):
            if size > 0 { window = UInt64(size) }
            return nil
        case .setPeerBandwidth(let size, _):
            if size != announcedWindow, size > 0 {
                announcedWindow = size
                write(.windowAcknowledgementSize(size), to: &output)
            }
            return nil
        case .userControl(.pingRequest(let value)):
            ping = value
            return nil
        case .userControl(.pingResponse(let value)): return .pingAnswered(value)
        case .userControl(.streamBegin(let stream)): return .streamBegin(stream)
        case .userControl(.streamEOF(let stream)): return .streamEOF(stream)
        case .userControl: return nil
        }
    }

    private func handle(_ command: RTMPCommand) -> Event {
        guard command.transactionID == Self.connectTransaction else { return .command(command) }
        switch command.name {
        case "_result":
            let code = command.statusCode
            if code.isEmpty || code == "NetConnection.Connect.Success" { return .connected }
            return .failed(refusal(of: command))
        case "_error": return .failed(refusal(of: command))
        default: return .command(command)
        }
    }

    // MARK: Refusals

    private var announcesFourCCs: Bool { setup.hints.announcesFourCCs && !setup.fourCCs.isEmpty }

    /// What it means that `connect` got a negative answer.
    private func refusal(of answer: RTMPCommand) -> RTMPSessionError {
        if let demand = AdobeAuthentication.demand(in: answer.statusDescription) {
            let next = setup.hints.after(
                demand, credentials: setup.url.credentials, clientChallenge: clientChallenge, digests: digests)
            switch next {
            case .success(let hints): return .continueOnNewConnection(hints)
            case .failure(let error): return error
            }
        }
        let error = answer.refusal
        return error.retry == .authentication ? error : withoutFourCCs ?? error
    }

    /// A server that breaks off, or is silent, after `connect` may have stumbled over `fourCcList`.
    var withoutFourCCs: RTMPSessionError? {
        guard announcesFourCCs else { return nil }
        var hints = setup.hints
        hints.announcesFourCCs = false
        return .continueOnNewConnection(hints)
    }
}

extension MessageType {
    /// Chunk streams as nginx-rtmp and FFmpeg use them: audio 4, data 5, video 6. Below 32 for nginx-rtmp.
    public var mediaChunkStreamID: UInt32 {
        switch self {
        case .audio: 4
        case .video: 6
        default: 5
        }
    }
}

extension RTMPMessage {
    /// A type 15 message as type 18: the zero byte before the AMF0 goes.
    func asAMF0Data() -> RTMPMessage {
        var message = self
        message.type = .dataAMF0
        if payload.first == 0 { message.payload.removeFirst() }
        return message
    }
}

extension RTMPCommand {
    /// The error that a negative answer or status stands for.
    var refusal: RTMPSessionError {
        let code = StatusCode.sanitized(statusCode)
        switch statusCode {
        case "NetStream.Publish.BadName": return .badName
        case "NetStream.Play.StreamNotFound": return .streamNotFound
        case "NetStream.Publish.Denied", "NetStream.Publish.Unauthorized": return .authenticationFailed(code: code)
        default:
            return isAboutAuthentication ? .authenticationFailed(code: code) : .rejected(code: code)
        }
    }

    /// Refusals that need no level: some servers send them as plain status.
    var isRefusalByCode: Bool {
        switch statusCode {
        case "NetStream.Publish.BadName", "NetStream.Publish.Denied", "NetStream.Publish.Unauthorized",
            "NetStream.Play.StreamNotFound", "NetStream.Play.Unauthorized":
            true
        default: false
        }
    }

    /// Servers say it in free text only. The phrases are long enough not to be found in a stream called `author`.
    private var isAboutAuthentication: Bool {
        let text = statusDescription.lowercased()
        let words = [
            "authmod", "authent", "authoriz", "authoris", "code=403", "denied", "forbidden", "credential", "need auth",
        ]
        return words.contains { text.contains($0) } || statusCode.hasSuffix(".Unauthorized")
    }
}
