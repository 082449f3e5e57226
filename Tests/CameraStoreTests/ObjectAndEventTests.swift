import Database
import GRDB
import Testing

@testable import CameraStore

@Suite struct ObjectTests {
    private func relay(_ json: String, _ name: String = "main") -> StoredObject {
        StoredObject(kind: "relay", name: name, json: json)
    }

    @Test func `objects have revisions, and a stale change is refused`() throws {
        try withStore { store in
            let first = try store.put(relay(#"{"url":"rtmps://a/live"}"#), ifRevision: 0)
            #expect(first.revision == 1)
            #expect(throws: CameraStoreError.conflict("relay main", current: 1)) {
                try store.put(relay("{}"), ifRevision: 0)
            }
            #expect(try store.put(relay(#"{"url":"rtmps://b/live"}"#), ifRevision: 1).revision == 2)
            #expect(try store.put(relay(#"{"url":"rtmps://b/live"}"#)).revision == 2)
            #expect(throws: CameraStoreError.conflict("relay main", current: 2)) {
                try store.put(relay("{}"), ifRevision: 1)
            }
            #expect(throws: CameraStoreError.conflict("relay gone", current: 0)) {
                try store.put(relay("{}", "gone"), ifRevision: 1)
            }
            try store.put(relay("{}", "backup"))
            try store.put(StoredObject(kind: "kas", name: "main", json: "{}"))
            #expect(try store.objects(kind: "relay").map(\.name) == ["backup", "main"])
            #expect(try store.object(kind: "relay", name: "main")?.json == #"{"url":"rtmps://b/live"}"#)
            #expect(try store.removeObject(kind: "relay", name: "main"))
            #expect(try !store.removeObject(kind: "relay", name: "main"))
            #expect(try store.object(kind: "kas", name: "main")?.revision == 1)
        }
    }

    @Test(arguments: [
        "", "null", "[]", "5", "\"x\"", "{", "{}{}", "{\"a\":}", "{'a':1}", "{\"a\":1,}", "// x\n{}", "{a:1}", "{}\0",
        "{\"a\":\"\0\"}", "{\"a\":NaN}",
        String(repeating: "{\"a\":", count: 33) + "1" + String(repeating: "}", count: 33),
        String(repeating: "[", count: 60_000), "{\"a\":\"" + String(repeating: "x", count: 64 << 10) + "\"}",
    ]) func `only a JSON object of bounded size and depth is taken`(json: String) throws {
        try withStore { (store) throws in
            #expect(throws: CameraStoreError.self) { try store.put(relay(json)) }
            #expect(try store.objects(kind: "relay") == [])
        }
    }

    @Test(arguments: [
        "{}", " { \"a\" : [ 1 , 2.5e3 , null , \"\\u00e9\\\\\\\"{{{{[[[[\" ] } ",
        String(repeating: "{\"a\":", count: 32) + "1" + String(repeating: "}", count: 32),
        "{\"secret\":\"relay-main\"}",
        "{\"password_secret\":\"x\"}", "{\"a\":\"password\"}",
    ]) func `other objects are kept as they are`(json: String) throws {
        try withStore { store in
            try store.put(relay(json))
            #expect(try store.object(kind: "relay", name: "main")?.json == json)
        }
    }

    @Test(arguments: [
        #"{"password":"hunter2"}"#, #"{"a":{"b":[{"token":"hunter2"}]}}"#, #"{"Password":"hunter2"}"#,
        #"{"pass\u0077ord":"hunter2"}"#, #"{"private_key":"hunter2"}"#,
    ]) func `secrets are refused, and not repeated`(json: String) throws {
        try withStore { store in
            let error = try #require(throws: CameraStoreError.self) { try store.put(relay(json)) }
            #expect("\(error)".contains("credential store") && !"\(error)".contains("hunter2"))
        }
    }

    @Test(arguments: ["", "../x", "A", "a b", "a\0", String(repeating: "a", count: 33)])
    func `names are names`(name: String) throws {
        try withStore { store in
            #expect(throws: CameraStoreError.self) { try store.put(relay("{}", name)) }
            #expect(throws: CameraStoreError.self) {
                try store.put(StoredObject(kind: name, name: "main", json: "{}"))
            }
        }
    }
}

@Suite struct EventTests {
    private func event(_ text: String, _ topic: String = "camera.state") -> StoredEvent {
        StoredEvent(realtimeMicroseconds: 1_763_700_000_000_000, topic: topic, text: text)
    }

