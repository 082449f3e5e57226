public import VideoCapture

/// What can be set at the camera of a source, with its current values.
public struct DeviceControls: Sendable {
    /// `/dev/video0`, `csi:/base/soc/i2c0mux/i2c@1/imx708@1a`
    public var device: String
    /// What the driver calls it.
    public var card: String
    public var controls: [CaptureControl]

    /// - Parameter time: nanoseconds that it may take.
    init(of device: CaptureDevice, within time: UInt64) throws(CaptureError) {
        controls = try device.controls(within: time)
        self.device = device.node.device
        card = device.node.card
    }
}
