public import ControlAPI
internal import ControlClient

/// Asks a camera's process how it is.
public protocol CameraStatusReading: Sendable {
    /// - Throws: why there is no answer, as text.
    func status(of camera: String) async throws -> CameraStatusDocument
}

/// The real one: the camera's own socket.
public struct CameraSockets: CameraStatusReading {
    private let directory: String

    /// - Parameter directory: where `ID.sock` is.
    public init(directory: String = HealthPaths().cameraSockets) {
        self.directory = directory
    }

    public func status(of camera: String) async throws -> CameraStatusDocument {
        try await ControlClient(
            socketPath: "\(directory)/\(camera).sock", readTimeout: .seconds(2),
            maximumAnswerBytes: ControlClient.cameraAnswerBytes
        ).get(CameraStatusDocument.self, APIPath.status())
    }
}

extension ControlClientError {
    var isDenied: Bool {
        if case .denied = self { true } else { false }
    }
}

/// One camera's answer, or why there is none.
enum CameraReading: Sendable {
    case answered(CameraStatusDocument)
    case silent(String)
    /// Its socket is there, and not for this process: an upgrade that is not complete, a wrong group.
    case refused(String)
}
