import ArgumentParser
import BoxView
import Console
import FoundationEssentials
import KeyAccess
import KeyAccessServer

struct KASGrantCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "grant",
        abstract: "Grant a stream to a publisher or viewer, or let an ended token be renewed once.",
        discussion: """
            A running KAS knows it within seconds. The grant adds to what tokens and configuration say.

              watchboxctl kas grant --state DIR --subject alice --stream door
              watchboxctl kas grant --state DIR --subject alice --stream yard --until 86400
              watchboxctl kas grant --state DIR --readmit box
            """)

    @OptionGroup var directory: KASStateOption

    @Option(help: "Who it is for: the sub of their token.")
    var subject: String?

    @Option(help: "Issuer of the subject, when it is not the KAS itself.")
    var issuer: String = KeyAccessServerConfiguration.localIssuer

    @Option(help: "Stream, or pattern with *; may be repeated.")
    var stream: [String] = []

    @Option(help: "kas.rewrap or kas.publish, beyond those of the token; may be repeated.")
    var scope: [String] = []

    @Option(help: "Attribute URI; may be repeated.")
    var attribute: [String] = []

    @Option(help: "Subject whose ended token may be renewed once: a box that was off for too long.")
    var readmit: String?

    @Option(
        help: "How long from now it holds, in seconds; without it a grant does not end, a readmission after 30 days.")
    var until: Int64?

    @OptionGroup var output: OutputOptions

    static func check(scopes: [String]) throws {
        for name in scopes where ![Scope.rewrap, Scope.publish].contains(name) {
            throw ValidationError("--scope \(name) is unknown; it is kas.rewrap or kas.publish.")
        }
    }

    func validate() throws {
        guard (subject == nil) != (readmit == nil) else { throw ValidationError("Name either --subject or --readmit.") }
        if subject != nil, stream.isEmpty { throw ValidationError("Name at least one --stream, for instance door.") }
        if readmit != nil, !stream.isEmpty || !scope.isEmpty || !attribute.isEmpty {
            throw ValidationError("--readmit lets a token be renewed as it is: leave the other options out.")
        }
        if let until, !(1...10 * 366 * 86_400).contains(until) {
            throw ValidationError("--until is 1 second to 10 years.")
        }
        try Self.check(scopes: scope)
    }

    func run() async throws {
        try output.box.requireThisMachine()
        try directory.register("nothing was granted") { register, now in
            if let readmit {
                try register.readmit(
                    .init(issuer: issuer, subject: readmit), until: now + (until ?? 30 * 86_400), now: now)
            }
            for name in stream {
                try register.grant(
                    .init(
                        holder: .init(issuer: issuer, subject: subject ?? ""), stream: name, scopes: scope,
                        attributes: attribute, until: until.map { now + $0 }), now: now)
            }
        }
        if let readmit {
            output.report(
                "\(readmit) can renew its token once; it tries daily, or at its next start.",
                Done(object: "kas.subject.\(readmit)", action: "readmitted"))
        } else {
            output.report(
                "\(subject ?? "") has \(stream.joined(separator: ", ")) within seconds.",
                Done(object: "kas.subject.\(subject ?? "")", action: "granted"))
        }
    }
}

struct KASRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Take a stream away from a subject, or everything.",
        discussion: """
            With --stream the stream is refused from now on, though a token names it; kas grant gives it back. Without it \
            all grants go, and every token that the subject has now is refused.

              watchboxctl kas revoke --state DIR --subject alice --stream door
              watchboxctl kas revoke --state DIR --subject alice
            """)

    @OptionGroup var directory: KASStateOption

    @Option(help: "From whom: the sub of their token.")
    var subject: String

    @Option(help: "Issuer of the subject, when it is not the KAS itself.")
    var issuer: String = KeyAccessServerConfiguration.localIssuer

    @Option(help: "Stream, or pattern with *; may be repeated.")
    var stream: [String] = []

    @OptionGroup var output: OutputOptions

    func run() async throws {
        try output.box.requireThisMachine()
        let holder = AccessGrants.Holder(issuer: issuer, subject: subject)
        try directory.register("nothing was revoked") { register, now in
            if stream.isEmpty { try register.revoke(holder, stream: nil, now: now) }
            for name in stream { try register.revoke(holder, stream: name, now: now) }
        }
        output.report(
            "Refused within seconds; keys that were given already end with the next rotation.",
            Done(object: "kas.subject.\(subject)", action: "revoked"))
    }
}

