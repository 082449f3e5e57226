import ONVIF
import Testing

@testable import BoxMemory

/// What a camera reports about itself.
@Suite struct LearningTests {
    private static let endpoint = "urn:uuid:9b1d0c5e-0000-1000-8000-4419b6a1c2d3"
    private static let front = "5f0c2a54-7a4b-4f0e-9d0c-0b6c1d3a1f01"
    private static let source = "onvif://192.0.2.50"
    private static let jpeg: [UInt8] = [0xff, 0xd8, 0xff, 0xe0]

    private static let reported = LearnedCamera(
        manufacturer: "HIKVISION", model: "DS-2CD2042", firmware: "V5.4.5",
        identity: DeviceIdentity(endpoint: endpoint, serial: "S1", mac: "44-19-B6-A1-C2-D3"),
        address: "192.0.2.50", port: 554, profiles: [profile("main"), profile("sub")])

    private func camera(_ memory: BoxMemory) throws -> LearnedCamera? {
        try memory.camera(Self.front, at: Self.source)
    }

    private func learned(_ reported: LearnedCamera, _ memory: BoxMemory) throws -> LearnedCamera {
        try memory.learned(reported, of: Self.front, at: Self.source)
        return try #require(try camera(memory))
    }

    @Test func `what is reported is kept, and what is not reported stays`() throws {
        try withMemory { (memory) throws in
            #expect(try camera(memory) == nil)
            var expected = Self.reported
            expected.identity.mac = "44:19:b6:a1:c2:d3"
            #expect(try learned(Self.reported, memory) == expected)
            // The same once more, and a part of it, is nothing new.
            #expect(try learned(Self.reported, memory) == expected)
            #expect(try learned(LearnedCamera(model: "DS-2CD2042"), memory) == expected)
            expected.address = "192.0.2.51"
            #expect(try learned(LearnedCamera(address: "192.0.2.51"), memory) == expected)
            expected.lastConnected = 1_763_700_000
            #expect(try learned(LearnedCamera(lastConnected: 1_763_700_000), memory) == expected)
            expected.profiles = []
            #expect(try learned(LearnedCamera(profiles: []), memory) == expected)
            #expect(try memory.camera("another", at: Self.source) == nil)
        }
    }

    @Test func `profiles come back as they were reported`() throws {
        let profiles = [
            StreamProfile(
                id: "Profile_1", name: #"Tür 🚪👨‍👩‍👧‍👦 "quoted" \ back"#, source: "rtsp://192.0.2.50/1", width: 1920,
                height: 1080,
                rate: 12.5, codec: "hevc", bitrate: 4_096_000, gop: 50, service: "media2",
                snapshot: "http://192.0.2.50/onvif-http/snapshot?Profile_1"), profile("ß \"2\""),
        ]
        try withMemory { (memory) throws in
            #expect(try learned(LearnedCamera(profiles: profiles), memory).profiles == profiles)
        }
    }

    @Test func `a device that took the camera's place leaves nothing of the former one`() throws {
        try withMemory { (memory) throws in
            _ = try learned(Self.reported, memory)
            let other = DeviceIdentity(serial: "S2", mac: "00:00:00:00:00:02")
            #expect(try learned(LearnedCamera(identity: other), memory).identity == other)
            // What cannot be compared is one more thing that is known of the same.
            let more = try learned(LearnedCamera(identity: DeviceIdentity(endpoint: Self.endpoint)), memory)
            #expect(more.identity.serial == "S2" && more.identity.endpoint == Self.endpoint)
        }
    }

    @Test func `harmful values that a device reports are left out`() throws {
        try withMemory { (memory) throws in
            let hostile = LearnedCamera(
                manufacturer: "\u{1B}[2J evil\n\u{202E}", model: String(repeating: "x", count: 10_000),
                firmware: " \u{0} ", identity: DeviceIdentity(serial: "", mac: "not a MAC"),
                address: "192.0.2.1/../x", port: 70_000,
                profiles: [
                    StreamProfile(
                        id: "a", name: "\u{7}", source: "rtsp://u:hunter2@h/", width: -5, height: .max, rate: .nan,
                        codec: "", bitrate: -1, gop: .max, service: "media\u{1B}", snapshot: "http://u:hunter2@h/"),
                    profile("a"), profile(""), profile("b\u{1B}"), profile("b\u{202E}"),
                    profile(String(repeating: "x", count: 65)),
                    StreamProfile(
                        id: "c", name: "c", source: "rtsp://h/?password=hunter2", width: 1, height: 1,
                        rate: .infinity, codec: "h264", snapshot: "file:///etc/passwd"),
                ], lastConnected: -1)
            let camera = try learned(hostile, memory)
            #expect(camera.manufacturer == "[2J evil" && camera.model?.count == 128 && camera.firmware == nil)
            #expect(camera.identity.isEmpty && camera.address == nil && camera.port == nil)
            #expect(camera.lastConnected == nil)
            let profiles = try #require(camera.profiles)
            #expect(profiles.map(\.id) == ["a", "c"])
            #expect(profiles.allSatisfy { $0.source == Self.source && $0.snapshot == nil && $0.rate == 0 })
            #expect(profiles[0].name == "a" && profiles[0].codec == "unknown" && profiles[0].service == "media")
            #expect(profiles[0].width == 0 && profiles[0].height == 0)
            #expect(profiles[0].bitrate == nil && profiles[0].gop == nil)
            #expect(!"\(camera)".contains("hunter2"))
            let many = LearnedCamera(profiles: (0..<100).map { profile("p\($0)") })
            #expect(try learned(many, memory).profiles?.count == BoxMemory.profileLimit)
        }
    }

