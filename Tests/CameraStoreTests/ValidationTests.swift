import Database
import Settings
import Testing

@testable import CameraStore

@Suite struct ValidationTests {
    /// The field that `change` makes a camera be refused for; nil when it is taken.
    private func refusal(_ change: (inout Camera) -> Void) throws -> String? {
        var camera = sample("front")
        change(&camera)
        do {
            try camera.validate()
            return nil
        } catch CameraStoreError.invalid(let field, let why) {
            #expect(!why.isEmpty)
            return field
        }
    }

    @Test(arguments: ["a", "0", "front", "front-door", "a-1-b", String(repeating: "a", count: 24), "a1b2-c3"])
    func `IDs that are taken`(id: String) throws {
        #expect(Camera.isValidID(id))
        #expect(try refusal { $0.id = id } == nil)
    }

    @Test(arguments: [
        "", "-", "-a", "a-", "a--b", "A", "a_b", "a.b", "../x", "..", "/", "a/b", "a b", "ä", "a\n", "a\0", "é",
        String(repeating: "a", count: 25), String(repeating: "a-", count: 12) + "a",
        String(repeating: "a", count: 100_000),
    ]) func `IDs that are refused`(id: String) throws {
        #expect(!Camera.isValidID(id))
        #expect(try refusal { $0.id = id } == "id")
    }

