import Database
import Testing

@testable import BoxMemory

/// The JSON of an event's details.
@Suite struct DetailsTests {
    private func event(_ details: String) -> StoredEvent {
        StoredEvent(realtimeMicroseconds: 1, topic: "camera", text: "motion", details: details)
    }

    @Test(arguments: [
        "", "null", "[]", "5", "\"x\"", "{", "{}{}", "{\"a\":}", "{'a':1}", "{\"a\":1,}", "// x\n{}", "{a:1}", "{}\0",
        "{\"a\":\"\0\"}", "{\"a\":NaN}",
        String(repeating: "{\"a\":", count: 33) + "1" + String(repeating: "}", count: 33),
        String(repeating: "[", count: 10_000), "{\"a\":\"" + String(repeating: "x", count: 16 << 10) + "\"}",
    ]) func `only a JSON object of bounded size and depth is taken`(json: String) throws {
        try withMemory { (memory) throws in
            #expect(throws: BoxMemoryError.self) { try memory.append(event(json)) }
            #expect(try memory.events(after: 0, limit: 10) == [])
        }
    }

    @Test(arguments: [
        "{}", " { \"a\" : [ 1 , 2.5e3 , null , \"\\u00e9\\\\\\\"{{{{[[[[\" ] } ",
        String(repeating: "{\"a\":", count: 32) + "1" + String(repeating: "}", count: 32),
        "{\"secret\":\"relay-main\"}",
        "{\"password_secret\":\"x\"}", "{\"a\":\"password\"}",
    ]) func `other objects are kept as they are`(json: String) throws {
        try withMemory { (memory) throws in
            try memory.append(event(json))
            #expect(try memory.events(after: 0, limit: 10).map(\.details) == [json])
        }
    }

    @Test(arguments: [
        #"{"password":"hunter2"}"#, #"{"a":{"b":[{"token":"hunter2"}]}}"#, #"{"Password":"hunter2"}"#,
        #"{"pass\u0077ord":"hunter2"}"#, #"{"private_key":"hunter2"}"#,
    ]) func `secrets are refused, and not repeated`(json: String) throws {
        try withMemory { (memory) throws in
            let error = try #require(throws: BoxMemoryError.self) { try memory.append(event(json)) }
            #expect("\(error)".contains("credential store") && !"\(error)".contains("hunter2"))
        }
    }
}

@Suite struct EventTests {
    private func event(_ text: String, _ topic: String = "camera.state") -> StoredEvent {
        StoredEvent(realtimeMicroseconds: 1_763_700_000_000_000, topic: topic, text: text)
    }

