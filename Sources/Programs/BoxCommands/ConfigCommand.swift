import ArgumentParser
import BoxView
import Console
import ControlAPI
import ControlClient
import FoundationEssentials

struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "The configuration: what the files and the store say together.",
        subcommands: [
            ConfigShowCommand.self, ConfigGetCommand.self, ConfigSetCommand.self, ConfigValidateCommand.self,
            ConfigDiffCommand.self, ConfigApplyCommand.self,
            ConfigConfirmCommand.self, ConfigRollbackCommand.self, ConfigHistoryCommand.self,
            ConfigExportCommand.self, ConfigImportCommand.self, ConfigDiscardCommand.self, ConfigSchemaCommand.self,
        ])
}

struct ConfigShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "The merged configuration; with --origin where each object is defined.",
        discussion: """
              watchboxctl config show
              watchboxctl config show --origin
            """)

    @Flag(help: "Where each object is defined, instead of the objects.")
    var origin = false

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let document = try await output.client.get(
            ConfigurationDocument.self, APIPath.configuration(), or: "the configuration cannot be shown")
        output.show(document) { style in
            guard origin else {
                let text = document.toml.hasSuffix("\n") ? document.toml.dropLast() : document.toml[...]
                return text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            }
            return document.origins.keys.sorted().map { "\($0)  \(style.paint(document.origins[$0] ?? "", .faint))" }
        }
    }
}

struct ConfigValidateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "validate", abstract: "Check the operator's files; everything that is wrong, with file and line.",
        discussion: """
            Ends with 8 when something is wrong. Nothing is applied.

              watchboxctl config validate
            """)

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let document = try await output.client.send(
            .post, APIPath.configuration("validate"), as: ValidationDocument.self, or: "the files cannot be checked")
        output.show(document, isWell: document.isValid) { ConfigurationView.lines(document, style: $0) }
        if !document.isValid { throw ExitCode(ExitStatus.invalidConfiguration.rawValue) }
    }
}

struct ConfigDiffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff", abstract: "What would change, and what each change would restart.",
        discussion: "  watchboxctl config diff")

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let diff = try await output.client.get(
            ConfigurationDiff.self, APIPath.configuration("diff"), or: "the difference cannot be shown")
        output.show(diff) { ConfigurationView.lines(diff, style: $0) }
    }
}

struct ConfigApplyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apply", abstract: "Read the files again and do the least that each change needs.",
        discussion: """
            With --confirm the change is taken back unless config confirm follows in time: for whoever works over the \
            very network that the change is about.

              watchboxctl config apply
              watchboxctl config apply --confirm 90s
            """)

    @OptionGroup var options: ChangeOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let request = ApplyRequest(confirmSeconds: try options.seconds())
        let query = options.query
        let diff = try await output.client.send(
            .post, APIPath.configuration("apply"), body: request, query: query, as: ConfigurationDiff.self,
            or: "nothing was applied")
        output.show(diff) { ConfigurationView.lines(diff, style: $0) }
    }
}

/// Of commands that put another configuration to use.
struct ChangeOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Take it back after so long unless it is confirmed.", valueName: "seconds"))
    var confirm: String?

    @Flag(help: "Say what would change, and change nothing.")
    var dryRun = false

    var query: [(String, String)] { dryRun ? [("dryRun", "1")] : [] }

    func validate() throws {
        _ = try seconds()
    }

    func seconds() throws -> Int? {
        guard let confirm else { return nil }
        let digits = confirm.hasSuffix("s") ? confirm.dropLast() : Substring(confirm)
        guard let seconds = Int(digits), (10...3600).contains(seconds) else {
            throw ValidationError("--confirm is 10s to 3600s.")
        }
        return seconds
    }
}

struct ConfigConfirmCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "confirm", abstract: "Keep what config apply --confirm has applied.",
        discussion: "  watchboxctl config confirm")

    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await output.client.send(.post, APIPath.configuration("confirm"), or: "nothing was confirmed")
        output.report("Confirmed: it stays.", Done(object: "config", action: "confirmed"))
    }
}

struct ConfigRollbackCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rollback", abstract: "Run an earlier generation of the configuration.",
        discussion: """
            The operator's files stay as they are; config apply goes back to them.

              watchboxctl config rollback
              watchboxctl config rollback 26
              watchboxctl config rollback --dry-run
              watchboxctl config rollback 26 --confirm 90s
            """)

    @Argument(help: "Number of the generation, of config history; without one, the one before.")
    var generation: Int?

    @OptionGroup var options: ChangeOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let request = ApplyRequest(confirmSeconds: try options.seconds(), generation: generation)
        let query = options.query
        let diff = try await output.client.send(
            .post, APIPath.configuration("rollback"), body: request, query: query, as: ConfigurationDiff.self,
            or: "nothing was changed")
        output.show(diff) { ConfigurationView.lines(diff, style: $0) }
    }
}

