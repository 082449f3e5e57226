import ErrorCatalog
import FoundationEssentials
import Settings
import Testing

@testable import BoxConfiguration

/// A secret that was pasted into the wrong place is never shown again.
struct SecretTests {
    private static let secret = "hunter2Q9x"

    private func expectUntold(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let (settings, issues) = Samples.read(text)
        #expect(settings == nil, sourceLocation: sourceLocation)
        #expect(!issues.isEmpty, sourceLocation: sourceLocation)
        let json = String(decoding: try JSONEncoder().encode(issues), as: UTF8.self)
        for reported in [json, "\(issues)", issues.map(\.description).joined()] {
            #expect(!reported.contains(Self.secret), "\(reported)", sourceLocation: sourceLocation)
        }
    }

    @Test(arguments: [
        "rtsp://admin:hunter2Q9x@10.0.0.1/main", "rtsp://10.0.0.1/main?password=hunter2Q9x",
        "onvif://hunter2Q9x@10.0.0.1",
        "rtsp://10.0.0.1/main#hunter2Q9x", "exec:hunter2Q9x", "hunter2Q9x", "test:hunter2Q9x", "file:hunter2Q9x",
        "http://u:hunter2Q9x@h/", "rtsp:hunter2Q9x", "rtsp:///hunter2Q9x", "v4l2:hunter2Q9x", "v4l2:/hunter2Q9x",
        "file:/hunter2Q9x/", "rtsp://admin:hunter/2Q9x@10.0.0.1/hunter2Q9x", "rtsps://10.0.0.1/?x=1&Token=hunter2Q9x",
        "rtsp://10.0.0.1/user=admin_password=hunter2Q9x_channel=1", "rtsp://10.0.0.1/?p%61ss=hunter2Q9x",
        "onvif://10.0.0.1/?x=hunter2Q9x", "rtsp://10.0.0.1:hunter2Q9x/", "rtsp://10.0.0.1/ hunter2Q9x",
    ])
    func `in a source`(source: String) throws {
        try expectUntold(Samples.small + "camera.side.source = '\(source)'")
        #expect(Samples.read("camera.side.source = '\(source)'").issues.contains { $0.key == "camera.side.source" })
    }

    @Test(arguments: [
        "rtmp://u:hunter2Q9x@h/live", "rtmp://h/live?key=hunter2Q9x", "rtmps://h/live#hunter2Q9x", "hunter2Q9x",
        "http://h/hunter2Q9x", "rtmp://h/hunter2Q9x live", "rtmp://h:hunter2Q9x/live", "rtmp://hunter2Q9x",
        "rtmp:///hunter2Q9x",
    ])
    func `in a relay's URL`(url: String) throws {
        try expectUntold("relay.main.url = '\(url)'")
    }

    @Test(arguments: [
        "https://u:hunter2Q9x@h/kas", "https://h/kas?token=hunter2Q9x", "hunter2Q9x",
        "http://hunter2Q9x.example.net/kas",
        "https://h:hunter2Q9x/", "https://", "https://h/kas#hunter2Q9x", "ftp://hunter2Q9x/",
    ])
    func `in the KAS's URL`(url: String) throws {
        try expectUntold("kas.url = '\(url)'")
    }

    @Test func `in a key that expects something else`() throws {
        for object in KeyTable.objects {
            for key in object.keys {
                if case .text = key.kind { continue }
                if [.identifier, .secretName, .streamName].contains(key.kind) { continue }
                try expectUntold("[\(object.isNamed ? "\(object.name).a" : object.name)]\n\(key.name) = 'hunter2Q9x'")
            }
        }
        for line in ["masks = ['hunter2Q9x']", "overlay = ['hunter2Q9x']", "controls = ['hunter2Q9x']"] {
            try expectUntold("[camera.a]\nsource = 'test:'\n\(line)")
        }
        let (_, issues) = Samples.read(
            "relay.spare.url = 'rtmp://r/a'\ncamera.a = { source = 'test:', relay = 'hunter2q9x' }")
        #expect(issues.map(\.key) == ["camera.a.relay"] && !"\(issues)".contains("hunter2q9x"))
        for line in ["pin = 'hunter2Q9x'", "pin = 'sha256//hunter2Q9x'", "identity_mac = 'hunter2Q9x'"] {
            try expectUntold("[camera.a]\nsource = 'test:'\n\(line)")
        }
        for key in ["camera.a.secret", "relay.a.secret", "kas.secret"] { try expectUntold("\(key) = 'hunter2Q9x'") }
    }

    @Test(
        arguments: ["camera.front", "relay.main", "hook.phone", "kas", "box"],
        ["password", "token", "Pass", "key", "stream_key"])
    func `under a key of its own`(object: String, key: String) throws {
        try expectUntold("[\(object)]\n\(key) = 'hunter2Q9x'")
        let issues = Samples.read("[\(object)]\n\(key) = 'hunter2Q9x'").issues
        #expect(issues.contains { $0.key == "\(object).\(key)" && $0.reason.contains("secrets do not belong") })
    }

    @Test(arguments: [
        "relay.main.url = rtmp://u:hunter2Q9x@h/live", "camera.front.secret = hunter2Q9x", "x = 'hunter2Q9x",
        "kas.secret = hunter2Q9x\n", "a = \"hunter2Q9x\" hunter2Q9x", "a = truehunter2Q9x", "a = 12hunter2Q9x",
        "a = \"\\hunter2Q9x\"", "a = [ 'x' hunter2Q9x ]", "a = { b = hunter2Q9x }", "a = 0xhunter2Q9x",
        "a = 1979-05-27hunter2Q9x", "a = \"\u{1}hunter2Q9x\"", "a = inf.hunter2Q9x", "a = '''hunter2Q9x",
        "\"rtmp://u:hunter2Q9x@h/live\" = 1", "relay.\"rtmp://h/?hunter2Q9x\".url = 'x'",
        "camera.a.\"password=hunter2Q9x\" = 1",
    ])
    func `in a line that is broken`(line: String) throws {
        try expectUntold(line)
    }
}
