/// Why a search cannot be made.
public enum DiscoveryError: Error, Equatable, Sendable {
    /// A string that does not name a network to scan.
    case invalidRange(text: String, reason: String)
    /// More addresses than may be asked without an explicit yes (`allowsLarge`).
    case rangeNeedsConsent(text: String, addresses: Int, limit: Int)
    /// More addresses than may be asked at all.
    case rangeTooLarge(text: String, addresses: Int, limit: Int)
    /// A name that no network interface has.
    case unknownInterface(name: String, known: [String])
    /// No network interface that is up and can carry multicast, and nothing else to ask.
    case noNetwork
    /// Neither multicast nor a range, or no port to scan.
    case nothingToAsk
    /// A `Search` runs once.
    case ranAlready
    /// The system refuses what every search needs.
    case system(call: String, reason: String)
}

extension DiscoveryError: CustomStringConvertible {
    /// What happened and why.
    public var description: String {
        switch self {
        case .invalidRange(let text, let reason): "“\(text)” is not a network that can be searched: \(reason)"
        case .rangeNeedsConsent(let text, let addresses, let limit):
            "\(text) has \(addresses) addresses; more than \(limit) are asked only when that is confirmed"
        case .rangeTooLarge(let text, let addresses, let limit):
            "\(text) has \(addresses) addresses; a search asks no more than \(limit)"
        case .unknownInterface(let name, let known):
            "there is no network interface \(name); there are: \(known.isEmpty ? "none" : known.joined(separator: ", "))"
        case .noNetwork: "no network interface is up that cameras could be searched on"
        case .nothingToAsk: "the search has neither multicast nor a network and a port to scan"
        case .ranAlready: "this search has run already"
        case .system(let call, let reason): "the system refuses \(call): \(reason)"
        }
    }

    /// What to do next.
    public var hint: String {
        switch self {
        case .invalidRange: "Name a network such as 192.168.1.0/24, or one address"
        case .rangeNeedsConsent: "Name a smaller network such as 192.168.1.0/24, or confirm the large one"
        case .rangeTooLarge: "Name a smaller network such as 192.168.1.0/24"
        case .unknownInterface: "Choose one of those, or none for all"
        case .noNetwork: "Connect a cable or the WLAN, then look with: ip address"
        case .nothingToAsk: "Search by multicast, or name a network such as 192.168.1.0/24"
        case .ranAlready: "Begin a new search"
        case .system: "Look at what else runs on this machine, and try again"
        }
    }
}
