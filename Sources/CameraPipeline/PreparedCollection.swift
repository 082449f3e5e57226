public import NanoTDF
internal import Wire

/// A collection made ahead of its use, so that neither key agreement nor registration happens on the path of a frame.
public struct PreparedCollection: Sendable {
    public let sealer: CollectionSealer
    /// The first 8 hexadecimal digits of the header's SHA-256: how logs and statistics tell collections apart.
    public let name: String

    /// - Parameter sealer: fresh; it has sealed nothing.
    public init(_ sealer: CollectionSealer) {
        precondition(sealer.itemCount == 0, "a collection that was used before")
        self.init(unchecked: sealer)
    }

    /// For tests of the counter's end.
    init(unchecked sealer: CollectionSealer) {
        self.sealer = sealer
        name = Hexadecimal.encode(sealer.headerHash.prefix(4))
    }
}
