/// One relay, or the KAS, as `watchboxctl netcheck` sees it from the box.
public struct NetworkPeer: Codable, Equatable, Sendable {
    /// Name of the relay, or `kas`.
    public var name: String
    /// Nil where the address is a secret.
    public var host: String?
    public var port: Int?
    public var lookupMilliseconds: Double?
    public var connectMilliseconds: Double?
    /// Of a relay: "TLS 1.3"; nil without TLS, and where the handshake failed. libcurl, which asks the KAS, does not report it.
    public var tlsVersion: String?
    /// Whole days until its certificate ends; below 0 when it has.
    public var certificateDays: Int64?
    /// Of TCP, as the kernel measures it, with nothing else of ours on the way.
    public var roundTripMilliseconds: Double?
    /// The same, at the end of the measured upload: what waits in routers is in it.
    public var roundTripUnderLoadMilliseconds: Double?
    /// Bytes of the largest packet, as far as the kernel knows.
    public var pathMTU: Int?
    /// What the relay's kernel acknowledged; nil where it was not measured.
    public var uploadBitsPerSecond: Double?
    /// The measurement was too short to say more than that it is so fast.
    public var uploadIsAtLeast: Bool?
    public var uploadBytes: UInt64?
    /// One for each line: `dns`, `tcp`, `tls`, `rtt`, `mtu`, `upload`, with the peer's name before it.
    public var findings: [DoctorFinding] = []

    public init(name: String) {
        self.name = name
    }
}

/// What `watchboxctl netcheck --json` prints.
public struct NetworkCheckReport: Codable, Equatable, Sendable {
    public var schema = "watchbox.netcheck/1"
    /// Seconds since 1970.
    public var time: Int64
    /// Of the program that looked.
    public var version: String
    /// Relays by name, then the KAS.
    public var peers: [NetworkPeer]

    public init(time: Int64, version: String, peers: [NetworkPeer]) {
        self.time = time
        self.version = version
        self.peers = peers
    }

    /// All lines in the form of the doctor's.
    public var findings: DoctorReport {
        DoctorReport(time: time, version: version, isOffline: false, findings: peers.flatMap(\.findings))
    }
}
