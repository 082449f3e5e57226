import Settings
import Testing

@testable import BoxConfiguration

struct ChangesTests {
    private static let base = """
        kas = { url = "https://kas.example.net/kas", secret = "kas-token" }
        relay.main = { url = "rtmp://relay.example.net/live" }
        relay.spare = { url = "rtmp://spare.example.net/live" }
        camera.back = { source = "test:", relay = "spare" }
        camera.front = { source = "test:" }
        camera.side = { source = "file:/srv/a.mp4" }
        camera.off = { source = "test:", active = false }

        """

    private func changes(_ replacements: (String, String)..., adding more: String = "") -> [ConfigurationChange] {
        var text = Self.base
        for (old, new) in replacements {
            precondition(text.contains(old))
            text = text.replacing(old, with: new)
        }
        let old = Samples.read(Self.base)
        let new = Samples.read(text + more)
        precondition(new.settings != nil, "\(new.issues)")
        return old.settings!.changes(to: new.settings!)
    }

    @Test func `the same settings need nothing`() {
        #expect(changes().isEmpty)
        var moved = Samples.settings(Samples.full)
        moved.origins = [:]
        #expect(Samples.settings(Samples.full).changes(to: moved).isEmpty)
    }

    @Test func `names and positions restart nothing`() {
        #expect(
            changes(("front = { source", "front = { name = \"Door\", grid = 4, source")) == [
                ConfigurationChange(
                    object: "camera.front", kind: .changed, details: ["name: (none) → Door", "grid: 0 → 4"],
                    action: .none, affects: [])
            ])
        #expect(
            changes(adding: "box.name = 'porch'") == [
                ConfigurationChange(
                    object: "box", kind: .changed, details: ["name: watchbox → porch"], action: .none, affects: [])
            ])
    }

    @Test func `a camera's own settings restart it alone`() {
        #expect(
            changes(("front = { source", "front = { bitrate = 1000000, viewers = ['a', 'b'], source")) == [
                ConfigurationChange(
                    object: "camera.front", kind: .changed,
                    details: ["bitrate: 2000000 → 1000000", "viewers: (none) → a, b"], action: .restartCamera,
                    affects: ["front"])
            ])
        #expect(changes(("front = { source", "front = { rate = 5, source")).map(\.action) == [.restartCamera])
        #expect(changes(("front = { source", "front = { relay = 'spare', source")).map(\.action) == [.restartCamera])
        #expect(changes(("front = { source", "front = { stream = 'door', source")).map(\.action) == [.restartCamera])
    }

    @Test func `what can change while a camera publishes does not restart it`() {
        #expect(
            changes(("front = { source", "front = { bitrate = 1000000, source")) == [
                ConfigurationChange(
                    object: "camera.front", kind: .changed, details: ["bitrate: 2000000 → 1000000"],
                    action: .changeCamera, affects: ["front"])
            ])
        let device = Self.base.replacing("front = { source = \"test:\"", with: "front = { source = 'v4l2:/dev/video0'")
        let actions = { (keys: String) in
            let old = Samples.read(device).settings
            let new = Samples.read(device.replacing("front = { ", with: "front = { \(keys), ")).settings
            return old.flatMap { old in new.map { old.changes(to: $0).map(\.action) } }
        }
        #expect(actions("size = '640x360', rate = 5, gop = 3, bitrate = 100000") == [.changeCamera])
        #expect(actions("masks = ['0,0,1,1']") == [.restartCamera])
        #expect(actions("rate = 5, controls = ['gain=1']") == [.restartCamera])
        #expect(actions("audio = false, name = 'Door'") == [.none])
        #expect(actions("relay = 'spare'") == [.restartCamera])
        // The name is in the frame, or it is not.
        #expect(actions("overlay = ['name']") == [.restartCamera])
        let shown = device.replacing("front = { ", with: "front = { overlay = ['name'], ")
        let renamed = shown.replacing("front = { ", with: "front = { name = 'Door', ")
        #expect(
            Samples.read(shown).settings!.changes(to: Samples.read(renamed).settings!).map(\.action) == [.restartCamera]
        )
    }

    @Test func `what could change by itself is restarted with what cannot`() {
        let changes = changes(
            ("front = { source", "front = { bitrate = 1000000, source"),
            ("rtmp://relay.example.net", "rtmp://x.example.net"))
        #expect(changes.map(\.action) == [.restartCamera, .restartCamera])
    }

    @Test func `a setting that the camera's source does not use restarts nothing`() {
        #expect(changes(("front = { source", "front = { loop = false, source")).map(\.action) == [.none])
        #expect(changes(("side = { source", "side = { rate = 5, source")).map(\.action) == [.none])
        #expect(changes(("side = { source", "side = { loop = false, source")).map(\.action) == [.restartCamera])
        #expect(changes(("off = { source", "off = { rate = 5, source")).map(\.action) == [.none])
    }

    @Test func `cameras come, go, and are switched on and off`() {
        #expect(
            changes(adding: "camera.new = { source = 'test:' }") == [
                ConfigurationChange(
                    object: "camera.new", kind: .added, details: ["source: test:"], action: .startCamera,
                    affects: ["new"])
            ])
        #expect(
            changes(("camera.front = { source = \"test:\" }\n", "")) == [
                ConfigurationChange(
                    object: "camera.front", kind: .removed, details: [], action: .stopCamera, affects: ["front"])
            ])
        #expect(
            changes(("front = { source", "front = { active = false, source")) == [
                ConfigurationChange(
                    object: "camera.front", kind: .changed, details: ["active: true → false"], action: .stopCamera,
                    affects: ["front"])
            ])
        #expect(
            changes((", active = false", "")) == [
                ConfigurationChange(
                    object: "camera.off", kind: .changed, details: ["active: false → true"], action: .startCamera,
                    affects: ["off"])
            ])
        #expect(changes(("camera.off = { source = \"test:\", active = false }\n", "")).map(\.action) == [.none])
        #expect(changes(adding: "camera.new = { source = 'rtsp://cam/' }").map(\.action) == [.startCamera])
        #expect(
            changes(("front = { source = \"test:\"", "front = { source = 'rtsp://cam/'")).map(\.action)
                == [.restartCamera])
    }

    @Test func `a relay restarts the cameras that use it`() {
        #expect(
            changes(("rtmp://relay.example.net/live", "rtmp://other.example.net/live")) == [
                ConfigurationChange(
                    object: "relay.main", kind: .changed,
                    details: ["url: rtmp://relay.example.net/… → rtmp://other.example.net/…"], action: .restartCamera,
                    affects: ["front", "side"])
            ])
        #expect(
            changes(("spare.example.net/live\"", "spare.example.net/live\", profile = 'drops-metadata'")).map(\.affects)
                == [
                    ["back"]
                ])
        #expect(changes(adding: "relay.third.url = 'rtmp://third/live'").map(\.action) == [.none])
        // The same address, written in another way.
        #expect(changes(("relay.example.net/live", "relay.example.net/live/")).map(\.action) == [.none])
    }

    @Test func `a camera that changes its name while its relay moves is restarted for the relay`() {
        let changes = changes(
            ("front = { source", "front = { name = 'Door', source"),
            ("rtmp://relay.example.net", "rtmp://x.example.net"))
        #expect(changes.map(\.object) == ["camera.front", "relay.main"])
        #expect(changes.map(\.action) == [.none, .restartCamera])
    }

    @Test func `the KAS restarts all cameras, and none runs without it`() {
        let all = ["back", "front", "side"]
        #expect(changes(("kas.example.net", "k2.example.net")).map(\.affects) == [all])
        #expect(changes((", secret = \"kas-token\"", "")).map(\.details) == [["secret: kas-token → (none)"]])
        let kas = "kas = { url = \"https://kas.example.net/kas\", secret = \"kas-token\" }\n"
        let removed = changes((kas, ""))
        #expect(removed.map(\.kind) == [.removed])
        #expect(removed.map(\.action) == [.stopCamera])
        let before = Samples.read(Self.base.replacing(kas, with: "")).settings!
        let added = before.changes(to: Samples.settings(Self.base))
        #expect(added.map(\.action) == [.startCamera])
        #expect(added.map(\.affects) == [all])
    }

    @Test func `services restart by themselves`() {
        #expect(
            changes(adding: "health.reboot = false\nkas_server.enabled = true\nrelay_server.enabled = true\n") == [
                ConfigurationChange(
                    object: "health", kind: .changed, details: ["reboot: true → false"], action: .none, affects: []),
                ConfigurationChange(
                    object: "kas_server", kind: .changed, details: ["enabled: false → true"], action: .restartService,
                    affects: ["kas"]),
                ConfigurationChange(
                    object: "relay_server", kind: .changed, details: ["enabled: false → true"],
                    action: .restartService, affects: ["relay"]),
            ])
    }

    @Test func `details show no path of an address, where a stream key can be`() {
        let reported = changes(
            ("rtmp://relay.example.net/live", "rtmp://relay.example.net/live/KEY-KEY"),
            ("https://kas.example.net/kas", "https://kas.example.net/KEY-KEY/kas"),
            ("front = { source = \"test:\"", "front = { source = 'rtsp://cam/KEY-KEY'"))
        #expect(reported.count == 3)
        #expect(!"\(reported)".contains("KEY-KEY"))
        #expect(reported.first { $0.object == "kas" }?.details == ["url: changed"])
    }
}
