internal import KeyAccess
public import KeyAccessClient
public import Settings

/// Keys from the configured KAS.
public struct KASKeyProvider: KeyProvider {
    private let client: KASRewrapClient

    public init(_ configuration: KASConfiguration) {
        client = KASRewrapClient(configuration: configuration)
    }

    public func key(forHeader header: [UInt8]) async throws(KeyRefusal) -> CollectionGrant {
        do throws(KeyAccessError) {
            return try await client.rewrap(header: header)
        } catch {
            throw KeyRefusal(error.retry == .soon ? .unavailable : .denied, reason: "\(error.what): \(error.why)")
        }
    }
}
