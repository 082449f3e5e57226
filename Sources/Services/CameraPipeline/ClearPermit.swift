internal import Wire

/// Leave to publish without encryption; for tests against peers that cannot open NanoTDF, and for nothing else.
///
/// There is no other way to one than this check: the environment must say so in as many words, and the relay must be
/// this machine.
public struct ClearPermit: Sendable {
    /// The variable, and the only value that counts.
    public static let variable = "WATCHBOX_ALLOW_CLEAR"
    public static let requiredValue = "tests-only"

    /// - Parameter environment: of the process.
    /// - Parameter relayHost: as the relay's URL names it; no name is looked up.
    public init(environment: [String: String], relayHost: String) throws(ClearRefused) {
        guard environment[Self.variable] == Self.requiredValue else { throw .notAllowed }
        try check(relayHost: relayHost)
    }

    /// For each further connection: the address may have changed.
    func check(relayHost: String) throws(ClearRefused) {
        guard Self.isLoopback(relayHost) else { throw .relayElsewhere(host: relayHost) }
    }

    /// `localhost`, 127.0.0.0/8 in four decimal parts, or `::1`.
    static func isLoopback(_ host: String) -> Bool {
        host == "[::1]" || NetworkAddress.isLoopback(host: host)
    }
}

public enum ClearRefused: Error, Equatable, Sendable, CustomStringConvertible {
    case notAllowed
    case relayElsewhere(host: String)

    public var description: String {
        switch self {
        case .notAllowed:
            "WatchBox does not publish without encryption. Tests may, to a relay on this machine, with "
                + "\(ClearPermit.variable)=\(ClearPermit.requiredValue)"
        case .relayElsewhere(let host):
            "WatchBox does not publish without encryption to \(host). Tests may, to a relay on this machine"
        }
    }
}
