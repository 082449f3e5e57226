public import NanoTDF

/// What a camera needs of a key access service: whom to seal for, and a witness for its headers.
///
/// `KeyAccessAuthority` is the real one; tests bring their own.
public protocol CollectionAuthority: Sendable {
    /// The KAS's public key, from the network or a cache that may be a day old.
    /// - Throws: when neither has one; the error's text is for a person and holds no secret.
    func recipient() async throws -> KASRecipient

    /// Headers are registered; false when the configuration has no right to.
    var registersHeaders: Bool { get }

    /// Vouches for a header of ours, and proves that it is (`CollectionRegistration`). Ends by itself within some seconds.
    /// - Parameter lifetime: after which the KAS may forget the header.
    /// - Returns: the KAS's time, Unix milliseconds; nil when it does not report it.
    func register(
        _ claim: CollectionClaim, stream: String, lifetime: Duration
    ) async throws(RegistrationFailure) -> Int64?
}

/// Why a header is not registered.
public struct RegistrationFailure: Error, Equatable, Sendable {
    public enum Kind: Equatable, Sendable {
        /// The KAS is away or overloaded: it may come back any moment.
        case away
        /// The KAS takes nothing from us until somebody gives us another token.
        case notAdmitted
        /// The KAS will never take this header; others it may.
        case refused
        /// The KAS knows nothing of registration.
        case unsupported
    }

    public var kind: Kind
    /// For a person; holds no secret.
    public var reason: String

    public init(_ kind: Kind, reason: String) {
        self.kind = kind
        self.reason = reason
    }
}
