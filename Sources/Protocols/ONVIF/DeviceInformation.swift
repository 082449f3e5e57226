/// What a device says of itself. Texts are printable and shortened to 128 characters.
public struct DeviceInformation: Equatable, Sendable {
    public var manufacturer: String?
    public var model: String?
    public var firmware: String?
    public var serial: String?

    public static let clockRequest = ONVIFRequest(ONVIFNames.device, "GetSystemDateAndTime")
    public static let request = ONVIFRequest(ONVIFNames.device, "GetDeviceInformation")
    public static let networkRequest = ONVIFRequest(ONVIFNames.device, "GetNetworkInterfaces")
    public static let endpointRequest = ONVIFRequest(ONVIFNames.device, "GetEndpointReference")

    /// - Parameter response: `GetDeviceInformationResponse`
    public init(_ response: XMLElement) {
        func text(_ name: String) -> String? {
            response.text(name).map { SOAPAnswer.printable($0, 128) }.flatMap { $0.isEmpty ? nil : $0 }
        }
        manufacturer = text("Manufacturer")
        model = text("Model")
        firmware = text("FirmwareVersion")
        serial = text("SerialNumber")
    }

    /// The address of the first network interface that is switched on and has one; of any, if none is.
    ///
    /// - Parameter response: `GetNetworkInterfacesResponse`
    public static func hardwareAddress(_ response: XMLElement) -> String? {
        let interfaces = response.children(named: "NetworkInterfaces").prefix(16)
        let isOn: (XMLElement) -> Bool = { ["true", "1"].contains($0.text("Enabled")?.lowercased()) }
        for interface in interfaces.filter(isOn) + interfaces.filter({ !isOn($0) }) {
            if let text = interface.text("Info", "HwAddress"), let mac = DeviceIdentity(mac: text).mac { return mac }
        }
        return nil
    }

    /// - Parameter response: `GetEndpointReferenceResponse`
    public static func endpoint(_ response: XMLElement) -> String? {
        (response.text("GUID") ?? response.text("EndpointReference", "Address")).flatMap {
            DeviceIdentity.normalizedEndpoint($0)
        }
    }
}
