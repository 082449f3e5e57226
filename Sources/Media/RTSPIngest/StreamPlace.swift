internal import CameraModel
internal import ONVIF

extension CameraConfiguration.Network {
    /// What an ONVIF device reports of its stream, already brought to the host that it was reached by, at the host and port
    /// that the operator named instead. User and password in it are forgotten.
    func placed(_ stream: String) -> String {
        guard rtspHost != nil || rtspPort != nil, var url = DeviceURL(stream) else { return stream }
        url.host = rtspHost ?? url.host
        url.port = rtspPort.map { UInt16(clamping: $0) } ?? url.port
        return url.text
    }
}
