import Database
import Foundation
import GRDB
import Settings
import Testing

@testable import CameraStore

@Suite struct MigrationTests {
    private static let versions = 1...6

    private static func fixture(_ version: Int) throws -> String {
        let directory = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")
        return try String(contentsOf: directory.appending(path: "schema-v\(version).sql"), encoding: .utf8)
    }

    private static func load(_ version: Int, at path: String) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.inDatabase { try $0.execute(sql: try fixture(version)) }
        try queue.close()
    }

    private static func schema(at path: String) throws -> [String] {
        let queue = try DatabaseQueue(path: path)
        return try queue.read { database in
            try String.fetchAll(
                database,
                sql: "SELECT type || ' ' || name || ' ' || tbl_name || ' ' || ifnull(sql, '') FROM sqlite_master"
            ).sorted()
        }
    }

    @Test func `there is a database of every version, and today's is among them`() {
        #expect(Schema.migrator.migrations == Self.versions.map { "v\($0)" })
    }

    @Test(arguments: versions) func `a database of this version is what its migration makes`(version: Int) throws {
        try withTemporaryDirectory { directory in
            try Self.load(version, at: directory + "/old.db")
            let queue = try DatabaseQueue(path: directory + "/made.db")
            try Schema.migrator.migrate(queue, upTo: "v\(version)")
            try queue.close()
            #expect(try Self.schema(at: directory + "/old.db") == Self.schema(at: directory + "/made.db"))
        }
    }

    @Test(arguments: versions) func `nothing is lost from a database of this version`(version: Int) throws {
        try withTemporaryDirectory { directory in
            try Self.load(version, at: directory + "/state.db")
            _ = try CameraStore(path: directory + "/fresh.db")
            let store = try CameraStore(path: directory + "/state.db")
            #expect(store.setAside == nil)
            #expect(try Self.schema(at: directory + "/state.db") == Self.schema(at: directory + "/fresh.db"))

            let cameras = try store.cameras()
            #expect(cameras.map(\.id) == ["front", "garage", "back-door"])
            var front = Camera(
                id: "front", uuid: "5f0c2a54-7a4b-4f0e-9d0c-0b6c1d3a1f01", name: #"Vordertür 🚪 "Süd""#,
                source: "rtsp://192.0.2.50:554/Streaming/Channels/101", user: "admin", address: "192.0.2.50", port: 554,
                manufacturer: "HIKVISION", model: "DS-2CD2042", gridPosition: 0, added: 1_700_000_000,
                lastConnected: 1_763_700_000)
            if version >= 2 {
                front.identity = CameraIdentity(
                    onvifEndpoint: "urn:uuid:9b1d0c5e-0000-1000-8000-4419b6a1c2d3", serial: "DS-2CD2042WD20160101",
                    mac: "44:19:b6:a1:c2:d3")
                front.settings = [
                    "attributes": .strings(["https://example.net/attr/site/value/porch"]), "audio": .boolean(true),
                    "bitrate": .integer(2_000_000), "gop": .real(1.5), "size": .string("1920x1080"),
                ]
                front.revision = 7
            }
            if version >= 6 { front.firmware = "V5.4.5 build 170124" }
            #expect(cameras[0] == front)
            #expect(!cameras[1].isActive && cameras[1].lastConnected == nil && cameras[1].user == nil)
            #expect(cameras[1].settings == (version >= 2 ? ["rate": .integer(15)] : [:]))
            #expect(cameras[1].identity.usb == (version >= 2 ? "046d:082d:1A2B3C" : nil))
            #expect(cameras[2].name == "It's the back door" && cameras[2].address == "2001:db8::7")
            for camera in cameras { try camera.validate() }

            let profiles = try store.profiles(of: "front")
            #expect(profiles.map(\.id) == ["Profile_1", "Profile_2"])
            #expect(profiles.map(\.rate) == [25, 12.5] && profiles.map(\.isDefault) == [true, false])
            #expect(try store.profiles(of: "back-door").map(\.codec) == ["h265"])
            #expect(profiles.map(\.bitrate) == [version >= 6 ? 4_096_000 : nil, nil])
            #expect(profiles[0].gop == (version >= 6 ? 50 : nil) && profiles[1].gop == nil)
            #expect(profiles[0].service == (version >= 6 ? "media2" : nil))
            #expect((profiles[0].snapshot != nil) == (version >= 6))
            #expect(try store.thumbnailTaken(of: "front") == (version >= 6 ? 1_763_700_300 : nil))
            #expect(try store.thumbnail(of: "front") == [0xff, 0xd8, 0xff, 0xe0] + Array("JFIF fixture".utf8))
            #expect(try store.thumbnail(of: "garage") == nil)

            #expect(try store.objects(kind: "relay").map(\.revision) == (version >= 3 ? [3] : []))
            #expect(
                try store.object(kind: "kas", name: "default")?.json
                    == (version >= 3 ? #"{"url":"https://kas.example.net/kas"}"# : nil))
            let events = try store.events(after: 0, limit: 10)
            #expect(events.map(\.id) == (version >= 4 ? [2, 3] : []))
            if version >= 4 {
                #expect(events[0].code == "WB-2107" && events[0].details == #"{"attempt":3}"#)
                #expect(try store.append(StoredEvent(realtimeMicroseconds: 4, topic: "box.start", text: "again")) == 4)
            }

            // It is a store like any other now.
            try store.update(front)
            try store.remove("front")
            #expect(try store.profiles(of: "front") == [])
            #expect(try store.thumbnail(of: "front") == nil)
        }
    }

    @Test func `a store of the future is refused with a sentence, and stays as it is`() throws {
        try withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            try Self.load(6, at: path)
            let queue = try DatabaseQueue(path: path)
            try queue.inDatabase { database in
                try database.execute(
                    sql: "ALTER TABLE camera ADD COLUMN future TEXT; INSERT INTO grdb_migrations VALUES ('v7')")
            }
            try queue.close()
            let content = try bytes(path)
            let error = try #require(throws: CameraStoreError.self) { try CameraStore(path: path) }
            #expect(error == .database(.fromFuture(path: path, version: "v7")))
            #expect("\(error)".contains("a newer WatchBox wrote it (schema v7)"))
            #expect(try bytes(path) == content)
            #expect(try files(directory).allSatisfy { !$0.contains("corrupt") })
        }
    }

    @Test func `a migration is done whole or not at all`() throws {
        try withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            try Self.load(1, at: path)
            let queue = try DatabaseQueue(path: path)
            // In the way of v3: v2 is done, v3 and what follows are not.
            try queue.inDatabase { try $0.execute(sql: "CREATE TABLE object (id INTEGER)") }
            try queue.close()
            #expect(throws: CameraStoreError.self) { try CameraStore(path: path) }
            let again = try DatabaseQueue(path: path)
            #expect(try again.read { try Schema.migrator.completedMigrations($0) } == ["v1", "v2"])
            try again.inDatabase { try $0.execute(sql: "DROP TABLE object") }
            try again.close()
            #expect(try CameraStore(path: path).cameras().count == 3)
        }
    }
}
