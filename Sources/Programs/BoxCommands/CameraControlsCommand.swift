import ArgumentParser
import BoxView
import CameraModel
import Console
import ControlAPI
import ControlClient
import Doctor
import ErrorCatalog
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
        let isDevice = camera.hasPrefix("/") || CSICameras.isName(camera)
        if isDevice { try output.box.requireThisMachine() }
        let document = isDevice ? try await read(camera, of: nil) : try await document(of: camera)
        output.show(document, rows: document.controls) { style in
            ["\(style.paint(document.card, .strong))  \(style.paint(document.device, .plain))"]
                + ControlsView.table(document.controls).lines(style, header: !output.noHeaders)
        }
    }

    /// As its process sees it; of a camera whose process does not run, as it is seen from here.
    private func document(of id: String) async throws -> CameraControlsDocument {
        do throws(ControlClientError) {
            return try await output.client.get(CameraControlsDocument.self, APIPath.cameras(id, "controls"))
        } catch {
            let failure = CommandFailure(error, what: "the controls of \(id) cannot be read")
            guard output.box.chosen == nil, case .problem(let problem) = error, problem.code == .unreachable,
                let known = try? await output.client.get(CameraDocument.self, APIPath.cameras(id)),
                let path = CameraConfiguration.Device.path(ofSource: known.source)
            else { throw failure }
            return try await read(path, of: id)
        }
    }

    private func read(_ path: String, of camera: String?) async throws(CommandFailure) -> CameraControlsDocument {
        let what = "the controls of \(camera ?? path) cannot be read"
        switch await OwnThread.value({ Self.read(path, camera) }) {
        case .success(let document)?: return document
        case .failure(let error)?:
            throw CommandFailure(
                what: "\(what): \(error.what)", why: CameraTesting.withoutStop(error.why), hint: error.hint,
                status: .failed)
        case nil:
            throw CommandFailure(
                what: what, why: "no thread can be made", hint: "free some memory", status: .failed)
        }
    }

    private static func read(_ path: String, _ camera: String?) -> Result<CameraControlsDocument, CaptureError> {
        do throws(CaptureError) {
            let device = try CaptureDevice(path: path)
            defer { device.close() }
            return .success(CameraControlsDocument(camera: camera, try DeviceControls(of: device)))
        } catch {
            return .failure(error)
        }
    }
}
