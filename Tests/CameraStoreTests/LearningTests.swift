import Settings
import Testing

@testable import CameraStore

/// What a network camera tells of itself.
@Suite struct LearningTests {
    private static let endpoint = "urn:uuid:9b1d0c5e-0000-1000-8000-4419b6a1c2d3"

    private static let told = LearnedCamera(
        manufacturer: "HIKVISION", model: "DS-2CD2042", firmware: "V5.4.5",
        identity: CameraIdentity(onvifEndpoint: endpoint, serial: "S1", mac: "44-19-B6-A1-C2-D3"),
        address: "192.0.2.50", port: 554, profiles: [profile("main", of: ""), profile("sub", of: "")])

    private func withCamera(_ body: (CameraStore) throws -> Void) throws {
        try withStore { store in
            try store.add(
                Camera(
                    id: "front", name: "Front", source: "onvif://192.0.2.50", user: "admin", added: 1,
                    settings: ["rate": .integer(5)]))
            try body(store)
        }
    }

    @Test func `what is told is kept, and leaves the revision to those who change something`() throws {
        try withCamera { store in
            let camera = try #require(try store.learned("front", Self.told))
            #expect(camera == (try store.camera("front")))
            // Somebody who edits the camera meanwhile must not be told that somebody else was first.
            #expect(camera.revision == 1)
            var edited = camera
            edited.name = "Front"
            #expect(try store.update(edited, ifRevision: 1).revision == 1)
            #expect(camera.manufacturer == "HIKVISION" && camera.model == "DS-2CD2042" && camera.firmware == "V5.4.5")
            #expect(camera.address == "192.0.2.50" && camera.port == 554)
            #expect(
                camera.identity
                    == CameraIdentity(onvifEndpoint: Self.endpoint, serial: "S1", mac: "44:19:b6:a1:c2:d3"))
            #expect(
                try store.profiles(of: "front") == [profile("main", of: "front"), profile("sub", of: "front")])
            // What the owner decides stays.
            #expect(camera.name == "Front" && camera.source == "onvif://192.0.2.50" && camera.user == "admin")
            #expect(camera.settings == ["rate": .integer(5)])
            // The same once more, and a part of it, is nothing new.
            #expect(try store.learned("front", Self.told) == camera)
            #expect(try store.learned("front", LearnedCamera(model: "DS-2CD2042")) == camera)
            #expect(try store.learned("front", LearnedCamera(address: "192.0.2.51"))?.revision == 1)
            #expect(try store.camera("front")?.address == "192.0.2.51")
            #expect(try store.camera("front")?.port == 554)
            #expect(try store.learned("front", LearnedCamera(profiles: []))?.revision == 1)
            #expect(try store.profiles(of: "front") == [])
            #expect(try store.learned("garage", Self.told) == nil)
        }
    }

    @Test func `the profile that is published stays the one that is published`() throws {
        try withCamera { store in
            try store.learned("front", Self.told)
            try store.setProfiles(
                [profile("main", of: "front"), profile("sub", of: "front", isDefault: true)], of: "front")
            var told = Self.told
            told.profiles?[1].width = 320
            told.profiles?[0].isDefault = true
            try store.learned("front", told)
            let profiles = try store.profiles(of: "front")
            #expect(profiles.map(\.isDefault) == [false, true] && profiles[1].width == 320)
        }
    }

    @Test func `a device that took the camera's place leaves nothing of the former one`() throws {
        try withCamera { store in
            try store.learned("front", Self.told)
            let other = LearnedCamera(identity: CameraIdentity(serial: "S2", mac: "00:00:00:00:00:02"))
            let camera = try store.learned("front", other)
            #expect(camera?.identity == CameraIdentity(serial: "S2", mac: "00:00:00:00:00:02"))
            // What cannot be compared is one more thing that is known of the same.
            let more = try store.learned("front", LearnedCamera(identity: CameraIdentity(onvifEndpoint: Self.endpoint)))
            #expect(more?.identity.serial == "S2" && more?.identity.onvifEndpoint == Self.endpoint)
        }
    }

    @Test func `what a device tells to do harm is left out`() throws {
        try withCamera { store in
            let hostile = LearnedCamera(
                manufacturer: "\u{1B}[2J evil\n\u{202E}", model: String(repeating: "x", count: 10_000),
                firmware: " \u{0} ", identity: CameraIdentity(serial: "", mac: "not a MAC"),
                address: "192.0.2.1/../x", port: 70_000,
                profiles: [
                    StreamProfile(
                        id: "a", camera: "another", name: "\u{7}", source: "rtsp://u:hunter2@h/", width: -5,
                        height: .max, rate: .nan, codec: "", bitrate: -1, gop: .max, service: "media\u{1B}",
                        snapshot: "http://u:hunter2@h/"),
                    profile("a", of: "front"), profile("", of: "front"), profile("b\u{1B}", of: "front"),
                    StreamProfile(
                        id: "c", camera: "", name: "c", source: "rtsp://h/?password=hunter2", width: 1, height: 1,
                        rate: .infinity, codec: "h264", snapshot: "file:///etc/passwd"),
                ])
            let camera = try #require(try store.learned("front", hostile))
            try camera.validate()
            #expect(camera.manufacturer == "[2J evil" && camera.model?.count == 128 && camera.firmware == nil)
            #expect(camera.identity.isEmpty && camera.address == nil && camera.port == nil)
            let profiles = try store.profiles(of: "front")
            try StreamProfile.validate(profiles, of: "front")
            #expect(profiles.map(\.id) == ["a", "c"])
            #expect(profiles.allSatisfy { $0.source == "onvif://192.0.2.50" && $0.snapshot == nil && $0.rate == 0 })
            #expect(profiles[0].name == "a" && profiles[0].codec == "unknown" && profiles[0].service == "media")
            #expect(!"\(profiles) \(camera)".contains("hunter2"))
            let many = LearnedCamera(profiles: (0..<100).map { profile("p\($0)", of: "front") })
            try store.learned("front", many)
            #expect(try store.profiles(of: "front").count == CameraStore.profileLimit)
        }
    }

    @Test func `another source is another device: its pictures and profiles go`() throws {
        try withCamera { store in
            try store.learned("front", Self.told)
            try store.setThumbnail([0xff, 0xd8, 0xff], of: "front")
            var camera = try #require(try store.camera("front"))
            camera.name = "Gate"
            try store.update(camera)
            #expect(try store.thumbnail(of: "front") != nil && store.profiles(of: "front").count == 2)
            camera.source = "onvif://192.0.2.51"
            try store.update(camera)
            #expect(try store.thumbnail(of: "front") == nil && store.profiles(of: "front") == [])
        }
    }

    @Test func `all thumbnails go, and nothing else`() throws {
        try withCamera { store in
            try store.removeThumbnails()
            try store.setThumbnail([0xff, 0xd8, 0xff], of: "front")
            try store.removeThumbnails()
            #expect(try store.thumbnail(of: "front") == nil)
            #expect(try store.camera("front") != nil)
        }
    }

    @Test func `a thumbnail knows when it was taken`() throws {
        try withCamera { store in
            #expect(try store.thumbnailTaken(of: "front") == nil)
            try store.setThumbnail([0xff, 0xd8, 0xff], of: "front", taken: 1_790_000_000)
            #expect(try store.thumbnailTaken(of: "front") == 1_790_000_000)
            try store.setThumbnail([0xff, 0xd8, 0xff, 0xe0], of: "front")
            #expect(try store.thumbnailTaken(of: "front") == nil)
            try store.setThumbnail([0xff, 0xd8, 0xff], of: "front", taken: 5)
            try store.setThumbnail(nil, of: "front")
            #expect(try store.thumbnailTaken(of: "front") == nil)
            #expect(throws: CameraStoreError.self) {
                try store.setThumbnail([0xff, 0xd8, 0xff], of: "front", taken: -1)
            }
        }
    }
}
