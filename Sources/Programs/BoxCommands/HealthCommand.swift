import ArgumentParser
import BoxView
import Console
import ControlAPI
import ControlClient

struct HealthCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health", abstract: "What was checked, what failed, and what was done about it.",
        subcommands: [
            HealthShowCommand.self, HealthHistoryCommand.self, HealthEventsCommand.self, HealthMetricsCommand.self,
            HealthAcknowledgeCommand.self,
        ], defaultSubcommand: HealthShowCommand.self)
}

struct HealthShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Every check with its evidence.",
        discussion: """
            Ends with 3 when one of them warns or fails and is not acknowledged; with --nagios 0, 1, 2 or 3 as that
            protocol has it.

              watchboxctl health
              watchboxctl health show storage
              watchboxctl health show --nagios
            """)

    @Argument(help: "Only checks whose name or object begins so.")
    var check: String?

    @Flag(help: "One line and the exit status of a Nagios plug-in.")
    var nagios = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard nagios else { return }
        guard output.chosen == .table, !output.quiet else {
            throw ValidationError("--nagios prints the line of that protocol: no --json, --format or --quiet with it.")
        }
        guard check == nil else { throw ValidationError("--nagios is about all checks.") }
    }

    func run() async throws {
        if nagios {
            guard let report = try? await output.client.get(HealthReport.self, APIPath.health()) else {
                StandardOutput.writeLine("WATCHBOX UNKNOWN - the daemon does not answer")
                throw ExitCode(3)
            }
            let (line, status) = HealthView.nagios(report)
            StandardOutput.writeLine(line)
            if status != 0 { throw ExitCode(status) }
            return
        }
        var report = try await output.client.get(HealthReport.self, APIPath.health(), or: "the health cannot be shown")
        if let check {
            report.checks = report.checks.filter { $0.check.hasPrefix(check) || $0.object == check }
            guard !report.checks.isEmpty else {
                throw CommandFailure(
                    what: "there is no check \(check)", why: "no name or object begins so",
                    hint: "list them: watchboxctl health", status: .notFound)
            }
        }
        let isWell = !report.checks.contains(where: \.isOpen)
        output.show(report, rows: report.checks, isWell: isWell) { HealthView.table(report) }
        if !isWell { throw ExitCode(ExitStatus.degraded.rawValue) }
    }
}

struct HealthHistoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "What changed in the last hours, newest first.",
        discussion: "  watchboxctl health history --hours 2")

    @Option(help: "1 to 24.")
    var hours = 24

    @Option(help: "Only this check.")
    var check: String?

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (1...24).contains(hours) else { throw ValidationError("--hours is 1 to 24.") }
    }

    func run() async throws {
        let document = try await Self.history(output.client, hours: hours, check: check)
        output.show(document, rows: document.events) { HealthView.table(document) }
    }

    static func history(
        _ client: ControlClient, hours: Int, check: String?
    ) async throws(CommandFailure) -> HealthHistoryDocument {
        try await client.get(
            HealthHistoryDocument.self, APIPath.health("history"),
            query: [("hours", "\(hours)")] + (check.map { [("check", $0)] } ?? []), or: "the history cannot be shown")
    }
}

struct HealthEventsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events", abstract: "Only the recoveries: what the box did by itself, and why.",
        discussion: "  watchboxctl health events")

    @OptionGroup var output: OutputOptions

    func run() async throws {
        var document = try await HealthHistoryCommand.history(output.client, hours: 24, check: nil)
        document.events = document.events.filter { $0.kind == "recovery" }
        output.show(document, rows: document.events) { HealthView.table(document) }
    }
}

struct HealthMetricsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "metrics", abstract: "Figures in Prometheus's text format.",
        discussion: "  watchboxctl health metrics")

    @Option(help: ArgumentHelp("Socket of the health daemon.", valueName: "path"))
    var socket = "/run/watchbox/health.sock"

    @OptionGroup var box: HostOption

    func run() async throws {
        let client = box.client(socket: socket)
        let text = try await client.text("/metrics", or: "the metrics cannot be shown")
        StandardOutput.write(text)
    }
}

struct HealthAcknowledgeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ack", abstract: "Say that you have seen a check; it counts again when its state changes.",
        discussion: """
              watchboxctl health ack disk
              watchboxctl health ack publish front
            """)

    @Argument(help: "Name of the check.")
    var check: String

    @Argument(help: "Only of this camera, relay or unit; without it, of all that have the check.")
    var object: String?

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let name = check + (object.map { " of \($0)" } ?? "")
        try await output.client.send(
            .post, APIPath.health(check, "acknowledge"), query: object.map { [("object", $0)] } ?? [],
            or: "\(name) was not acknowledged")
        output.report(
            "Acknowledged \(name).",
            Done(object: "check.\(check)" + (object.map { ".\($0)" } ?? ""), action: "acknowledged"))
    }
}
