internal import ControlAPI
internal import ErrorCatalog
internal import FoundationEssentials
internal import HTTPClient
internal import Redaction
internal import Settings

/// What a receiver gets of one message, as docs/guide/box.md describes it.
struct HookLetter: Equatable {
    /// Characters of an event's text.
    private static let textLimit = 1500

    var headers: [HTTPHeader]
    var body: [UInt8]

    /// - Parameter box: its name, for people.
    init(_ message: HookMessage, kind: HookKind, box: String) {
        switch kind {
        case .webhook: self.init(webhook: message, box: box)
        case .ntfy: self.init(ntfy: message, box: box)
        }
        // The same event again has the same key; another box, and a history that began again, have others.
        let event = message.event
        headers.append(HTTPHeader("Idempotency-Key", "\(event.time)-\(event.id)"))
    }

    /// The event as it leaves the box: nothing in it that is a secret by its environment, and nothing endless.
    static func cleaned(_ event: EventDocument) -> EventDocument {
        var event = event
        event.text = String(Redaction.clean(event.text).prefix(textLimit))
        event.object = event.object.map { String(Redaction.clean($0).prefix(textLimit)) }
        return event
    }

    // MARK: Webhook

    private struct Document: Encodable {
        var version = 1
        var box: String
        var id: Int64
        var time: String
        var topic: String
        var object: String?
        var code: ErrorCode?
        var text: String
        var missed: UInt64
    }

    private init(webhook message: HookMessage, box: String) {
        let event = message.event
        let seconds = Double(event.time) / 1_000_000
        body = JSONDocument.bytes(
            Document(
                box: box, id: event.id,
                time: Date(timeIntervalSince1970: seconds).formatted(
                    Date.ISO8601FormatStyle(includingFractionalSeconds: true)),
                topic: event.topic, object: event.object, code: event.code, text: event.text, missed: message.missed))
        headers = [HTTPHeader("Content-Type", "application/json")]
    }

    // MARK: ntfy

    private init(ntfy message: HookMessage, box: String) {
        let event = message.event
        let severity = event.code?.entry?.severity
        var text = event.text + (event.code.map { " (\($0))" } ?? "")
        if message.missed > 0 {
            let events =
                message.missed == 1 ? "1 event before this was" : "\(message.missed) events before this were"
            text += "\n\(events) not reported one by one."
        }
        body = Array(text.utf8)
        let subject = event.object.map { "\(box): \($0)" } ?? "\(box): \(event.topic)"
        headers = [
            HTTPHeader("Content-Type", "text/plain; charset=utf-8"), HTTPHeader("Title", HeaderText.value(subject)),
            HTTPHeader("Priority", Self.priority(severity, event.topic)),
            HTTPHeader("Tags", HeaderText.value("\(Self.sign(severity)),\(event.topic)")),
        ]
    }

    /// Of ntfy's 1 to 5, where 3 is the usual one.
    private static func priority(_ severity: CatalogEntry.Severity?, _ topic: String) -> String {
        switch severity {
        case .critical?: "5"
        case .error?: "4"
        case .warning?: "3"
        case .information?: "2"
        // What has no code is not a fault: something came back, or somebody changed something.
        case nil: topic == HookTopic.config.rawValue ? "2" : "3"
        }
    }

    /// Names of emoji, which ntfy's apps show before the title.
    private static func sign(_ severity: CatalogEntry.Severity?) -> String {
        switch severity {
        case .critical?, .error?: "rotating_light"
        case .warning?: "warning"
        case .information?, nil: "information_source"
        }
    }
}
