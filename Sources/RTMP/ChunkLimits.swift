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
    /// The work budget is judged once per this many bytes of input: see `RTMPError.headerFlood`.
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

    /// For a side that only ever expects commands: a publisher reading its relay, a server before `publish`.
    public static let commandsOnly = ChunkLimits(messageLength: 256 << 10, partialBytes: 1 << 20)
}
