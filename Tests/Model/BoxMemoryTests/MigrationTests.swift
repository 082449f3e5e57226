import Foundation
import ONVIF
import Settings
import Testing

@testable import BoxMemory
@testable import Database

@Suite struct MigrationTests {
    private static let versions = 1...7
    private static let front = "5f0c2a54-7a4b-4f0e-9d0c-0b6c1d3a1f01"
    private static let source = "rtsp://192.0.2.50:554/Streaming/Channels/101"

    /// As control reads it.
    private struct Former: Decodable {
        struct Camera: Decodable {
            var id: String
            var uuid: String
            var name: String
            var source: String
            var user: String?
            var isActive: Bool
            var gridPosition: Int
            var added: Int64
            var settings: [String: SettingValue]
        }

        struct Object: Decodable {
            var kind: String
            var settings: [String: SettingValue]
        }

        var cameras: [Camera]
        var objects: [Object]
    }

    private static func fixture(_ version: Int) throws -> String {
        let directory = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")
        return try String(contentsOf: directory.appending(path: "schema-v\(version).sql"), encoding: .utf8)
    }

    private static func load(_ version: Int, at path: String) throws {
        try DatabaseConnection(path: path).execute(try fixture(version))
    }

    private static func schema(at path: String) throws -> [String] {
        try DatabaseConnection(path: path).values(
            "SELECT type || ' ' || name || ' ' || tbl_name || ' ' || ifnull(sql, '') FROM sqlite_master"
        ).sorted()
    }

    @Test func `there is a database of every version, and today's is among them`() {
        #expect(Schema.migrations.steps.map(\.name) == Self.versions.map { "v\($0)" })
    }

    @Test(arguments: versions) func `a database of this version is what its migration makes`(version: Int) throws {
        try withTemporaryDirectory { directory in
            try Self.load(version, at: directory + "/old.db")
            let made = try DatabaseConnection(path: directory + "/made.db")
            try Schema.migrations.run(on: made, upTo: "v\(version)")
            #expect(try Self.schema(at: directory + "/old.db") == Self.schema(at: directory + "/made.db"))
        }
    }

