import ArgumentParser
import BoxView
import Console
import ControlAPI
import ControlClient
import FoundationEssentials
import Glibc
internal import Settings
import VideoCapture

struct SetupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "setup", abstract: "From nothing to a published camera, in five steps.",
        discussion: """
            Asks on a terminal; what an option says is not asked. Each step is done when it says so: Ctrl-C keeps what is \
            done, and running it again goes on from there. Secrets are typed unseen, or come from files.

              watchboxctl setup
              watchboxctl setup --camera yard --source onvif://192.168.1.61 --user viewer
              watchboxctl setup --from box.toml --kas-token-file box.token --yes
              watchboxctl setup --from box.toml --replace --yes
              watchboxctl setup --yes --relay rtmps://live.example.net/live --kas https://kas.example.net/kas \
            --kas-token-file box.token --camera front --source test:
            """)

    @Option(
        help: ArgumentHelp("Take the objects of a TOML file, as config export writes it, first.", valueName: "file"))
    var from: String?

    @Flag(help: "With --from: replace objects of the same name. Without it, what would be replaced is shown and asked.")
    var replace = false

    @Option(help: "rtmp[s]://host/app of the relay that is called main.")
    var relay: String?

    @Option(
        help: ArgumentHelp(
            "File that holds the relay's whole URL when it is a secret; - for standard input.", valueName: "file"))
    var relaySecretFile: String?

    @Option(help: "https://host/kas of the key access server.")
    var kas: String?

    @Option(help: ArgumentHelp("File that holds the access token; - for standard input.", valueName: "file"))
    var kasTokenFile: String?

    @Option(help: "ID of a first camera.")
    var camera: String?

    @Option(help: ArgumentHelp(CameraTesting.sources))
    var source: String?

    @Option(help: "User at a camera on the network; a terminal is asked for the password.")
    var user: String?

    @Option(
        help: ArgumentHelp(
            "File that holds the camera's password and nothing else; - for standard input.", valueName: "file"))
    var passwordFile: String?

    @Option(help: "Seconds to wait until all cameras publish.")
    var timeout = 60.0

    @Flag(help: "Ask nothing: do what the options say, and leave the rest as it is.")
    var yes = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard timeout.isFinite, (0...86_400).contains(timeout) else {
            throw ValidationError("--timeout is 0 to 86400.")
        }
        if let relay, relay.contains("@") || relay.contains("?") {
            throw ValidationError(
                "This URL holds a secret, and others can read command lines. Put it into a file: --relay-secret-file.")
        }
        guard [relaySecretFile, kasTokenFile, passwordFile].count(where: { $0 == "-" }) <= 1 else {
            throw ValidationError("Standard input can be one secret only.")
        }
    }

    func run() async throws {
        let steps = SetupSteps(output: output, asks: !yes && isatty(STDIN_FILENO) == 1, say: say)
        if let from { try await steps.importFile(from, replace: replace, isConfirmed: yes) }
        try await steps.name()
        try await steps.relay(url: relay, secretFile: relaySecretFile)
        try await steps.keyAccess(url: kas, tokenFile: kasTokenFile)
        try await steps.camera(id: camera, source: source, user: user, passwordFile: passwordFile)
        let published = try await steps.check(timeout: .seconds(timeout))
        let status = try await output.client.get(
            BoxStatus.self, APIPath.status(), or: "the box's state cannot be shown")
        if output.chosen != .table {
            output.show(status) { StatusView.lines(status, style: $0) }
        } else {
            say(
                published
                    ? "Done. Look at it: watchboxctl status"
                    : "Not publishing yet, for want of what is missing above. Go on with: watchboxctl setup")
        }
        if !published { throw ExitCode(ExitStatus.degraded.rawValue) }
    }

    /// Progress is for people: with a machine's format it goes to standard error.
    private func say(_ text: String) {
        guard !output.quiet else { return }
        let line = Style.oneLine(text)
        output.chosen == .table ? StandardOutput.writeLine(line) : StandardError.writeLine(line)
    }
}

