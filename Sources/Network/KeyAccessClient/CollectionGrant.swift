public import KeyAccess
public import NanoTDF

/// What a KAS gave for a header: the key, and what it knows of the collection.
public struct CollectionGrant: Sendable {
    public var key: CollectionKey
    /// Nil from a KAS that knows nothing of registration (OpenTDF's, arkavo-rs): then whose stream this is, and how old,
    /// is not verified by the KAS.
    public var facts: CollectionFacts?
    /// The device that registered it.
    public var publisher: PublisherProof = .none
}
