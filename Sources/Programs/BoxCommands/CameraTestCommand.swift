import ArgumentParser
import BoxView
import CameraModel
import Console
import ControlAPI
import ControlClient

/// A camera on the network, by its ID or by its address.
struct NetworkCameraArgument: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "ID of a camera, or an address: rtsp://HOST/PATH, onvif://HOST, http://HOST/PATH.", valueName: "id|url"),
        completion: CameraNames.completion)
    var camera: String

    @Option(help: "User at the camera, of an address; a terminal is asked for the password.")
    var user: String?

    @Option(
        help: ArgumentHelp("File that holds the password and nothing else; - for standard input.", valueName: "file"))
    var passwordFile: String?

    @Option(help: "Of an address: tcp, udp or multicast.")
    var transport: TransportArgument?

    @Flag(help: "Let the camera have the password in a form that others on the network can read.")
    var allowBasic = false

    @Option(
        help: ArgumentHelp("Of the certificate that it has to show; it is shown otherwise.", valueName: "sha256//…"))
    var pin: String?

    @Option(help: "Of onvif://: main, sub, or a profile's token.")
    var profile: String?

    @Option(help: "Of onvif://: host of its stream, when it is another; the login goes there.")
    var rtspHost: String?

    @Option(help: ArgumentHelp("Of onvif://: port of its stream, when it is another.", valueName: "port"))
    var rtspPort: PortArgument?

    func validate() throws {
        guard !camera.contains("@") || !camera.contains("://") else {
            throw ValidationError(
                "This address holds a user, and others can read command lines. Give --user and --password-file.")
        }
        guard !isIdentifier else {
            guard user == nil, passwordFile == nil, transport == nil, !allowBasic, pin == nil, profile == nil,
                rtspHost == nil, rtspPort == nil
            else {
                throw ValidationError("A camera of this box is tried with its own settings: name its address instead.")
            }
            return
        }
    }

    /// A camera of this box: an ID has neither dots nor colons.
    var isIdentifier: Bool { !camera.contains { ".:/[]".contains($0) } }

    /// - Parameter scheme: of an address without one; nil: it needs one.
    func request(scheme: String? = nil) throws -> CameraTestRequest {
        var source = camera
        if !source.contains("://"), let scheme { source = "\(scheme)://\(camera)" }
        guard CameraTesting.isOnNetwork(source) else {
            throw ValidationError(
                "Write the address as rtsp://HOST/PATH, rtsps://HOST/PATH, onvif://HOST or http://HOST/PATH.")
        }
        return CameraTestRequest(
            source: source, user: user, password: try Secret.forUser(user, file: passwordFile, of: source),
            transport: transport?.value, allowsBasic: allowBasic ? true : nil, pin: pin, profile: profile,
            rtspHost: rtspHost, rtspPort: rtspPort?.value)
    }
}

struct CameraTestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Try a network camera out, from the first packet to the first key frame.",
        discussion: """
            Each step has its time and a verdict: reachable, clock, login, stream, first key frame. Nothing is added and \
            nothing is published. A camera of this box is tried by its own process, with its settings and its password; it \
            goes on publishing meanwhile. Ends with 7 when the camera cannot be reached, with 1 when it cannot be used.

              watchboxctl camera test rtsp://192.168.1.62/stream1 --user admin
              watchboxctl camera test onvif://192.168.1.61 --user admin --password-file /root/yard --json
              watchboxctl camera test yard
            """)

    @OptionGroup var camera: NetworkCameraArgument
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let report: StreamTestReport
        if camera.isIdentifier {
            report = try await CameraTesting.run(camera: camera.camera, output)
            output.show(report, isWell: report.isUsable) { StreamTestView.lines(report, style: $0) }
        } else {
            report = try await CameraTesting.run(try camera.request(), output).report
            // The steps are there already.
            output.show(report, isWell: report.isUsable) { StreamTestView.summary(report, style: $0) }
        }
        let status = CameraTesting.status(report)
        if status != .ok { throw ExitCode(status.rawValue) }
    }
}

struct CameraProbeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "probe", abstract: "What a network camera is: maker, serial number, streams, motors.",
        discussion: """
            Asks by ONVIF, and tries the stream that would be used. An address without a scheme is asked as onvif://.

              watchboxctl camera probe 192.168.1.61 --user admin
              watchboxctl camera probe yard
            """)

    @OptionGroup var camera: NetworkCameraArgument
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let report: StreamTestReport
        if camera.isIdentifier {
            report = try await CameraTesting.run(camera: camera.camera, output)
        } else {
            report = try await CameraTesting.run(try camera.request(scheme: "onvif"), output, isShown: false).report
        }
        let isKnown = report.isUsable || report.device != nil
        output.show(report, isWell: isKnown) { ProbeView.lines(report, style: $0, header: !output.noHeaders) }
        if !isKnown { throw ExitCode(CameraTesting.status(report).rawValue) }
    }
}
