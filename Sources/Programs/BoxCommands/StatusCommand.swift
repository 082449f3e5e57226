import ArgumentParser
import BoxView
import Console
import ControlAPI
import ControlClient
import ErrorCatalog

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "One screen about the box: what is wrong, and the command that helps.",
        discussion: """
            Ends with 3 when something is degraded, with 11 when all is well but a reboot is required. ACK is how long ago the \
            relay's kernel last took bytes of the stream: that a viewer gets them, watchboxctl play shows alone.

              watchboxctl status
              watchboxctl status front
              watchboxctl status --watch
            """)

    @Argument(help: "Only this camera.", completion: CameraNames.completion)
    var camera: String?

    @Flag(help: "Show it again every 2 s, until Ctrl-C.")
    var watch = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if watch { try output.refuseQuiet("status --watch") }
    }

    func run() async throws {
        if watch {
            try await Watching.again(every: .seconds(2), output) { isAgain in _ = try await show(output.client, isAgain)
            }
        }
        let status = try await show(output.client, false)
        if status != .ok { throw ExitCode(status.rawValue) }
    }

    private func show(_ client: ControlClient, _ isAgain: Bool) async throws -> ExitStatus {
        if let camera {
            let document = try await client.get(
                CameraDocument.self, APIPath.cameras(camera), or: "the state of \(camera) cannot be shown")
            // A stream that somebody has stopped is as it should be.
            let stream = document.stream
            let isWell = !document.isActive || stream.state == .live || stream.reason == "stopped by request"
            let place = await output.environment(of: document)
            Watching.clear(isAgain, output)
            output.show(document, isWell: isWell) { CameraView.lines(document, at: place, style: $0) }
            return isWell ? .ok : .degraded
        }
        let status = try await client.get(BoxStatus.self, APIPath.status(), or: "the box's state cannot be shown")
        let result: ExitStatus =
            status.state == .degraded ? .degraded : status.rebootRequired ? .rebootRequired : .ok
        Watching.clear(isAgain, output)
        output.show(status, isWell: result == .ok) { StatusView.lines(status, style: $0) }
        return result
    }
}

struct VersionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "version", abstract: "The versions of this program and of the daemon.",
        discussion: "  watchboxctl version")

    @OptionGroup var output: OutputOptions

    private struct Document: Encodable {
        var schema = "watchbox.versions/1"
        var program = Version.current
        var daemon: String?
    }

    func run() async throws {
        // A daemon that does not answer is not a reason to keep our own version back.
        let daemon = try? await output.client.get(VersionDocument.self, APIPath.version())
        let document = Document(daemon: daemon?.version)
        output.show(document) { style in
            [
                "watchboxctl \(document.program)",
                style.paint(document.daemon.map { "watchboxd   \($0)" } ?? "watchboxd   does not answer", .plain),
            ]
        }
    }
}

struct ExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "What an error code means, and what to do.",
        discussion: """
              watchboxctl explain WB-2107
              watchboxctl explain --all
            """)

    enum Text: String, CaseIterable, ExpressibleByArgument {
        case text
        case markdown
        case journal
    }

    @Argument(help: "WB-2107, or 2107.", completion: .list(Catalog.entries.map { "\($0.code)" }))
    var code: String?

    @Flag(help: "Every code there is.")
    var all = false

    @Option(help: "text; or, with --all, markdown for the documentation and journal for journalctl's catalog.")
    var format = Text.text

    @Flag(help: "Print a JSON document.")
    var json = false

    private struct AllDocument: Encodable {
        var schema = "watchbox.explanations/1"
        var explanations: [Document]
    }

    private struct Document: Encodable {
        var schema = "watchbox.explanation/1"
        var code: ErrorCode
        var title: String
        var cause: String
        var selfHealing: String
        var hint: String
        var severity: CatalogEntry.Severity

        init(_ entry: CatalogEntry) {
            code = entry.code
            title = entry.title
            cause = entry.cause
            selfHealing = entry.selfHealing
            hint = entry.hint
            severity = entry.severity
        }
    }

    func validate() throws {
        if json, format != .text { throw ValidationError("--json and --format \(format.rawValue) exclude each other.") }
        guard all == (code == nil) else { throw ValidationError("Name one code, or --all.") }
        guard all || format == .text else { throw ValidationError("--format \(format.rawValue) needs --all.") }
    }

    func run() async throws {
        if all {
            switch format {
            case .markdown: return StandardOutput.write(Catalog.markdown())
            case .journal: return StandardOutput.write(Catalog.journalCatalog())
            case .text: break
            }
        }
        let entries: [CatalogEntry]
        if let code {
            guard let entry = ErrorCode(code)?.entry else {
                throw CommandFailure(
                    what: "there is no code \(code.prefix(32))", why: "codes are WB- and four digits",
                    hint: "list them: watchboxctl explain --all", status: .notFound)
            }
            entries = [entry]
        } else {
            entries = Catalog.entries
        }
        if json {
            let documents = entries.map { Document($0) }
            return all
                ? StandardOutput.writeJSON(AllDocument(explanations: documents))
                : documents.forEach { StandardOutput.writeJSON($0) }
        }
        let style = Style()
        for entry in entries {
            for line in ExplanationView.lines(entry, style: style) { StandardOutput.writeLine(line) }
            if entries.count > 1 { StandardOutput.writeLine("") }
        }
    }
}
