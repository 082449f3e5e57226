import ArgumentParser
import BoxView
import CameraModel
import Console
import ControlAPI
import ControlClient

struct CameraPTZCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ptz", abstract: "Move a camera that has PTZ; alone: the positions that it knows.",
        discussion: """
            Speeds are -1 to 1, positions -1 to 1 for pan and tilt and 0 to 1 for zoom. A move ends by itself.

              watchboxctl camera ptz yard
              watchboxctl camera ptz yard --pan -0.5 --seconds 2
              watchboxctl camera ptz yard --to 0.1,-0.2,0
              watchboxctl camera ptz yard --preset Gate
            """)

    @OptionGroup var camera: CameraArgument

    @Option(parsing: .unconditional, help: "Speed to the right; to the left below 0.")
    var pan: Double?

    @Option(parsing: .unconditional, help: "Speed upwards; downwards below 0.")
    var tilt: Double?

    @Option(parsing: .unconditional, help: "Speed of zooming in; out below 0.")
    var zoom: Double?

    @Option(help: "How long it moves, 0.1 to 10.")
    var seconds: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Go to this position; - leaves one as it is.", valueName: "pan,tilt,zoom"))
    var to: String?

    @Option(help: ArgumentHelp("Go to a position that the camera knows.", valueName: "name"))
    var preset: String?

    @Option(help: ArgumentHelp("Remember the position of now under this name.", valueName: "name"))
    var store: String?

    @Flag(help: "Go to the home position.")
    var home = false

    @Flag(help: "Stop moving.")
    var stop = false

    @Flag(help: "The positions that the camera knows.")
    var list = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        let isMoving = pan != nil || tilt != nil || zoom != nil
        let named = [isMoving, to != nil, preset != nil, store != nil, home, stop, list]
        guard named.count(where: { $0 }) <= 1 else { throw ValidationError("Name one movement.") }
        for speed in [pan, tilt, zoom] where !(-1...1).contains(speed ?? 0) {
            throw ValidationError("Speeds are -1 to 1.")
        }
        guard seconds == nil || isMoving else { throw ValidationError("--seconds goes with --pan, --tilt or --zoom.") }
        guard (0.1...10).contains(seconds ?? 1) else { throw ValidationError("--seconds is 0.1 to 10.") }
        if to != nil { _ = try position() }
        for name in [preset, store] where !(1...64).contains((name ?? "x").count) {
            throw ValidationError("A position's name has 1 to 64 characters.")
        }
    }

    /// Nil: nothing moves, and the presets are listed.
    private func command() throws -> PTZCommand? {
        if pan != nil || tilt != nil || zoom != nil {
            return .continuous(pan: pan ?? 0, tilt: tilt ?? 0, zoom: zoom ?? 0, seconds: seconds ?? 1)
        }
        if to != nil {
            let (pan, tilt, zoom) = try position()
            return .absolute(pan: pan, tilt: tilt, zoom: zoom)
        }
        if let preset { return .goTo(preset: preset) }
        if let store { return .store(preset: store) }
        if home { return .home }
        return stop ? .stop : nil
    }

    private func position() throws -> (pan: Double?, tilt: Double?, zoom: Double?) {
        let error = ValidationError("--to is PAN,TILT,ZOOM: -1 to 1, zoom 0 to 1, or - for what stays.")
        let parts = (to ?? "").split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw error }
        var values: [Double?] = []
        for (index, part) in parts.enumerated() {
            guard part != "-" else {
                values.append(nil)
                continue
            }
            guard let value = Double(part), (index == 2 ? 0.0...1.0 : -1.0...1.0).contains(value) else { throw error }
            values.append(value)
        }
        guard values.contains(where: { $0 != nil }) else { throw error }
        return (values[0], values[1], values[2])
    }

    func run() async throws {
        guard let command = try command() else { return try await showPresets() }
        try await Waiting.during("asking \(camera.id.terminalSafe)") { () async throws(CommandFailure) in
            try await output.client.send(
                .post, camera.path + "/ptz", body: command, or: "\(camera.id) was not moved")
        }
        let (text, action): (String, String) =
            switch command {
            case .continuous(_, _, _, let seconds): ("moves for \(Quantity.tenths(seconds)) s", "moves")
            case .absolute: ("goes there", "goes")
            case .stop: ("stopped", "stopped")
            case .goTo(let preset): ("goes to \(preset)", "goes")
            case .store(let preset): ("remembers this position as \(preset)", "stored")
            case .home: ("goes home", "goes")
            }
        output.report("\(camera.id): \(text).", Done(object: "camera.\(camera.id)", action: action))
    }

    private func showPresets() async throws {
        var client = output.client
        client.readTimeout = .seconds(28)
        let patient = client
        let document = try await Waiting.during("asking \(camera.id.terminalSafe)") {
            () async throws(CommandFailure) in
            try await patient.get(
                PTZPresetListDocument.self, camera.path + "/presets",
                or: "the positions of \(camera.id) are not known")
        }
        output.show(document, rows: document.presets) { PTZPresetView.table(document) }
    }
}
