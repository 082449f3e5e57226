public import NanoTDF
internal import Wire

/// A collection made ahead of its use, so that neither key agreement nor registration happens on the path of a frame.
public struct PreparedCollection: Sendable {
    public let sealer: CollectionSealer
    /// The first 8 hexadecimal digits of the header's SHA-256: how logs and statistics tell collections apart.
    public let name: String
    /// CLOCK_MONOTONIC, nanoseconds: its registration ends some time after that.
    public let madeAt: UInt64

    /// - Parameter sealer: fresh; it has sealed nothing.
    public init(_ sealer: CollectionSealer, madeAt: UInt64) {
        precondition(sealer.itemCount == 0, "a collection that was used before")
        self.init(unchecked: sealer, madeAt: madeAt)
    }

    /// For tests of the counter's end.
    init(unchecked sealer: CollectionSealer, madeAt: UInt64) {
        self.sealer = sealer
        self.madeAt = madeAt
        name = Hexadecimal.encode(sealer.headerHash.prefix(4))
    }
}
