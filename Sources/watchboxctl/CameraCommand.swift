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
            CameraRemoveCommand.self, CameraEnableCommand.self, CameraDisableCommand.self, CameraReorderCommand.self,
            CameraPasswordCommand.self, CameraSnapshotCommand.self, CameraControlsCommand.self,
            CameraEncodersCommand.self,
        ])
}

/// A camera that a command is about.
struct CameraArgument: ParsableArguments {
    @Argument(help: "ID of the camera.", completion: CameraNames.completion)
    var id: String

    var path: String { "/api/v1/cameras/" + ControlClient.part(id) }
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
        let client = output.client
        let document = try await asking("the cameras cannot be listed") { () throws(ControlClientError) in
            try await client.get(CameraListDocument.self, "/api/v1/cameras")
        }
        output.show(document, rows: document.cameras) { CameraView.table(document) }
    }
}

struct CameraShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "One camera, with its settings and where they come from.",
        discussion: """
              watchboxctl camera show front
            """)

    @OptionGroup var camera: CameraArgument
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let client = output.client
        let document = try await asking("\(camera.id) cannot be shown") { () throws(ControlClientError) in
            try await client.get(CameraDocument.self, camera.path)
        }
        output.show(document) { CameraView.lines(document, style: $0) }
    }
}

struct CameraAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add a camera and publish it.",
        discussion: """
            Sources of this version: test: (a moving picture with a clock and a tone), file:/PATH (a media file, in a \
            loop) and v4l2:/dev/… (a camera of this machine; watchboxctl discover lists them). Waits until the first frame is at the relay, unless --no-wait; ends with 7 when it does not come in 30 s. \
            The camera is added all the same, and goes on trying.

              watchboxctl camera add front --source test: --name "Front door"
              watchboxctl camera add lobby --source file:/srv/video/lobby.mp4 --relay main
              watchboxctl camera add yard --source v4l2:/dev/v4l/by-id/usb-Maker_Cam_1234-video-index0 --rate 15
            """)

    @Argument(help: "ID: a-z, 0-9 and single hyphens, at most 24 characters.")
    var id: String

    @Option(help: "test:, file:/PATH or v4l2:/dev/….")
    var source: String

    @OptionGroup var settings: CameraSettingOptions

    @Flag(help: "Add it without publishing.")
    var disabled = false

    @Flag(help: "Do not wait for the first frame.")
    var noWait = false

    @Flag(help: "Say what would happen, and do nothing.")
    var dryRun = false

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let client = output.client
        let request = CameraRequest(
            id: id, name: settings.name, source: source, user: settings.user, isActive: !disabled,
            settings: settings.settings)
        if dryRun {
            let diff = try await asking("\(id) cannot be added") { () throws(ControlClientError) in
                try await client.send(
                    .post, "/api/v1/cameras", body: request, query: [("dryRun", "1")], as: ConfigurationDiff.self)
            }
            return output.show(diff) { ConfigurationView.lines(diff, style: $0) }
        }
        let document = try await add(request, client)
        if !disabled, !noWait {
            do {
                try await Publishing.wait(for: id, client: client, timeout: .seconds(30))
            } catch var failure as CommandFailure {
                failure.what = "\(id) is added and goes on trying, but does not publish yet"
                failure.next =
                    "watchboxctl status \(id), watchboxctl logs \(id); to take it back: watchboxctl camera rm \(id)"
                throw failure
            }
        }
        let path = "/api/v1/cameras/\(ControlClient.part(id))"
        let final = (try? await client.get(CameraDocument.self, path)) ?? document
        output.show(final) { style in
            ["Added."] + CameraView.lines(final, style: style)
        }
    }

    /// With a password: added disabled, given it, then enabled, so that it never tries without.
    private func add(_ request: CameraRequest, _ client: ControlClient) async throws -> CameraDocument {
        let password = try Secret.forUser(settings.user, file: settings.passwordFile, of: "camera \(id)")
        var first = request
        if password != nil { first.isActive = false }
        let document = try await asking("\(id) was not added") { () throws(ControlClientError) in
            try await client.send(.post, "/api/v1/cameras", body: first, as: CameraDocument.self)
        }
        guard let password else { return document }
        let path = "/api/v1/cameras/\(ControlClient.part(id))"
        do {
            try await client.send(.put, path + "/password", body: SecretRequest(secret: password))
            if !disabled { try await client.send(.post, path + "/enable") }
            return document
        } catch {
            var failure = CommandFailure(
                error, what: "\(id) is added but disabled: its password was not stored, or it was not enabled")
            failure.next = "watchboxctl camera password \(id), then watchboxctl camera enable \(id)"
            throw failure
        }
    }
}

