/// Where a device's services are, as GetServices or GetCapabilities reports it: addresses as given, not repaired.
public struct DeviceServices: Equatable, Sendable {
    public var media: String?
    public var media2: String?
    public var events: String?
    public var ptz: String?

    public init() {}

    public static let request = ONVIFRequest(
        ONVIFNames.device, "GetServices", "<tds:IncludeCapability>false</tds:IncludeCapability>")
    public static let oldRequest = ONVIFRequest(
        ONVIFNames.device, "GetCapabilities", "<tds:Category>All</tds:Category>")

    /// - Parameter response: of either request.
    public init(_ response: XMLElement) {
        for service in response.children(named: "Service").prefix(64) {
            guard let address = service.text("XAddr") else { continue }
            switch service.text("Namespace") {
            case ONVIFNames.media: media = media ?? address
            case ONVIFNames.media2: media2 = media2 ?? address
            case ONVIFNames.events: events = events ?? address
            case ONVIFNames.ptz: ptz = ptz ?? address
            default: break
            }
        }
        guard let capabilities = response.child("Capabilities") else { return }
        media = media ?? capabilities.text("Media", "XAddr")
        events = events ?? capabilities.text("Events", "XAddr")
        ptz = ptz ?? capabilities.text("PTZ", "XAddr")
    }

    public var isEmpty: Bool { media == nil && media2 == nil && events == nil && ptz == nil }
}
