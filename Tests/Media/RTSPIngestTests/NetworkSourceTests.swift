import CameraModel
import ErrorCatalog
import Foundation
import Media
import Testing

@testable import RTSPIngest

extension CameraConfiguration.Network {
    /// With the password of the test cameras.
    static func test(
        _ url: String, user: String? = nil, password: String? = "s3cret", in directory: TemporaryDirectory,
        transport: Transport = .tcp, audio: Bool = true
    ) throws -> Self {
        var network = Self(url: url, user: user, transport: transport, audio: audio)
        if let password {
            let path = directory.path("password-\(UInt32.random(in: 0 ... .max))")
            try Data("\(password)\n".utf8).write(to: URL(fileURLWithPath: path))
            network.passwordFile = path
        }
        return network
    }
}

/// Cameras that do not keep to the rules, and whose frames go out all the same.
// These need python3 and ffmpeg, which make a camera and what it sends; the product itself needs neither.
@Suite(.enabled(if: TestCamera.hasMedia, "python3 or ffmpeg with libx264 and libx265 is missing"))
struct NetworkSourceTests {
    private let directory = TemporaryDirectory()

    @Test func `H264 over TCP streams untouched`() async throws {
        let camera = try await TestCamera.quirky()
        defer { camera.end() }
        let running = RunningSource(try .test(camera.url("a=1"), in: directory))
        let seen = try await running.wait("two groups of frames") { $0.keyFrames >= 3 }
        #expect(seen.isOrderly)
        #expect(seen.formats.count == 1)
        #expect(seen.formats.first?.codec == .h264)
        #expect(seen.formats.first?.width == 640)
        #expect(seen.formats.first?.height == 360)
        #expect(seen.frames.first?.isKeyFrame == true)
        #expect(seen.frames.first?.presentationTime == .zero)
        #expect(seen.frames.allSatisfy { $0.captureInstant != nil })
        let capture = try await running.waitForStatistics("a count") { ($0.network?.packets ?? 0) > 50 }
        #expect(capture.state == .streaming)
        #expect(capture.encoder == "passthrough")
        #expect(capture.pixelFormat == "H264")
        #expect(capture.network?.state == .live)
        #expect(capture.network?.authentication == "none")
        #expect(capture.network?.server == "Quirks/1.0")
        #expect(capture.network?.address == "127.0.0.1")
        #expect(capture.network?.port == Int(camera.port))
        #expect(capture.network?.lost == 0)
        #expect(capture.network?.discarded == 0)
        #expect(capture.network?.connections == 1)
        print("· first key frame after \(capture.network?.firstKeyFrameMilliseconds ?? -1) ms")
        let end = try await running.stop()
        #expect(end.stepsBack == 0)
        #expect(running.source.capture.state == .stopped)
        let connection = try await camera.connection("its end") { $0.methods?.last == "TEARDOWN" }
        #expect(connection.agent?.isEmpty == false)
        #expect(connection.methods == ["OPTIONS", "DESCRIBE", "SETUP", "PLAY", "TEARDOWN"])
    }

    @Test(arguments: [
        "nosprop=1", "noinband=1", "nomarker=1", "rollover=1", "nosr=1", "chan=1", "space=1", "redirect=1", "slow=200",
        "base=missing", "base=noscheme", "base=doubled", "base=junk", "sess=1&audio=pcmu", "cseq=missing", "cseq=wrong",
        "early=1", "old=1", "unknown=1", "wronglength=1", "audio=silent", "mid=1", "burst=1", "h265=1",
        "h265=1&nosprop=1", "h265=1&noinband=1", "h265=1&nomarker=1", "ntp=86400", "ssrc=1", "bye=30",
        "sess=first&audio=pcmu", "broken=fmtp&noinband=1",
    ])
    func `a camera with this quirk is pulled without a break`(query: String) async throws {
        let camera = try await TestCamera.quirky()
        defer { camera.end() }
        let running = RunningSource(try .test(camera.url(query), in: directory))
        let seen = try await running.wait("five groups of frames with \(query)") { $0.keyFrames >= 5 }
        #expect(seen.isOrderly)
        #expect(seen.formats.count == 1)
        #expect(seen.formats.first?.codec == (query.contains("h265") ? .hevc : .h264))
        #expect(seen.frames.first?.isKeyFrame == true)
        #expect(seen.frames.first?.presentationTime == .zero)
        #expect(seen.longestGap < MediaTime(milliseconds: 60_000))
        let end = try await running.stop()
        #expect(end.stepsBack == 0)
        let capture = running.source.capture
        #expect(capture.network?.connections == 1)
        #expect(capture.interruptions == 0)
        #expect(capture.damaged == 0 || query == "mid=1" || query == "ssrc=1", "\(capture.damaged) damaged")
        switch query {
        case "old=1", "unknown=1": #expect((capture.network?.discarded ?? 0) > 0)
        case "ntp=86400":
            let ahead = try #require(capture.network?.clockAheadMilliseconds)
            #expect(abs(ahead - 86_400_000) < 60_000)
        default: break
        }
    }

