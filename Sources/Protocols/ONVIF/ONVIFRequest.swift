/// One operation that is asked of a device, ready to be sent.
public struct ONVIFRequest: Equatable, Sendable {
    /// `GetProfiles`
    public var operation: String
    /// SOAP's action: of the HTTP header, and of WS-Addressing where that is used.
    public var action: String
    /// The element in the body, with the prefixes that the envelope declares.
    var body: String
    /// WS-Addressing: for a subscription, which is identified by its address and by what is in the header.
    var endpoint: EndpointReference?

    init(_ namespace: String, _ operation: String, action: String? = nil, _ content: String = "") {
        self.operation = operation
        self.action = action ?? "\(namespace)/\(operation)"
        let tag = "\(ONVIFNames.prefix(of: namespace) ?? "tds"):\(operation)"
        body = content.isEmpty ? "<\(tag)/>" : "<\(tag)>\(content)</\(tag)>"
    }

    /// The document: one line, since some devices refuse another, and every namespace declared on the envelope.
    ///
    /// - Parameters:
    ///   - token: who asks, when that goes into the message.
    ///   - messageID: `urn:uuid:…`, fresh for each transmission; used only where WS-Addressing is.
    public func envelope(token: UsernameToken? = nil, messageID: String = "") -> String {
        var header = ""
        if let endpoint {
            header += "<a:Action>\(XMLText.escaped(action))</a:Action>"
            if !messageID.isEmpty { header += "<a:MessageID>\(XMLText.escaped(messageID))</a:MessageID>" }
            header += "<a:ReplyTo><a:Address>\(ONVIFNames.addressing)/anonymous</a:Address></a:ReplyTo>"
            header += "<a:To>\(XMLText.escaped(endpoint.address))</a:To>"
            for parameter in endpoint.parameters { header += parameter.envelopeText }
        }
        if let token { header += token.header }
        let declarations = ONVIFNames.prefixes.map { " xmlns:\($0.prefix)=\"\($0.namespace)\"" }.joined()
        return "<?xml version=\"1.0\" encoding=\"UTF-8\"?><s:Envelope\(declarations)>"
            + (header.isEmpty ? "" : "<s:Header>\(header)</s:Header>") + "<s:Body>\(body)</s:Body></s:Envelope>"
    }
}

/// Whom a message is for, in WS-Addressing's terms.
public struct EndpointReference: Equatable, Sendable {
    /// As the device gave it: it must come back unchanged, though we connect to a repaired one.
    public var address: String
    /// They come back in the header of each message.
    public var parameters: [XMLElement]

    public init(address: String, parameters: [XMLElement] = []) {
        self.address = address
        self.parameters = parameters
    }

    /// Bytes of all parameters together, as they come back.
    static let maxParameterBytes = 16 << 10

    /// - Parameter element: with `Address` and perhaps `ReferenceParameters`. Nil without an address, or with more
    ///   parameters than any device has reason for: 16, and 16 KiB.
    init?(_ element: XMLElement) {
        guard let address = element.text("Address"), address.utf8.count <= DeviceURL.maxBytes else { return nil }
        let parameters = element.child("ReferenceParameters")?.children ?? []
        guard parameters.count <= 16,
            parameters.reduce(0, { $0 + $1.envelopeText.utf8.count }) <= Self.maxParameterBytes
        else { return nil }
        self.address = address
        self.parameters = parameters
    }
}
