/// One whole message, as it came out of the chunk stream.
public struct RTMPMessage: Equatable, Sendable {
    public var type: MessageType
    /// Milliseconds modulo 2^32 (about 49.7 days).
    public var timestamp: UInt32
    /// 0 for the connection itself, else what `createStream` returned.
    public var streamID: UInt32
    public var payload: [UInt8]

    public init(type: MessageType, timestamp: UInt32 = 0, streamID: UInt32 = 0, payload: [UInt8]) {
        self.type = type
        self.timestamp = timestamp
        self.streamID = streamID
        self.payload = payload
    }
}
