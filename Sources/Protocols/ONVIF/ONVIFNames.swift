/// Namespaces, and the prefix by which every envelope of ours declares them.
enum ONVIFNames {
    static let soap = "http://www.w3.org/2003/05/soap-envelope"
    static let security = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd"
    static let utility = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd"
    static let addressing = "http://www.w3.org/2005/08/addressing"
    static let notification = "http://docs.oasis-open.org/wsn/b-2"
    static let schema = "http://www.onvif.org/ver10/schema"
    static let device = "http://www.onvif.org/ver10/device/wsdl"
    static let media = "http://www.onvif.org/ver10/media/wsdl"
    static let media2 = "http://www.onvif.org/ver20/media/wsdl"
    static let events = "http://www.onvif.org/ver10/events/wsdl"
    static let ptz = "http://www.onvif.org/ver20/ptz/wsdl"

    /// All on the envelope: where they are declared decides for some devices.
    static let prefixes: [(prefix: String, namespace: String)] = [
        ("s", soap), ("wsse", security), ("wsu", utility), ("a", addressing), ("wsnt", notification), ("tt", schema),
        ("tds", device), ("trt", media), ("tr2", media2), ("tev", events), ("tptz", ptz),
    ]

    static func prefix(of namespace: String) -> String? {
        prefixes.first { $0.namespace == namespace }?.prefix
    }
}
