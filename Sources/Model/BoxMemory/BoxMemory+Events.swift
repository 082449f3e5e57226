internal import Database

extension BoxMemory {
    /// Of each topic the newest events are kept, so that none pushes out another: what a camera sees (`details`) not what
    /// happened to it, and neither of them who changed the configuration.
    static let quotas: [(topic: String, events: Int)] = [
        ("camera", 3000), (seen, 2000), ("health", 2000), ("config", 1000), ("system", 800),
    ]
    /// Of each other topic.
    static let otherQuota = 400
    /// Pseudo-topic of events with details.
    private static let seen = "seen"
    /// Between two looks for events that are too many.
    static let trimming: Int64 = 64

    /// Adds an event, and every now and then forgets those that are too many of their topic.
    ///
    /// - Returns: its ID, greater than every one before, also over restarts.
    @discardableResult
    public func append(_ event: StoredEvent) throws(BoxMemoryError) -> Int64 {
        guard (1...64).contains(event.topic.utf8.count), event.topic.utf8.allSatisfy(Self.isTopic) else {
            throw .invalid(field: "topic", why: "it has 1 to 64 lower-case letters, digits, dots and hyphens")
        }
        try FieldRules.text(event.code, "code", limit: 16)
        try FieldRules.text(event.object, "object", limit: 128)
        if let details = event.details { try JSONRules.object(details, "details", limit: 16 << 10) }
        // Cameras send many; what the others report must be there after a power cut.
        return try write(durability: event.topic == "camera" ? .history : .configuration) { database in
            if let details = event.details { try JSONRules.check(details, "details", database) }
            try database.execute(
                """
                INSERT INTO event (realtime_us, topic, code, object, text, details) VALUES (?, ?, ?, ?, ?, ?)
                """,
                [
                    event.realtimeMicroseconds, event.topic, event.code, event.object,
                    FieldRules.cleaned(event.text, limit: 2048), event.details,
                ])
            let id = database.lastInsertedID
            if id % Self.trimming == 0 { try Self.trim(database) }
            return id
        }
    }

    /// After a power cut, before the first event: the last events may be lost, and their IDs with them. They are not given
    /// again, since a reader may go on after one of them.
    public func skipEventIDs() throws(BoxMemoryError) {
        try write(durability: .configuration) { database in
            // More than a log between two flushes holds.
            try database.execute("UPDATE sqlite_sequence SET seq = seq + 1000 WHERE name = 'event'")
        }
    }

    private static func trim(_ database: DatabaseConnection) throws {
        let cases = quotas.map { "WHEN '\($0.topic)' THEN \($0.events)" }.joined(separator: " ")
        try database.execute(
            """
            DELETE FROM event WHERE id IN (
                SELECT id FROM (
                    SELECT id, quota_of, row_number() OVER (PARTITION BY quota_of ORDER BY id DESC) AS age FROM (
                        SELECT id, CASE WHEN details IS NULL THEN topic ELSE '\(seen)' END AS quota_of FROM event))
                WHERE age > CASE quota_of \(cases) ELSE \(otherQuota) END)
            """)
        // Whatever topics there are.
        try database.execute(
            "DELETE FROM event WHERE id <= (SELECT id FROM event ORDER BY id DESC LIMIT 1 OFFSET ?)",
            [eventLimit])
    }

    /// Events after an ID, oldest first.
    ///
    /// - Parameters:
    ///   - after: 0: from the oldest that is kept.
    ///   - limit: at most 10 000.
    ///   - topics: nil: all.
    public func events(
        after: Int64, limit: Int, topics: [String]? = nil
    ) throws(BoxMemoryError) -> [StoredEvent] {
        try read { database in
            var sql = "SELECT * FROM event WHERE id > ?"
            var arguments: [(any Storable)?] = [after]
            if let topics {
                let requested = Array(topics.prefix(64))
                sql += " AND topic IN (\(requested.map { _ in "?" }.joined(separator: ", ")))"
                arguments += requested as [(any Storable)?]
            }
            sql += " ORDER BY id LIMIT ?"
            arguments += [min(max(limit, 0), Self.eventLimit)]
            return try database.rows(sql, arguments).map { try StoredEvent($0) }
        }
    }

    /// The ID of the last event; 0: there was none yet.
    public func latestEventID() throws(BoxMemoryError) -> Int64 {
        try read { database in
            try database.value("SELECT seq FROM sqlite_sequence WHERE name = 'event'") ?? 0
        }
    }

    private static func isTopic(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-")
    }
}

extension StoredEvent {
    fileprivate init(_ row: DatabaseRow) throws {
        self.init(
            id: try row.field("id"), realtimeMicroseconds: try row.field("realtime_us"),
            topic: try row.field("topic"), code: try row.optional("code"),
            object: try row.optional("object"), text: try row.field("text"),
            details: try row.optional("details"))
    }
}
