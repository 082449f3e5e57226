import ArgumentParser
import BoxView
import Console
import ControlAPI
import ControlClient
import Settings

struct HookCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hook",
        abstract: "Hooks: who is notified when a camera goes, health gets worse, or a relay refuses.",
        discussion: "A message says what happened, and never holds a frame, a key or a password.",
        subcommands: [
            HookListCommand.self, HookShowCommand.self, HookAddCommand.self, HookEditCommand.self,
            HookRemoveCommand.self, HookTestCommand.self,
        ])

    static func document(_ name: String, _ client: ControlClient) async throws(CommandFailure) -> HookDocument {
        try await client.get(HookDocument.self, APIPath.hooks(name), or: "\(name) cannot be shown")
    }

    static func list(_ client: ControlClient) async throws(CommandFailure) -> HookListDocument {
        try await client.get(HookListDocument.self, APIPath.hooks(), or: "the hooks cannot be listed")
    }
}

struct HookListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "All hooks, and how they stand.",
        discussion: "  watchboxctl hook list")

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let document = try await HookCommand.list(output.client)
        output.show(document, rows: document.hooks) { HookView.table(document) }
    }
}

struct HookShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "One hook, and how it stands.",
        discussion: "  watchboxctl hook show phone")

    @Argument(help: "Name of the hook in the configuration.")
    var name: String

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let document = try await HookCommand.document(name, output.client)
        output.show(document) { HookView.card(document, $0) }
    }
}

/// What a hook is, as options.
struct HookSettingOptions: ParsableArguments {
    @Option(help: "https://host/path, without user, password and query; http:// is read by everybody between.")
    var url: String?

    @Option(
        help: ArgumentHelp(
            "File that holds the whole URL when it is a secret, as an ntfy topic is; it is encrypted for this box. - for standard input.",
            valueName: "file"))
    var urlFile: String?

    @Option(
        help: ArgumentHelp(
            "File that holds the token that the receiver is shown (Authorization: Bearer); it is encrypted for this box. - for standard input.",
            valueName: "file"))
    var tokenFile: String?

    @Option(help: ArgumentHelp("webhook (a JSON document) or ntfy.", valueName: "kind"))
    var kind: String?

    @Option(
        name: .customLong("event"),
        help:
            "camera, motion, config, health, relay, kas, key or system; may be repeated, and replaces all; \"\" for the usual ones."
    )
    var events: [String] = []

    @Option(
        name: .customLong("camera"),
        help: ArgumentHelp(
            "Only of this camera; may be repeated, and replaces all; \"\" for all of them.", valueName: "id"),
        completion: CameraNames.completion)
    var cameras: [String] = []

    @Option(help: "PEM file of the authorities to trust for the receiver instead of the system's.")
    var hookCA: String?

    @Option(
        help: ArgumentHelp(
            "The only public key of the receiver that is accepted, beside its certificates; \"\" for any.",
            valueName: "sha256//…"))
    var hookPin: String?

    var request: HookRequest {
        HookRequest(
            kind: kind, url: url, certificateAuthorityFile: hookCA, publicKeyPin: hookPin,
            events: events.isEmpty ? nil : events.filter { !$0.isEmpty },
            cameras: cameras.isEmpty ? nil : cameras.filter { !$0.isEmpty })
    }