struct KASListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Grants, tokens and revocations of the KAS whose state directory this is.",
        discussion: """
              watchboxctl kas list --state DIR
              watchboxctl kas list --state DIR --json
            """)

    @OptionGroup var directory: KASStateOption
    @OptionGroup var output: OutputOptions

    func run() async throws {
        try output.box.requireThisMachine()
        let document = try directory.register("the grants cannot be listed", KASAccessDocument.init)
        output.show(document, rows: document.rows) { document.table }
    }
}

/// What a KAS knows of tokens and grants.
struct KASAccessDocument: Encodable {
    struct Token: Encodable {
        var id: String
        var subject: String
        var scopes: [String]
        var streams: [String]
        var issuedAt: Int64
        var expiresAt: Int64
        var renewable: Bool
        /// Made from another token for one stream.
        var narrowed: Bool
        /// `valid`, `ended` or `revoked`.
        var state: String
    }

    /// One line of the list.
    struct Row: Encodable {
        /// `grant`, `denial`, `readmission`, `token` or `revocation`.
        var kind: String
        var subject: String
        var what: String
        /// Unix seconds; nil: no end.
        var until: Int64?
    }

    var schema = "watchbox.kas.access/1"
    var grants: [AccessGrants.Grant]
    var denials: [AccessGrants.Denial]
    var readmissions: [AccessGrants.Readmission]
    var tokens: [Token]
    var revocations: [TokenRevocations.Entry]

    init(register: AccessRegister, now: Int64) throws {
        let known = register.grants
        (grants, denials, readmissions) = (known.grants, known.denials, known.readmissions)
        revocations = register.revocations.entries
        tokens = try register.states(now: now).map { entry, isRevoked in
            Token(
                id: entry.id, subject: entry.subject, scopes: entry.scopes, streams: entry.streams,
                issuedAt: entry.issuedAt, expiresAt: entry.expiresAt, renewable: entry.isRenewable,
                narrowed: entry.isNarrowed, state: isRevoked ? "revoked" : entry.expiresAt <= now ? "ended" : "valid")
        }
    }

    var tokenTable: Table {
        Table(
            [
                .init("ID", isIdentifier: true), .init("SUBJECT"), .init("SCOPES"), .init("STREAMS"),
                .init("ENDS", isIdentifier: true), .init("STATE", isIdentifier: true),
            ],
            rows: tokens.map { token in
                [
                    .init(token.id), .init(token.subject), .init(token.scopes.joined(separator: " ")),
                    .init(token.streams.joined(separator: " ")), .init(Self.date(token.expiresAt)),
                    .init(
                        token.state == "valid" && token.renewable ? "valid, renews itself" : token.state,
                        token.state == "valid" ? .good : .plain),
                ]
            })
    }

    var rows: [Row] {
        grants.map { grant in
            let more = (grant.scopes + grant.attributes).map { " +\($0)" }.joined()
            return Row(kind: "grant", subject: grant.holder.subject, what: grant.stream + more, until: grant.until)
        }
            + denials.map { Row(kind: "denial", subject: $0.holder.subject, what: $0.stream) }
            + readmissions.map {
                Row(kind: "readmission", subject: $0.holder.subject, what: "may renew once", until: $0.until)
            }
            + tokens.map {
                Row(
                    kind: "token", subject: $0.subject,
                    what: "\($0.id) \($0.state): \($0.streams.joined(separator: " "))", until: $0.expiresAt)
            }
            + revocations.map { entry in
                switch entry.target {
                case .token(let id): Row(kind: "revocation", subject: "-", what: "token \(id)")
                case .subject(_, let name, let until):
                    Row(kind: "revocation", subject: name, what: "tokens issued until \(Self.date(until))")
                case .issuerKey(let kid): Row(kind: "revocation", subject: "-", what: "issuer key \(kid)")
                }
            }
    }

    var table: Table {
        Table(
            [.init("KIND", isIdentifier: true), .init("SUBJECT"), .init("WHAT"), .init("UNTIL", isIdentifier: true)],
            rows: rows.map { row in
                [.init(row.kind), .init(row.subject), .init(row.what), .init(row.until.map(Self.date) ?? "-")]
            })
    }

    static func date(_ seconds: Int64) -> String {
        Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601)
    }
}
