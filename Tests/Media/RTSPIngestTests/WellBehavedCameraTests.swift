import CameraModel
import ErrorCatalog
import Foundation
import Media
import Testing

@testable import RTSPIngest

/// GStreamer's RTSP server, which is not ours and keeps to the rules.
// These need Debian's python3-gi, gir1.2-gst-rtsp-server-1.0 and gstreamer1.0-plugins-{base,good,bad}, and ffmpeg for
// what the server sends.
@Suite(
    .enabled(if: TestCamera.hasGStreamer, "gst-rtsp-server for python3, or ffmpeg with libx264 and libx265, is missing")
)
struct WellBehavedCameraTests {
    private let directory = TemporaryDirectory()

    @Test(arguments: [CameraConfiguration.Network.Transport.tcp, .udp])
    func `H264 and AAC go through untouched`(transport: CameraConfiguration.Network.Transport) async throws {
        let camera = try await TestCamera.wellBehaved()
        defer { camera.end() }
        let running = RunningSource(try .test(camera.url(path: "/h264"), in: directory, transport: transport))
        let seen = try await running.wait("frames and audio") { $0.keyFrames >= 4 && $0.audio.count >= 100 }
        #expect(seen.isOrderly)
        #expect(seen.formats.map(\.codec) == [.h264])
        #expect(seen.formats.first?.width == 640)
        #expect(seen.audioFormats.count == 1)
        #expect(seen.audioFormats.first?.sampleRate == 48_000)
        let audio = seen.audio
        let length = Double((audio[audio.count - 1].decodeTime - audio[0].decodeTime).nanoseconds) / 1e9
        // A frame of 1024 samples each.
        #expect(abs(length - Double(audio.count - 1) * 1024 / 48_000) < 0.5)
        let capture = try await running.waitForStatistics("a count") { ($0.network?.packets ?? 0) > 50 }
        #expect(capture.network?.audioCodec == "aac")
        #expect(capture.network?.transport == transport.rawValue)
        #expect(capture.limit == nil)
        let end = try await running.stop()
        #expect(end.stepsBack == 0)
        // Bit for bit what the file holds: its first key frame.
        let media = try #require(await TestCamera.media.place)
        let annexB = try Data(contentsOf: URL(fileURLWithPath: media.path("h264.h264")))
        let frame = try #require(end.frames.first)
        var units = LengthPrefixedUnits(frame.data[...])
        while let unit = try units.next() {
            #expect(annexB.range(of: Data(unit)) != nil)
        }
    }

    @Test(arguments: [CameraConfiguration.Network.Transport.tcp, .udp])
    func `H265 goes through untouched`(transport: CameraConfiguration.Network.Transport) async throws {
        let camera = try await TestCamera.wellBehaved()
        defer { camera.end() }
        let running = RunningSource(try .test(camera.url(path: "/h265"), in: directory, transport: transport))
        let seen = try await running.wait("frames") { $0.keyFrames >= 3 }
        #expect(seen.formats.map(\.codec) == [.hevc])
        #expect(seen.formats.first?.width == 320)
        #expect(seen.audio.isEmpty)
        let end = try await running.stop()
        #expect(end.stepsBack == 0)
    }

    @Test(arguments: ["/g711", "/g711u"])
    func `G711 of both kinds becomes AAC`(path: String) async throws {
        let camera = try await TestCamera.wellBehaved()
        defer { camera.end() }
        let running = RunningSource(try .test(camera.url(path: path), in: directory))
        let seen = try await running.wait("frames and audio") { $0.keyFrames >= 2 && $0.audio.count >= 20 }
        #expect(seen.isOrderly)
        #expect(seen.audioFormats.first?.sampleRate == 16_000)
        let end = try await running.stop()
        #expect(end.stepsBack == 0)
        #expect(running.source.capture.network?.audioCodec == (path == "/g711" ? "pcma" : "pcmu"))
    }