/// The five steps; each says what it does, and does it before the next begins.
struct SetupSteps {
    let output: OutputOptions
    /// Somebody sits at the terminal.
    let asks: Bool
    let say: (String) -> Void

    private var client: ControlClient { output.client }

    private static let goOn = "watchboxctl setup: what it has said above is kept, and it goes on from there"

    /// Shows what the file would change, and asks before it does; what it would replace goes by a flag of its own,
    /// since `--yes` alone says nothing about what is there.
    func importFile(_ path: String, replace: Bool, isConfirmed: Bool) async throws {
        let text = try ConfigurationText.read(path, what: "nothing was set up")
        let request = ImportRequest(toml: text, replace: true)
        let requested = try await ConfigurationText.take(request, isDryRun: true, client)
        guard !requested.changes.isEmpty else { return say("0/5 \(path): all of it is there") }
        for line in ConfigurationView.lines(requested, style: Style()) { say("    " + line) }
        let lost = requested.changes.filter { $0.kind != .added }.map(\.object)
        if !lost.isEmpty, !replace, isConfirmed {
            throw CommandFailure(
                what: "nothing was set up", why: "\(path) would replace \(lost.joined(separator: ", "))",
                hint: "add --replace, or take it out of the file", status: .conflict)
        }
        try Question.confirm(
            lost.isEmpty ? "Take this over?" : "Take this over? It replaces \(lost.joined(separator: ", ")).",
            flag: lost.isEmpty || replace ? "--yes" : "--replace --yes", isConfirmed: isConfirmed)
        let diff = try await ConfigurationText.take(request, isDryRun: false, client)
        say("0/5 \(path): \(Quantity.count(diff.changes.count, "object")) taken over")
    }

    func name() async throws {
        let status = try await client.get(BoxStatus.self, APIPath.status(), or: "the box cannot be set up")
        say(
            "1/5 name     \(status.name) (another one: box = { name = \"…\" } in /etc/watchbox/watchbox.toml, which is yours alone)"
        )
    }

    func relay(url: String?, secretFile: String?) async throws {
        let known = try await client.get(RelayListDocument.self, APIPath.relays(), or: "the relays cannot be listed")
        var url = url
        var secret = try Secret.given(file: secretFile)
        if url == nil, secret == nil {
            if let main = known.relays.first(where: { $0.name == "main" }) ?? known.relays.first {
                return say("2/5 relay    \(main.name) \(main.url ?? "(its URL is a secret)"), as it is")
            }
            guard asks else { return say("2/5 relay    MISSING: give --relay URL, or --relay-secret-file FILE") }
            let answer = Self.ask(
                "Relay, rtmp[s]://host/app (leave empty when the URL itself is a secret)", default: nil)
            if let answer, !answer.contains("@"), !answer.contains("?") {
                url = answer
            } else {
                secret = try Secret.typed(
                    "Whole URL of the relay", kept: "no relay was set", hint: Self.goOn)
            }
        }
        try await RelayTargets.put("main", RelayRequest(url: url), secret: secret, client)
        say("2/5 relay    main \(url ?? "(its URL is a secret, encrypted for this box)"), set")
    }

    func keyAccess(url: String?, tokenFile: String?) async throws {
        let (known, tag) = try await client.getTagged(
            KeyAccessDocument.self, APIPath.keyAccess(), or: "the KAS is not known")
        var url = url
        var token = try Secret.given(file: tokenFile)
        if url == nil, known.url == nil, asks { url = Self.ask("Key access server, https://host/kas", default: nil) }
        if let url {
            let requested = KeyAccessDocument(url: url, certificateAuthorityFile: known.certificateAuthorityFile)
            try await client.send(.put, APIPath.keyAccess(), body: requested, ifMatch: tag, or: "the KAS was not set")
        }
        guard let set = url ?? known.url else { return say("3/5 KAS      MISSING: give --kas URL") }
        if token == nil, !known.hasToken, asks {
            token = try Secret.typed(
                "Access token of this box", kept: "the KAS has no token yet; its URL \(set) and the relay are set",
                hint: Self.goOn)
        }
        if let token {
            try await client.send(
                .put, APIPath.keyAccess("token"), body: SecretRequest(secret: token), or: "the token was not stored")
        }
        let tail =
            token != nil
            ? "token encrypted for this box"
            : known.hasToken ? "token stored" : "token MISSING: give --kas-token-file FILE"
        say("3/5 KAS      \(set), \(tail)")
    }