    @Test(arguments: [
        "jump=1000", "jump=-100", "jump=1000&audio=pcmu", "srstep=3600&audio=pcmu", "srstep=-3600&audio=pcmu",
    ])
    func `steps of a camera's clocks do not reach the stream`(query: String) async throws {
        let camera = try await TestCamera.quirky()
        defer { camera.end() }
        let running = RunningSource(try .test(camera.url(query), in: directory))
        let seen = try await running.wait("pictures after the step of \(query)") { $0.keyFrames >= 5 }
        #expect(seen.stepsBack == 0)
        #expect(seen.longestGap < MediaTime(milliseconds: 60_000))
        #expect(seen.duration < 60)
        let expected: UInt64 = query.contains("jump") ? 1 : 0
        let capture = try await running.waitForStatistics("the count of steps") { $0.clockSteps == expected }
        #expect(capture.network?.timelines == expected)
        #expect(capture.network?.connections == 1)
        _ = try await running.stop()
    }

    @Test func `packets that are lost cost frames and bring no smear`() async throws {
        let camera = try await TestCamera.quirky()
        defer { camera.end() }
        let running = RunningSource(try .test(camera.url("loss=2"), in: directory))
        try await running.wait("eight groups of frames") { $0.keyFrames >= 8 }
        let capture = try await running.waitForStatistics("loss") { $0.lost > 0 && $0.damaged > 0 }
        #expect(capture.network?.connections == 1)
        _ = try await running.stop()
    }

    @Test func `a stream that changes its size is reported once`() async throws {
        let camera = try await TestCamera.quirky()
        defer { camera.end() }
        let running = RunningSource(try .test(camera.url("oneset=2"), in: directory))
        let seen = try await running.wait("frames of both sizes") { seen in
            seen.formats.count == 2 && seen.keyFrames >= 5
        }
        #expect(seen.formats.map(\.width) == [640, 480])
        #expect(seen.formats.map(\.height) == [360, 272])
        let end = try await running.stop()
        #expect(end.formats.count == 2)
        #expect(end.stepsBack == 0)
        #expect(running.source.capture.network?.connections == 1)
    }

    @Test(arguments: ["timeout=3", "ka=405&timeout=3"])
    func `a short session timeout is kept up with`(query: String) async throws {
        let camera = try await TestCamera.quirky()
        defer { camera.end() }
        let running = RunningSource(try .test(camera.url(query), in: directory))
        try await running.wait("three timeouts") { $0.keyFrames >= 11 }
        _ = try await running.stop()
        #expect(running.source.capture.network?.connections == 1)
        let connection = try await camera.connection("its end") { $0.methods?.last == "TEARDOWN" }
        #expect(connection.expired == nil)
        #expect((connection.reports ?? 0) > 0, "no receiver report came over TCP")
        let keepalives = connection.methods?.filter { $0 == "GET_PARAMETER" || $0 == "OPTIONS" }.count ?? 0
        #expect(keepalives >= 4)
    }

    @Test func `a stream ends after its duration`() async throws {
        let camera = try await TestCamera.quirky()
        defer { camera.end() }
        let running = RunningSource(try .test(camera.url("a=1"), in: directory), durationLimit: 1.5)
        let seen = try await running.wait("the end") { $0.end != nil }
        #expect(seen.duration < 1.5)
        #expect(seen.duration > 1)
    }

    // MARK: - Audio

    @Test(arguments: ["audio=pcmu", "audio=pcmu&h265=1"])
    func `G711 becomes AAC on the frames' timeline`(query: String) async throws {
        let camera = try await TestCamera.quirky()
        defer { camera.end() }
        let running = RunningSource(try .test(camera.url(query), in: directory))
        let seen = try await running.wait("two seconds of audio") { $0.audio.count >= 32 && $0.keyFrames >= 2 }
        #expect(seen.isOrderly)
        #expect(seen.audioFormats.count == 1)
        #expect(seen.audioFormats.first?.sampleRate == 16_000)
        #expect(seen.audioFormats.first?.channels == 1)
        let first = try #require(seen.audio.first)
        let last = try #require(seen.audio.last)
        // A frame of 1024 samples lasts 64 ms.
        let expected = Double(seen.audio.count - 1) * 0.064
        let duration = Double((last.decodeTime - first.decodeTime).nanoseconds) / 1e9
        #expect(abs(duration - expected) < 1)
        #expect(first.decodeTime < MediaTime(milliseconds: 2000))
        let end = try await running.stop()
        #expect(end.stepsBack == 0)
        let capture = running.source.capture
        #expect(capture.network?.audioCodec == "pcmu")
        #expect(capture.audio == "pcmu")
    }

