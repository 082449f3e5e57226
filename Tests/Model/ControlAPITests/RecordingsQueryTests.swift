import ErrorCatalog
import Testing

@testable import ControlAPI

struct RecordingsQueryTests {
    private func query(_ parameters: [String: String]) throws(CodedError) -> RecordingsQuery {
        try RecordingsQuery(
            APIRequest(
                .get, "/", query: parameters,
                peer: .init(processIdentifier: 1, userIdentifier: 0, groupIdentifier: 0, isAdministrator: false)))
    }

    @Test func `without parameters it is a page of the last day`() throws {
        #expect(try query([:]) == RecordingsQuery(from: nil, to: nil, limit: 100, after: nil))
        #expect(RecordingsQuery.defaultSpan == 24 * 3_600_000)
        #expect(RecordingsQuery.limits.contains(RecordingsQuery.defaultLimit))
    }

    @Test func `what is asked for is handed on as it was asked for`() throws {
        let parameters = [
            "from": "2026-11-28T19:22:01Z", "to": "2026-11-28T19:22:01.001Z", "limit": "400",
            "after": "00000123-20261128T192201040Z-60040-pinned.tdf", "unknown": "\u{0}",
        ]
        let asked = try query(parameters)
        #expect(
            asked
                == RecordingsQuery(
                    from: 1_795_893_721_000, to: 1_795_893_721_001, limit: 400, after: parameters["after"]))
        #expect(try query(Dictionary(uniqueKeysWithValues: asked.items)) == asked)
        #expect(try query(Dictionary(uniqueKeysWithValues: query([:]).items)) == query([:]))
        #expect(asked.items.map(\.0).allSatisfy { RecordingsQuery.parameters[$0] != nil })
    }

    @Test(arguments: [
        ["from": ""], ["from": "yesterday"], ["from": "1795893721"], ["to": "2026-11-31T00:00:00Z"],
        ["to": String(repeating: "9", count: 100_000)],
        ["from": "2026-11-28T19:22:01Z", "to": "2026-11-28T19:22:01Z"],
        ["from": "2026-11-28T19:22:01Z", "to": "2026-11-28T19:22:00.999Z"], ["limit": ""], ["limit": "0"],
        ["limit": "-1"], ["limit": "401"], ["limit": "1.5"], ["limit": "99999999999999999999"], ["after": ""],
        ["after": "../00000123-20261128T192201040Z-60040.tdf"], ["after": "a/b"], ["after": "a\u{0}"],
        ["after": String(repeating: "0", count: 81)],
    ])
    func `what cannot be is refused, with what can`(parameters: [String: String]) throws {
        let error = #expect(throws: CodedError.self) { try query(parameters) }
        #expect(error?.code == .badRequest && error?.hint?.isEmpty == false)
        #expect("\(error?.description ?? "")".utf8.count < 400, "what somebody sent is not repeated")
    }
}
