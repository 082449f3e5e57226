public import ControlAPI
public import DeviceSource

extension CameraControlsDocument {
    /// - Parameter camera: its ID.
    public init(camera: String, _ controls: DeviceControls) {
        self.init(
            camera: camera, device: controls.device, card: controls.card,
            controls: controls.controls.map { VideoControlDocument($0) })
    }
}
