import Foundation
import TestSupport
import Testing

@testable import CameraStore

@Suite struct TOMLTests {
    private func read(_ text: String) throws -> [CameraRecord] { try CameraStore.importTOML(text, now: 42) }

    @Test func `what is exported reads back to the same`() throws {
        try withStore { store in
            try store.add(everything.camera, profiles: everything.profiles)
            try store.add(sample("a"))
            try store.setThumbnail([0xff, 0xd8, 0xff], of: "a")
            let text = try store.exportTOML()
            let records = try read(text)
            var expected = everything
            expected.camera.lastConnected = nil
            #expect(records.map(\.camera.id) == ["a", "front-door"])
            #expect(records[1] == expected)
            #expect(try CameraStore.exportTOML(records) == text)
            try withStore { other in
                for record in records { try other.add(record.camera, profiles: record.profiles) }
                #expect(try other.exportTOML() == text)
            }
        }
    }

    @Test func `an empty store exports an empty document`() throws {
        try withStore { (store) throws in
            #expect(try read(try store.exportTOML()) == [])
            #expect(try read("") == [])
        }
    }

    @Test func `a person's file reads`() throws {
        let records = try read(
            """
            # by hand
            camera.front = { name = "Front door", source = "onvif://192.168.1.50", user = "admin", secret = "password" }
            [camera.garage]
            source = 'test:'   # no name: its ID
            gop = 1.0
            viewers = [
              "alice",
            ]
            identity.mac = "44-19-B6-A1-C2-D3"
            [[camera.garage.profiles]]
            id = "1"
            name = "main"
            source = "test:"
            codec = "h264"
            rate = 25
            """)
        #expect(records.map(\.camera.id) == ["front", "garage"])
        #expect(records[0].camera.settings == ["secret": .string("password")])
        #expect(records[0].camera.added == 42 && records[0].camera.isActive)
        #expect(records[0].camera.uuid != records[1].camera.uuid)
        #expect(records[1].camera.name == "garage" && records[1].camera.identity.mac == "44:19:b6:a1:c2:d3")
        #expect(records[1].camera.settings == ["gop": .real(1), "viewers": .strings(["alice"])])
        #expect(records[1].profiles.map(\.rate) == [25])
    }

