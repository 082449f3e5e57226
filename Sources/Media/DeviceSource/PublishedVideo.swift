internal import CameraModel
internal import VideoCapture

/// Size and rate of what is published, of what was asked for and what the camera gives.
struct PublishedVideo: Equatable, Sendable {
    /// Pixels, even.
    var width: Int
    var height: Int
    /// Frames per second.
    var rate: Double
    /// What was asked for and the camera does not have; nil: all as asked.
    var limit: String?

    /// Part by which the shapes of two frames may differ and still be taken for one.
    private static let tolerance = 0.02

    init(_ requested: CameraConfiguration.Device, from setup: CaptureSetup) {
        let isTurned = requested.isTurned
        let (cameraWidth, cameraHeight) = isTurned ? (setup.height, setup.width) : (setup.width, setup.height)
        let (askedWidth, askedHeight) = (requested.width, requested.height)
        width = askedWidth
        height = askedHeight
        var limits: [String] = []
        let shape = Double(cameraWidth) / Double(max(cameraHeight, 1))
        let askedShape = Double(askedWidth) / Double(max(askedHeight, 1))
        let isStretched = abs(shape / askedShape - 1) > Self.tolerance
        if cameraWidth < askedWidth || cameraHeight < askedHeight || isStretched {
            // Neither blown up nor distorted: as large as it was asked for at most, in the camera's own shape.
            let scale = min(
                1, Double(askedWidth) / Double(max(cameraWidth, 1)), Double(askedHeight) / Double(max(cameraHeight, 1)))
            width = Self.even(Double(cameraWidth) * scale)
            height = Self.even(Double(cameraHeight) * scale)
            if width != askedWidth || height != askedHeight {
                limits.append(
                    "the camera has no \(askedWidth)x\(askedHeight): it delivers \(cameraWidth)x\(cameraHeight), "
                        + "published as \(width)x\(height)")
            }
        }
        rate = Double(requested.frameRate)
        if setup.rate > 0.01, setup.rate < rate * 0.95 {
            rate = setup.rate
            limits.append(
                "the camera delivers \(Self.tenths(setup.rate)) frames per second at this size, not \(requested.frameRate)"
            )
        }
        limit = limits.isEmpty ? nil : limits.joined(separator: "; ")
    }

    /// Whether a frame of one size can be scaled to the other without looking wrong.
    static func isSameShape(_ request: CaptureRequest, _ setup: CaptureSetup) -> Bool {
        let shape = Double(setup.width) / Double(max(setup.height, 1))
        let asked = Double(request.width) / Double(max(request.height, 1))
        return abs(shape / max(asked, 1e-6) - 1) <= tolerance
    }

    private static func even(_ value: Double) -> Int { max(16, Int((value / 2).rounded(.down)) * 2) }

    private static func tenths(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }
}

extension CameraConfiguration.Device {
    /// Width and height change places.
    var isTurned: Bool { rotation == 90 || rotation == 270 }

    /// What the camera is asked for.
    var captureRequest: CaptureRequest {
        CaptureRequest(
            width: isTurned ? height : width, height: isTurned ? width : height, rate: Double(frameRate),
            pixelFormat: pixelFormat.fourCC)
    }

    /// With what can change while it runs.
    func changed(by change: VideoChange) -> CameraConfiguration.Device {
        var device = self
        device.bitrate = change.bitrate ?? bitrate
        device.frameRate = change.frameRate ?? frameRate
        device.gopSeconds = change.gopSeconds ?? gopSeconds
        device.width = change.width ?? width
        device.height = change.height ?? height
        return device
    }
}

extension CameraConfiguration.Device.PixelFormat {
    /// Nil: the driver's choice.
    var fourCC: FourCC? {
        switch self {
        case .automatic: nil
        case .yuyv: .yuyv
        case .uyvy: .uyvy
        case .nv12: .nv12
        case .yu12: .yu12
        case .mjpeg: .mjpeg
        case .h264: .h264
        }
    }
}
