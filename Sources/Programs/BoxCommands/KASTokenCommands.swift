import ArgumentParser
import BoxView
import Console
import KeyAccessServer
import Platform

struct KASTokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Access tokens of the KAS whose state directory this is: make, list and revoke them.",
        subcommands: [
            KASTokenMakeCommand.self, KASTokenListCommand.self, KASTokenRevokeCommand.self,
            KASTokenRolloverCommand.self,
        ],
        defaultSubcommand: KASTokenMakeCommand.self)
}

/// The state directory of a KAS on this machine, which these commands work on without asking the service.
struct KASStateOption: ParsableArguments {
    @Option(help: "State directory of the KAS.")
    var state: String

    func store(_ now: Int64) throws -> KeyStore { try KeyStore(directory: state, now: now) }

    /// Gives `body` the register of access there and the time, in Unix seconds, and reports what was wrong.
    func register<Answer>(
        _ what: String, _ body: (_ register: AccessRegister, _ now: Int64) throws -> Answer
    ) throws(CommandFailure) -> Answer {
        let now = Clocks.wallSeconds
        return try use(what) { try body(try AccessRegister(store: try store(now)), now) }
    }

    /// Runs `body` and reports what was wrong.
    func use<Answer>(_ what: String, _ body: () throws -> Answer) throws(CommandFailure) -> Answer {
        do {
            return try body()
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw CommandFailure(
                what: what, why: "\(error)",
                hint: "use the --state directory of the KAS, as a user who may change it", status: .notPermitted)
        }
    }
}

struct KASTokenMakeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "make",
        abstract: "Make an access token, signed by the KAS whose state directory this is.",
        discussion: """
            Prints the token, which is a secret: send it to a file that only its owner reads. A box's (kas.publish) renews \
            itself before it ends, unless --no-renew is given.

              watchboxctl kas token make --state DIR --subject box --scope kas.publish --stream door > box.token
              watchboxctl kas token make --state DIR --subject alice --scope kas.rewrap --stream door > alice.token
            """)

    @OptionGroup var directory: KASStateOption

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

    @Flag(inversion: .prefixedNo, help: "Whether its holder can have it renewed (default: with kas.publish).")
    var renew: Bool?

    @Flag(help: "Print a JSON document.")
    var json = false

    @OptionGroup(visibility: .hidden) var box: HostOption

    private struct Document: Encodable {
        var schema = "watchbox.kas.token/1"
        var token: String
        var subject: String
        var expiresAt: Int64
        var renewable: Bool
    }

    func validate() throws {
        if scope.isEmpty { throw ValidationError("Name at least one --scope: kas.rewrap or kas.publish.") }
        try KASGrantCommand.check(scopes: scope)
        if stream.isEmpty { throw ValidationError("Name at least one --stream, for instance door.") }
    }

    func run() async throws {
        try box.requireThisMachine()
        let now = Clocks.wallSeconds
        let isRenewable = renew ?? scope.contains("kas.publish")
        let token = try directory.use("no token was made") {
            try TokenIssuer(store: try directory.store(now)).mint(
                .init(
                    subject: subject, scopes: scope, streams: stream, attributes: attribute, lifetime: lifetime,
                    isRenewable: isRenewable), now: now)
        }
        let document = Document(token: token, subject: subject, expiresAt: now + lifetime, renewable: isRenewable)
        StandardOutput.show(document, json: json, [token])
    }
}

struct KASTokenListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "The tokens that were issued and may still be used or renewed; never a token itself.",
        discussion: "  watchboxctl kas token list --state DIR")

    @OptionGroup var directory: KASStateOption
    @OptionGroup var output: OutputOptions

    func run() async throws {
        try output.box.requireThisMachine()
        let document = try directory.register("the tokens cannot be listed", KASAccessDocument.init)
        output.show(document, rows: document.tokens) { document.tokenTable }
    }
}

struct KASTokenRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Refuse a token, or all tokens of a subject, from now on.",
        discussion: """
            A running KAS refuses them within seconds. What was renewed or narrowed from a token is refused with it. \
            Viewers and cameras keep the keys that they have until the next rotation.

              watchboxctl kas token revoke --state DIR --id 0f3a…
              watchboxctl kas token revoke --state DIR --subject alice
            """)

    @OptionGroup var directory: KASStateOption

    @Option(help: "Identifier (jti) of the token: watchboxctl kas token list.")
    var id: String?

    @Option(help: "Refuse every token that this subject has now.")
    var subject: String?

    @Option(help: "Issuer of the subject, when it is not the KAS itself.")
    var issuer: String = KeyAccessServerConfiguration.localIssuer

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (id == nil) != (subject == nil) else { throw ValidationError("Name either --id or --subject.") }
    }

    func run() async throws {
        try output.box.requireThisMachine()
        try directory.register("nothing was revoked") { register, now in
            if let id { try register.revoke(token: id, now: now) }
            if let subject { try register.revoke(subject: subject, issuer: issuer, now: now) }
        }
        output.report(
            "Refused within seconds; keys that were given already end with the next rotation.",
            Done(object: "kas.token.\(id ?? subject ?? "")", action: "revoked"))
    }
}

struct KASTokenRolloverCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rollover",
        abstract: "Sign tokens with a new key from now on.",
        discussion: """
            The tokens of the key before are accepted until they end, and boxes renew theirs meanwhile. With --now they are refused at once: for a key that was stolen. Every box and viewer \
            then needs a new token.

              watchboxctl kas token rollover --state DIR
              watchboxctl kas token rollover --state DIR --now --yes
            """)

    @OptionGroup var directory: KASStateOption

    @Flag(help: "Refuse all tokens that were made before.")
    var now = false

    @Flag(help: "Do not ask.")
    var yes = false

    @OptionGroup var output: OutputOptions

    func run() async throws {
        try output.box.requireThisMachine()
        if now {
            try Question.confirm(
                "Every token of this KAS ends now. Go on?", flag: "--yes", isConfirmed: yes)
        }
        let moment = Clocks.wallSeconds
        let key = try directory.use("the issuer key was not replaced") {
            let store = try directory.store(moment)
            let old = store.descriptions.filter { $0.purpose == .issuer }.map(\.kid)
            let key = try store.rollOver(.issuer, now: moment)
            if now { try AccessRegister(store: store).revoke(issuerKeys: old, now: moment) }
            return key
        }
        output.report(
            now
                ? "\(key.kid) signs tokens now; those of the keys before are refused within seconds."
                : "\(key.kid) signs tokens now; those of the keys before are accepted for the overlap.",
            Done(object: "kas.issuer.\(key.kid)", action: now ? "replaced-at-once" : "rolled-over"))
    }
}
