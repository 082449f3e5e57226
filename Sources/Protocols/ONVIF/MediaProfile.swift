/// The service that reported a profile or an encoder.
public enum MediaService: String, Codable, Sendable, CaseIterable {
    /// `http://www.onvif.org/ver10/media/wsdl`
    case media
    /// `http://www.onvif.org/ver20/media/wsdl`
    case media2
}

/// One stream that a device offers, as GetProfiles reports it.
public struct MediaProfile: Equatable, Sendable {
    public var token: String
    public var name: String
    public var service: MediaService
    public var encoder: EncoderConfiguration?
    /// Of its PTZ configuration: without one, the profile moves nothing.
    public var ptzConfiguration: String?
}