struct ConfigHistoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "The generations that are kept, newest first.",
        discussion: "  watchboxctl config history")

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let document = try await output.client.get(
            GenerationListDocument.self, APIPath.configuration("history"), or: "the history cannot be shown")
        output.show(document, rows: document.generations) { ConfigurationView.table(document) }
    }
}

struct ConfigExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "The merged configuration as one TOML file; secrets are names only.",
        discussion: """
            With --json the same text inside the document of config show.

              watchboxctl config export > box.toml
            """)

    @OptionGroup var output: OutputOptions

    func validate() throws {
        try output.refuseQuiet("config export")
    }

    func run() async throws {
        guard output.chosen == .table else {
            let document = try await output.client.get(
                ConfigurationDocument.self, APIPath.configuration(), or: "the configuration cannot be exported")
            return output.show(document) { _ in [] }
        }
        let text = try await output.client.text(
            APIPath.configuration("export"), or: "the configuration cannot be exported")
        StandardOutput.write(text)
    }
}

struct ConfigImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Take the objects of a TOML file into the store.",
        discussion: """
              watchboxctl config import box.toml
              watchboxctl config import box.toml --replace --dry-run
            """)

    @Argument(help: "File that config export has written, or one like it; - for standard input.", completion: .file())
    var file: String

    @Flag(help: "Replace objects of the same name instead of refusing.")
    var replace = false

    @Flag(help: "Say what would change, and change nothing.")
    var dryRun = false

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let text = try ConfigurationText.read(file, what: "nothing was imported")
        let request = ImportRequest(toml: text, replace: replace)
        let diff = try await ConfigurationText.take(request, isDryRun: dryRun, output.client)
        output.show(diff) { ConfigurationView.lines(diff, style: $0) }
    }
}

struct ConfigDiscardCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "discard", abstract: "Remove a quarantined object from the store, with its secrets.",
        discussion: """
            An object that this version refuses is kept as it is, and nothing of it is used; status names it. This removes it \
            for good.

              watchboxctl config discard camera.front --yes
            """)

    @Argument(help: "Its name, as status shows it: camera.ID, relay.NAME, hook.NAME, kas, box …")
    var object: String

    @Flag(help: "Do not ask.")
    var yes = false

    @OptionGroup var output: OutputOptions

    func run() async throws {
        try Question.confirm(
            "Remove \(object) for good? A version that can use it will not find it.", flag: "--yes", isConfirmed: yes)
        let diff = try await output.client.send(
            .delete, APIPath.configuration("quarantine", object), as: ConfigurationDiff.self,
            or: "\(object) was not removed")
        let kept = diff.keptSecrets ?? []
        output.show(diff) { style in
            var lines = ["Removed \(object)."]
            if !kept.isEmpty {
                lines.append("Secrets stay that another object names, or may: \(kept.joined(separator: ", "))")
            }
            return lines.map { style.paint($0, .plain) }
        }
    }
}

/// Of a TOML file whose objects come into the store.
enum ConfigurationText {
    private static let limit = 256 << 10

    /// - Parameter file: `-` for standard input.
    static func read(_ file: String, what: String) throws -> String {
        let data =
            file == "-"
            ? try FileHandleReader.readAll(0, limit: limit) : try? Data(contentsOf: URL(filePath: file))
        guard let data, data.count <= limit, let text = String(validating: data, as: UTF8.self) else {
            throw CommandFailure(
                what: what, why: "\(file) is missing, no UTF-8 text, or longer than 256 KiB",
                hint: "check the file", status: .usage)
        }
        return text
    }

    static func take(
        _ request: ImportRequest, isDryRun: Bool, _ client: ControlClient, what: String = "nothing was imported"
    ) async throws -> ConfigurationDiff {
        try await client.send(
            .post, APIPath.configuration("import"), body: request, query: isDryRun ? [("dryRun", "1")] : [],
            as: ConfigurationDiff.self, or: what)
    }
}

struct ConfigSchemaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "JSON Schema of the configuration, for editors. Needs no daemon.",
        discussion: """
              watchboxctl config schema > watchbox.schema.json
              watchboxctl config schema --markdown
            """)

    @Flag(help: "The same as a page for people.")
    var markdown = false

    func run() async throws {
        if markdown { return StandardOutput.write(ConfigurationSchema.page) }
        StandardOutput.writeLine(ConfigurationSchema.text)
    }
}
