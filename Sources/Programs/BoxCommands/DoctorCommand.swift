import ArgumentParser
import BoxView
import Console
import ControlAPI
import ControlClient
import Doctor
import Platform
import Systemd
import VideoCapture
import VideoCodec

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Examine the box from the outside, with or without its daemons.",
        discussion: """
            Looks, and changes nothing. Each check may take 15 s; one that hangs is itself a finding. Ends with 3 when a \
            check fails; a warning alone is not a failure. With sudo it sees more.

            A bundle is one tar archive for somebody who helps: status, health, configuration, generations, units, \
            versions, the last 500 lines of the log, and these findings. Passwords, tokens and stream keys are taken \
            out; read it before you send it.

            A board report is a page for an issue about a kind of board: what the board is and has, which encoders work \
            (each is tried, for a second), and these checks by name. No serial numbers, addresses, names of boxes, \
            cameras or networks, and no secrets are on it.

              watchboxctl doctor
              watchboxctl doctor relay kas --json
              watchboxctl doctor --offline
              watchboxctl doctor --bundle /tmp/box.tar
              watchboxctl doctor --board-report
            """)

    @Argument(help: "Only these checks.", completion: .list(DoctorCheck.all.map(\.name)))
    var checks: [String] = []

    @Flag(help: "Ask no daemon and nothing in the network.")
    var offline = false

    @Option(help: ArgumentHelp("Write a tar archive without secrets; never over a file.", valueName: "file"))
    var bundle: String?

    @Flag(help: "A page about this kind of board, for an issue; nothing on it is about you.")
    var boardReport = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if boardReport {
            guard checks.isEmpty, bundle == nil else {
                throw ValidationError("A board report is of all checks, and goes into no bundle.")
            }
            guard output.chosen == .table || output.chosen == .json else {
                throw ValidationError("A board report is a page, or with --json a document.")
            }
            try output.refuseQuiet("doctor --board-report")
        }
        let known = DoctorCheck.all.map(\.name)
        for name in checks where !known.contains(name) {
            throw ValidationError("There is no check \(name.prefix(32)). There are: \(known.joined(separator: ", ")).")
        }
    }

    func run() async throws {
        try output.box.requireThisMachine()
        let chosen = DoctorCheck.all.filter { checks.isEmpty || checks.contains($0.name) }
        let units = SystemBus()
        defer { units.close() }
        var environment = Environment(version: Version.current, units: units)
        environment.socketPath = output.client.socketPath
        environment.isOffline = offline
        environment.encoder = Self.encoder
        environment.decoders = {
            let offered = DecoderSandbox.offered
            return (offered.description, offered.lack)
        }
        let progress = ProgressLine()
        let count = chosen.count
        progress.update("0 of \(count) checks")
        let report = await CheckRunner().run(chosen, in: environment) { done, check in
            progress.update("\(done) of \(count) checks, \(check) done", fraction: Double(done) / Double(count))
        }
        progress.clear()
        if boardReport {
            let encoders = await MachineEncoders.read(
                probing: MachineEncoders.canProbe ? .init(width: 1280, height: 720, rate: 30) : nil)
            let page = await BoardReport.collect(report, encoders: encoders, in: environment)
            return output.show(page) { _ in BoardReportView.lines(page) }
        }
        if let bundle { try await write(bundle, report, environment) }
        output.show(report, rows: report.findings, isWell: report.state != .fail) { style in
            DoctorView.lines(report, style: style)
        }
        if report.state == .fail { throw ExitCode(ExitStatus.degraded.rawValue) }
    }

    /// Opens the software encoder that a camera would open, for small frames; a device is only named.
    @Sendable private static func encoder() throws -> String {
        let choice = try VideoEncoder(
            VideoEncoderConfiguration(width: 320, height: 240, frameRate: 25, bitsPerSecond: 200_000)
        ).choice
        let devices = CaptureNodes.encoders().map(\.description).joined(separator: "; ")
        let hardware = devices.isEmpty ? "no encoder device" : "devices: \(devices)"
        return "\(choice.encoder) (\(choice.reason)); \(hardware)"
    }

    private func write(_ path: String, _ report: DoctorReport, _ environment: Environment) async throws {
        let progress = ProgressLine()
        progress.update("collecting the bundle")
        let collected = await SupportBundle.collect(report, in: environment)
        progress.clear()
        do {
            try NewFile.write(try collected.archive(), to: path)
        } catch let error as FileFailure {
            throw CommandFailure(
                what: "no bundle was written to \(path)", why: error.reason,
                hint: error.isThere
                    ? "choose another name; nothing is overwritten" : "choose a directory that you may write to",
                status: error.isThere ? .conflict : .failed)
        }
        if !output.quiet { StandardError.writeLine("Wrote \(path.terminalSafe). Read it before you send it.") }
    }
}
