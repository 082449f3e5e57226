internal import CameraModel
internal import ErrorCatalog
internal import VideoCapture
internal import VideoCodec

/// Why there is no frame at the moment: what to do, and what to say.
enum SourceFault: Error, Equatable, Sendable {
    case capture(CaptureError)
    /// The stream runs and gives nothing.
    case silent
    /// Another camera is where this one was.
    case anotherCamera(path: String, card: String)
    /// Nothing that came could be made into a frame.
    case badFrames(String)
    /// Frames that the camera encodes itself, and for long no key frame among them.
    case noKeyFrame

    var remedy: CaptureSession.Remedy {
        switch self {
        // It must be negotiated again, which opening it does.
        case .capture(.formatChanged): .wait
        case .capture(let error):
            switch error.remedy {
            case .waitForDevice: .wait
            case .restartStream: .restart
            case .person: .person
            }
        case .silent: .restart
        case .anotherCamera: .wait
        case .badFrames, .noKeyFrame: .restart
        }
    }

    var code: ErrorCode {
        switch self {
        case .capture(let error):
            switch error {
            case .notThere, .disconnected, .noSignal: .deviceMissing
            case .notPermitted, .busy: .deviceNotPermitted
            case .notACamera, .severalCameras: .deviceUnusable
            case .noHelper, .otherHelper: .csiUnavailable
            case .noSuchFormat: .formatRefused
            default: error.remedy == .person ? .formatRefused : .deviceFaults
            }
        case .silent: .deviceFaults
        case .anotherCamera: .deviceMissing
        case .badFrames: .badFrames
        case .noKeyFrame: .noKeyFrame
        }
    }

    /// For the status: why, and what to do.
    var message: String {
        switch self {
        case .capture(let error): "\(error)"
        case .silent: "the camera's stream runs and gives no frame. It is being started again"
        case .anotherCamera(let path, let card):
            "\(path) is another camera now (\(card)), whose frames do not go out under this one's name. Plug the camera in "
                + "again where it was; if the new one is meant, restart this one"
        case .badFrames(let why):
            "the camera's frames cannot be read: \(why). Try another pixel format (pixel_format = \"yuyv\"), cable or port"
        case .noKeyFrame:
            "the camera encodes its frames itself and sent none that can be begun with for "
                + "\(ReferenceGate.longestShut / 1_000_000_000) s. Its stream is being started again; shorter groups of pictures, "
                + "or another pixel format (pixel_format = \"mjpeg\"), help"
        }
    }
}