    @Test(arguments: ["a", "Vordertür", "👨‍👩‍👧‍👦", #"a"b'c\d"#, "<img onerror=x>", "前门", String(repeating: "👨‍👩‍👧‍👦", count: 128)])
    func `names that are taken`(name: String) throws {
        #expect(try refusal { $0.name = name } == nil)
    }

    @Test(arguments: [
        "", "a\u{0}b", "a\nb", "a\tb", "\u{1b}[2J", "a\u{7f}", "a\u{9b}b", "a\u{2028}b", "a\u{202e}b", "a\u{2066}b",
        String(repeating: "👨‍👩‍👧‍👦", count: 300), String(repeating: "a", count: 129),
        "e" + String(repeating: "\u{301}", count: 5000),
    ]) func `names that are refused`(name: String) throws {
        #expect(try refusal { $0.name = name } == "name")
        #expect(try refusal { $0.model = name } == "model")
        #expect(try refusal { $0.identity.serial = name } == "identity.serial")
    }

    @Test(arguments: [
        "test:", "file:/media/x.mp4", "v4l2:/dev/video0", "v4l2:usb-1.2", "rtsp://192.0.2.1", "rtsps://cam.local:322/x",
        "rtsp://[2001:db8::1]:554/a?b=c", "onvif://192.0.2.1", "rtsp://192.0.2.1/cam/realmonitor?channel=1&subtype=0",
        "rtsp://192.0.2.1/x?password=", "rtsp://192.0.2.1/email@host", "rtsp://192.0.2.1/x?compass=5",
    ]) func `sources that are taken`(source: String) throws {
        #expect(try refusal { $0.source = source } == nil)
    }

    @Test(arguments: [
        "", "exec:ls", "ftp://192.0.2.1/", "http://u:p@192.0.2.1/", "rtsp:", "rtsp:/x", "rtsp://", "rtsp:///x",
        "RTSP://192.0.2.1",
        "rtsp://admin:hunter2@192.0.2.1/", "rtsp://admin@192.0.2.1", "rtsp://admin:p@ss@192.0.2.1", "onvif://u:p@h",
        "rtsp://192.0.2.1/x?user=admin&password=hunter2", "rtsp://192.0.2.1/user=admin&password=hunter2&channel=1",
        "rtsp://192.0.2.1/?PWD=x", "rtsp://192.0.2.1/user=a_password=b_channel=1", "rtsp://192.0.2.1/\r\nx", " test:",
        "test:" + String(repeating: "x", count: 2048),
    ]) func `sources that are refused`(source: String) throws {
        #expect(try refusal { $0.source = source } == "source")
    }

    @Test func `a refused source does not show its password`() throws {
        var camera = sample("front")
        camera.source = "rtsp://admin:hunter2@192.0.2.1/"
        let error = try #require(throws: CameraStoreError.self) { try camera.validate() }
        #expect(!"\(error)".contains("hunter2") && "\(error)".contains("watchboxctl camera password"))
    }

    @Test func `every other field has its rule`() throws {
        #expect(try refusal { $0.uuid = "x" } == "uuid")
        #expect(try refusal { $0.uuid = "5F0C2A54-7A4B-4F0E-9D0C-0B6C1D3A1F01" } == "uuid")
        #expect(try refusal { $0.uuid = "5f0c2a547a4b-4f0e-9d0c-0b6c1d3a1f01-" } == "uuid")
        #expect(try refusal { $0.user = "a\n" } == "user")
        #expect(try refusal { $0.address = "192.0.2.1/../x" } == "address")
        #expect(try refusal { $0.address = "" } == "address")
        #expect(try refusal { $0.address = "fe80::1%eth0" } == nil)
        #expect(try refusal { $0.port = 0 } == "port")
        #expect(try refusal { $0.port = 65_536 } == "port")
        #expect(try refusal { $0.gridPosition = -1 } == "grid")
        #expect(try refusal { $0.added = -1 } == "added")
        #expect(try refusal { $0.lastConnected = -1 } == "added")
        #expect(try refusal { $0.identity.mac = "44:19:b6:a1:c2" } == "identity.mac")
        #expect(try refusal { $0.identity.mac = "4419.B6A1.C2D3" } == nil)
        for key in ["password", "token", "pwd", "name", "uuid", "grid", "A", "a-b", "", "1a", "a b", "a.b"] {
            #expect(try refusal { $0.settings = [key: .string("x")] } == key)
        }
        #expect(try refusal { $0.settings = ["rate": .real(.nan)] } == "rate")
        #expect(try refusal { $0.settings = ["rate": .real(.infinity)] } == "rate")
        #expect(try refusal { $0.settings = ["size": .string("a\nb")] } == "size")
        #expect(try refusal { $0.settings = ["viewers": .strings(["a\u{1b}"])] } == "viewers")
        #expect(try refusal { $0.settings = ["viewers": .strings(.init(repeating: "a", count: 65))] } == "viewers")
        #expect(try refusal { $0.settings = ["secret": .string("../x")] } == "secret")
        #expect(try refusal { $0.settings = ["secret": .integer(5)] } == "secret")
        #expect(try refusal { $0.settings = ["secret": .string("relay-main")] } == nil)
        var many = sample("front")
        for number in 0...64 { many.settings["k\(number)"] = .integer(1) }
        #expect(throws: CameraStoreError.tooMany("settings of camera front", limit: 64)) { try many.validate() }
    }

    @Test func `settings of a camera of this machine are taken and stored`() throws {
        var camera = sample("yard")
        camera.source = "v4l2:/dev/v4l/by-id/usb-046d_C920_1A2B-video-index0"
        camera.settings = [
            "pixel_format": .string("mjpeg"), "encoder": .string("auto"), "rotate": .integer(90),
            "flip": .string("both"),
            "masks": .strings(.init(repeating: "0,0,0.25,0.1", count: 32)), "overlay": .strings(["time", "name"]),
            "controls": .strings((0..<64).map { "control_\($0)=-1" }), "microphone": .string("hw:CARD=C920,DEV=0"),
        ]
        try camera.validate()
        try withStore { store in
            try store.add(camera)
            #expect(try store.camera("yard")?.settings == camera.settings)
        }
    }

    @Test(arguments: [
        CameraStoreError.exists("a"), .noSuchCamera("a\u{1b}[2J"), .conflict("camera a", current: 3),
        .conflict("relay a", current: 0), .tooMany("cameras", limit: 5), .invalid(field: "x\u{1b}", why: "y"),
        .database(.busy(path: "/p")),
    ]) func `every error says what, why and what next, and is safe to print`(error: CameraStoreError) {
        #expect(!error.what.isEmpty && !error.why.isEmpty && !error.next.isEmpty)
        #expect("\(error)" == "\(error.what): \(error.why).\nNext: \(error.next)")
        #expect(!"\(error)".contains("\u{1b}"))
    }
}
