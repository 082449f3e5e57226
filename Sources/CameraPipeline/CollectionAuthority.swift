public import NanoTDF

/// What a camera needs of a key access service: whom to seal for, and a witness for its headers.
///
/// `KeyAccessAuthority` is the real one; tests bring their own.
public protocol CollectionAuthority: Sendable {
    /// The KAS's public key, from the network or a cache that may be a day old (nanotdf-and-kas.md §1.7).
    /// - Throws: when neither has one; the error's text is for a person and holds no secret.
    func recipient() async throws -> KASRecipient

    /// Headers are registered; false when the configuration has no right to.
    var registersHeaders: Bool { get }

    /// Vouches for a header of ours (nanotdf-and-kas.md §4, S7). Ends by itself within some seconds.
    /// - Parameters:
    ///   - headerHash: SHA-256 of the header's bytes.
    ///   - lifetime: after which the KAS may forget the header.
    func register(headerHash: [UInt8], stream: String, lifetime: Duration) async throws
}
