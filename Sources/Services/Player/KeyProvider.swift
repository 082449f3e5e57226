public import KeyAccessClient

/// Gets the key, and what the KAS knows, of a collection from the one KAS that the viewer is configured for, whatever the header says.
public protocol KeyProvider: Sendable {
    /// - Parameter header: the collection's NanoTDF header, as it came.
    func key(forHeader header: [UInt8]) async throws(KeyRefusal) -> CollectionGrant
}

/// Why there is no key.
public struct KeyRefusal: Error, Equatable, Sendable {
    public enum Kind: Equatable, Sendable {
        /// The KAS did not answer, or not as a KAS does: worth another try.
        case unavailable
        /// The KAS knows us and says no. It may have said so before the publisher could register the header.
        case denied
    }

    public var kind: Kind
    /// For a person; never holds a token or a key.
    public var reason: String

    public init(_ kind: Kind, reason: String) {
        self.kind = kind
        self.reason = reason
    }
}