    @Test func `JPEG images become H264`() async throws {
        let camera = try await TestCamera.wellBehaved()
        defer { camera.end() }
        var network = try CameraConfiguration.Network.test(camera.url(path: "/mjpeg"), in: directory)
        network.transcoding = .init(bitrate: 500_000, gopSeconds: 1)
        let running = RunningSource(network)
        let seen = try await running.wait("key frames") { $0.keyFrames >= 3 }
        #expect(seen.isOrderly)
        #expect(seen.formats.first?.codec == .h264)
        #expect(seen.formats.first?.width == 640)
        #expect(seen.formats.first?.height == 360)
        #expect(seen.stepsBack == 0)
        let capture = try await running.waitForStatistics("the encoder's name") { $0.encoder?.contains("264") == true }
        #expect(capture.network?.videoCodec == "mjpeg")
        #expect(capture.pixelFormat == "MJPEG")
        // Its rate in bits may be changed while it runs, its size not.
        try running.source.change(VideoChange(bitrate: 300_000, gopSeconds: 0.5))
        #expect(throws: CodedError.self) { try running.source.change(VideoChange(width: 320, height: 180)) }
        running.source.requestKeyFrame()
        let before = running.seen.value.keyFrames
        try await running.wait("a key frame that was asked for") { $0.keyFrames > before }
        _ = try await running.stop()
    }

    @Test func `a JPEG image wider than its packets can say is taken`() async throws {
        let camera = try await TestCamera.wellBehaved()
        defer { camera.end() }
        let running = RunningSource(try .test(camera.url(path: "/mjpeg-wide"), in: directory))
        try await running.wait("a frame") { $0.keyFrames >= 1 }
        let capture = try await running.waitForStatistics("its size") { $0.width != nil }
        // Scaled where this machine does not hold it.
        #expect(capture.width == 2560 || capture.limit?.contains("2560x1440") == true)
        _ = try await running.stop()
    }

    @Test(.enabled(if: TestCamera.hasGStreamerLibav, "no gstreamer1.0-libav"), arguments: ["/opus", "/g726"])
    func `audio that libavcodec decodes becomes AAC`(path: String) async throws {
        let camera = try await TestCamera.wellBehaved()
        defer { camera.end() }
        let running = RunningSource(try .test(camera.url(path: path), in: directory))
        let seen = try await running.wait("frames and audio") { $0.keyFrames >= 2 && $0.audio.count >= 20 }
        #expect(seen.isOrderly)
        #expect(seen.audioFormats.first?.sampleRate == (path == "/opus" ? 48_000 : 16_000))
        #expect(seen.audioFormats.first?.channels == (path == "/opus" ? 2 : 1))
        let end = try await running.stop()
        #expect(end.stepsBack == 0)
        #expect(running.source.capture.network?.audioCodec == String(path.dropFirst()))
    }

    @Test(arguments: [
        "s3cret", "p@:/#%?& w\"x", "pass:with:colons", "back\\slash", "ünïcödé-密码", "percent%41and+plus",
        "'; DROP TABLE",
        String(repeating: "long", count: 40),
    ])
    func `a password of any characters logs in`(password: String) async throws {
        let camera = try await TestCamera.wellBehaved(["--auth", "admin:\(password)"])
        defer { camera.end() }
        let running = RunningSource(
            try .test(camera.url(path: "/h264v"), user: "admin", password: password, in: directory))
        try await running.wait("frames") { $0.keyFrames >= 1 }
        let capture = try await running.waitForStatistics("the scheme") { $0.network?.authentication == "Digest MD5" }
        let text = try String(decoding: JSONEncoder().encode(capture), as: UTF8.self)
        #expect(!text.contains(password))
        _ = try await running.stop()
    }

    @Test func `a wrong password is refused`() async throws {
        let camera = try await TestCamera.wellBehaved(["--auth", "admin:s3cret"])
        defer { camera.end() }
        let running = RunningSource(
            try .test(camera.url(path: "/h264v"), user: "admin", password: "wrong", in: directory))
        let capture = try await running.waitForStatistics("the refusal") { $0.network?.state == .refused }
        #expect(capture.code == .loginRefused)
        _ = try await running.stop()
    }

    @Test func `a camera that loses power and comes back is pulled again`() async throws {
        let first = try await TestCamera.wellBehaved(TestCamera.stayingPort())
        let port = first.port
        let running = RunningSource(try .test(first.url(path: "/h264"), in: directory))
        try await running.wait("frames") { $0.keyFrames >= 2 }
        first.end(keepsTurn: true)
        try await running.waitForStatistics("the end") { $0.interruptions == 1 }
        let before = running.seen.value.keyFrames
        let second = try await TestCamera.wellBehaved(["--port", "\(port)"], after: first)
        defer { second.end() }
        let seen = try await running.wait("frames again") { $0.keyFrames >= before + 2 }
        #expect(seen.stepsBack == 0)
        #expect(seen.formats.count == 1)
        #expect(seen.audioFormats.count == 1)
        _ = try await running.stop()
    }
}
