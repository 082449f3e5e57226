import ArgumentParser
import BoxView
import Console
import ControlAPI
import ControlClient
import KeyAccessClient
import Settings

struct KASSetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Name the key access server that this box encrypts for, and give it a token.",
        discussion: """
              watchboxctl kas set --url https://kas.example.net/kas --token-file box.token
              watchboxctl kas set --token-file box.token
            """)

    @Option(help: "https://host/kas; http:// on this machine only.")
    var url: String?

    @Option(help: "PEM file of the authorities to trust for the KAS instead of the system's.")
    var kasCA: String?

    @Option(
        help: ArgumentHelp(
            "The only public key of the KAS that is accepted, beside its certificates; \"\" for any.",
            valueName: "sha256//…"))
    var kasPin: String?

    @Option(
        help: "auto, always or never: whether headers name the KAS key (always for OpenTDF's KAS, never for arkavo-rs)."
    )
    var keyIdentifiers: String?

    @Option(help: "File that holds the access token; it is encrypted for this box. - for standard input.")
    var tokenFile: String?

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard url != nil || kasCA != nil || kasPin != nil || keyIdentifiers != nil || tokenFile != nil else {
            throw ValidationError("Name --url, --kas-ca, --kas-pin, --key-identifiers or --token-file.")
        }
        if let keyIdentifiers, KeyIdentifierUse(rawValue: keyIdentifiers) == nil {
            throw ValidationError("--key-identifiers is auto, always or never.")
        }
    }

    func run() async throws {
        let client = output.client
        let token = try Secret.given(file: tokenFile)
        if url != nil || kasCA != nil || kasPin != nil || keyIdentifiers != nil {
            let (current, tag) = try await client.getTagged(
                KeyAccessDocument.self, APIPath.keyAccess(), or: "the KAS was not changed")
            let requested = KeyAccessDocument(
                url: url ?? current.url, certificateAuthorityFile: kasCA ?? current.certificateAuthorityFile,
                publicKeyPin: kasPin, keyIdentifiers: keyIdentifiers)
            try await client.send(
                .put, APIPath.keyAccess(), body: requested, ifMatch: tag, or: "the KAS was not changed")
        }
        if let token {
            try await client.send(
                .put, APIPath.keyAccess("token"), body: SecretRequest(secret: token), or: "the token was not stored")
        }
        let document = try await client.get(KeyAccessDocument.self, APIPath.keyAccess(), or: "the KAS cannot be shown")
        output.report("KAS \(document.url ?? "-"), token \(document.hasToken ? "stored" : "MISSING").", document)
    }
}

struct KASTestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Ask the key access server for its public key, as a camera does.",
        discussion: """
            Without --url the one of this box's configuration.

              watchboxctl kas test
              watchboxctl kas test --url https://kas.example.net/kas
            """)

    @Option(help: "https://host/kas; http:// on this machine only.")
    var url: String?

    @Option(help: "PEM file of the authorities to trust for the KAS instead of the system's.")
    var kasCA: String?

    @Option(
        help: ArgumentHelp("The only public key that is accepted, beside the certificates.", valueName: "sha256//…"))
    var kasPin: String?

    @OptionGroup var output: OutputOptions

    private struct Document: Encodable {
        var schema = "watchbox.kas-test/1"
        var url: String
        /// SHA-256 of the public key, for comparing with what the KAS's owner says.
        var fingerprint: String
        var milliseconds: Double
    }

    func run() async throws {
        var (url, authority, pin) = (url, kasCA, kasPin)
        if url == nil {
            let configured = try await output.client.get(
                KeyAccessDocument.self, APIPath.keyAccess(), or: "the KAS is not known")
            url = configured.url
            authority = authority ?? configured.certificateAuthorityFile
            pin = pin ?? configured.publicKeyPin
        }
        guard let url else {
            throw CommandFailure(
                what: "there is no KAS to test", why: "none is set", hint: "watchboxctl kas set --url URL",
                status: .notFound)
        }
        let progress = ProgressLine()
        progress.update("asking \(url)")
        let clock = ContinuousClock()
        let begin = clock.now
        do {
            let key = try await KASProbe.publicKeyFingerprint(
                KASConfiguration(url: url, certificateAuthorityFile: authority, publicKeyPin: pin))
            progress.clear()
            let document = Document(
                url: url, fingerprint: key, milliseconds: (clock.now - begin) / .milliseconds(1))
            output.show(document) { style in
                [
                    "\(style.paint("✓", .good)) \(style.paint(url, .plain)) answers in \(Quantity.tenths(document.milliseconds)) ms",
                    "  public key SHA-256 \(document.fingerprint)",
                ]
            }
        } catch {
            progress.clear()
            throw CommandFailure(
                what: "the KAS gives no public key", why: "\(error)",
                hint: "check its URL and certificate; running cameras go on with the key they have",
                status: .remoteUnreachable)
        }
    }
}