    @Test(arguments: [("pcma16", "pcma", 16_000, 1), ("pcmu2", "pcmu", 16_000, 2)])
    func `G711 of other rates and in stereo becomes AAC`(
        audio: String, codec: String, rate: Int, channels: Int
    ) async throws {
        let camera = try await TestCamera.quirky()
        defer { camera.end() }
        let running = RunningSource(try .test(camera.url("audio=\(audio)"), in: directory))
        let seen = try await running.wait("audio") { $0.audio.count >= 32 && $0.keyFrames >= 2 }
        #expect(seen.isOrderly)
        #expect(seen.audioFormats.first?.sampleRate == rate)
        #expect(seen.audioFormats.first?.channels == channels)
        let end = try await running.stop()
        #expect(end.stepsBack == 0)
        #expect(running.source.capture.network?.audioCodec == codec)
        #expect(running.source.capture.audioReason == nil)
    }

    @Test func `audio that is not taken is named and holds nothing up`() async throws {
        let camera = try await TestCamera.quirky()
        defer { camera.end() }
        let running = RunningSource(try .test(camera.url("audio=g722"), in: directory))
        let seen = try await running.wait("frames") { $0.keyFrames >= 2 }
        #expect(seen.audio.isEmpty)
        let capture = try await running.waitForStatistics("the reason") { $0.audioReason != nil }
        #expect(capture.audioReason?.contains("G722") == true)
        _ = try await running.stop()
    }

    @Test func `audio whose set-up is refused is named and holds nothing up`() async throws {
        let camera = try await TestCamera.quirky()
        defer { camera.end() }
        let running = RunningSource(try .test(camera.url("audio=refused"), in: directory))
        try await running.wait("frames") { $0.keyFrames >= 2 }
        let capture = try await running.waitForStatistics("the reason") { $0.audioReason != nil }
        #expect(capture.audioReason?.contains("refused") == true)
        #expect(capture.audio == nil)
        _ = try await running.stop()
    }

    @Test func `audio that was not requested is not set up`() async throws {
        let camera = try await TestCamera.quirky()
        defer { camera.end() }
        let running = RunningSource(try .test(camera.url("audio=pcmu"), in: directory, audio: false))
        try await running.wait("frames") { $0.keyFrames >= 2 }
        let end = try await running.stop()
        #expect(end.audio.isEmpty)
        let connection = try await camera.connection("its end") { $0.methods?.last == "TEARDOWN" }
        #expect(connection.methods?.filter { $0 == "SETUP" }.count == 1)
    }

    // MARK: - UDP

    @Test(arguments: ["a=1", "reorder=1", "h265=1", "audio=pcmu"])
    func `UDP brings the same stream`(query: String) async throws {
        let camera = try await TestCamera.quirky()
        defer { camera.end() }
        let running = RunningSource(try .test(camera.url(query), in: directory, transport: .udp))
        try await running.wait("four groups of frames over UDP") { $0.keyFrames >= 4 }
        let capture = try await running.waitForStatistics("a count") { ($0.network?.packets ?? 0) > 50 }
        #expect(capture.network?.transport == "udp")
        #expect(capture.network?.connections == 1)
        #expect(capture.limit == nil)
        if query == "reorder=1" { #expect((capture.network?.reordered ?? 0) > 0) }
        let text = try String(contentsOfFile: "/proc/sys/net/core/rmem_max", encoding: .utf8)
        let most = try #require(Int(text.trimmingCharacters(in: .whitespacesAndNewlines)))
        #expect(
            running.log.value.contains { $0.contains("net.core.rmem_max") } == (most < DatagramPair.requestedBuffer))
        let end = try await running.stop()
        #expect(end.stepsBack == 0)
        let connection = try await camera.connection("its end") { $0.methods?.last == "TEARDOWN" }
        #expect(connection.transport == "udp")
        #expect((connection.reports ?? 0) > 0)
    }

    @Test(arguments: ["udp=0", "udpsilent=1", "redirect=1&udp=0", "redirect=1&udpsilent=1"])
    func `where UDP does not work, TCP is used and said`(query: String) async throws {
        let camera = try await TestCamera.quirky()
        defer { camera.end() }
        let running = RunningSource(try .test(camera.url(query), in: directory, transport: .udp))
        try await running.wait("frames over TCP") { $0.keyFrames >= 2 }
        let capture = running.source.capture
        #expect(capture.network?.transport == "tcp")
        #expect(capture.limit?.contains("TCP is used instead") == true)
        _ = try await running.stop()
    }
}
