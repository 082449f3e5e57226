internal import FoundationEssentials
internal import PrometheusText

/// An answer in the form in which it is sent.
struct RelayAPIAnswer: Equatable, Sendable {
    /// Of HTTP.
    var status: Int
    var contentType: String
    var body: [UInt8]

    static func json(_ document: some Encodable, status: Int = 200) -> RelayAPIAnswer {
        RelayAPIAnswer(
            status: status, contentType: "application/json", body: Array(json(document).utf8) + [UInt8(ascii: "\n")])
    }

    static func problem(_ problem: RelayProblem) -> RelayAPIAnswer { json(problem, status: problem.status) }

    static func metrics(_ text: String) -> RelayAPIAnswer {
        RelayAPIAnswer(status: 200, contentType: MetricFamily.mediaType, body: Array(text.utf8))
    }

    /// One server-sent event. JSON on one line holds no line break.
    static func event(_ event: RelayEvent) -> String { "event: \(event.event.rawValue)\ndata: \(json(event))\n\n" }

    private static func json(_ document: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(document) else { return "{}" }
        return String(decoding: data, as: UTF8.self)
    }
}
