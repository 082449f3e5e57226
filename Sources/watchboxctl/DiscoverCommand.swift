import ArgumentParser
import AudioCapture
import BoxView
import Console
import ControlAPI
import Doctor
import Systemd
import VideoCapture

struct DiscoverCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "discover", abstract: "Cameras and sound devices of this machine, under names that stay.",
        discussion: """
            Lists every video device with what it is, what a camera delivers (format, size, pictures per second), and why \
            another device is no camera. Asks the devices, and sets nothing: a camera that publishes goes on. Needs no \
            daemon; with sudo it sees what this user may not open. This version does not search the network.

              watchboxctl discover
              watchboxctl discover --controls
              watchboxctl discover --json
            """)

    @Flag(help: "With each camera's own controls and their values.")
    var controls = false

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let controls = controls
        // A driver that hangs hangs there, and Ctrl-C still works.
        let document = await OwnThread.value { Self.document(controls: controls) }
        guard let document else {
            throw CommandFailure(
                what: "the devices cannot be listed", why: "no thread can be made", next: "free some memory",
                status: .failed)
        }
        output.show(document, rows: document.nodes) { style in
            DiscoveryView.lines(document, style: style, header: !output.noHeaders)
        }
    }

    private static func document(controls: Bool) -> DiscoveryDocument {
        var document = DiscoveryDocument(
            nodes: CaptureNodes.find().map { VideoNodeDocument(asking: $0, controls: controls) },
            limits: ["This version does not search the network (ONVIF, RTSP)."])
        do throws(AudioCaptureError) {
            document.sounds = try AudioDevices.list().map {
                SoundDeviceDocument(name: $0.name, description: $0.description)
            }
        } catch {
            document.limits.append("Sound devices are not listed: \(error)")
        }
        return document
    }
}
