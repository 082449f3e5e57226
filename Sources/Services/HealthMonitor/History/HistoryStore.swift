internal import BoxReadings
internal import ControlAPI
internal import Database
internal import ErrorCatalog

/// The events of about a day in SQLite. All its calls block: for a thread of their own.
final class HistoryStore: Sendable {
    private let database: OpenedDatabase
    /// Where a damaged file was moved to.
    var setAside: String? { database.setAside }

    static let maxEvents = 20_000
    static let keptSeconds: Int64 = 86_400
    /// What one answer holds at most.
    static let maxAnswered = 2000
    private static let sizeLimit = 16 << 20

    init(path: String) throws(DatabaseFailure) {
        database = try DatabaseOpening.open(
            path: path, durability: .history, migrations: HealthSchema.migrations, sizeLimit: Self.sizeLimit)
    }

    func lastID() throws -> Int64 {
        try database.read { try $0.value("SELECT max(id) FROM event") ?? 0 }
    }

    /// - Parameter now: seconds since 1970. Events that seem to come from the future stay until the number of rows is
    ///   reached: they were written before the clock was set, or after it was set wrongly.
    func append(_ events: [HealthEvent], now: Int64) throws {
        try database.write { database in
            for event in events {
                try database.execute(
                    """
                    INSERT OR REPLACE INTO event
                        (id, time, kind, checkName, object, fromState, toState, level, text, code)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                    [
                        event.id, event.time, event.kind, event.check, event.object, event.from?.rawValue,
                        event.to?.rawValue, event.level, event.text, event.code.map { Int64($0.rawValue) },
                    ])
            }
            try database.execute(
                """
                DELETE FROM event WHERE id <= (SELECT max(id) FROM event) - ?;
                DELETE FROM event WHERE time < ? AND time > ?
                """,
                // A time before 2026 is that of a clock that was not set: it says nothing about the event's age.
                [Self.maxEvents, now - Self.keptSeconds, HealthThresholds.earliestTime])
        }
    }

    /// Newest first.
    ///
    /// - Parameters:
    ///   - check: nil for all.
    ///   - since: seconds since 1970.
    func events(check: String?, since: Int64) throws -> [HealthEvent] {
        try database.read { database in
            try database.rows(
                """
                SELECT * FROM event
                WHERE (time >= ?1 OR time <= ?2) AND (?3 IS NULL OR checkName = ?3)
                ORDER BY id DESC LIMIT ?4
                """, [since, HealthThresholds.earliestTime, check, Self.maxAnswered]
            ).map(Self.event)
        }
    }

    private static func event(_ row: DatabaseRow) throws -> HealthEvent {
        HealthEvent(
            id: try row.field("id"), time: try row.field("time"), kind: try row.field("kind"),
            check: try row.field("checkName"), object: try row.optional("object"),
            from: try row.optional("fromState").flatMap { HealthState(rawValue: $0) },
            to: try row.optional("toState").flatMap { HealthState(rawValue: $0) }, level: try row.optional("level"),
            text: try row.field("text"),
            code: try row.optional("code", as: Int64.self).flatMap { UInt16(exactly: $0) }.flatMap {
                ErrorCode(rawValue: $0)
            })
    }
}
