import CameraModel
import ControlAPI
import ErrorCatalog
import Settings
import Testing

@testable import BoxConfiguration
@testable import BoxView

/// `watchboxctl camera show`, letter by letter, as `GoldenTests`.
struct CameraCardTests {
    private static let place = CameraContext(
        relay: Samples.porch.relays.first, keyAccess: Samples.porch.keyAccess)

    private func card(_ camera: CameraDocument, at place: CameraContext? = Self.place) -> [String] {
        CameraView.lines(camera, at: place, style: Style(width: 120))
    }

    /// With every setting that the daemon shows for a camera of this source.
    private func camera(_ source: String, _ stream: StreamDocument? = nil) throws -> CameraDocument {
        var camera = Samples.camera("front", name: "Front door", stream)
        camera.source = source
        camera.origin = "store"
        camera.settings = [
            "size": .string("1280x720"), "rate": .integer(25), "bitrate": .integer(2_000_000), "gop": .real(2),
            "audio": .boolean(true), "loop": .boolean(true), "pixel_format": .string("auto"),
            "encoder": .string("auto"), "rotate": .integer(0), "flip": .string("none"), "masks": .strings([]),
            "overlay": .strings(["time", "name"]), "controls": .strings([]), "transport": .string("tcp"),
            "timestamps": .string("auto"), "allow_basic": .boolean(false), "snapshot_rate": .real(2),
            "profile": .string("sub"), "rtsp_host": .string("media.example.net"), "events": .boolean(true),
            "identity_mac": .string("00:11:22:33:44:55"), "relay": .string("main"), "stream": .string("front"),
            "rotate_seconds": .real(3600), "viewers": .strings(["alice", "bob"]), "attributes": .strings([]),
        ]
        camera.profiles = [
            .init(name: "main", width: 1280, height: 720, rate: 25, codec: "h264", isDefault: true)
        ]
        return camera
    }

    @Test func `what matters comes first, and settings have labels`() throws {
        #expect(
            text(card(try camera("test:"))) == #"""
                front  ● live
                  Sends           25.0 fps, 2.1 Mb/s, acknowledged by the relay 0.4 s ago
                  View            watchboxctl play rtmps://live.example.net/live/front --kas https://kas.example.net/kas --kas-token-file FILE
                  Relay           main, rtmps://live.example.net/live/front
                  KAS             https://kas.example.net/kas

                  Camera
                  Name            Front door
                  Source          test:
                  Active          yes
                  Defined in      this box, by command or dashboard

                  Video and audio
                  Size            1280x720 pixels
                  Rate            25 frames a second
                  Bit rate        2.0 Mb/s
                  Key frames      every 2 s
                  Audio           yes

                  Key and viewers
                  New key         every 1h 00m
                  Who may view    alice, bob
                  They must have  nothing more

                  What it offers
                  Profile main    H.264 1280x720 25 fps, used
                """#)
    }

    @Test func `a network camera has other settings, and those of other sources are not shown`() throws {
        let shown = text(card(try camera("onvif://192.0.2.7")))
        #expect(
            shown.contains(
                #"""
                  Connection to the camera
                  Transport          TCP
                  Times by           the camera's time stamps, corrected when they run wrong
                  Password in clear  never
                  Stream             the smallest image
                  Stream's host      media.example.net
                  Motion and tamper  taken from the camera

                  Found again by
                  Network card       00:11:22:33:44:55
                """#))
        #expect(!shown.contains("Bit rate") && !shown.contains("Burnt in"))
        #expect(
            card(try camera("v4l2:/dev/video0")).contains {
                $0.hasPrefix("  Burnt in ") && $0.hasSuffix("  time, name")
            })
    }

    @Test func `no name of a setting is left as files have it`() throws {
        for key in KeyTable.camera.keys.map(\.name) where !["name", "source", "user", "active", "grid"].contains(key) {
            #expect(CameraSettingText.knows(key), "\(key)")
        }
        for source in ["test:", "file:/a", "v4l2:/dev/video0", "rtsp://a/", "onvif://a", "https://a/", "other:"] {
            let lines = card(try camera(source))
            for line in lines { #expect(!line.contains("_") && !line.contains("\""), "\(source): \(line)") }
        }
        // What a newer daemon has.
        var camera = try camera("test:")
        camera.settings["night_mode"] = .boolean(true)
        #expect(card(camera).contains("  Night mode      yes"))
    }

    @Test(arguments: [
        (StreamDocument.State.failed, ErrorCode?.some(.loginRefused), "watchboxctl camera password front"),
        (.waiting, .relayRefused, "Check the URL and the key: watchboxctl relay show main"),
        (.waiting, .noKey, "watchboxctl kas test"), (.stopped, .cameraStopped, "watchboxctl stream start front"),
        (.waiting, .noFrames, "watchboxctl logs front"),
        (.unknown, nil, "watchboxctl logs front"), (.stopped, nil, "watchboxctl stream start front"),
    ])
    func `a camera that is not live shows what helps`(
        state: StreamDocument.State, code: ErrorCode?, hint: String
    ) throws {
        let camera = try camera("test:", Samples.stream("front", state, reason: "why", code: code))
        let lines = card(camera)
        #expect(lines[0].hasSuffix([code?.description, "why"].compactMap(\.self).joined(separator: " ")))
        #expect(lines[1] == "  Next            \(hint)")
        var disabled = camera
        disabled.isActive = false
        #expect(card(disabled)[1] == "  Next            watchboxctl camera enable front")
    }

    @Test func `a test pattern that cannot keep its rate says so`() throws {
        var statistics = CameraStatistics(camera: "front", stream: "front")
        (statistics.video.delivered, statistics.video.sealed, statistics.video.dropped) = (100, 98, 12)
        var camera = try camera("test:")
        func reported() -> String? {
            camera.stream.statistics = statistics
            return card(camera).first { $0.contains("captured") }
        }
        #expect(reported() == "  Frames          100 captured, 98 sealed and sent, 12 dropped")
        statistics.video.late = 10
        let late =
            "100 captured, 98 sealed and sent, 12 dropped: 10 because this machine does not keep up with the rate"
        #expect(reported() == "  Frames          \(late)")
        #expect(StreamView.lines(camera.stream, style: Style(width: 120)).contains { $0.hasSuffix(late) })
    }

    @Test func `pins, hosts and a secret URL are in the command that plays it`() throws {
        var relay = try #require(Samples.porch.relays.first)
        var kas = Samples.porch.keyAccess
        (relay.publicKeyPin, relay.redirectHosts, kas.publicKeyPin) = ("sha256//a", ["b.example.net"], "sha256//c")
        #expect(
            CameraContext(relay: relay, keyAccess: kas).playCommand("front")
                == "watchboxctl play rtmps://live.example.net/live/front --relay-pin sha256//a "
                + "--relay-redirect-host b.example.net --kas https://kas.example.net/kas --kas-pin sha256//c "
                + "--kas-token-file FILE")
        relay.url = nil
        let secret = CameraContext(relay: relay, keyAccess: kas)
        #expect(secret.playCommand("front")?.hasPrefix("watchboxctl play --url-file FILE --stream front ") == true)
        #expect(card(try camera("test:"), at: secret).contains { $0.contains("its URL is a secret") })
        kas.url = nil
        #expect(CameraContext(relay: relay, keyAccess: kas).playCommand("front") == nil)
        let nowhere = card(try camera("test:"), at: CameraContext(relay: nil, keyAccess: kas))
        #expect(nowhere.contains { $0.contains("main, which is not set: watchboxctl relay add main --url URL") })
        #expect(!nowhere.contains { $0.contains("watchboxctl play") })
    }
}
