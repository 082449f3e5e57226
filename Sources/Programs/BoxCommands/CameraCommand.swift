import ArgumentParser
import BoxView
import Console
import ControlAPI
import ControlClient

struct CameraCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "camera", abstract: "Cameras of this box.",
        subcommands: [
            CameraListCommand.self, CameraShowCommand.self, CameraAddCommand.self, CameraEditCommand.self,
            CameraRenameCommand.self, CameraRemoveCommand.self, CameraEnableCommand.self, CameraDisableCommand.self,
            CameraReorderCommand.self,
            CameraPasswordCommand.self, CameraSnapshotCommand.self, CameraControlsCommand.self,
            CameraEncodersCommand.self, CameraTestCommand.self, CameraProbeCommand.self, CameraProfilesCommand.self,
            CameraPTZCommand.self,
        ])
}

/// A camera that a command is about.
struct CameraArgument: ParsableArguments {
    @Argument(help: "ID of the camera.", completion: CameraNames.completion)
    var id: String

    var path: String { APIPath.cameras(id) }
}

struct CameraListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "All cameras.",
        discussion: """
              watchboxctl camera list
              watchboxctl camera list --json
            """)

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let document = try await output.client.get(
            CameraListDocument.self, APIPath.cameras(), or: "the cameras cannot be listed")
        output.show(document, rows: document.cameras) { CameraView.table(document) }
    }
}

struct CameraShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "One camera: is it live, how is it viewed, where does it go, how is it set.",
        discussion: "  watchboxctl camera show front")

    @OptionGroup var camera: CameraArgument
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let document = try await output.client.get(CameraDocument.self, camera.path, or: "\(camera.id) cannot be shown")
        let place = await output.environment(of: document)
        output.show(document) { CameraView.lines(document, at: place, style: $0) }
    }
}

extension OutputOptions {
    /// What a card shows of the box beside the camera; nil where no card is shown, or the daemon does not say.
    func environment(of camera: CameraDocument) async -> CameraContext? {
        guard chosen == .table, !quiet else { return nil }
        guard let relays = try? await client.get(RelayListDocument.self, APIPath.relays()),
            let keyAccess = try? await client.get(KeyAccessDocument.self, APIPath.keyAccess())
        else { return nil }
        return CameraContext(
            relay: relays.relays.first { $0.name == camera.stream.relay }, keyAccess: keyAccess)
    }
}

struct CameraRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rm", abstract: "Remove a camera: its stream ends, its settings and its password are deleted.",
        discussion: "  watchboxctl camera rm front --yes")

    @OptionGroup var camera: CameraArgument

    @Flag(help: "Do not ask.")
    var yes = false

    @OptionGroup var output: OutputOptions

    func run() async throws {
        try Question.confirm(
            "Remove \(camera.id)? Its stream ends, its settings and its password are deleted.", flag: "--yes",
            isConfirmed: yes)
        try await output.client.send(.delete, camera.path, or: "\(camera.id) was not removed")
        output.report("Removed \(camera.id).", Done(object: "camera.\(camera.id)", action: "removed"))
    }
}

struct CameraEnableCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable", abstract: "Publish a camera, now and after every start.",
        discussion: "  watchboxctl camera enable front")

    @OptionGroup var camera: CameraArgument
    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await CameraDisableCommand.change(camera, "enable", output)
    }
}

struct CameraDisableCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable", abstract: "Stop publishing a camera until it is enabled again.",
        discussion: "  watchboxctl camera disable front")

    @OptionGroup var camera: CameraArgument
    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await Self.change(camera, "disable", output)
    }

    static func change(_ camera: CameraArgument, _ verb: String, _ output: OutputOptions) async throws {
        try await output.client.send(.post, camera.path + "/" + verb, or: "\(camera.id) was not changed")
        output.report("\(camera.id): \(verb)d.", Done(object: "camera.\(camera.id)", action: verb + "d"))
    }
}

struct CameraReorderCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reorder", abstract: "Put the cameras in this order; those that are not named come after.",
        discussion: "  watchboxctl camera reorder front garage")

    @Argument(help: "IDs in their new order.", completion: CameraNames.completion)
    var ids: [String]

    @OptionGroup var output: OutputOptions

    func run() async throws {
        // The API takes the whole order.
        let what = "the order was not changed"
        let all = try await output.client.get(CameraListDocument.self, APIPath.cameras(), or: what).cameras
        let rest = all.filter { $0.origin == CameraSettingOptions.storeOrigin && !ids.contains($0.id) }.map(\.id)
        try await output.client.send(
            .put, APIPath.cameras("order"), body: CameraOrderRequest(ids: ids + rest), or: what)
        output.report("Reordered.", Done(object: "cameras", action: "reordered"))
    }
}
