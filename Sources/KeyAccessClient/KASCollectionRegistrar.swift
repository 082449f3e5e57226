public import HTTPClient
internal import KeyAccess
internal import Wire

/// Tells the KAS, before a collection is published, that its header is the publisher's own: the KAS gives no key for
/// a header that nobody vouched for (nanotdf-and-kas.md §4, S7).
public struct KASCollectionRegistrar: Sendable {
    private let connection: KASConnection

    /// - Parameter client: shared with other users of the same KAS; nil for one of its own.
    public init(configuration: KASConfiguration, client: HTTPClient? = nil) {
        self.init(configuration: configuration, transport: client ?? configuration.makeHTTPClient())
    }

    init(configuration: KASConfiguration, transport: any KASTransport) {
        connection = KASConnection(configuration, transport)
    }

    /// - Parameters:
    ///   - stream: the name under which the collection will be published.
    ///   - headerHash: SHA-256 of the header's bytes (`CollectionSealer.headerHash`).
    ///   - notAfter: Unix seconds after which the KAS forgets it.
    public func register(stream: String, headerHash: [UInt8], notAfter: Int64) async throws(KeyAccessError) {
        let registration = CollectionRegistration(
            stream: stream, headerSha256: Hexadecimal.encode(headerHash), notAfter: notAfter)
        _ = try await connection.send(
            .post, connection.configuration.root + CollectionRegistration.path,
            body: try KASConnection.encode(registration), authorised: true, accepted: [200, 201, 204])
    }
}
