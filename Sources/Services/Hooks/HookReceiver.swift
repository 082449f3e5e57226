internal import ControlAPI
internal import ErrorCatalog
internal import HTTPClient
internal import Settings

/// The other end of one hook: one URL, with its token and its trust. Sends one message at a time; follows nothing, and
/// reads of an answer no more than its status.
struct HookReceiver: Sendable {
    /// The result of one message, as text for a person.
    struct Report: Sendable {
        var outcome: HookOutcome
        var status: Int?
        /// Of what was not delivered.
        var code: ErrorCode?
        var reason: String?
        var hint: String?
    }

    private static let timeout = Duration.seconds(10)
    private static let answerBytes = 4096

    private let kind: HookKind
    private let box: String
    private let url: String
    private let token: String?
    /// A client of its own: no hook waits for another's connections.
    private let client: HTTPClient

    /// - Parameter secret: the text of the secret of this name; nil when systemd gave this process none.
    init(
        _ hook: HookServiceSettings.Hook, box: String, secret: (_ name: String) -> String?
    ) throws(CodedError) {
        func given(_ name: String) throws(CodedError) -> String {
            guard let text = secret(name).map(Self.firstLine), !text.isEmpty else {
                throw CodedError(
                    .missingSecret, "hook \(hook.name) needs the secret \"\(name)\"",
                    why: "it is not in this box's store, or cannot be opened",
                    hint: "Give it: watchboxctl hook edit \(hook.name) --url-file FILE, or --token-file FILE",
                    object: hook.name)
            }
            return text
        }
        guard let kind = HookKind(rawValue: hook.kind) else {
            throw CodedError(.invalidValue, "hook \(hook.name) is of a kind that this WatchBox does not know")
        }
        self.kind = kind
        self.box = box
        let url = try hook.urlSecret.map { name throws(CodedError) in try given(name) } ?? hook.url ?? ""
        self.url = url
        token = try hook.tokenSecret.map { name throws(CodedError) in try given(name) }
        client = HTTPClient(
            configuration: .init(
                certificateAuthorityFile: hook.certificateAuthorityFile, publicKeyPin: hook.publicKeyPin,
                plainHTTP: url.lowercased().hasPrefix("http:") ? .anywhere : .loopbackOnly, maximumRequests: 4))
    }

    /// As written in a file by a person.
    private static func firstLine(_ text: String) -> String {
        let line = text.prefix { !$0.isNewline }.drop(while: \.isWhitespace)
        return String(line.reversed().drop(while: \.isWhitespace).reversed())
    }

    func send(_ message: HookMessage) async -> Report {
        let letter = HookLetter(message, kind: kind, box: box)
        var request = HTTPRequest(
            method: .post, url: url, headers: letter.headers, body: letter.body, connectTimeout: Self.timeout,
            totalTimeout: Self.timeout, maximumResponseBytes: Self.answerBytes)
        request.takesBeginning = true
        if let token { request.headers.append(HTTPHeader("Authorization", "Bearer \(token)")) }
        do throws(HTTPClientError) {
            return Self.report(status: try await client.send(request).status)
        } catch {
            // Whatever it is, it is not this event that is wrong: it waits.
            return Report(outcome: .failed, code: .hookUnreachable, reason: "\(error)", hint: error.hint)
        }
    }

    private static func report(status: Int) -> Report {
        let outcome = HookOutcome(status: status)
        var report = Report(outcome: outcome, status: status)
        guard outcome != .delivered else { return report }
        report.reason = "the receiver answers with status \(status)"
        report.code = outcome == .refused ? .hookRefused : .hookUnreachable
        report.hint =
            switch status {
            case 300...399: "Give the address that it names as the hook's URL: redirects are not followed"
            case 401, 403: "Give it the right token: watchboxctl hook edit NAME --token-file FILE"
            case 404, 410: "Check the hook's URL: watchboxctl hook edit NAME --url-file FILE"
            default: report.code?.entry?.hint
            }
        return report
    }
}
