import ArgumentParser
import BoxView
import CameraModel
import Console
import ControlAPI
import ControlClient
internal import Settings

struct CameraEditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Change settings of a camera; a new name alone restarts nothing.",
        discussion: """
            What is not named stays as it is. Bit rate, rate, size and key frame distance of a camera of this machine change \
            while it publishes, without a gap; --dry-run says so. Of an option that may be repeated, the whole list is set: \
            none empties it. A network camera that shows another certificate than before is used again after \
            --accept-certificate, which asks it for the one that it shows now, without a login. --accept-device is for an \
            onvif:// camera that was replaced: the box forgets which device it was, and takes the one that answers next. \
            --accept-move takes the place to which a camera seems to have moved, as status and camera show report it, and no \
            other: from then on the box looks for the camera there, and gives it its login.

              watchboxctl camera edit front --name "Front door, left"
              watchboxctl camera edit front --bitrate 1000000 --dry-run
              watchboxctl camera edit front --mask none --overlay time --overlay name
              watchboxctl camera edit yard --profile sub --transport udp
              watchboxctl camera edit yard --accept-certificate
              watchboxctl camera edit yard --accept-device
              watchboxctl camera edit yard --accept-move onvif://192.168.1.77
            """)

    @OptionGroup var camera: CameraArgument

    @Option(help: ArgumentHelp(CameraTesting.sources))
    var source: String?

    @OptionGroup var settings: CameraSettingOptions

    @Flag(help: "Trust the certificate that a network camera shows now, and no other after it.")
    var acceptCertificate = false

    @Flag(help: "Forget which device an onvif:// camera was, and take the one that answers next.")
    var acceptDevice = false

    @Option(
        help: ArgumentHelp(
            "The camera is at this place now, to which it seems to have moved: just as watchboxctl status names it.",
            valueName: "address"))
    var acceptMove: String?

    @Flag(help: "Do not ask before --accept-device.")
    var yes = false

    @Flag(help: "Say what would happen, and do nothing.")
    var dryRun = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard source != nil || !settings.isEmpty || acceptCertificate || acceptDevice || acceptMove != nil else {
            throw ValidationError("Name what changes; see --help.")
        }
        if acceptCertificate, settings.pin != nil {
            throw ValidationError("--accept-certificate takes the pin from the camera: leave --pin out.")
        }
        if acceptMove != nil, source != nil {
            throw ValidationError("--accept-move and --source both say where the camera is: leave one out.")
        }
        if acceptMove != nil, acceptCertificate {
            throw ValidationError("Accept the move first: the certificate is asked for at the camera's address.")
        }
    }

    func run() async throws {
        let client = output.client
        // Somebody else's change between our look and ours must not be lost.
        let look = try await client.look(CameraDocument.self, camera.path, or: "\(camera.id) was not changed")
        let (known, tag) = (look?.document, look?.eTag)
        var values = settings.settings
        if acceptCertificate { values["pin"] = .string(try await shownPin(source ?? known?.source ?? "")) }
        if acceptDevice {
            for field in ["identity_endpoint", "identity_serial", "identity_mac"] { values[field] = .string("") }
        }
        let request = CameraRequest(
            name: settings.name, source: source, user: settings.user, settings: values.isEmpty ? nil : values,
            acceptMove: acceptMove)
        if dryRun {
            let diff = try await client.send(
                .patch, camera.path, body: request, query: [("dryRun", "1")], ifMatch: tag, as: ConfigurationDiff.self,
                or: "\(camera.id) cannot be changed")
            return output.show(diff) { ConfigurationView.lines(diff, style: $0) }
        }
        if acceptDevice {
            let of = [known?.manufacturer, known?.model, known?.serial.map { "serial number \($0)" }].compactMap(\.self)
            let former = of.isEmpty ? "the device that it was" : of.joined(separator: " ")
            try Question.confirm(
                Style.oneLine(
                    "\(camera.id) will no longer be \(former): whatever answers at its address gets its login. Is that so?"
                ),
                flag: "--yes", isConfirmed: yes)
        }
        let password = try Secret.forUser(
            settings.user, file: settings.passwordFile, of: "camera \(camera.id)", mayKeep: known?.hasPassword ?? true)
        let isChange = request != CameraRequest()
        if let password {
            if isChange {
                // What would be refused afterwards is refused before the password is another one.
                try await client.send(
                    .patch, camera.path, body: request, query: [("dryRun", "1")], ifMatch: tag,
                    or: "\(camera.id) was not changed")
            }
            // First, so that a new user never goes out with the former one's password.
            try await client.send(
                .put, camera.path + "/password", body: SecretRequest(secret: password),
                or: "\(camera.id) was not changed: its password was not stored")
        }
        var document = known
        if isChange {
            let what =
                "\(camera.id) was not changed" + (password == nil ? "" : ", but for its password, which is stored")
            document = try await client.send(
                .patch, camera.path, body: request, ifMatch: tag, as: CameraDocument.self, or: what)
        } else if password != nil {
            document = (try? await client.get(CameraDocument.self, camera.path)) ?? document
        }
        guard let document else { return }
        let place = await output.environment(of: document)
        output.show(document) { CameraView.lines(document, at: place, style: $0) }
    }

    /// Of the certificate that the camera shows to somebody without a login.
    private func shownPin(_ source: String) async throws(CommandFailure) -> String {
        let what = "the certificate of \(camera.id) was not accepted"
        guard ["rtsps:", "onvif:", "https:"].contains(where: { source.hasPrefix($0) }) else {
            throw CommandFailure(
                what: what, why: "it shows none: its source is \(source)",
                hint: "use rtsps://, https:// or onvif:// for a camera that has one", status: .failed)
        }
        let request = CameraTestRequest(source: source)
        let report = try await CameraTesting.run(request, output, isShown: false).report
        guard let pin = report.pin else {
            var failure = CameraTesting.failure(report, what: what)
            if report.lines.first(where: { $0.outcome == .failed })?.step != .reach {
                failure.why = "it showed none"
                failure.hint = "watchboxctl camera show \(camera.id)"
            }
            throw failure
        }
        if !output.quiet { StandardError.writeLine("It shows \(pin.terminalSafe).") }
        return pin
    }
}
