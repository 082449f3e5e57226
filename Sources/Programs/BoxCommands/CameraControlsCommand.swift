import ArgumentParser
import BoxView
import CameraModel
import Console
import ControlAPI
import ControlClient
import Doctor
import Platform
import VideoCapture

struct CameraControlsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "controls", abstract: "What can be set at a camera itself: brightness, focus, exposure ….",
        discussion: """
            Shows the values of this moment and changes nothing. A camera keeps what its settings say: \
            watchboxctl camera edit front --control brightness=128.

              watchboxctl camera controls front
              watchboxctl camera controls /dev/video0
              watchboxctl camera controls csi:
            """)

    @Argument(
        help: ArgumentHelp("ID of a camera, or the device itself.", valueName: "id|path"),
        completion: CameraNames.completion)
    var camera: String

    @OptionGroup var output: OutputOptions

    func run() async throws {
        try output.box.requireThisMachine()
        let isDevice = camera.hasPrefix("/") || CSICameras.isName(camera)
        let path = isDevice ? camera : try await device(of: camera)
        let identifier = isDevice ? nil : camera
        let result = await OwnThread.value { Self.read(path, identifier) }
        switch result {
        case .success(let document)?:
            output.show(document, rows: document.controls) { style in
                ["\(style.paint(document.card, .strong))  \(style.paint(document.device, .plain))"]
                    + ControlsView.table(document.controls).lines(style, header: !output.noHeaders)
            }
        case .failure(let error)?:
            throw CommandFailure(
                what: "the controls of \(camera) cannot be read: \(error.what)",
                why: CameraTesting.withoutStop(error.why),
                hint: error.hint,
                status: .failed)
        case nil:
            throw CommandFailure(
                what: "the controls of \(camera) cannot be read", why: "no thread can be made",
                hint: "free some memory", status: .failed)
        }
    }

    /// Of a camera that the daemon knows.
    private func device(of id: String) async throws -> String {
        let document = try await output.client.get(
            CameraDocument.self, APIPath.cameras(id), or: "the controls of \(id) cannot be read")
        guard let path = CameraConfiguration.Device.path(ofSource: document.source) else {
            throw CommandFailure(
                what: "\(id) has no controls", why: "its source is \(document.source), no camera of this machine",
                hint: "name a camera whose source is v4l2:/dev/… or csi:…: watchboxctl camera list", status: .failed)
        }
        return path
    }

    private static func read(_ path: String, _ camera: String?) -> Result<CameraControlsDocument, CaptureError> {
        do throws(CaptureError) {
            let device = try CaptureDevice(path: path)
            defer { device.close() }
            return .success(
                CameraControlsDocument(
                    camera: camera, device: device.node.device, card: device.node.card,
                    controls: device.controls().map { VideoControlDocument($0) }))
        } catch {
            return .failure(error)
        }
    }
}
