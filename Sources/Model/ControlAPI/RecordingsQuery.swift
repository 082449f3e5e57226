public import ErrorCatalog
internal import Wire

/// Which recordings of a camera somebody asks for, a page at a time; in the order in which they were made.
public struct RecordingsQuery: Equatable, Sendable {
    /// Recordings in an answer.
    public static let limits = 1...400
    public static let defaultLimit = 100
    /// The longest answer, in bytes: as many as ``limits`` allows with a gap between each two, under the longest names, and as many
    /// parts that were not seen live as there can be.
    public static let maximumAnswerBytes = 288 << 10
    /// Without a begin, in milliseconds.
    public static let defaultSpan: Int64 = 86_400_000

    /// Its parameters, for OpenAPI.
    public static let parameters = [
        "from": "ISO 8601 in UTC, as 2026-11-28T19:22:01Z; 24 hours before `to`, or before now, without it",
        "to": "a time as well; up to the newest without it",
        "limit": "how many, \(limits.lowerBound) to \(limits.upperBound); \(defaultLimit) without it",
        "after": "the file of a recording: go on behind it; of an answer `next`",
    ]

    /// Milliseconds since 1970; nil: ``defaultSpan`` before `to`, or before now.
    public var from: Int64?
    /// Milliseconds since 1970; nil: no end.
    public var to: Int64?
    public var limit: Int
    /// The name of a file; whether a recording can have it is not known here.
    public var after: String?

    public init(from: Int64? = nil, to: Int64? = nil, limit: Int = Self.defaultLimit, after: String? = nil) {
        self.from = from
        self.to = to
        self.limit = limit
        self.after = after
    }

    /// Of a request.
    public init(_ request: APIRequest) throws(CodedError) {
        let query = request.query
        self.init(from: try Self.time("from", query), to: try Self.time("to", query))
        if let from, let to, from >= to {
            throw CodedError(.badRequest, "to is not after from", hint: "Leave one of them out, or exchange them")
        }
        if let text = query["limit"] {
            guard let number = Int(text), Self.limits.contains(number) else {
                throw CodedError(
                    .badRequest, "limit is not a number that is possible",
                    hint: "Use \(Self.limits.lowerBound) to \(Self.limits.upperBound)")
            }
            limit = number
        }
        if let text = query["after"] {
            guard Names.isPlain(text, limit: 80) else { throw Self.notARecording }
            after = text
        }
    }

    /// `after` names no recording.
    public static let notARecording = CodedError(
        .badRequest, "after is not the file of a recording", hint: "Use next of the answer before")

    /// As a request has it.
    public var items: [(String, String)] {
        var items = [("limit", "\(limit)")]
        if let from { items.append(("from", CalendarTime.iso8601(from))) }
        if let to { items.append(("to", CalendarTime.iso8601(to))) }
        if let after { items.append(("after", after)) }
        return items
    }

    private static func time(_ name: String, _ query: [String: String]) throws(CodedError) -> Int64? {
        guard let text = query[name] else { return nil }
        guard let time = CalendarTime.milliseconds(iso8601: text) else {
            throw CodedError(
                .badRequest, "\(name) is not a time", hint: "Write it in UTC: 2026-11-28T19:22:01Z")
        }
        return time
    }
}