    @Test(arguments: [
        ("camera.front = {}", "camera.front.source"), ("camra.front = {}", "camra"), ("camera = 5", "camera"),
        ("camera.front = 5", "camera.front"), ("camera.'../x' = { source = 'test:' }", "camera.../x"),
        ("camera.'A' = { source = 'test:' }", "camera.A"), ("camera.'' = { source = 'test:' }", "camera."),
        ("camera.\"a\\u001b\" = { source = 'test:' }", "camera.a\u{fffd}"),
        ("camera.a = { source = 'test:', name = \"a\\u001b\" }", "camera.a.name"),
        ("camera.a = { source = 'test:', name = \"a\\nb\" }", "camera.a.name"),
        ("camera.a = { source = 'test:', name = \"a\\u0000b\" }", "camera.a.name"),
        ("camera.a = { source = 'test:', name = 5 }", "camera.a.name"),
        ("camera.a = { source = 'test:', port = 70000 }", "camera.a.port"),
        ("camera.a = { source = 'test:', port = '80' }", "camera.a.port"),
        ("camera.a = { source = 'test:', port = 80.0 }", "camera.a.port"),
        ("camera.a = { source = 'test:', active = 1 }", "camera.a.active"),
        ("camera.a = { source = 'test:', password = 'hunter2' }", "camera.a.password"),
        ("camera.a = { source = 'rtsp://u:hunter2@h/' }", "camera.a.source"),
        ("camera.a = { source = 'test:', x = { y = 1 } }", "camera.a.x"),
        ("camera.a = { source = 'test:', x = [1, 2] }", "camera.a.x"),
        ("camera.a = { source = 'test:', x = ['a', 2] }", "camera.a.x"),
        ("camera.a = { source = 'test:', x = 2024-01-01 }", "camera.a.x"),
        ("camera.a = { source = 'test:', x = 12:30:00 }", "camera.a.x"),
        ("camera.a = { source = 'test:', x = nan }", "camera.a.x"),
        ("camera.a = { source = 'test:', x = -inf }", "camera.a.x"),
        ("camera.a = { source = 'test:', id = 'b' }", "camera.a.id"),
        ("camera.a = { source = 'test:', identity = 5 }", "camera.a.identity"),
        ("camera.a = { source = 'test:', identity = { x = 1 } }", "camera.a.identity.x"),
        ("camera.a = { source = 'test:', profiles = 5 }", "camera.a.profiles"),
        ("camera.a = { source = 'test:', profiles = [5] }", "camera.a.profiles[0].profile"),
        ("camera.a = { source = 'test:', profiles = [{ id = '1', x = 1 }] }", "camera.a.profiles[0].profile.x"),
        ("camera.a = { source = 'test:', profiles = [{ id = '1' }] }", "camera.a.profiles[0].name"),
        ("camera.a = { source = 'test:', firmware = 5 }", "camera.a.firmware"),
        (
            "camera.a = { source = 'test:', profiles = [{ id = '1', name = 'n', source = 'test:', codec = 'x', gop = -1 }] }",
            "camera.a.profiles[0].gop"
        ),
        (
            "camera.a = { source = 'test:', profiles = [{ id = '1', name = 'n', source = 'test:', codec = 'x', snapshot = 'http://u:hunter2@h/' }] }",
            "camera.a.profiles[0].snapshot"
        ),
        ("camera.a = { source = 'test:', uuid = 'x' }", "camera.a.uuid"),
        (
            """
            camera.a = { source = 'test:', uuid = '5f0c2a54-7a4b-4f0e-9d0c-0b6c1d3a1f01' }
            camera.b = { source = 'test:', uuid = '5f0c2a54-7a4b-4f0e-9d0c-0b6c1d3a1f01' }
            """, "camera"
        ),
    ]) func `what is wrong is named by its path`(text: String, field: String) throws {
        let error = try #require(throws: CameraStoreError.self) { try read(text) }
        guard case .invalid(let named, _) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(named == field)
        #expect(!"\(error)".contains("hunter2"))
    }

    @Test(arguments: [
        ("camera.front = {", 1, 17), ("x = 1\nx = 2", 2, 1), ("a = 1\nb = \u{1}", 2, 5), ("a = 1\n\n[camera", 3, 8),
        ("[&", 1, 2), ("a = ['x', }", 1, 11), ("camera.a.source = 'test:'\n[camera.a]", 2, 9),
        ("a = " + String(repeating: "[", count: 100_000), 1, 37), (String(repeating: "#", count: 300_000), 1, 1),
        ("a = [" + String(repeating: "1,", count: 100_000) + "]", 1, 131_076),
    ]) func `what is no TOML is named by its place`(text: String, line: Int, column: Int) throws {
        let error = try #require(throws: CameraStoreError.self) { try read(text) }
        guard case .invalidText(let atLine, let atColumn, let why) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(atLine == line && atColumn == column && (1..<200).contains(why.utf8.count), "\(error)")
    }

    @Test func `an import as long as may be is read, whatever its cameras`() throws {
        var text = "camera.a.source = 'test:'\n"
        var count = 0
        while text.utf8.count < 262_000 {
            text += "[[camera.a.profiles]]\nid='\(count)'\nname='n'\nsource='test:'\ncodec='x'\nrate=1\n"
            count += 1
        }
        // More keys than another text may have; what is wrong is that one camera has so many profiles.
        #expect(throws: CameraStoreError.tooMany("profiles of camera a", limit: CameraStore.profileLimit)) {
            try read(text)
        }
    }

    @Test(arguments: 1...8) func `no text makes the reader trap`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let text = try CameraStore.exportTOML([everything])
        for _ in 0..<250 {
            var bytes = Array(text.utf8)
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: place)
                default: bytes.insert(bytes[Int.random(in: 0..<bytes.count, using: &random)], at: place)
                }
            }
            // Read or refused; a camera that was read is one that the store takes.
            guard let records = try? read(String(decoding: bytes, as: UTF8.self)) else { continue }
            for record in records { try record.validate() }
        }
    }
}
