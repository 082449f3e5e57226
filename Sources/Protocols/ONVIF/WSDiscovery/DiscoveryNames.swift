/// The names of WS-Discovery as ONVIF uses it: the version of April 2005, with SOAP 1.2 over UDP.
public enum DiscoveryNames {
    /// Where Probe, Hello and Bye go: this group on each network, and `FF02::C` for IPv6.
    public static let group = "239.255.255.250"
    public static let group6 = "ff02::c"
    public static let port: UInt16 = 3702

    static let envelope = "http://www.w3.org/2003/05/soap-envelope"
    static let addressing = "http://schemas.xmlsoap.org/ws/2004/08/addressing"
    static let discovery = "http://schemas.xmlsoap.org/ws/2005/04/discovery"
    /// Of the type NetworkVideoTransmitter.
    static let network = "http://www.onvif.org/ver10/network/wsdl"
    /// Of the type Device.
    static let device = "http://www.onvif.org/ver10/device/wsdl"
    static let everyTarget = "urn:schemas-xmlsoap-org:ws:2005:04:discovery"
    /// What ONVIF's own scopes begin with.
    static let scopes = "onvif://www.onvif.org/"
}
