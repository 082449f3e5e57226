import ONVIF
import XMLReader

/// A document, read as it would be from the network.
func element(_ text: String) throws -> XMLElement {
    try XMLReader.parse(Array(text.utf8)[...])
}

/// The content of an answer's body, in an envelope with the prefixes that devices use.
func answer(_ body: String) throws -> SOAPAnswer {
    let spaces = [
        "tds": "ver10/device/wsdl", "trt": "ver10/media/wsdl", "tr2": "ver20/media/wsdl", "tev": "ver10/events/wsdl",
        "tptz": "ver20/ptz/wsdl", "tt": "ver10/schema", "ter": "ver10/error", "tns1": "ver10/topics",
    ].map { "xmlns:\($0.key)=\"http://www.onvif.org/\($0.value)\"" }.joined(separator: " ")
    return SOAPAnswer(
        try element(
            """
            <SOAP-ENV:Envelope xmlns:SOAP-ENV="http://www.w3.org/2003/05/soap-envelope" \(spaces)
                xmlns:wsnt="http://docs.oasis-open.org/wsn/b-2" xmlns:wsa5="http://www.w3.org/2005/08/addressing">
            <SOAP-ENV:Body>\(body)</SOAP-ENV:Body></SOAP-ENV:Envelope>
            """))
}

struct NotAResponse: Error {}

func response(_ body: String) throws -> XMLElement {
    guard case .response(let element) = try answer(body) else { throw NotAResponse() }
    return element
}
