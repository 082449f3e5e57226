import ArgumentParser
import BoxView
import Console
import ControlAPI
import ControlClient
internal import Settings

/// The relays that this box publishes to; `relay test` looks at any relay.
enum RelayTargets {
    static func list(_ client: ControlClient) async throws(CommandFailure) -> RelayListDocument {
        try await client.get(RelayListDocument.self, APIPath.relays(), or: "the relays cannot be listed")
    }

    /// What is named changes, the rest stays as it is; a relay that is not there yet begins.
    static func merged(_ requested: RelayRequest, with known: RelayDocument?) -> RelayRequest {
        RelayRequest(
            url: requested.url ?? known?.url,
            certificateAuthorityFile: requested.certificateAuthorityFile ?? known?.certificateAuthorityFile,
            publicKeyPin: requested.publicKeyPin ?? known?.publicKeyPin, profile: requested.profile ?? known?.profile,
            redirectHosts: requested.redirectHosts ?? known?.redirectHosts)
    }

    /// The secret first: with it in place the relay's definition is complete at once, and a relay may be nothing but a
    /// secret. Somebody else's change between our look and ours is refused, not lost.
    @discardableResult
    static func put(
        _ name: String, _ requested: RelayRequest, secret: String?, _ client: ControlClient
    ) async throws(CommandFailure) -> RelayDocument {
        let path = APIPath.relays(name)
        if let secret {
            try await client.send(
                .put, path + "/secret", body: SecretRequest(secret: secret),
                or: "the secret of the relay \(name) was not stored")
        }
        let what = "the relay \(name) was not changed" + (secret == nil ? "" : ", but its secret is stored")
        var (known, tag): (RelayDocument?, String?) = (nil, nil)
        do throws(CommandFailure) {
            let look = try await client.look(RelayDocument.self, path, or: what)
            (known, tag) = (look?.document, look?.eTag)
        } catch {
            guard error.status == .notFound else { throw error }
        }
        if let known, requested == RelayRequest() { return known }
        return try await client.send(
            .put, path, body: merged(requested, with: known), ifMatch: tag, as: RelayDocument.self, or: what)
    }
}

struct RelayListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "The relays that this box publishes to.",
        discussion: "  watchboxctl relay list")

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let document = try await RelayTargets.list(output.client)
        output.show(document, rows: document.relays) { RelayView.table(document) }
    }
}

struct RelayShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "One relay, and the cameras that publish there.",
        discussion: "  watchboxctl relay show main")

    @Argument(help: "Name of the relay in the configuration.")
    var name: String

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let document = try await output.client.get(
            RelayDocument.self, APIPath.relays(name), or: "\(name) cannot be shown")
        output.show(document) {
            RelayView.table(RelayListDocument(relays: [document])).lines($0, header: !output.noHeaders)
        }
    }
}

/// How a relay is reached, as options.
struct RelaySettingOptions: ParsableArguments {
    @Option(help: "rtmp[s]://host/app, without user, password, token or stream key.")
    var url: String?

    @Option(
        help: ArgumentHelp(
            "File that holds the whole URL when it is a secret; it is encrypted for this box. - for standard input.",
            valueName: "file"))
    var secretFile: String?

    @Option(help: "PEM file of the authorities to trust for the relay instead of the system's.")
    var relayCA: String?

    @Option(
        help: ArgumentHelp(
            "The only public key of the relay that is accepted, beside its certificates; \"\" for any.",
            valueName: "sha256//…"))
    var relayPin: String?

    @Option(
        help:
            "keeps-metadata; drops-metadata for a relay that rebuilds onMetaData; parses-avcc for one that parses frames."
    )
    var profile: String?

    @Option(
        help:
            "Host that the relay may send cameras to, HOST or HOST:PORT; may be repeated, and replaces all; \"\" for none."
    )
    var redirectHost: [String] = []

    var request: RelayRequest {
        RelayRequest(
            url: url, certificateAuthorityFile: relayCA, publicKeyPin: relayPin, profile: profile,
            redirectHosts: redirectHost.isEmpty ? nil : redirectHost.filter { !$0.isEmpty })
    }