    func validate() throws {
        if let kind, HookKind(rawValue: kind) == nil { throw ValidationError("--kind is webhook or ntfy.") }
        for event in events where !event.isEmpty && HookTopic(rawValue: event) == nil {
            throw ValidationError(
                "--event is one of \(HookTopic.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        if let url, url.contains("@") || url.contains("?") {
            throw ValidationError(
                "This URL holds a secret, and others can read command lines. Put it into a file: --url-file.")
        }
        if urlFile == "-", tokenFile == "-" { throw ValidationError("Standard input can be only one of the two.") }
    }

    /// The URL first: with it the hook's definition is complete, also when it is nothing but a secret.
    func put(_ name: String, _ request: HookRequest, _ output: OutputOptions, done: String) async throws {
        let (secret, token) = (try Secret.given(file: urlFile), try Secret.given(file: tokenFile))
        let (client, path) = (output.client, APIPath.hooks(name))
        if let secret {
            try await client.send(
                .put, path + "/secret", body: SecretRequest(secret: secret),
                or: "the URL of the hook \(name) was not stored")
        }
        if request != HookRequest() {
            let what = "the hook \(name) was not changed" + (secret == nil ? "" : ", but its URL is stored")
            try await client.send(.put, path, body: request, or: what)
        }
        if let token {
            try await client.send(
                .put, path + "/token", body: SecretRequest(secret: token),
                or: "the token of the hook \(name) was not stored")
        }
        let document = try await HookCommand.document(name, client)
        output.report("\(name): \(done). Try it: watchboxctl hook test \(name)", document)
    }
}

struct HookAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Notify somebody of what happens on this box.",
        discussion: """
            What is sent is in docs/guide/box.md, to the letter. Without --event: camera, health, relay, kas and system.

              watchboxctl hook add phone --kind ntfy --url-file topic.url
              watchboxctl hook add home --url https://home.example.net/watchbox --token-file home.token
            """)

    @Argument(help: "Name for the configuration: phone.")
    var name: String

    @OptionGroup var settings: HookSettingOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard settings.url != nil || settings.urlFile != nil else {
            throw ValidationError("Name --url, or --url-file when the URL is a secret.")
        }
    }

    func run() async throws {
        let known = try await HookCommand.list(output.client)
        guard !known.hooks.contains(where: { $0.name == name }) else {
            throw CommandFailure(
                what: "\(name) was not added", why: "there is a hook of that name",
                hint: "change it: watchboxctl hook edit \(name)", status: .conflict)
        }
        try await settings.put(name, settings.request, output, done: "added")
    }
}

struct HookEditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Change a hook, or switch it off and on.",
        discussion: """
            What is not named stays as it is.

              watchboxctl hook edit phone --event camera --event health
              watchboxctl hook edit phone --disable
            """)

    @Argument(help: "Name of the hook in the configuration.")
    var name: String

    @Flag(help: "Send it what happens from now on.")
    var enable = false

    @Flag(help: "Send it nothing any more.")
    var disable = false

    @OptionGroup var settings: HookSettingOptions
    @OptionGroup var output: OutputOptions

    private var request: HookRequest {
        var request = settings.request
        if enable || disable { request.isEnabled = enable }
        return request
    }

    func validate() throws {
        if enable, disable { throw ValidationError("--enable and --disable exclude each other.") }
        guard request != HookRequest() || settings.urlFile != nil || settings.tokenFile != nil else {
            throw ValidationError(
                "Name what changes: --url, --url-file, --token-file, --kind, --event, --camera, --hook-ca, --hook-pin, --enable or --disable."
            )
        }
    }

    func run() async throws {
        _ = try await output.client.look(HookDocument.self, APIPath.hooks(name), or: "\(name) was not changed")
        try await settings.put(name, request, output, done: "changed")
    }
}

struct HookRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Forget a hook and its secrets.",
        discussion: """
              watchboxctl hook remove phone --yes
            """, aliases: ["rm"])

    @Argument(help: "Name of the hook in the configuration.")
    var name: String

    @Flag(help: "Do not ask.")
    var yes = false

    @OptionGroup var output: OutputOptions

    func run() async throws {
        try Question.confirm(
            "Remove the hook \(name)? Nothing is sent there any more.", flag: "--yes", isConfirmed: yes)
        try await output.client.send(.delete, APIPath.hooks(name), or: "\(name) was not removed")
        output.report("Removed \(name).", Done(object: "hook.\(name)", action: "removed"))
    }
}

struct HookTestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Send a test message now, and show the result.",
        discussion: """
            Ends with 7 when it did not arrive. Once one arrives, what waits for this hook is sent at once.

              watchboxctl hook test phone
            """)

    @Argument(help: "Name of the hook in the configuration.")
    var name: String

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let result = try await output.client.send(
            .post, APIPath.hooks(name, "test"), as: HookTestDocument.self, or: "\(name) was not tested")
        guard !result.isDelivered else {
            let status = result.status.map { ", status \($0)" } ?? ""
            return output.report("\(name): delivered in \(result.milliseconds) ms\(status).", result)
        }
        if output.chosen == .table {
            let reason = result.reason ?? "it was not delivered"
            throw CommandFailure(
                what: "the test message of \(name) did not arrive",
                why: reason + (result.code.map { " (\($0))" } ?? ""),
                hint: result.hint ?? "Run: watchboxctl logs hooks", status: .remoteUnreachable)
        }
        output.show(result, isWell: false) { _ in [] }
        throw ExitCode(ExitStatus.remoteUnreachable.rawValue)
    }
}