    func camera(id: String?, source: String?, user: String?, passwordFile: String?) async throws {
        let known = try await client.get(CameraListDocument.self, APIPath.cameras(), or: "the cameras cannot be listed")
        var (id, source) = (id, source)
        // Only for who is going to choose: libcamera sets up the sensors that it lists.
        let isChosen = id != nil || source != nil || !known.cameras.isEmpty || !asks || output.box.chosen != nil
        let devices = isChosen ? [] : MachineCameras.names()
        if id == nil, source == nil {
            guard known.cameras.isEmpty else {
                return say("4/5 cameras  \(known.cameras.map(\.id).joined(separator: ", ")), as they are")
            }
            guard asks else { return say("4/5 cameras  none: give --camera ID --source SOURCE") }
            for node in devices {
                say("    found: \(node.source) (\(node.name))")
            }
        }
        if asks {
            let first = devices.first?.source
            id = id ?? Self.ask("ID of a camera", default: "front")
            source =
                source
                ?? Self.ask(
                    "Its source, test:, file:/PATH, v4l2:/dev/…, csi:, rtsp://…, onvif://… or http://…",
                    default: first ?? "test:")
        }
        guard let id, let source else {
            return say("4/5 cameras  nothing was added: --camera and --source go together")
        }
        guard !known.cameras.contains(where: { $0.id == id }) else {
            return say("4/5 cameras  \(id) is there, as it is")
        }
        let isOnNetwork = CameraTesting.isOnNetwork(source)
        var user = user
        if isOnNetwork, user == nil, asks { user = Self.ask("User at the camera (nothing: no login)", default: nil) }
        let password = isOnNetwork ? try Secret.forUser(user, file: passwordFile, of: "camera \(id)") : nil
        // As camera add does it: a camera on the network is tested before, and what the test found out is kept.
        _ = try await CameraAddition(
            id: id, request: CameraRequest(id: id, source: source, user: isOnNetwork ? user : nil), password: password,
            test: isOnNetwork ? CameraTestRequest(source: source, user: user, password: password) : nil, output: output
        ).add()
        say("4/5 cameras  \(id) added")
    }

    /// - Returns: false when nothing could publish, because a part is missing.
    func check(timeout: Duration) async throws -> Bool {
        let status = try await client.get(BoxStatus.self, APIPath.status(), or: "the box's state cannot be read")
        let active = status.cameras.filter(\.isActive)
        guard !active.isEmpty, !status.relays.isEmpty, status.keyAccess.url != nil else {
            say("5/5 check    not possible yet")
            return false
        }
        try await Waiting.until("all cameras to publish", timeout: timeout) {
            let cameras = try await client.get(CameraListDocument.self, APIPath.cameras()).cameras
            let silent = cameras.filter { $0.isActive && $0.stream.state != .live }
            return silent.isEmpty
                ? nil
                : silent.map { $0.id + ($0.stream.reason.map { " (\($0))" } ?? "") }.joined(separator: ", ")
                    + " not yet"
        }
        say("5/5 check    \(Quantity.count(active.count, "camera")) published, encrypted on this box")
        return true
    }

    /// Nil when nothing was typed and there is no default.
    private static func ask(_ prompt: String, default value: String?) -> String? {
        StandardError.write("\(prompt)\(value.map { " [\($0)]" } ?? ""): ")
        let line = readLine(strippingNewline: true) ?? ""
        let answer = line.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return answer.isEmpty ? value : String(answer.prefix(4096))
    }
}
