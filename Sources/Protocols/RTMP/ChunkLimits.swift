/// What one connection may make us hold. The defaults are those of the project's limits for RTMP.
public struct ChunkLimits: Equatable, Sendable {
    /// Longest message in bytes. A longer one is refused when it is declared, before anything is allocated.
    public var messageLength: Int
    /// Bytes of unfinished messages, all chunk streams together.
    public var partialBytes: Int
    /// Chunk streams that a peer may use on one connection.
    public var chunkStreams: Int
    /// Largest chunk size that a peer may set (nginx-rtmp and MediaMTX draw the line at 10 MiB as well).
    public var chunkSize: Int
    /// The work budget is checked once per this many bytes of input: see `RTMPError.headerFlood`.
    public var workWindow: Int

    public init(
        messageLength: Int = 8 << 20,
        partialBytes: Int = 16 << 20,
        chunkStreams: Int = 64,
        chunkSize: Int = 10 << 20,
        workWindow: Int = 64 << 10
    ) {
        self.messageLength = messageLength
        self.partialBytes = partialBytes
        self.chunkStreams = chunkStreams
        self.chunkSize = chunkSize
        self.workWindow = workWindow
    }

    /// For a client that only ever expects commands: a publisher reading its relay.
    public static let commandsOnly = ChunkLimits(messageLength: 64 << 10, partialBytes: 64 << 10, chunkStreams: 8)
    /// For a client that has shown no key yet: room for `connect` with the longest names and tokens.
    public static let unauthenticated = ChunkLimits(messageLength: 16 << 10, partialBytes: 16 << 10, chunkStreams: 8)
    /// For one who plays: it has little to say any more.
    public static let player = ChunkLimits(messageLength: 4 << 10, partialBytes: 4 << 10, chunkStreams: 8)

    /// What is reserved ahead for one unfinished message at most. The chunk streams together can therefore not reserve
    /// more than `partialBytes` without sending it.
    var reserve: Int { max(1, partialBytes / max(1, chunkStreams)) }
}
