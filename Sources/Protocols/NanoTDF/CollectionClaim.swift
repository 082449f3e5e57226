/// Computes what only the maker of a collection, and the KAS that it was made for, can compute: an HMAC-SHA256 under a key
/// that is derived from the DEK and leads to nothing that the DEK protects.
public protocol PossessionProof: AnyObject, Sendable {
    /// HMAC-SHA256 of `message`, 32 bytes.
    func mac(of message: [UInt8]) -> [UInt8]
}

/// What a publisher needs to have a header registered: the header, and the means to prove that it made it
/// (docs/ref/wire-format.md, "A registration"). It opens and seals nothing, so it may outlive its collection.
public struct CollectionClaim: Sendable {
    /// The collection's header on the wire.
    public let headerBytes: [UInt8]
    /// SHA-256 of `headerBytes`.
    public let headerHash: [UInt8]
    public let proof: any PossessionProof
}
