/// One `/dev/videoN`, and what it turned out to be; or a camera that libcamera lists.
public struct CaptureNode: Equatable, Sendable {
    public enum Verdict: Equatable, Sendable {
        case camera
        case rejected(Rejection)
        /// It could not be asked; the text says why.
        case unknown(String)
    }

    /// "/dev/video0": may be another camera's after the next boot; or "csi:/base/soc/i2c0mux/i2c@1/imx708@1a", which stays.
    public var device: String
    /// What the driver calls the device: "HD Pro Webcam C920".
    public var card: String
    /// "uvcvideo"; empty when neither the node nor sysfs said it.
    public var driver = ""
    /// Where it is, as the driver says it: "usb-0000:01:00.0-1.4"; what `subsystem` says when the node was not opened.
    public var bus = ""
    /// "usb", "platform", "pci", "virtual", or "csi".
    public var subsystem = "virtual"
    /// Of several nodes of one device: 0, 1 …
    public var index = 0
    /// The link under `/dev/v4l/by-id`, the same at every port; nil where there is none.
    public var stableID: String?
    /// The link under `/dev/v4l/by-path`, the same for every device at this port.
    public var stablePath: String?
    /// Of the USB device.
    public var serial: String?
    /// The kernel's name of the USB port: "1-1.4".
    public var usbPort: String?
    /// Of the USB link, in megabits per second: 480, 5000.
    public var usbMegabits: Int?
    public var verdict: Verdict = .camera

    public var isCamera: Bool { verdict == .camera }
    /// It is reached through libcamera.
    public var isCSI: Bool { CSICameras.isName(device) }

    /// Bytes per second that raw frames may take on the way from this camera; nil: as many as it likes.
    ///
    /// USB 2 carries 24 MB/s of frames in one isochronous stream at the most (3 × 1024 bytes in each of 8000
    /// microframes), USB 1 one megabyte.
    var rawBytesPerSecond: Int? {
        guard subsystem == "usb" else { return nil }
        switch usbMegabits ?? 480 {
        case ..<100: return 1_000_000
        case ..<1000: return 24_000_000
        default: return nil
        }
    }
}

/// A node that encodes video, by what it lists: that it really does is for a probe to show.
public struct EncoderNode: Equatable, Sendable, CustomStringConvertible {
    /// "/dev/video11"
    public var device: String
    public var card: String
    public var driver: String
    /// "h264", "hevc".
    public var codecs: Set<String>

    /// "/dev/video11 (bcm2835-codec-encode): h264"
    public var description: String { "\(device) (\(card)): \(codecs.sorted().joined(separator: ", "))" }
}
