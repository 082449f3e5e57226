import ControlAPI
import Foundation
import Testing

@testable import ControlPlane

/// What no camera may be called, come from or be set to, asked for by a command: the configuration's reader says no.
struct RefusalTests {
    private func post(_ fields: [String: Any]) async throws -> (answer: APIResponse, added: Int) {
        let stage = try ControlStage()
        try stage.write(ControlStage.connections)
        let control = try await stage.start()
        var body: [String: Any] = ["id": "front", "source": "test:"]
        body.merge(fields) { $1 }
        let text = String(decoding: try JSONSerialization.data(withJSONObject: body), as: UTF8.self)
        let answer = await control.send(.post, "cameras", text)
        return (answer, await control.core.current.store.cameras.count)
    }

    private func isRefused(_ fields: [String: Any], _ label: String) async throws {
        let (answer, added) = try await post(fields)
        #expect((400..<500).contains(answer.status) && added == 0, "\(label): \(answer.status) \(answer.text)")
        #expect(answer.problem?.hint.isEmpty == false, "\(label): \(answer.text)")
        #expect(!answer.text.contains("hunter2"), "\(label): \(answer.text)")
        let scalars = (answer.problem?.detail ?? "").unicodeScalars
        #expect(scalars.allSatisfy { $0.properties.generalCategory != .control && $0.value != 0x202e }, "\(label)")
    }

    @Test(arguments: [
        "", "-", "-a", "a-", "a--b", "A", "a_b", "a.b", "../x", "..", "/", "a/b", "a b", "ä", "a\n", "a\0", "é",
        String(repeating: "a", count: 25), String(repeating: "a-", count: 12) + "a",
        String(repeating: "a", count: 100_000),
    ]) func `IDs that are refused`(id: String) async throws {
        #expect(!CameraIdentifier.isValid(id))
        try await isRefused(["id": id], id)
    }

    @Test(arguments: ["a", "0", "front", "front-door", "a-1-b", String(repeating: "a", count: 24), "a1b2-c3"])
    func `IDs that are taken`(id: String) async throws {
        #expect(CameraIdentifier.isValid(id))
        let (answer, added) = try await post(["id": id])
        #expect(answer.status == 201 && added == 1, "\(answer.text)")
    }

    @Test(arguments: ["a", "Vordertür", "👨‍👩‍👧‍👦", #"a"b'c\d"#, "<img onerror=x>", "前门", String(repeating: "👨‍👩‍👧‍👦", count: 64)])
    func `names that are taken`(name: String) async throws {
        let (answer, added) = try await post(["name": name])
        #expect(answer.status == 201 && added == 1, "\(answer.text)")
    }

    @Test(arguments: [
        "", "a\u{0}b", "a\nb", "a\tb", "\u{1b}[2J", "a\u{7f}", "a\u{9b}b", "a\u{2028}b", "a\u{202e}b", "a\u{2066}b",
        String(repeating: "👨‍👩‍👧‍👦", count: 300), String(repeating: "a", count: 129),
        "e" + String(repeating: "\u{301}", count: 5000),
    ]) func `names that are refused`(name: String) async throws {
        try await isRefused(["name": name], "name")
        try await isRefused(["user": "x\(name)\n"], "user")
    }

    @Test(arguments: [
        "test:", "file:/media/x.mp4", "v4l2:/dev/video0", "rtsp://192.0.2.1", "rtsps://cam.local:322/x",
        "rtsp://[2001:db8::1]:554/a?b=c", "onvif://192.0.2.1", "rtsp://192.0.2.1/cam/realmonitor?channel=1&subtype=0",
        "rtsp://192.0.2.1/x?password=", "rtsp://192.0.2.1/x?compass=5",
    ]) func `sources that are taken`(source: String) async throws {
        let (answer, added) = try await post(["source": source])
        #expect(answer.status == 201 && added == 1, "\(answer.text)")
    }

    @Test(arguments: [
        "", "exec:ls", "ftp://192.0.2.1/", "http://u:p@192.0.2.1/", "rtsp:", "rtsp:/x", "rtsp://", "rtsp:///x",
        "rtsp://admin:hunter2@192.0.2.1/", "rtsp://admin@192.0.2.1", "rtsp://admin:p@ss@192.0.2.1", "onvif://u:p@h",
        "rtsp://192.0.2.1/x?user=admin&password=hunter2", "rtsp://192.0.2.1/user=admin&password=hunter2&channel=1",
        "rtsp://192.0.2.1/?PWD=x", "rtsp://192.0.2.1/user=a_password=b_channel=1", "rtsp://192.0.2.1/\r\nx", " test:",
        "RTSP://192.0.2.1", "test:" + String(repeating: "x", count: 2048),
    ]) func `sources that are refused`(source: String) async throws {
        try await isRefused(["source": source], source)
    }

    @Test func `settings that are refused`() async throws {
        let refused: [[String: Any]] = [
            ["password": "hunter2"], ["token": "hunter2"], ["pwd": "x"], ["name": "x"], ["uuid": "x"], ["grid": -1],
            ["A": "x"], ["a-b": "x"], ["": "x"], ["1a": "x"], ["a b": "x"], ["a.b": "x"], ["size": "a\nb"],
            ["viewers": ["a\u{1b}"]], ["viewers": (0..<1000).map { "a\($0)" }], ["secret": "../x"],
            ["secret": 5], ["identity_mac": "44:19:b6:a1:c2"], ["rate": "x"], ["rate": 1e9], ["gop": -1],
        ]
        for settings in refused { try await isRefused(["settings": settings], "\(settings)") }
        var many: [String: Any] = [:]
        for number in 0...64 { many["k\(number)"] = 1 }
        try await isRefused(["settings": many], "many")
    }
}
