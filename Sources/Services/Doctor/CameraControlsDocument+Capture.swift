public import ControlAPI
public import VideoCapture

extension CameraControlsDocument {
    /// - Parameter camera: its ID; nil when a device was named instead.
    public init(camera: String?, _ controls: DeviceControls) {
        self.init(
            camera: camera, device: controls.device, card: controls.card,
            controls: controls.controls.map { VideoControlDocument($0) })
    }
}
