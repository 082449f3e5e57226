import ArgumentParser
import BoxView
import Console
import ControlAPI
import ControlClient
import Doctor
import Systemd

struct NetcheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "netcheck", abstract: "Measure the way from this box to its relays and its key access server.",
        discussion: """
            For each relay: DNS, TCP, TLS (version, certificate as the camera checks it, days left), round trip, path \
            MTU and upload; for the KAS: DNS, TCP, TLS, round trip and its public key. Ends with 3 when a line fails; \
            a warning alone is not a failure.

            The upload is measured with a sealed stream that cannot be opened, for 3 s and 8 MB at most. It fills the \
            line: while a camera is live it is left out, unless --upload asks for it.

              watchboxctl netcheck
              watchboxctl netcheck --relay main --json
              watchboxctl netcheck --relay main --url-file relay.url
            """)

    @Option(help: "Only this relay, and not the KAS.")
    var relay: String?

    @Option(help: "File that holds the relay's URL, when it is a secret; with --relay.")
    var urlFile: String?

    @Flag(help: "Measure the upload although cameras are live and may lose frames.")
    var upload = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard urlFile == nil || relay != nil else { throw ValidationError("Say which relay it is for: --relay NAME.") }
    }

    func run() async throws {
        try output.box.requireThisMachine()
        let url = try urlFile.map { try TextFile.firstLine(of: $0) }
        let units = SystemBus()
        defer { units.close() }
        var environment = Environment(version: Version.current, units: units)
        environment.socketPath = output.client.socketPath
        let progress = ProgressLine()
        let report: NetworkCheckReport
        do throws(NetworkCheckRunner.Failure) {
            report = try await NetworkCheckRunner(
                in: environment, relay: relay, url: url, forcesUpload: upload
            ).run { progress.update($0) }
        } catch {
            progress.clear()
            switch error {
            case .noConfiguration:
                throw CommandFailure(
                    what: "the network is not examined",
                    why: "neither the daemon nor the files of this box give a configuration that can be read",
                    hint: "Run: sudo watchboxctl config validate", status: .invalidConfiguration)
            case .noRelay(let name):
                throw CommandFailure(
                    what: "the network is not examined", why: "there is no relay \(name)",
                    hint: "Run: watchboxctl relay list", status: .notFound)
            }
        }
        progress.clear()
        let findings = report.findings
        if findings.findings.isEmpty {
            throw CommandFailure(
                what: "there is nothing to examine", why: "neither a relay nor a key access server is set",
                hint: "Run: watchboxctl setup", status: .invalidConfiguration)
        }
        let isWell = findings.state != .fail
        output.show(report, rows: report.peers, isWell: isWell) { style in DoctorView.lines(findings, style: style) }
        if !isWell { throw ExitCode(ExitStatus.degraded.rawValue) }
    }
}
