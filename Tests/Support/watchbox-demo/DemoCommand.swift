import ArgumentParser
import Console
import Demonstration
import Foundation

@main
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watchbox-demo",
        abstract: "Show the main job on loopback: camera, relay, key access server, viewer; make demo runs it.")

    @Option(help: "Directory of watchboxd and watchboxctl.")
    var programs: String

    @Option(help: "Directory for the report, the film and the frame.")
    var output: String

    @Option(help: "Media file to publish instead of the test pattern.")
    var source: String?

    @Option(help: "How long to publish.")
    var seconds = 10

    @Flag(help: "Print the figures as JSON.")
    var json = false

    private struct Document: Encodable {
        var schema = "watchbox.demo/1"
        var exact: Bool
        var sealed: Int
        var relayed: Int
        var opened: Int
        var rotations: Int
        var latencyP50: Double?
        var latencyP99: Double?
    }

    static func main() async {
        await Program.run(DemoCommand.self)
    }

    func validate() throws {
        guard (1...600).contains(seconds) else { throw ValidationError("--seconds is 1 to 600.") }
    }

    func run() async throws {
        let progress = ProgressLine()
        let demonstration = Demonstration(
            programs: URL(filePath: programs), output: URL(filePath: output), source: source, seconds: seconds,
            progress: progress)
        let report = try await demonstration.run()
        progress.clear()
        if json {
            let comparison = report.comparison
            StandardOutput.writeJSON(
                Document(
                    exact: report.isGood, sealed: comparison.sealed, relayed: report.relay.frames,
                    opened: comparison.opened, rotations: comparison.rotations,
                    latencyP50: comparison.latency(percentile: 50), latencyP99: comparison.latency(percentile: 99)))
        } else {
            StandardOutput.writeLine(report.text)
            StandardOutput.writeLine("Look at it: \(output)/report.html, \(output)/viewer.mp4")
        }
        guard report.isGood else { throw ExitCode(ExitStatus.failed.rawValue) }
    }
}
