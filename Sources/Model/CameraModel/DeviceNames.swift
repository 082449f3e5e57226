// How a camera of this machine is named: as a source in the configuration, and as the path that is opened.

extension CameraConfiguration.Device {
    /// In front of libcamera's identifier; alone, the only CSI camera of a machine.
    public static let csiScheme = "csi:"
    private static let v4l2Scheme = "v4l2:"

    /// What is opened for `v4l2:/dev/…` and `csi:…`; nil when the source is no camera of this machine.
    public static func path(ofSource source: String) -> String? {
        if source.hasPrefix(csiScheme) { return source }
        return source.hasPrefix(v4l2Scheme) ? String(source.dropFirst(v4l2Scheme.utf8.count)) : nil
    }

    /// The source whose camera has that path.
    public static func source(ofPath path: String) -> String {
        path.hasPrefix(csiScheme) ? path : v4l2Scheme + path
    }
}
