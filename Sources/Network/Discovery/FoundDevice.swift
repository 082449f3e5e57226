/// A camera, or what looks like one, as a search has found it. All of it is the device's own claim.
public struct FoundDevice: Equatable, Sendable {
    public enum Kind: String, Sendable, CaseIterable {
        /// It speaks ONVIF: it reports its streams itself.
        case onvif
        /// It answers RTSP; the stream's path must be known.
        case rtsp
    }

    public var kind: Kind
    /// As `DeviceIdentity.endpoint`; nil when it was found by the scan alone.
    public var endpoint: String?
    /// Where it answered.
    public var address: String
    /// Of its ONVIF service, or of RTSP.
    public var port: UInt16
    public var name: String?
    public var manufacturer: String?
    public var hardware: String?
    public var location: String?
    public var firmware: String?
    public var serial: String?
    /// URLs of its ONVIF device service, the likeliest one first.
    public var xaddrs: [String] = []
    /// Hosts that WS-Discovery's messages of it came from.
    public var senders: [String] = []
    /// For `camera add`: `onvif://host[:port][/path]` or `rtsp://host[:port]/`.
    public var source: String
    /// Interfaces on which it was heard; empty for a scan.
    public var networks: [String] = []
    /// It refuses to say who it is without a login; nil when that is not known.
    public var needsLogin: Bool?
    /// Ports on which it answers RTSP, as far as the scan has asked.
    public var rtspPorts: [UInt16] = []
}

/// How far a search is.
public struct SearchProgress: Equatable, Sendable {
    /// What was found so far; entries may still gain facts.
    public var found: [FoundDevice] = []
    /// Pairs of address and port that were asked by the scan, and those that will be.
    public var probed = 0
    public var total = 0
    public var elapsed: Duration = .zero
    /// What could not be asked and why, for a person; no more than 16.
    public var problems: [String] = []

    public init() {}
}
