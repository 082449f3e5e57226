/// What a search asks, and for how long.
public struct SearchOptions: Sendable {
    /// WS-Discovery on every network of this machine.
    public var multicast = true
    /// How long answers are waited for after the last Probe.
    public var timeout: Duration = .seconds(5)
    /// Names of the interfaces that multicast uses; nil for all that are up.
    public var interfaces: [String]?
    /// Networks in which each address is asked.
    public var ranges: [AddressRange] = []
    /// More than 4096 addresses in all ranges together are meant.
    public var allowsLarge = false
    /// Where a scan looks for RTSP, in this order; no more than 32.
    public var ports: [UInt16] = [554, 8554, 88, 7447, 5000]
    /// Where a scan looks for ONVIF on an address that answers RTSP; no more than 32. A unicast Probe goes to every address.
    public var onvifPorts: [UInt16] = [80, 2020, 8000, 8899, 8080]
    /// Ask devices that are found, without a login, who they are: their answer shows whether they need one.
    public var asksDevices = true
    /// Connections under way at the same time, 1…256.
    public var concurrency = 64
    public var connectTimeout: Duration = .milliseconds(500)
    /// From the connection to the answer.
    public var answerTimeout: Duration = .seconds(2)

    public init() {}
}
