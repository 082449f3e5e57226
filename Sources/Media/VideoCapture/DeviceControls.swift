/// What can be set at a camera, with its current values, and which one that is.
public struct DeviceControls: Sendable {
    /// `/dev/video0`, `csi:/base/soc/i2c0mux/i2c@1/imx708@1a`
    public var device: String
    /// What the driver calls it.
    public var card: String
    public var controls: [CaptureControl]

    /// - Parameter time: nanoseconds that it may take.
    /// - Throws: as `CaptureDevice.controls`.
    public init(
        of device: CaptureDevice, within time: UInt64 = CaptureDevice.maxControlsTime
    ) throws(CaptureError) {
        controls = try device.controls(within: time)
        self.device = device.node.device
        card = device.node.card
    }
}