    @Test func `an event comes back as it was`() throws {
        try withStore { store in
            var full = StoredEvent(
                realtimeMicroseconds: -5, topic: "camera.state", code: "WB-2107", object: "camera/front", text: "401 ✗",
                details: #"{"attempt":3}"#)
            full.id = try store.append(full)
            #expect(try store.events(after: 0, limit: 10) == [full])
            #expect(try store.latestEventID() == full.id)
        }
    }

    @Test func `a listener goes on after the last one it saw, also over a restart`() throws {
        try withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            do {
                let store = try CameraStore(path: path)
                #expect(try store.latestEventID() == 0)
                for number in 1...5 { #expect(try store.append(event("\(number)")) == Int64(number)) }
            }
            let store = try CameraStore(path: path)
            #expect(try store.events(after: 3, limit: 10).map(\.text) == ["4", "5"])
            #expect(try store.events(after: 0, limit: 2).map(\.id) == [1, 2])
            #expect(try store.events(after: 5, limit: 10) == [])
            #expect(try store.append(event("6")) == 6)
        }
    }

    @Test func `topics can be chosen`() throws {
        try withStore { store in
            for topic in ["a", "b", "c", "a"] { try store.append(event("x", topic)) }
            #expect(try store.events(after: 0, limit: 10, topics: ["a", "c"]).map(\.id) == [1, 3, 4])
            #expect(try store.events(after: 0, limit: 10, topics: []) == [])
            #expect(try store.events(after: 0, limit: 10, topics: ["' OR 1=1 --"]) == [])
            #expect(try store.events(after: 0, limit: -1) == [])
            #expect(try store.events(after: .max, limit: .max) == [])
        }
    }

    @Test func `the ring keeps the newest, and no ID comes twice`() throws {
        try withStore { (store) throws in
            for number in 1...3 { try store.append(event("\(number)", "config")) }
            let many = 2 * CameraStore.otherQuota
            for number in 0..<many { try store.append(event("\(number)", "relay")) }
            let config = try store.events(after: 0, limit: 10_000, topics: ["config"])
            #expect(config.map(\.id) == [1, 2, 3])
            let relay = try store.events(after: 0, limit: 10_000, topics: ["relay"])
            #expect(relay.last?.text == "\(many - 1)")
            let room = CameraStore.otherQuota..<(CameraStore.otherQuota + Int(CameraStore.trimming))
            #expect(room.contains(relay.count), "\(relay.count)")
            #expect(relay.map(\.id) == Array(relay[0].id...relay[0].id + Int64(relay.count) - 1))
            try store.write { try $0.execute(sql: "DELETE FROM event") }
            #expect(try store.append(event("newer")) == Int64(many + 4))
        }
    }

    @Test func `what cameras see pushes out neither what happened to them nor who changed the configuration`() throws {
        try withStore { (store) throws in
            try store.append(event("generation 2", "config"))
            try store.append(event("the outage begins", "camera"))
            // Ten thousand rows at once instead of ten thousand commits.
            try store.write { database in
                try database.execute(
                    sql: """
                        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000)
                        INSERT INTO event (realtime_us, topic, text, details) SELECT i, 'camera', 'motion', '{}' FROM n
                        """)
            }
            for _ in 0..<CameraStore.trimming { try store.append(event("health", "health")) }
            let kept = try store.events(after: 0, limit: 20_000)
            #expect(kept.prefix(2).map(\.text) == ["generation 2", "the outage begins"])
            #expect((2000..<2100).contains(kept.count { $0.text == "motion" }))
            for topic in 0..<60 {
                try store.write { database in
                    try database.execute(
                        sql: """
                            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
                            INSERT INTO event (realtime_us, topic, text) SELECT i, ?, 'x' FROM n
                            """, arguments: ["t\(topic)"])
                }
            }
            for _ in 0..<CameraStore.trimming { try store.append(event("health", "health")) }
            #expect(try store.events(after: 0, limit: 20_000).count <= CameraStore.eventLimit)
        }
    }

    @Test func `an event waits for no disk, what is configured does`() throws {
        try withStore { (store) throws in
            func level(_ database: GRDB.Database) throws -> Int? {
                try Int.fetchOne(database, sql: "PRAGMA synchronous")
            }
            try store.append(event("x"))
            let configured = try store.read { try level($0) }
            #expect(configured == 2)
            #expect(throws: CameraStoreError.self) { try store.append(event("x", "NO")) }
            let told = try store.write(durability: .history) { try level($0) }
            #expect(told == 1)
            let after = try store.read { try level($0) }
            #expect(after == 2)
        }
    }

    @Test func `texts are made safe instead of lost`() throws {
        try withStore { store in
            try store.append(event("a\nb\u{1b}[2J\u{202e}c"))
            try store.append(event(String(repeating: "x", count: 5000)))
            try store.append(event(""))
            let events = try store.events(after: 0, limit: 10)
            #expect(events[0].text == "a b [2J c" && events[1].text.count == 2048 && events[2].text.isEmpty)
        }
    }

    @Test func `what is not an event is refused`() throws {
        try withStore { (store) throws in
            for topic in ["", "A", "a b", "a\0", String(repeating: "a", count: 65)] {
                #expect(throws: CameraStoreError.self) { try store.append(event("x", topic)) }
            }
            var wrong = event("x")
            wrong.details = "[]"
            #expect(throws: CameraStoreError.self) { try store.append(wrong) }
            wrong.details = #"{"password":"x"}"#
            #expect(throws: CameraStoreError.self) { try store.append(wrong) }
            wrong.details = "{\"a\":\"" + String(repeating: "x", count: 16 << 10) + "\"}"
            #expect(throws: CameraStoreError.self) { try store.append(wrong) }
            wrong = event("x")
            wrong.code = "\u{1b}"
            #expect(throws: CameraStoreError.self) { try store.append(wrong) }
            #expect(try store.latestEventID() == 0)
        }
    }
}
