import ArgumentParser
import BoxView
import CameraModel
import Console
import ControlAPI
import ControlClient
internal import Settings

struct CameraAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add a camera and publish it.",
        discussion: """
            Sources: test: (a moving frame with a clock and a tone), file:/PATH (a media file, in a loop), \
            v4l2:/dev/… (a camera of this machine), csi: (one at its ribbon cable), rtsp://…, rtsps://… or onvif://HOST (a camera on the network), and \
            http://… or https://… (one that sends MJPEG or JPEG images so, such as an ESP32-CAM); \
            watchboxctl discover lists them. A camera on the network is tested first, step by step, and is added only when \
            a frame comes; what the test found out is kept with it. Waits until the first frame is at the relay, unless \
            --no-wait; ends with 7 when it does not come in 30 s. The camera is added all the same, and goes on trying.

              watchboxctl camera add front --source test: --name "Front door"
              watchboxctl camera add lobby --source file:/srv/video/lobby.mp4 --relay main
              watchboxctl camera add yard --source v4l2:/dev/v4l/by-id/usb-Maker_Cam_1234-video-index0 --rate 15
              watchboxctl camera add door --source csi: --size 1920x1080 --rate 30
              watchboxctl camera add drive --source onvif://192.168.1.61 --user admin
              watchboxctl camera add hall --source onvif://192.168.1.63 --user admin --both-streams
              watchboxctl camera add gate --source rtsp://192.168.1.62/stream2 --user admin --password-file /root/gate
              watchboxctl camera add shed --source http://192.168.1.64:81/stream
            """)

    @Argument(help: "ID: a-z, 0-9 and single hyphens, at most 24 characters.")
    var id: String

    @Option(help: ArgumentHelp(CameraTesting.sources))
    var source: String

    @OptionGroup var settings: CameraSettingOptions

    @Flag(
        help:
            "Add both streams of an onvif:// camera: the largest image as ID, the smallest as ID-sub; each can be removed."
    )
    var bothStreams = false

    @Flag(help: "Add it without publishing.")
    var disabled = false

    @Flag(help: "Do not test a camera on the network before.")
    var noTest = false

    @Flag(help: "Do not wait for the first frame.")
    var noWait = false

    @Flag(help: "Say what would happen, and do nothing.")
    var dryRun = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard bothStreams else { return }
        guard source.hasPrefix("onvif://") else {
            throw ValidationError("--both-streams is for onvif:// cameras: add each other address by itself.")
        }
        guard settings.profile == nil, settings.stream == nil else {
            throw ValidationError("--both-streams chooses profiles and names of streams itself.")
        }
        guard id.utf8.count + CameraAddition.subSuffix.utf8.count <= 24 else {
            throw ValidationError("With --both-streams an ID has at most 20 characters: the second is \(id)-sub.")
        }
        guard !dryRun else { throw ValidationError("--dry-run shows one camera: leave --both-streams out.") }
    }

    func run() async throws {
        let request = CameraRequest(
            id: id, name: settings.name, source: source, user: settings.user, isActive: !disabled,
            settings: settings.settings)
        if dryRun {
            let diff = try await output.client.send(
                .post, APIPath.cameras(), body: request, query: [("dryRun", "1")], as: ConfigurationDiff.self,
                or: "\(id) cannot be added")
            return output.show(diff) { ConfigurationView.lines(diff, style: $0) }
        }
        let password = try Secret.forUser(settings.user, file: settings.passwordFile, of: "camera \(id)")
        let test = noTest || !CameraTesting.isOnNetwork(source) ? nil : settings.test(of: source, password: password)
        let addition = CameraAddition(id: id, request: request, password: password, test: test, output: output)
        let documents = bothStreams ? try await addition.addBoth() : [try await addition.add()]
        var added: [CameraDocument] = []
        for document in documents {
            if !disabled, !noWait { try await wait(for: document.id) }
            added.append((try? await output.client.get(CameraDocument.self, APIPath.cameras(document.id))) ?? document)
        }
        if bothStreams {
            let both = CameraAdditionsDocument(cameras: added)
            output.show(both, rows: both.cameras) { CameraView.table(both.list) }
        } else if let final = added.first {
            let place = await output.environment(of: final)
            output.show(final) { style in
                ["Added."] + CameraView.lines(final, at: place, style: style)
            }
        }
    }

    private func wait(for id: String) async throws {
        do {
            try await Publishing.wait(for: id, client: output.client, timeout: .seconds(30))
        } catch var failure as CommandFailure {
            failure.what = "\(id) is added and goes on trying, but does not publish yet"
            failure.hint =
                "watchboxctl status \(id), watchboxctl logs \(id); to take it back: watchboxctl camera rm \(id)"
            throw failure
        }
    }
}

/// A camera that is to be one of this box.
struct CameraAddition {
    var id: String
    var request: CameraRequest
    let password: String?
    /// Made before; nil: none.
    var test: CameraTestRequest?
    let output: OutputOptions

    static let subSuffix = "-sub"

    /// The stream with its largest frame under its own ID, the one with the smallest under `ID-sub`: with one test and
    /// one login.
    func addBoth() async throws -> [CameraDocument] {
        var main = self
        if let (number, report) = try await tested() {
            let count = report.device?.profiles.count ?? 0
            guard count > 1 else {
                throw CommandFailure(
                    what: "\(id) was not added",
                    why: "the camera offers \(count == 1 ? "one stream" : "no list of streams")",
                    hint: "leave --both-streams out", status: .failed)
            }
            main.request.test = number
            main.test = nil
        }
        main.request.settings = (request.settings ?? [:]).merging(["profile": .string("main")]) { $1 }
        var sub = main
        sub.id = id + Self.subSuffix
        sub.request.id = sub.id
        sub.request.name = request.name.map { "\($0) (sub)" }
        sub.request.settings?["profile"] = .string("sub")
        let document = try await main.add()
        do {
            return [document, try await sub.add()]
        } catch var failure as CommandFailure {
            failure.what = "\(id) is added, and of its second stream: \(failure.what)"
            throw failure
        }
    }

    /// Number and end of the test that is to be made, if any; one that showed no frame is a failure.
    private func tested() async throws -> (number: String, report: StreamTestReport)? {
        guard let test else { return nil }
        let (number, report) = try await CameraTesting.run(test, output)
        guard report.isUsable else {
            var failure = CameraTesting.failure(report, what: "\(id) was not added")
            failure.hint += "; camera add --no-test adds it all the same"
            throw failure
        }
        return (number, report)
    }

    /// With a password: added disabled, given it, then enabled, so that it never tries without.
    func add() async throws -> CameraDocument {
        let client = output.client
        let isActive = request.isActive ?? true
        var first = request
        if let (number, _) = try await tested() { first.test = number }
        if password != nil { first.isActive = false }
        let requested = first
        let document = try await client.send(
            .post, APIPath.cameras(), body: requested, as: CameraDocument.self, or: "\(id) was not added")
        guard let password else { return document }
        let path = APIPath.cameras(id)
        do {
            try await client.send(.put, path + "/password", body: SecretRequest(secret: password))
            if isActive { try await client.send(.post, path + "/enable") }
            return (try? await client.get(CameraDocument.self, path)) ?? document
        } catch {
            var failure = CommandFailure(
                error, what: "\(id) is added but disabled: its password was not stored, or it was not enabled")
            failure.hint = "watchboxctl camera password \(id), then watchboxctl camera enable \(id)"
            throw failure
        }
    }
}
