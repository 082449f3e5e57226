/// What a search has heard so far: each device once, with all that its messages say.
public struct DiscoveryCollection: Equatable, Sendable {
    public struct Entry: Equatable, Sendable {
        /// Its newest message, with the addresses of all of them.
        public var target: DiscoveredTarget
        /// Where its messages came from.
        public var sources: [String]
        /// Interfaces on which they came.
        public var networks: [String]
    }

    /// Devices that are kept; more are counted.
    public static let limit = 1024

    /// In the order in which they came.
    public private(set) var entries: [Entry] = []
    /// Answers of printers, computers and others that are not cameras, or name no address that can be used.
    public private(set) var ignored: UInt64 = 0
    /// Answers that came when the collection was full.
    public private(set) var overflow: UInt64 = 0
    private var indices: [String: Int] = [:]

    public init() {}

    /// Takes what a device said. True when that changed something.
    @discardableResult
    public mutating func add(_ target: DiscoveredTarget, network: String) -> Bool {
        guard target.isCamera, let first = target.addresses.first else {
            ignored &+= 1
            return false
        }
        let key = target.endpoint ?? first
        guard let index = indices[key] else {
            guard entries.count < Self.limit else {
                overflow &+= 1
                return false
            }
            indices[key] = entries.count
            entries.append(Entry(target: target, sources: [target.source], networks: [network]))
            return true
        }
        let before = entries[index]
        entries[index] = Self.merged(before, target, network: network)
        return entries[index] != before
    }

    private static func merged(_ entry: Entry, _ target: DiscoveredTarget, network: String) -> Entry {
        var entry = entry
        if !entry.sources.contains(target.source), entry.sources.count < DiscoveryAddress.limit {
            entry.sources.append(target.source)
        }
        if !entry.networks.contains(network), entry.networks.count < DiscoveryAddress.limit {
            entry.networks.append(network)
        }
        // An answer to one Probe may say less than the answer to another.
        let isNewer = target.metadataVersion >= entry.target.metadataVersion
        var merged = isNewer ? target : entry.target
        let other = isNewer ? entry.target : target
        if merged.types.isEmpty { merged.types = other.types }
        if merged.scopes.isEmpty { merged.scopes = other.scopes }
        merged.endpoint = entry.target.endpoint
        merged.source = entry.target.source
        merged.addresses = DiscoveryAddress.ordered(
            entry.target.addresses + target.addresses, sources: entry.sources)
        entry.target = merged
        return entry
    }
}
