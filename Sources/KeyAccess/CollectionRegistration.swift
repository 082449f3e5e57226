/// Body of `POST /watchbox/v1/collections` (scope `kas.publish`): the publisher vouches for one NanoTDF header, so
/// that a header with a swapped policy yields no key. The answer has the same form.
public struct CollectionRegistration: Codable, Equatable, Sendable {
    public static let path = "/watchbox/v1/collections"

    /// The name under which the header's items are published.
    public var stream: String
    /// SHA-256 of the header's bytes, 64 lower-case hexadecimal digits.
    public var headerSha256: String
    /// Unix seconds after which the service forgets the header.
    public var notAfter: Int64

    public init(stream: String, headerSha256: String, notAfter: Int64) {
        self.stream = stream
        self.headerSha256 = headerSha256
        self.notAfter = notAfter
    }
}
