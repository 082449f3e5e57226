internal import Wire

/// The device keys that an operator registered at a KAS: what its `devices.json` holds. Who has one here registers no
/// header without its signature.
public struct DeviceKeys: Codable, Equatable, Sendable {
    public struct Entry: Codable, Equatable, Sendable {
        /// The publisher: issuer and subject of its tokens.
        public var holder: AccessGrants.Holder
        /// Compressed P-256 point, base64.
        public var key: String
        /// Unix seconds.
        public var addedAt: Int64
    }

    public enum Fault: Error, Equatable, Sendable {
        case full(limit: Int)
        /// The publisher has as many as it may: one that serves, and one that takes over.
        case holderFull(limit: Int)
        case invalid(String)
        case unknown
    }

    /// Of all publishers.
    public static let limit = 4096
    /// Of one publisher: two during a change of keys.
    public static let limitOfHolder = 2

    public private(set) var entries: [Entry] = []

    public init() {}

    /// Adds a key; one that is there already stays as it is.
    ///
    /// - Parameter key: compressed point, on the curve.
    public mutating func add(_ key: [UInt8], for holder: AccessGrants.Holder, now: Int64) throws(Fault) {
        guard (1...256).contains(holder.subject.utf8.count), holder.issuer.utf8.count <= 512 else {
            throw .invalid("a subject has 1…256 bytes")
        }
        guard key.count == DeviceSignature.keyByteCount else { throw .invalid("it is not a point on P-256") }
        let known = keys(of: holder)
        guard !known.contains(key) else { return }
        guard known.count < Self.limitOfHolder else { throw .holderFull(limit: Self.limitOfHolder) }
        guard entries.count < Self.limit else { throw .full(limit: Self.limit) }
        entries.append(Entry(holder: holder, key: Base64.encode(key), addedAt: now))
    }

    public mutating func remove(_ key: [UInt8], of holder: AccessGrants.Holder) throws(Fault) {
        let count = entries.count
        let text = Base64.encode(key)
        entries.removeAll { $0.holder.isSame(holder) && $0.key == text }
        guard entries.count < count else { throw .unknown }
    }

    /// Compressed points; empty: this publisher need not sign.
    public func keys(of holder: AccessGrants.Holder) -> [[UInt8]] {
        entries.filter { $0.holder.isSame(holder) }.compactMap { try? Base64.decode($0.key) }
    }

    /// Whether an operator registered any for this publisher, readable or not.
    public func has(_ holder: AccessGrants.Holder) -> Bool {
        entries.contains { $0.holder.isSame(holder) }
    }
}
