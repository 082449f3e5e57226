import ArgumentParser
import BoxView
import Console
import ControlAPI
import ControlClient
import KeyAccessServer

struct KASCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kas",
        abstract: "The key access server: the one that this box encrypts for, and one that runs on this machine.",
        subcommands: [KASShowCommand.self, KASSetCommand.self, KASTestCommand.self, KASTokenCommand.self])
}

struct KASTokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Make an access token, signed by the KAS whose state directory this is.",
        discussion: """
            Prints the token, which is a secret: send it to a file that only its owner reads.

              watchboxctl kas token --state DIR --subject box --scope kas.publish --stream door > box.token
              watchboxctl kas token --state DIR --subject alice --scope kas.rewrap --stream door > alice.token
            """)

    @Option(help: "State directory of the KAS.")
    var state: String

    @Option(help: "Who will hold the token; stands in the audit log.")
    var subject: String

    @Option(help: "kas.rewrap for viewers, kas.publish for boxes; may be repeated.")
    var scope: [String]

    @Option(help: "Stream, or pattern with *; may be repeated.")
    var stream: [String]

    @Option(help: "Attribute URI that the holder is granted; may be repeated.")
    var attribute: [String] = []

    @Option(help: "Lifetime in seconds.")
    var lifetime: Int64 = 30 * 86_400

    @Flag(help: "Print a JSON document.")
    var json = false

    private struct Document: Encodable {
        var schema = "watchbox.kas.token/1"
        var token: String
        var subject: String
        var expiresAt: Int64
    }

    func validate() throws {
        let known = ["kas.rewrap", "kas.publish"]
        if scope.isEmpty { throw ValidationError("Name at least one --scope: kas.rewrap or kas.publish.") }
        for name in scope where !known.contains(name) {
            throw ValidationError("--scope \(name) is unknown; it is kas.rewrap or kas.publish.")
        }
        if stream.isEmpty { throw ValidationError("Name at least one --stream, for instance door.") }
    }

    func run() async throws {
        let now = Moment.unixSeconds()
        let token: String
        do {
            let issuer = TokenIssuer(store: try KeyStore(directory: state, now: now))
            token = try issuer.mint(
                .init(subject: subject, scopes: scope, streams: stream, attributes: attribute, lifetime: lifetime),
                now: now)
        } catch {
            throw CommandFailure(
                what: "no token was made", why: "\(error)",
                next: "use the --state directory of the KAS, as a user who may read it", status: .notPermitted)
        }
        if json {
            StandardOutput.writeJSON(Document(token: token, subject: subject, expiresAt: now + lifetime))
        } else {
            StandardOutput.writeLine(token)
        }
    }
}

struct KASShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract:
            "The KAS of this box's configuration; with --state the keys of one on this machine, never a key itself.",
        discussion: """
              watchboxctl kas show
              watchboxctl kas show --state /var/lib/watchbox-kas
            """)

    @Option(help: "State directory of a KAS on this machine: list its keys by identifier, purpose and age.")
    var state: String?

    @OptionGroup var output: OutputOptions

    private struct Document: Encodable {
        var schema = "watchbox.kas.keys/1"
        var keys: [KeyDescription]
    }

    func run() async throws {
        guard let state else {
            let client = output.client
            let document = try await asking("the KAS cannot be shown") { () throws(ControlClientError) in
                try await client.get(KeyAccessDocument.self, "/api/v1/kas")
            }
            return output.show(document) { style in
                [
                    style.paint(document.url ?? "none is set", .strong),
                    "  token       \(document.hasToken ? "stored" : "MISSING")",
                    "  defined in  \(style.paint(document.origin, .plain))",
                ]
            }
        }
        let keys: [KeyDescription]
        do {
            keys = try KeyStore(directory: state, now: Moment.unixSeconds()).descriptions
        } catch {
            throw CommandFailure(
                what: "the keys cannot be listed", why: "\(error)",
                next: "use the --state directory of the KAS, as a user who may read it", status: .notPermitted)
        }
        output.show(Document(keys: keys)) { _ in
            keys.map { key in
                let state = key.retiredAt == nil ? "current" : "retired, still opens what was sealed for it"
                return "\(key.kid)  \(key.purpose)  \(state)"
            }
        }
    }
}
