import ArgumentParser
import BoxView
import Console
import ControlAPI
import Doctor

struct DiscoverCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "discover", abstract: "Video devices of this machine, under names that stay.",
        discussion: """
            Lists what the kernel shows, and opens nothing, so that no camera is disturbed. Needs no daemon. This version \
            searches no network, and cannot publish a device yet.

              watchboxctl discover
              watchboxctl discover --json
            """)

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let document = DiscoveryDocument(
            nodes: VideoNodes.find(),
            limits: [
                "This version does not search the network (ONVIF, RTSP).",
                "It does not publish V4L2 devices yet: sources are test: and file:/PATH.",
            ])
        output.show(document, rows: document.nodes) { style in
            DiscoveryView.lines(document, style: style, header: !output.noHeaders)
        }
    }
}
