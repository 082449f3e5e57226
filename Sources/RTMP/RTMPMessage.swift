/// One whole message, as it came out of the chunk stream.
public struct RTMPMessage: Equatable, Sendable {
    public var type: MessageType
    /// Milliseconds modulo 2^32; compare with `RTMPTime.difference`.
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

/// Arithmetic of RTMP time: milliseconds modulo 2^32 (about 49.7 days).
public enum RTMPTime {
    /// How far `later` is after `earlier` in milliseconds; negative when it is before it. Right across the wrap as
    /// long as the two are less than 2^31 ms apart.
    public static func difference(_ later: UInt32, since earlier: UInt32) -> Int32 {
        Int32(bitPattern: later &- earlier)
    }
}
