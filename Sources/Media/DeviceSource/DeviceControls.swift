public import VideoCapture

/// What can be set at the camera of a source, as it is at this moment.
public struct DeviceControls: Sendable {
    /// `/dev/video0`, `csi:/base/soc/i2c0mux/i2c@1/imx708@1a`
    public var device: String
    /// What the driver calls it.
    public var card: String
    public var controls: [CaptureControl]

    init(of device: CaptureDevice) {
        self.device = device.node.device
        card = device.node.card
        controls = device.controls()
    }
}