    @Test(arguments: versions) func `nothing is lost from a database of this version`(version: Int) throws {
        try withTemporaryDirectory { directory in
            try Self.load(version, at: directory + "/state.db")
            _ = try BoxMemory(path: directory + "/fresh.db")
            let memory = try BoxMemory(path: directory + "/state.db")
            #expect(memory.setAside == nil)
            #expect(try Self.schema(at: directory + "/state.db") == Self.schema(at: directory + "/fresh.db"))

            // What was the configuration is for control to take.
            let former = try #require(try memory.formerStore())
            let rows = try JSONDecoder().decode(Former.self, from: Data(former.utf8))
            #expect(rows.cameras.map(\.id) == ["back-door", "front", "garage"])
            let (front, garage) = (rows.cameras[1], rows.cameras[2])
            #expect(front.uuid == Self.front && front.name == #"Vordertür 🚪 "Süd""# && front.user == "admin")
            #expect(front.source == Self.source && front.isActive && front.added == 1_700_000_000)
            let settings: [String: SettingValue] = [
                "attributes": .strings(["https://example.net/attr/site/value/porch"]), "audio": .boolean(true),
                "bitrate": .integer(2_000_000), "gop": .real(1.5), "size": .string("1920x1080"),
            ]
            #expect(front.settings == (version >= 2 ? settings : [:]))
            #expect(!garage.isActive && garage.user == nil && garage.gridPosition == 1)
            #expect(garage.settings == (version >= 2 ? ["rate": .integer(15)] : [:]))
            #expect(rows.cameras[0].name == "It's the back door")
            #expect(rows.objects.map(\.kind) == (version >= 3 ? ["kas", "relay"] : []))
            if version >= 3 { #expect(rows.objects[0].settings == ["url": .string("https://kas.example.net/kas")]) }

            // What was learned is known still.
            let camera = try #require(try memory.camera(Self.front, at: Self.source))
            #expect(camera.manufacturer == "HIKVISION" && camera.model == "DS-2CD2042")
            #expect(camera.address == "192.0.2.50" && camera.port == 554 && camera.lastConnected == 1_763_700_000)
            #expect(camera.firmware == (version >= 6 ? "V5.4.5 build 170124" : nil))
            let identity = DeviceIdentity(
                endpoint: "urn:uuid:9b1d0c5e-0000-1000-8000-4419b6a1c2d3", serial: "DS-2CD2042WD20160101",
                mac: "44:19:b6:a1:c2:d3")
            #expect(camera.identity == (version >= 2 ? identity : DeviceIdentity()))
            let profiles = try #require(camera.profiles)
            #expect(profiles.map(\.id) == ["Profile_1", "Profile_2"] && profiles.map(\.rate) == [25, 12.5])
            #expect(profiles.map(\.bitrate) == [version >= 6 ? 4_096_000 : nil, nil])
            #expect(profiles[0].gop == (version >= 6 ? 50 : nil) && profiles[1].gop == nil)
            #expect(profiles[0].service == (version >= 6 ? "media2" : nil))
            #expect((profiles[0].snapshot != nil) == (version >= 6))
            let backDoor = rows.cameras[0]
            #expect(try memory.camera(backDoor.uuid, at: backDoor.source)?.profiles?.map(\.codec) == ["h265"])
            #expect(try memory.camera(backDoor.uuid, at: backDoor.source)?.address == "2001:db8::7")
            #expect(try memory.camera(garage.uuid, at: garage.source)?.lastConnected == nil)
            #expect(
                try memory.thumbnail(of: Self.front, at: Self.source)
                    == [0xff, 0xd8, 0xff, 0xe0] + Array("JFIF fixture".utf8))
            #expect(try memory.thumbnail(of: garage.uuid, at: garage.source) == nil)

            let events = try memory.events(after: 0, limit: 10)
            #expect(events.map(\.id) == (version >= 4 ? [2, 3] : []))
            if version >= 4 {
                #expect(events[0].code == "WB-2107" && events[0].details == #"{"attempt":3}"#)
                #expect(try memory.append(StoredEvent(realtimeMicroseconds: 4, topic: "box.start", text: "again")) == 4)
            }

            // It is a memory like any other now.
            try memory.removeFormerStore()
            #expect(try memory.formerStore() == nil)
            _ = try BoxMemory(path: directory + "/fresh.db").removeFormerStore()
            #expect(try Self.schema(at: directory + "/state.db") == Self.schema(at: directory + "/fresh.db"))
            try memory.learned(LearnedCamera(model: "new"), of: Self.front, at: Self.source)
            try memory.forget(Self.front)
            #expect(try memory.camera(Self.front, at: Self.source) == nil)
        }
    }

    @Test func `a memory of the future is refused with a message, and stays as it is`() throws {
        try withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            try Self.load(6, at: path)
            try DatabaseConnection(path: path).execute(
                "ALTER TABLE camera ADD COLUMN future TEXT; INSERT INTO grdb_migrations VALUES ('v8')")
            let content = try bytes(path)
            let error = try #require(throws: BoxMemoryError.self) { try BoxMemory(path: path) }
            #expect(error == .database(.fromFuture(path: path, version: "v8")))
            #expect("\(error)".contains("a newer WatchBox wrote it (schema v8)"))
            #expect(try bytes(path) == content)
            #expect(try files(directory).allSatisfy { !$0.contains("corrupt") })
        }
    }

    @Test func `a migration is done whole or not at all`() throws {
        try withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            try Self.load(1, at: path)
            // In the way of v3: v2 is done, v3 and what follows are not.
            try DatabaseConnection(path: path).execute("CREATE TABLE object (id INTEGER)")
            #expect(throws: BoxMemoryError.self) { try BoxMemory(path: path) }
            let again = try DatabaseConnection(path: path)
            #expect(try Schema.migrations.done(again) == ["v1", "v2"])
            try again.execute("DROP TABLE object")
            #expect(try BoxMemory(path: path).formerStore() != nil)
        }
    }
}
