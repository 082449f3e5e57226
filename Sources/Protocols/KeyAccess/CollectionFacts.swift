/// What a WatchBox KAS knows of the collection whose key it gave: for a viewer that wants to know what it sees
/// (docs/ref/wire-format.md, "A registration").
///
/// Comes with the answer to a rewrap, as its member `watchbox`, and only to a client that asked for it with the request
/// header `CollectionFacts.requestHeader`: other clients get the answer that OpenTDF specifies, and nothing else.
public struct CollectionFacts: Codable, Equatable, Sendable {
    /// Name and value of the HTTP header by which a client asks for the facts.
    public static let requestHeader = (name: "WatchBox-Facts", value: "1")

    /// The stream that the header was registered for by somebody who proved that he made it.
    public var stream: String
    /// Unix seconds, by the KAS's clock.
    public var registeredAt: Int64
    /// Headers that were registered for this stream after this one. Publishers register a few ahead of their use.
    public var newerRegistrations: Int
    /// The KAS's time when it answered, Unix milliseconds.
    public var time: Int64
    /// The signature of the device that registered the header, under a key that the KAS knows as its publisher's; nil when
    /// the KAS knows none. For the viewer to verify.
    public var publisher: PublisherSignature?

    public init(
        stream: String, registeredAt: Int64, newerRegistrations: Int, time: Int64,
        publisher: PublisherSignature? = nil
    ) {
        self.stream = stream
        self.registeredAt = registeredAt
        self.newerRegistrations = newerRegistrations
        self.time = time
        self.publisher = publisher
    }
}