    @Test(arguments: ["192.0.2.1/../x", "", "evil@192.0.2.1", "a b", "a\n"])
    func `an invalid address is left out`(address: String) throws {
        try withMemory { (memory) throws in
            #expect(try learned(LearnedCamera(address: address, port: 80), memory).address == nil)
        }
    }

    @Test(arguments: ["fe80::1%eth0", "2001:db8::7", "cam.local"])
    func `an address of any kind is kept`(address: String) throws {
        try withMemory { (memory) throws in
            #expect(try learned(LearnedCamera(address: address), memory).address == address)
        }
    }

    @Test func `at another source there is another device, of which nothing is known`() throws {
        try withMemory { (memory) throws in
            _ = try learned(Self.reported, memory)
            try memory.setThumbnail(Self.jpeg, of: Self.front, at: Self.source, taken: 5)
            let other = "onvif://192.0.2.51"
            #expect(try memory.camera(Self.front, at: other) == nil)
            #expect(try memory.thumbnail(of: Self.front, at: other) == nil)
            try memory.learned(LearnedCamera(model: "Other"), of: Self.front, at: other)
            #expect(try memory.camera(Self.front, at: other) == LearnedCamera(model: "Other"))
            #expect(try camera(memory) == nil)
            #expect(try memory.thumbnail(of: Self.front, at: Self.source) == nil)
        }
    }

    @Test func `the same device at another source is known, but for its profiles and its frame`() throws {
        try withMemory { (memory) throws in
            let known = try learned(Self.reported, memory)
            try memory.setThumbnail(Self.jpeg, of: Self.front, at: Self.source, taken: 5)
            try memory.moved(Self.front, from: "onvif://192.0.2.49", to: "x")
            #expect(try camera(memory) == known)
            try memory.moved(Self.front, from: Self.source, to: "onvif://192.0.2.50/2")
            var moved = known
            moved.profiles = nil
            #expect(try memory.camera(Self.front, at: "onvif://192.0.2.50/2") == moved)
            #expect(try memory.thumbnail(of: Self.front, at: "onvif://192.0.2.50/2") == nil)
        }
    }

    @Test func `who is forgotten is unknown, with its frame`() throws {
        try withMemory { (memory) throws in
            for uuid in [Self.front, "b", "c"] {
                try memory.learned(Self.reported, of: uuid, at: Self.source)
                try memory.setThumbnail(Self.jpeg, of: uuid, at: Self.source, taken: 5)
            }
            try memory.forget(allBut: [Self.front: Self.source, "c": Self.source, "d": Self.source])
            try memory.forget("c")
            for uuid in ["b", "c"] {
                #expect(try memory.camera(uuid, at: Self.source) == nil)
                #expect(try memory.thumbnail(of: uuid, at: Self.source) == nil)
            }
            #expect(try memory.camera(Self.front, at: Self.source) != nil)
            #expect(try memory.thumbnail(of: Self.front, at: Self.source) == Self.jpeg)
        }
    }

    @Test func `a frame of a source of before does not outlive it`() throws {
        try withMemory { (memory) throws in
            let known = try learned(Self.reported, memory)
            try memory.setThumbnail(Self.jpeg, of: Self.front, at: Self.source, taken: 5)
            try memory.forget(allBut: [Self.front: Self.source])
            #expect(try memory.thumbnail(of: Self.front, at: Self.source) == Self.jpeg)
            try memory.forget(allBut: [Self.front: "test:"])
            #expect(try memory.thumbnail(of: Self.front, at: Self.source) == nil)
            #expect(try camera(memory) == known)
        }
    }

    @Test func `all thumbnails go, and nothing else`() throws {
        try withMemory { (memory) throws in
            try memory.removeThumbnails()
            _ = try learned(Self.reported, memory)
            try memory.setThumbnail(Self.jpeg, of: Self.front, at: Self.source, taken: 5)
            try memory.removeThumbnails()
            #expect(try memory.thumbnail(of: Self.front, at: Self.source) == nil)
            #expect(try camera(memory) != nil)
        }
    }

    @Test func `a thumbnail is a JPEG of some size`() throws {
        try withMemory { (memory) throws in
            func set(_ jpeg: [UInt8]) throws {
                try memory.setThumbnail(jpeg, of: Self.front, at: Self.source, taken: 5)
            }
            let jpeg = [0xff, 0xd8, 0xff] + [UInt8](repeating: 1, count: BoxMemory.thumbnailLimit - 3)
            try set(jpeg)
            #expect(throws: BoxMemoryError.self) { try set(jpeg + [1]) }
            #expect(throws: BoxMemoryError.self) { try set(Array("<svg>".utf8)) }
            #expect(throws: BoxMemoryError.self) { try set([]) }
            #expect(try memory.thumbnail(of: Self.front, at: Self.source) == jpeg)
        }
    }
}