    @Test func `an event comes back as it was`() throws {
        try withMemory { (memory) throws in
            var full = StoredEvent(
                realtimeMicroseconds: -5, topic: "camera.state", code: "WB-2107", object: "camera/front", text: "401 ✗",
                details: #"{"attempt":3}"#)
            full.id = try memory.append(full)
            #expect(try memory.events(after: 0, limit: 10) == [full])
            #expect(try memory.latestEventID() == full.id)
        }
    }

    @Test func `a listener goes on after the last one it saw, also over a restart`() throws {
        try withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            do {
                let memory = try BoxMemory(path: path)
                #expect(try memory.latestEventID() == 0)
                for number in 1...5 { #expect(try memory.append(event("\(number)")) == Int64(number)) }
            }
            let memory = try BoxMemory(path: path)
            #expect(try memory.events(after: 3, limit: 10).map(\.text) == ["4", "5"])
            #expect(try memory.events(after: 0, limit: 2).map(\.id) == [1, 2])
            #expect(try memory.events(after: 5, limit: 10) == [])
            #expect(try memory.append(event("6")) == 6)
        }
    }

    @Test func `topics can be chosen`() throws {
        try withMemory { (memory) throws in
            for topic in ["a", "b", "c", "a"] { try memory.append(event("x", topic)) }
            #expect(try memory.events(after: 0, limit: 10, topics: ["a", "c"]).map(\.id) == [1, 3, 4])
            #expect(try memory.events(after: 0, limit: 10, topics: []) == [])
            #expect(try memory.events(after: 0, limit: 10, topics: ["' OR 1=1 --"]) == [])
            #expect(try memory.events(after: 0, limit: -1) == [])
            #expect(try memory.events(after: .max, limit: .max) == [])
        }
    }

    @Test func `the ring keeps the newest, and no ID comes twice`() throws {
        try withMemory { (memory) throws in
            for number in 1...3 { try memory.append(event("\(number)", "config")) }
            let many = 2 * BoxMemory.otherQuota
            for number in 0..<many { try memory.append(event("\(number)", "relay")) }
            let config = try memory.events(after: 0, limit: 10_000, topics: ["config"])
            #expect(config.map(\.id) == [1, 2, 3])
            let relay = try memory.events(after: 0, limit: 10_000, topics: ["relay"])
            #expect(relay.last?.text == "\(many - 1)")
            let room = BoxMemory.otherQuota..<(BoxMemory.otherQuota + Int(BoxMemory.trimming))
            #expect(room.contains(relay.count), "\(relay.count)")
            #expect(relay.map(\.id) == Array(relay[0].id...relay[0].id + Int64(relay.count) - 1))
            try memory.write { try $0.execute("DELETE FROM event") }
            #expect(try memory.append(event("newer")) == Int64(many + 4))
        }
    }

    @Test func `what cameras see pushes out neither what happened to them nor who changed the configuration`() throws {
        try withMemory { (memory) throws in
            try memory.append(event("generation 2", "config"))
            try memory.append(event("the outage begins", "camera"))
            // Ten thousand rows at once instead of ten thousand commits.
            try memory.write { database in
                try database.execute(
                    """
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000)
                    INSERT INTO event (realtime_us, topic, text, details) SELECT i, 'camera', 'motion', '{}' FROM n
                    """)
            }
            for _ in 0..<BoxMemory.trimming { try memory.append(event("health", "health")) }
            let kept = try memory.events(after: 0, limit: 20_000)
            #expect(kept.prefix(2).map(\.text) == ["generation 2", "the outage begins"])
            #expect((2000..<2100).contains(kept.count { $0.text == "motion" }))
            for topic in 0..<60 {
                try memory.write { database in
                    try database.execute(
                        """
                        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
                        INSERT INTO event (realtime_us, topic, text) SELECT i, ?, 'x' FROM n
                        """, ["t\(topic)"])
                }
            }
            for _ in 0..<BoxMemory.trimming { try memory.append(event("health", "health")) }
            #expect(try memory.events(after: 0, limit: 20_000).count <= BoxMemory.eventLimit)
        }
    }

    @Test func `an event waits for no disk, what is configured does`() throws {
        try withMemory { (memory) throws in
            func level(_ database: DatabaseConnection) throws -> Int? { try database.value("PRAGMA synchronous") }
            try memory.append(event("x"))
            let configured = try memory.read { try level($0) }
            #expect(configured == 2)
            #expect(throws: BoxMemoryError.self) { try memory.append(event("x", "NO")) }
            let reported = try memory.write(durability: .history) { try level($0) }
            #expect(reported == 1)
            let after = try memory.read { try level($0) }
            #expect(after == 2)
        }
    }

    @Test func `strings are made safe instead of lost`() throws {
        try withMemory { (memory) throws in
            try memory.append(event("a\nb\u{1b}[2J\u{202e}c"))
            try memory.append(event(String(repeating: "x", count: 5000)))
            try memory.append(event(""))
            let events = try memory.events(after: 0, limit: 10)
            #expect(events[0].text == "a b [2J c" && events[1].text.count == 2048 && events[2].text.isEmpty)
        }
    }

    @Test func `what is not an event is refused`() throws {
        try withMemory { (memory) throws in
            for topic in ["", "A", "a b", "a\0", String(repeating: "a", count: 65)] {
                #expect(throws: BoxMemoryError.self) { try memory.append(event("x", topic)) }
            }
            var wrong = event("x")
            wrong.details = "[]"
            #expect(throws: BoxMemoryError.self) { try memory.append(wrong) }
            wrong.details = #"{"password":"x"}"#
            #expect(throws: BoxMemoryError.self) { try memory.append(wrong) }
            wrong.details = "{\"a\":\"" + String(repeating: "x", count: 16 << 10) + "\"}"
            #expect(throws: BoxMemoryError.self) { try memory.append(wrong) }
            wrong = event("x")
            wrong.code = "\u{1b}"
            #expect(throws: BoxMemoryError.self) { try memory.append(wrong) }
            #expect(try memory.latestEventID() == 0)
        }
    }
}