    func put(_ name: String, _ output: OutputOptions, done: String) async throws {
        let secret = try Secret.given(file: secretFile)
        let document = try await RelayTargets.put(name, request, secret: secret, output.client)
        output.report("\(name): \(done).", document)
    }
}

struct RelayAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Name a relay that cameras publish to; they use the one called main.",
        discussion: """
              watchboxctl relay add main --url rtmps://live.example.net/live
              watchboxctl relay add main --secret-file /root/relay.url
            """)

    @Argument(help: "Name for the configuration: main.")
    var name: String

    @OptionGroup var settings: RelaySettingOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard settings.url != nil || settings.secretFile != nil else {
            throw ValidationError("Name --url, or --secret-file when the URL is a secret.")
        }
    }

    func run() async throws {
        let known = try await RelayTargets.list(output.client)
        guard !known.relays.contains(where: { $0.name == name }) else {
            throw CommandFailure(
                what: "\(name) was not added", why: "there is a relay of that name",
                hint: "change it: watchboxctl relay edit \(name)", status: .conflict)
        }
        try await settings.put(name, output, done: "added")
    }
}

struct RelayEditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Change a relay; the cameras that publish there restart.",
        discussion: """
            What is not named stays as it is.

              watchboxctl relay edit main --url rtmps://live2.example.net/live
            """)

    @Argument(help: "Name of the relay in the configuration.")
    var name: String

    @OptionGroup var settings: RelaySettingOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard settings.request != RelayRequest() || settings.secretFile != nil else {
            throw ValidationError(
                "Name what changes: --url, --secret-file, --relay-ca, --relay-pin, --redirect-host or --profile.")
        }
    }

    func run() async throws {
        _ = try await output.client.look(RelayDocument.self, APIPath.relays(name), or: "\(name) was not changed")
        try await settings.put(name, output, done: "changed")
    }
}

struct RelayRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rm", abstract: "Forget a relay and its secret.",
        discussion: "  watchboxctl relay rm backup --yes")

    @Argument(help: "Name of the relay in the configuration.")
    var name: String

    @Flag(help: "Do not ask.")
    var yes = false

    @OptionGroup var output: OutputOptions

    func run() async throws {
        try Question.confirm(
            "Remove the relay \(name)? Cameras that publish there stop.", flag: "--yes", isConfirmed: yes)
        try await output.client.send(.delete, APIPath.relays(name), or: "\(name) was not removed")
        output.report("Removed \(name).", Done(object: "relay.\(name)", action: "removed"))
    }
}

struct RelayUseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "use", abstract: "Let cameras publish to this relay.",
        discussion: "  watchboxctl relay use backup front garage")

    @Argument(help: "Name of the relay in the configuration.")
    var name: String

    @Argument(help: "IDs of the cameras; none: all but those that files define.", completion: CameraNames.completion)
    var cameras: [String] = []

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let client = output.client
        var ids = cameras
        var others = 0
        if ids.isEmpty {
            let all = try await client.get(
                CameraListDocument.self, APIPath.cameras(), or: "the cameras cannot be listed"
            ).cameras
            ids = all.filter { $0.origin == CameraSettingOptions.storeOrigin }.map(\.id)
            others = all.count - ids.count
        }
        let progress = ProgressLine()
        for (index, id) in ids.enumerated() {
            progress.update("\(id) → \(name)", fraction: Double(index) / Double(ids.count))
            let path = APIPath.cameras(id)
            let (_, tag) = try await client.getTagged(CameraDocument.self, path, or: "\(id) was not changed")
            try await client.send(
                .patch, path, body: CameraRequest(settings: ["relay": .string(name)]), ifMatch: tag,
                or: "\(id) was not changed")
        }
        progress.clear()
        let rest =
            others == 0 ? "" : " \(Quantity.count(others, "other")) in files, which only their owner changes."
        output.report(
            "\(Quantity.count(ids.count, "camera")) → \(name)." + rest,
            Done(object: "relay.\(name)", action: "used"))
    }
}
