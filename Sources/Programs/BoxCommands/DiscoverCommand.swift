import ArgumentParser
import AudioCapture
import BoxView
import CameraModel
import Console
import ControlAPI
import ControlClient
import Platform

struct DiscoverCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "discover", abstract: "Cameras on the network and of this machine, and what can be added.",
        discussion: """
            Asks all networks of this box for ONVIF cameras (WS-Discovery), and the video and audio devices of this machine \
            what they are; sets nothing, and tries no password. --scan also asks each address of a network for RTSP, which \
            finds cameras without ONVIF. Ctrl-C ends the search and shows what was found. --add adds cameras of the list: \
            those whose addresses are named, else those that are chosen on the terminal; one that fails keeps none of the \
            others from being added. --local needs no daemon; with sudo it sees what this user may not open. When the \
            daemon does not search the network, the devices of this machine are shown all the same, and the exit status is \
            the search's: 5 when the daemon does not answer, 6 for a user who may not.

              watchboxctl discover
              watchboxctl discover --scan 192.168.1.0/24 --timeout 3
              watchboxctl discover --add
              watchboxctl discover --add 192.168.1.61 192.168.1.62 --user admin --password-file /root/cameras
              watchboxctl discover --local --controls
              watchboxctl discover --json
            """)

    @Argument(help: "With --add: addresses of the list.")
    var addresses: [String] = []

    @Flag(help: "Add cameras of the list.")
    var add = false

    @Option(help: ArgumentHelp("Ask every address of this network; may be repeated.", valueName: "cidr"))
    var scan: [String] = []

    @Option(help: ArgumentHelp("RTSP ports that --scan asks, with commas between them.", valueName: "ports"))
    var ports: String?

    @Option(help: "Seconds to listen after the last question, 1 to 60.")
    var timeout = 5.0

    @Flag(help: "Do not ask by multicast; for --scan alone.")
    var noMulticast = false

    @Option(help: ArgumentHelp("Only this network interface; may be repeated.", valueName: "name"))
    var interface: [String] = []

    @Flag(help: "Ask networks of more than 4096 addresses (a /20), too; never more than 65536.")
    var yes = false

    @Flag(help: "Only the devices of this machine.")
    var local = false

    @Flag(help: "With each camera of this machine its own controls and their values.")
    var controls = false

    @Flag(help: "End the search that somebody has begun, and show what it found.")
    var cancel = false

    @Option(help: "With --add: user at the cameras; a terminal is asked for the password.")
    var user: String?

    @Option(
        help: ArgumentHelp("File that holds the password and nothing else; - for standard input.", valueName: "file"))
    var passwordFile: String?

    @OptionGroup var output: OutputOptions

    private var portNumbers: [Int]? { ports?.split(separator: ",").compactMap { Int($0) } }

    func validate() throws {
        guard add || addresses.isEmpty else { throw ValidationError("Addresses go with --add.") }
        guard !local || (scan.isEmpty && !add && !cancel) else {
            throw ValidationError("--local looks at this machine only.")
        }
        guard timeout.isFinite, (1...60).contains(timeout) else { throw ValidationError("--timeout is 1 to 60.") }
        if let ports {
            let count = ports.split(separator: ",", omittingEmptySubsequences: false).count
            guard let numbers = portNumbers, numbers.count == count,
                numbers.allSatisfy({ (1...65_535).contains($0) })
            else { throw ValidationError("--ports is 554,8554.") }
        }
        guard !noMulticast || !scan.isEmpty else {
            throw ValidationError("Without multicast there is nothing but --scan.")
        }
        guard !add || !addresses.isEmpty || passwordFile != "-" else {
            throw ValidationError(
                "Standard input cannot be the password and the choice: name the addresses, or a file for the password.")
        }
        guard add || (user == nil && passwordFile == nil) else {
            throw ValidationError("A search tries no login: --user and --password-file go with --add.")
        }
    }

    func run() async throws {
        if local { try output.box.requireThisMachine() }
        var document: DiscoveryDocument
        if let host = output.box.chosen {
            // This machine's are none of that box.
            let place = "Devices of the box itself are listed there: \(host.command) watchboxctl discover --local"
            document = DiscoveryDocument(nodes: [], limits: [place])
        } else {
            document = try await devices()
        }
        if local {
            return output.show(document, rows: document.nodes) { style in
                DiscoveryView.lines(document, style: style, header: !output.noHeaders)
            }
        }
        let search = NetworkSearch(output: output)
        do throws(CommandFailure) {
            document.network = cancel ? try await search.cancel() : try await search.run(request)
        } catch {
            guard !add, !cancel, output.box.chosen == nil, error.status != .usage else { throw error }
            return try showLocal(document, without: error)
        }
        await mark(&document)
        let isWell = document.network?.state != .failed
        let shown = document
        if !add || output.chosen == .table {
            output.show(shown, rows: shown.network?.found ?? [], isWell: isWell) { style in
                DiscoveryView.lines(shown, style: style, header: !output.noHeaders)
            }
        }
        if add {
            try await FoundCameras(
                rows: NetworkSearchView.rows(document), user: user, passwordFile: passwordFile, output: output
            ).add(addresses)
        }
        if !isWell { throw ExitCode(ExitStatus.failed.rawValue) }
    }

    private var request: DiscoveryRequest {
        DiscoveryRequest(
            timeoutSeconds: timeout, multicast: noMulticast ? false : nil,
            interfaces: interface.isEmpty ? nil : interface, ranges: scan.isEmpty ? nil : scan, ports: portNumbers,
            allowsLarge: yes ? true : nil)
    }

    /// The devices of this machine; the search's failure ends the command.
    private func showLocal(_ document: DiscoveryDocument, without failure: CommandFailure) throws {
        var document = document
        document.limits.append("The network was not searched: \(failure.why)")
        let shown = document
        output.show(shown, rows: shown.nodes, isWell: false) { style in
            DiscoveryView.lines(shown, style: style, header: !output.noHeaders)
        }
        throw failure
    }

    /// A driver that hangs hangs there, and Ctrl-C still works.
    private func devices() async throws(CommandFailure) -> DiscoveryDocument {
        let controls = controls
        let document = await OwnThread.value { Self.document(controls: controls) }
        guard let document else {
            throw CommandFailure(
                what: "the devices cannot be listed", why: "no thread can be made", hint: "free some memory",
                status: .failed)
        }
        return document
    }

    /// Which devices of this machine are cameras of the box already.
    private func mark(_ document: inout DiscoveryDocument) async {
        guard let cameras = try? await output.client.get(CameraListDocument.self, APIPath.cameras()).cameras else {
            return
        }
        for index in document.nodes.indices {
            let node = document.nodes[index]
            var names = [node.device, node.stableID, node.stablePath].compactMap(\.self)
            if node.bus == "csi", document.nodes.count(where: { $0.bus == "csi" }) == 1 {
                names.append(CameraConfiguration.Device.csiScheme)
            }
            document.nodes[index].camera =
                cameras.first { camera in
                    CameraConfiguration.Device.path(ofSource: camera.source).map(names.contains) ?? false
                }?.id
        }
    }

    private static func document(controls: Bool) -> DiscoveryDocument {
        var document = MachineCameras.asked(controls: controls)
        do throws(AudioCaptureError) {
            document.audioDevices = try AudioDevices.list().map {
                AudioDeviceDocument(name: $0.name, description: $0.description)
            }
        } catch {
            document.limits.append("Audio devices are not listed: \(error)")
        }
        return document
    }
}
