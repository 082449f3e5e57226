internal import GRDB

extension CameraStore {
    /// Adds an event and forgets those that are older than the newest 10 000.
    ///
    /// - Returns: its ID, greater than every one before, also over restarts.
    @discardableResult
    public func append(_ event: StoredEvent) throws(CameraStoreError) -> Int64 {
        guard (1...64).contains(event.topic.utf8.count), event.topic.utf8.allSatisfy(Self.isTopic) else {
            throw .invalid(field: "topic", why: "it has 1 to 64 lower-case letters, digits, dots and hyphens")
        }
        try FieldRules.text(event.code, "code", limit: 16)
        try FieldRules.text(event.object, "object", limit: 128)
        if let details = event.details { try JSONRules.object(details, "details", limit: 16 << 10) }
        return try write { database in
            if let details = event.details { try JSONRules.check(details, "details", database) }
            try database.execute(
                sql: """
                    INSERT INTO event (realtime_us, topic, code, object, text, details) VALUES (?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    event.realtimeMicroseconds, event.topic, event.code, event.object,
                    FieldRules.cleaned(event.text, limit: 2048), event.details,
                ])
            let id = database.lastInsertedRowID
            try database.execute(
                sql: "DELETE FROM event WHERE id <= ?", arguments: [id - Int64(Self.eventLimit)])
            return id
        }
    }

    /// Events after an ID, oldest first.
    ///
    /// - Parameters:
    ///   - after: 0: from the oldest that is kept.
    ///   - limit: at most 10 000.
    ///   - topics: nil: all.
    public func events(
        after: Int64, limit: Int, topics: [String]? = nil
    ) throws(CameraStoreError) -> [StoredEvent] {
        try read { database in
            var sql = "SELECT * FROM event WHERE id > ?"
            var arguments: StatementArguments = [after]
            if let topics {
                let wanted = Array(topics.prefix(64))
                sql += " AND topic IN (\(wanted.map { _ in "?" }.joined(separator: ", ")))"
                arguments += StatementArguments(wanted)
            }
            sql += " ORDER BY id LIMIT ?"
            arguments += [min(max(limit, 0), Self.eventLimit)]
            return try Row.fetchAll(database, sql: sql, arguments: arguments).map { try StoredEvent($0) }
        }
    }

    /// The ID of the last event; 0: there was none yet.
    public func latestEventID() throws(CameraStoreError) -> Int64 {
        try read { database in
            try Int64.fetchOne(database, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'event'") ?? 0
        }
    }

    private static func isTopic(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-")
    }
}

extension StoredEvent {
    fileprivate init(_ row: Row) throws {
        self.init(
            id: try row.field("id"), realtimeMicroseconds: try row.field("realtime_us"),
            topic: try row.field("topic"), code: try row.optional("code"),
            object: try row.optional("object"), text: try row.field("text"),
            details: try row.optional("details"))
    }
}
