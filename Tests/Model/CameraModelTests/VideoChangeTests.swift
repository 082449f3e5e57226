import FoundationEssentials
import Settings
import Testing

@testable import CameraModel

@Suite struct VideoChangeTests {
    private func camera(_ source: CameraConfiguration.Source) -> CameraConfiguration {
        CameraConfiguration(
            id: "front", source: source, relay: .init(url: "rtmp://127.0.0.1/live/front"),
            kas: KASConfiguration(url: "https://kas.example.net/kas"))
    }

    private func change(_ edit: (inout CameraConfiguration.Device) -> Void) -> VideoChange? {
        change(from: .init(path: "/dev/video0"), edit)
    }

    private func change(
        from old: CameraConfiguration.Device, _ edit: (inout CameraConfiguration.Device) -> Void
    ) -> VideoChange? {
        var new = old
        edit(&new)
        return camera(.device(old)).videoChange(to: camera(.device(new)))
    }

    @Test func `a device changes what its encoder can`() {
        #expect(change { $0.bitrate = 1_000_000 } == VideoChange(bitrate: 1_000_000))
        #expect(change { $0.frameRate = 10 } == VideoChange(frameRate: 10))
        #expect(change { $0.gopSeconds = 4 } == VideoChange(gopSeconds: 4))
        #expect(change { $0.height = 960 } == VideoChange(width: 1280, height: 960))
        let all = change { ($0.bitrate, $0.frameRate, $0.gopSeconds, $0.width, $0.height) = (500_000, 15, 3, 640, 360) }
        #expect(all == VideoChange(bitrate: 500_000, frameRate: 15, gopSeconds: 3, width: 640, height: 360))
    }

    @Test func `nothing that differs is not a change`() {
        #expect(change { _ in } == nil)
        let pattern = camera(.testPattern(.init()))
        #expect(pattern.videoChange(to: pattern) == nil)
    }

    @Test func `anything else of a device needs a restart, alone and beside what does not`() {
        let edits: [(inout CameraConfiguration.Device) -> Void] = [
            { $0.path = "/dev/video2" }, { $0.pixelFormat = .mjpeg }, { $0.encoder = .libx264 }, { $0.rotation = 90 },
            { $0.flip = .vertical }, { $0.masks = [.init(x: 0, y: 0, width: 1, height: 1)] },
            { $0.overlay.time = true }, { $0.overlay.name = "x" }, { $0.controls = ["gain": 1] },
            { $0.microphone = "default" }, { $0.isMono = true }, { $0.encoderMemoryFile = "/x" },
            { $0.gopSeconds = .nan },
        ]
        for edit in edits {
            #expect(change(edit) == nil)
            let both = change {
                edit(&$0)
                $0.bitrate = 1_000_000
            }
            #expect(both == nil)
        }
    }

    @Test func `anything else of the camera needs a restart`() {
        let old = camera(.device(.init(path: "/dev/video0")))
        let edits: [(inout CameraConfiguration) -> Void] = [
            { $0.id = "back" }, { $0.streamName = "x" }, { $0.relay.url = "rtmp://127.0.0.1/live/x" },
            { $0.kas.url = "https://kas.example.net/" }, { $0.policy.dissem = ["a"] }, { $0.rotation.seconds = 5 },
            { $0.queue.seconds = 5 }, { $0.repeatHeader = .keyframe }, { $0.relayProfile = .dropsMetadata },
            { $0.frameLog = "/x" }, { $0.duration = 5 }, { $0.uplink = .init(adapt: false) },
            { $0.uplink = .init(minBitrate: 500_000) }, { $0.source = .testPattern(.init(bitrate: 1_000_000)) },
        ]
        for edit in edits {
            var new = camera(.device(.init(path: "/dev/video0", bitrate: 1_000_000)))
            #expect(old.videoChange(to: new) != nil)
            edit(&new)
            #expect(old.videoChange(to: new) == nil)
        }
    }

    @Test func `the size and the rate of what the camera encodes need a restart`() {
        let passing = CameraConfiguration.Device(path: "/dev/video0", pixelFormat: .h264)
        #expect(change(from: passing) { $0.width = 640 } == nil)
        #expect(change(from: passing) { $0.frameRate = 15 } == nil)
        #expect(change(from: passing) { $0.bitrate = 1_000_000 } == VideoChange(bitrate: 1_000_000))
    }

    @Test func `a test pattern changes its bitrate`() {
        let old = camera(.testPattern(.init()))
        #expect(
            old.videoChange(to: camera(.testPattern(.init(bitrate: 900_000)))) == VideoChange(bitrate: 900_000))
        for other in [
            CameraConfiguration.TestPattern(width: 640, bitrate: 900_000), .init(frameRate: 5, bitrate: 900_000),
            .init(bitrate: 900_000, gopSeconds: 5), .init(bitrate: 900_000, audio: false),
            .init(bitrate: 900_000, stallsAfter: 5),
        ] { #expect(old.videoChange(to: camera(.testPattern(other))) == nil) }
        let file = camera(.file(.init(path: "/a", loop: true)))
        #expect(file.videoChange(to: camera(.file(.init(path: "/a")))) == nil)
    }

    @Test func `a change is checked like a configuration`() throws {
        try VideoChange().validate()
        try VideoChange(bitrate: 16_000, frameRate: 120, gopSeconds: 0.1, width: 64, height: 7680).validate()
        let bad: [(VideoChange, [String])] = [
            (VideoChange(bitrate: 0), ["bitrate"]), (VideoChange(frameRate: -1), ["frameRate"]),
            (VideoChange(gopSeconds: .infinity), ["gopSeconds"]), (VideoChange(gopSeconds: .nan), ["gopSeconds"]),
            (VideoChange(width: 640), ["height"]), (VideoChange(height: 360), ["width"]),
            (VideoChange(width: 641, height: .max), ["width", "height"]),
            (
                VideoChange(bitrate: .min, frameRate: .max, gopSeconds: 0, width: 0, height: 0),
                ["bitrate", "frameRate", "gopSeconds", "width", "height"]
            ),
        ]
        for (change, fields) in bad {
            let error = #expect(throws: ConfigurationError.self) { try change.validate() }
            #expect(error?.problems.map(\.field) == fields)
        }
    }

    @Test func `a change as JSON says only what changes`() throws {
        let data = try JSONEncoder().encode(VideoChange(bitrate: 1_000_000))
        #expect(String(decoding: data, as: UTF8.self) == #"{"bitrate":1000000}"#)
        #expect(try JSONDecoder().decode(VideoChange.self, from: Data("{}".utf8)).isEmpty)
    }
}
