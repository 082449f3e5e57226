/// Requests to the media services, and their answers.
extension MediaService {
    var namespace: String {
        switch self {
        case .media: ONVIFNames.media
        case .media2: ONVIFNames.media2
        }
    }

    private var prefix: String {
        switch self {
        case .media: "trt"
        case .media2: "tr2"
        }
    }

    private func profileToken(_ token: String) -> String {
        "<\(prefix):ProfileToken>\(XMLText.escaped(token))</\(prefix):ProfileToken>"
    }

    public var profilesRequest: ONVIFRequest {
        switch self {
        case .media: ONVIFRequest(namespace, "GetProfiles")
        // Without it, Media2 reports tokens and names alone.
        case .media2: ONVIFRequest(namespace, "GetProfiles", "<tr2:Type>All</tr2:Type>")
        }
    }

    public func streamRequest(profile: String) -> ONVIFRequest {
        switch self {
        case .media:
            ONVIFRequest(
                namespace, "GetStreamUri",
                "<trt:StreamSetup><tt:Stream>RTP-Unicast</tt:Stream><tt:Transport><tt:Protocol>RTSP</tt:Protocol>"
                    + "</tt:Transport></trt:StreamSetup>" + profileToken(profile))
        case .media2:
            ONVIFRequest(namespace, "GetStreamUri", "<tr2:Protocol>RTSP</tr2:Protocol>" + profileToken(profile))
        }
    }

    public func snapshotRequest(profile: String) -> ONVIFRequest {
        ONVIFRequest(namespace, "GetSnapshotUri", profileToken(profile))
    }

    public func synchronizationRequest(profile: String) -> ONVIFRequest {
        ONVIFRequest(namespace, "SetSynchronizationPoint", profileToken(profile))
    }

    public var encodersRequest: ONVIFRequest { ONVIFRequest(namespace, "GetVideoEncoderConfigurations") }

    public func encoderOptionsRequest(encoder: String) -> ONVIFRequest {
        ONVIFRequest(
            namespace, "GetVideoEncoderConfigurationOptions",
            "<\(prefix):ConfigurationToken>\(XMLText.escaped(encoder))</\(prefix):ConfigurationToken>")
    }

    /// - Parameter element: an encoder's, changed (`EncoderConfiguration.changed`).
    public func setEncoderRequest(_ element: XMLElement) -> ONVIFRequest {
        var configuration = element
        configuration.namespace = namespace
        configuration.name = "Configuration"
        let persistence = self == .media ? "<trt:ForcePersistence>true</trt:ForcePersistence>" : ""
        return ONVIFRequest(namespace, "SetVideoEncoderConfiguration", configuration.envelopeText + persistence)
    }

    /// Of an answer to GetProfiles: at most 32, those without a token left out, and those whose token is longer than 128
    /// bytes.
    public func profiles(_ response: XMLElement) -> [MediaProfile] {
        response.children(named: "Profiles").prefix(32).compactMap { element in
            guard let token = element.attribute("token"), token.utf8.count <= 128 else { return nil }
            let configurations = element.child("Configurations")
            let encoder = element.child("VideoEncoderConfiguration") ?? configurations?.child("VideoEncoder")
            let motors = element.child("PTZConfiguration") ?? configurations?.child("PTZ")
            return MediaProfile(
                token: token, name: SOAPAnswer.printable(element.text("Name") ?? token, 128), service: self,
                encoder: encoder.flatMap { EncoderConfiguration($0) }, ptzConfiguration: motors?.attribute("token"))
        }
    }

    /// Of an answer to GetVideoEncoderConfigurations: at most 64.
    public func encoders(_ response: XMLElement) -> [EncoderConfiguration] {
        response.children(named: "Configurations").prefix(64).compactMap { EncoderConfiguration($0) }
    }

    /// Of an answer to GetStreamUri or GetSnapshotUri; as given.
    public func address(_ response: XMLElement) -> String? {
        response.text("MediaUri", "Uri") ?? response.text("Uri")
    }
}
