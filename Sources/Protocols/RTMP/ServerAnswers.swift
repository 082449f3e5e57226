internal import AMF0

/// The owner's decisions and the player's side.
extension ServerSession {
    /// The client publishes from now on. The actions include the messages that came while it waited, and whatever else
    /// followed from its bytes. Nothing when its request is gone.
    public mutating func acceptPublish() -> [Action] {
        guard case .publishRequested(let streamID) = state else { return [] }
        state = .publishing(streamID: streamID)
        hasPublished = true
        var reply = Reply()
        writer.append(.userControl(.streamBegin(streamID)), to: &reply.output)
        let status = RTMPCommand.status(code: "NetStream.Publish.Start", description: "publishing")
        writer.append(status, streamID: streamID, to: &reply.output)
        readMessages(at: lastReceived, reply: &reply)
        return reply.actions
    }

    /// - Parameter code: for instance `NetStream.Publish.BadName` or `NetStream.Publish.Denied`.
    public mutating func rejectPublish(code: String, description: String) -> [Action] {
        guard case .publishRequested(let streamID) = state else { return [] }
        return reject(streamID, code: code, description: description)
    }

    /// StreamBegin, Play.Reset, Play.Start and `|RtmpSampleAccess` in one write; what the owner has cached follows.
    public mutating func acceptPlay() -> [Action] {
        guard case .playRequested(let streamID) = state else { return [] }
        state = .playing(streamID: streamID)
        return write { writer, output in
            writer.append(.userControl(.streamBegin(streamID)), to: &output)
            let reset = RTMPCommand.status(code: "NetStream.Play.Reset", description: "reset")
            writer.append(reset, streamID: streamID, to: &output)
            let start = RTMPCommand.status(code: "NetStream.Play.Start", description: "playing")
            writer.append(start, streamID: streamID, to: &output)
            let access = AMF0.encode([.string("|RtmpSampleAccess"), .boolean(true), .boolean(true)])
            ChunkWriter.append(
                .dataAMF0, timestamp: 0, streamID: streamID, chunkStreamID: MessageType.dataAMF0.mediaChunkStreamID,
                chunkSize: writer.chunkSize, payload: access[...], to: &output)
        }
    }

    /// - Parameter code: for instance `NetStream.Play.StreamNotFound`.
    public mutating func rejectPlay(code: String, description: String) -> [Action] {
        guard case .playRequested(let streamID) = state else { return [] }
        return reject(streamID, code: code, description: description)
    }

    /// The publisher is gone for good: StreamEOF and UnpublishNotify. The player stays connected and waits.
    public mutating func streamEnded() -> [Action] {
        guard case .playing(let streamID) = state else { return [] }
        return write { writer, output in
            writer.append(.userControl(.streamEOF(streamID)), to: &output)
            let status = RTMPCommand.status(code: "NetStream.Play.UnpublishNotify", description: "unpublished")
            writer.append(status, streamID: streamID, to: &output)
        }
    }

    /// A publisher is (back) there for a player that waits: StreamBegin and PublishNotify.
    public mutating func streamReturned() -> [Action] {
        guard case .playing(let streamID) = state else { return [] }
        return write { writer, output in
            writer.append(.userControl(.streamBegin(streamID)), to: &output)
            let status = RTMPCommand.status(code: "NetStream.Play.PublishNotify", description: "published")
            writer.append(status, streamID: streamID, to: &output)
        }
    }

    /// Asks a client that understands it to go elsewhere (E-RTMP v2). False when this one does not.
    public mutating func requestReconnect(tcURL: String?) -> (asked: Bool, actions: [Action]) {
        guard connection.canReconnect, activeStreamID != nil else { return (false, []) }
        let more: AMF0Object = tcURL.map { ["tcUrl": .string($0)] } ?? [:]
        let actions = write { writer, output in
            let status = RTMPCommand.status(
                code: "NetConnection.Connect.ReconnectRequest", description: "please reconnect", more: more)
            writer.append(status, streamID: 0, to: &output)
        }
        return (true, actions)
    }

    /// Ends the session in good order from any state: the client learns that this side goes down.
    public mutating func stop() -> [Action] {
        switch state {
        case .closed: return []
        case .idle, .handshaking, .awaitingConnect: return close(.stopped)
        case .awaitingRequest, .publishRequested, .publishing, .playRequested, .playing:
            let farewell = write { writer, output in
                let status = RTMPCommand.status(
                    level: "error", code: "NetConnection.Connect.AppShutdown", description: "shutting down")
                writer.append(status, streamID: 0, to: &output)
            }
            return farewell + close(.stopped)
        }
    }

    /// Ends the session for a reason of the owner: replaced by another publisher, or too slow.
    public mutating func end(code: String, description: String) -> [Action] {
        guard let streamID = activeStreamID else { return state == .closed ? [] : close(.stopped) }
        return reject(streamID, code: code, description: description)
    }

    /// Message stream of the player or publisher, 0 while there is none. Together with the chunk size it says which
    /// encoding of `ChunkWriter.append` (the static one) this client can be sent.
    public var streamID: UInt32 { activeStreamID ?? 0 }

    public var chunkSize: Int { configuration.chunkSize }

    /// Appends one message for the player, with all its fields, so that such encodings can be shared and mixed. False,
    /// and nothing appended, unless this session plays, or when the message is longer than a chunk stream can say.
    @discardableResult
    public func encode(
        _ type: MessageType, timestamp: UInt32, prefix: ArraySlice<UInt8> = [], payload: ArraySlice<UInt8>,
        into output: inout [UInt8]
    ) -> Bool {
        guard case .playing(let streamID) = state else { return false }
        guard prefix.count + payload.count <= ChunkWriter.maxMessageLength else { return false }
        ChunkWriter.append(
            type, timestamp: timestamp, streamID: streamID, chunkStreamID: type.mediaChunkStreamID,
            chunkSize: configuration.chunkSize, prefix: prefix, payload: payload, to: &output)
        return true
    }

    private mutating func reject(_ streamID: UInt32, code: String, description: String) -> [Action] {
        let answer = write { writer, output in
            let status = RTMPCommand.status(level: "error", code: code, description: description)
            writer.append(status, streamID: streamID, to: &output)
        }
        if isRequested { state = .awaitingRequest }  // what was never accepted does not finish
        return answer + close(.rejected(code: StatusCode.sanitized(code)))
    }

    private var isRequested: Bool {
        switch state {
        case .publishRequested, .playRequested: true
        case .idle, .handshaking, .awaitingConnect, .awaitingRequest, .publishing, .playing, .closed: false
        }
    }

    private mutating func write(_ body: (inout ChunkWriter, inout [UInt8]) -> Void) -> [Action] {
        var output: [UInt8] = []
        body(&writer, &output)
        return [.write(output)]
    }
}
