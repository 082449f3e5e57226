import ArgumentParser
import BoxView
import Console
import ControlAPI
import ControlClient
import FoundationEssentials
import Platform

struct LogsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logs", abstract: "What the box has logged, by camera or unit.",
        discussion: """
              watchboxctl logs front -n 50
              watchboxctl logs --level warning --explain
              watchboxctl logs front -f
              watchboxctl logs --camera relay
              watchboxctl logs --unit control
            """)

    @Argument(
        help: "A camera, or one of the units control, health, relay, kas; nothing: all of them.",
        completion: CameraNames.completion)
    var of: String?

    @Option(help: ArgumentHelp("This camera, also one that is called like a unit.", valueName: "id"))
    var camera: String?

    @Option(help: ArgumentHelp("control, health, relay, kas, or a unit's whole name.", valueName: "name"))
    var unit: String?

    @Flag(name: .shortAndLong, help: "Go on with what comes, until Ctrl-C, over restarts of the daemon.")
    var follow = false

    @Option(name: [.customShort("n"), .long], help: "The newest lines, 1 to 10000.")
    var lines = 100

    @Option(help: ArgumentHelp("Not older than so many seconds, or 10m, 2h, 1d.", valueName: "time"))
    var since: WrittenDuration?

    @Option(help: "error, warning, notice, info or debug: this and worse.")
    var level: String?

    @Flag(help: "What the codes mean, below each line.")
    var explain = false

    @OptionGroup var output: OutputOptions

    private static let roles = ["control", "health", "relay", "kas", "hooks"]
    private static let levels = ["error", "warning", "notice", "info", "debug"]

    func validate() throws {
        guard [of, camera, unit].count(where: { $0 != nil }) <= 1 else {
            throw ValidationError("Name one camera or one unit.")
        }
        if follow { try output.refuseQuiet("logs --follow") }
        guard (1...10_000).contains(lines) else { throw ValidationError("-n is 1 to 10000.") }
        if let level, !Self.levels.contains(level) {
            throw ValidationError("--level is one of \(Self.levels.joined(separator: ", ")).")
        }
    }

    /// As the API expects it, without the number of lines and the time.
    var filter: [(String, String)] {
        var query: [(String, String)] = []
        if let of { query.append(Self.roles.contains(of) ? ("unit", of) : ("camera", of)) }
        if let camera { query.append(("camera", camera)) }
        if let unit { query.append(("unit", unit)) }
        if let level { query.append(("level", level)) }
        return query
    }

    func run() async throws {
        var query = filter + [("n", "\(lines)")]
        if let since {
            query.append(("since", "\(max(0, Clocks.wallSeconds - since.seconds))"))
        }
        if follow { return try await follow(output.client, query) }
        let document = try await output.client.get(
            LogDocument.self, APIPath.logs(), query: query, or: "the log cannot be shown")
        output.show(document, rows: document.lines) { style in
            document.lines.flatMap { LogView.line($0, style: style, explain: explain) }
        }
    }

    /// Until Ctrl-C: a stream that ends is taken up again after the last line that was shown.
    private func follow(_ client: ControlClient, _ query: [(String, String)]) async throws {
        let clock = ContinuousClock()
        // Not a time: the clock may be set back, and many lines have the same one.
        var cursor: String?
        var hasBegun = false
        while true {
            let begin = clock.now
            var why = "the daemon has ended it"
            do {
                let requested = (cursor == nil ? query : filter) + [("follow", "1")]
                for try await event in client.events(APIPath.logs(), query: requested, lastEventID: cursor)
                where event.event == "log" {
                    hasBegun = true
                    guard let line = try? JSONDocument.decode(LogLine.self, from: Array(event.data.utf8)) else {
                        continue
                    }
                    cursor = line.cursor
                    show(line)
                }
            } catch let error as ControlClientError {
                let failure = CommandFailure(error, what: "the log cannot be followed")
                // One that has never been there is not an interruption.
                hasBegun = hasBegun || clock.now - begin > .seconds(1)
                guard hasBegun, Watching.isPassing(failure) else { throw failure }
                why = failure.why
            }
            hasBegun = true
            StandardError.writeLine("the log was interrupted: \(why); connecting again".terminalSafe)
            try await Task.sleep(for: .seconds(2))
        }
    }

    private func show(_ line: LogLine) {
        guard output.chosen == .table else { return StandardOutput.writeJSON(line) }
        for text in LogView.line(line, style: output.style, explain: explain) { StandardOutput.writeLine(text) }
    }
}