struct CameraEditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Change settings of a camera; a new name alone restarts nothing.",
        discussion: """
            What is not named stays as it is. Bit rate, rate, size and key frame distance of a camera of this machine change \
            while it publishes, without a gap; --dry-run says so. Of an option that may be repeated, the whole list is set: \
            none empties it.

              watchboxctl camera edit front --name "Front door, left"
              watchboxctl camera edit front --bitrate 1000000 --dry-run
              watchboxctl camera edit front --mask none --overlay time --overlay name
            """)

    @OptionGroup var camera: CameraArgument

    @Option(help: "test:, file:/PATH or v4l2:/dev/….")
    var source: String?

    @OptionGroup var settings: CameraSettingOptions

    @Flag(help: "Say what would happen, and do nothing.")
    var dryRun = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard source != nil || !settings.isEmpty else { throw ValidationError("Name what changes; see --help.") }
    }

    func run() async throws {
        let client = output.client
        // Somebody else's change between our look and ours must not be lost.
        let (known, tag) = try await asking("\(camera.id) was not changed") { () throws(ControlClientError) in
            try await client.getTagged(CameraDocument.self, camera.path)
        }
        let request = CameraRequest(
            name: settings.name, source: source, user: settings.user,
            settings: settings.settings.isEmpty ? nil : settings.settings)
        if dryRun {
            let diff = try await asking("\(camera.id) cannot be changed") { () throws(ControlClientError) in
                try await client.send(
                    .patch, camera.path, body: request, query: [("dryRun", "1")], ifMatch: tag,
                    as: ConfigurationDiff.self)
            }
            return output.show(diff) { ConfigurationView.lines(diff, style: $0) }
        }
        let password = try Secret.forUser(
            settings.user, file: settings.passwordFile, of: "camera \(camera.id)", mayKeep: known.hasPassword)
        var document = known
        if request != CameraRequest() {
            document = try await asking("\(camera.id) was not changed") { () throws(ControlClientError) in
                try await client.send(.patch, camera.path, body: request, ifMatch: tag, as: CameraDocument.self)
            }
        }
        if let password {
            let what = "the password of \(camera.id) was not stored; what else was named is changed"
            try await asking(what) { () throws(ControlClientError) in
                try await client.send(.put, camera.path + "/password", body: SecretRequest(secret: password))
            }
            document = (try? await client.get(CameraDocument.self, camera.path)) ?? document
        }
        output.show(document) { CameraView.lines(document, style: $0) }
    }
}

struct CameraRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rm", abstract: "Remove a camera: its stream ends, its settings and its password are deleted.",
        discussion: """
              watchboxctl camera rm front --yes
            """)

    @OptionGroup var camera: CameraArgument

    @Flag(help: "Do not ask.")
    var yes = false

    @OptionGroup var output: OutputOptions

    func run() async throws {
        try Question.confirm(
            "Remove \(camera.id)? Its stream ends, its settings and its password are deleted.", flag: "--yes",
            isConfirmed: yes)
        let client = output.client
        try await asking("\(camera.id) was not removed") { () throws(ControlClientError) in
            try await client.send(.delete, camera.path)
        }
        output.tell("Removed \(camera.id).", Done(object: "camera.\(camera.id)", action: "removed"))
    }
}

struct CameraEnableCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable", abstract: "Publish a camera, now and after every start.",
        discussion: """
              watchboxctl camera enable front
            """)

    @OptionGroup var camera: CameraArgument
    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await CameraDisableCommand.change(camera, "enable", output)
    }
}

struct CameraDisableCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable", abstract: "Stop publishing a camera until it is enabled again.",
        discussion: """
              watchboxctl camera disable front
            """)

    @OptionGroup var camera: CameraArgument
    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await Self.change(camera, "disable", output)
    }

    static func change(_ camera: CameraArgument, _ verb: String, _ output: OutputOptions) async throws {
        let client = output.client
        try await asking("\(camera.id) was not changed") { () throws(ControlClientError) in
            try await client.send(.post, camera.path + "/" + verb)
        }
        output.tell("\(camera.id): \(verb)d.", Done(object: "camera.\(camera.id)", action: verb + "d"))
    }
}

struct CameraReorderCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reorder", abstract: "Put the cameras in this order; those that are not named come after.",
        discussion: """
              watchboxctl camera reorder front garage
            """)

    @Argument(help: "IDs in their new order.", completion: CameraNames.completion)
    var ids: [String]

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let client = output.client
        try await asking("the order was not changed") { () throws(ControlClientError) in
            // The API takes the whole order.
            let all = try await client.get(CameraListDocument.self, "/api/v1/cameras").cameras
            let rest = all.filter { $0.origin == CameraSettingOptions.storeOrigin && !ids.contains($0.id) }.map(\.id)
            try await client.send(.put, "/api/v1/cameras/order", body: CameraOrderRequest(ids: ids + rest))
        }
        output.tell("Reordered.", Done(object: "cameras", action: "reordered"))
    }
}
