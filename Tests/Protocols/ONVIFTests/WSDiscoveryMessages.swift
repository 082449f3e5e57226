import ONVIF
import XMLReader

/// Datagrams as devices send them, and what they are read as.
enum WSDiscoveryMessages {
    /// gSOAP's prefixes, with hyphens.
    static func envelope(_ body: String, messageID: String? = "uuid:1") -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <SOAP-ENV:Envelope xmlns:SOAP-ENV="http://www.w3.org/2003/05/soap-envelope" \
        xmlns:wsa="http://schemas.xmlsoap.org/ws/2004/08/addressing" \
        xmlns:d="http://schemas.xmlsoap.org/ws/2005/04/discovery" xmlns:dn="http://www.onvif.org/ver10/network/wsdl">
        <SOAP-ENV:Header>\(messageID.map { "<wsa:MessageID>\($0)</wsa:MessageID>" } ?? "")</SOAP-ENV:Header>
        <SOAP-ENV:Body>\(body)</SOAP-ENV:Body></SOAP-ENV:Envelope>
        """
    }

    static func target(
        endpoint: String? = "urn:uuid:2419d68a-2dd2-21b2-a205-ec71db1a2b3c",
        types: String = "dn:NetworkVideoTransmitter",
        scopes: String = "onvif://www.onvif.org/name/Front%20door onvif://www.onvif.org/hardware/WB-1",
        addresses: String = "http://192.168.1.64/onvif/device_service", version: String = "10"
    ) -> String {
        """
        <wsa:EndpointReference><wsa:Address>\(endpoint ?? "")</wsa:Address></wsa:EndpointReference>
        <d:Types>\(types)</d:Types><d:Scopes>\(scopes)</d:Scopes><d:XAddrs>\(addresses)</d:XAddrs>
        <d:MetadataVersion>\(version)</d:MetadataVersion>
        """
    }

    static func matches(_ targets: String...) -> String {
        envelope("<d:ProbeMatches>\(targets.map { "<d:ProbeMatch>\($0)</d:ProbeMatch>" }.joined())</d:ProbeMatches>")
    }

    static func parsed(_ text: String, source: String = "192.168.1.64") throws -> DiscoveryMessage {
        try DiscoveryMessage.parse(try XMLReader.parse(Array(text.utf8)[...]), source: source)
    }

    /// The targets of an answer.
    static func targets(_ text: String, source: String = "192.168.1.64") throws -> [DiscoveredTarget] {
        guard case .matches(let targets) = try parsed(text, source: source).content else { return [] }
        return targets
    }
}
