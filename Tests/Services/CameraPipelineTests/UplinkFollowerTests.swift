import CameraModel
import Media
import RTMP
import RTMPTransport
import TestSupport
import Testing
import UplinkRate
import VideoCodec

@testable import CameraPipeline

/// The bitrate of a camera follows its uplink: a whole camera, over a connection of the kernel's through a way that lets so much pass.
@Suite(.timeLimit(.minutes(15)), .serialized) struct UplinkFollowerTests {
    private static let most = 2_000_000

    private struct Stage {
        let relay: LoopbackRelay
        let server: RTMPServer
        let way: NarrowWay
        let authority: TestAuthority
        let source: RatedSource
        let camera: CameraService
        let running: Task<Void, any Error>

        func stop() async throws {
            running.cancel()
            try await running.value
            way.close()
            await server.close()
        }

        /// The first change of the bitrate for which it holds.
        func told(_ condition: (Int) -> Bool) async -> Int? {
            for await bitrate in source.changes where condition(bitrate) { return bitrate }
            return nil
        }
    }

    private func stage(
        bitsPerSecond: Int, conducts: [LoopbackRelay.Conduct] = [.accept],
        _ change: (inout CameraConfiguration) -> Void = { _ in }
    ) async throws -> Stage {
        let (relay, server) = try await LoopbackRelay.start(conducts)
        let way = try NarrowWay(to: server.port, bitsPerSecond: bitsPerSecond)
        let settings = configuration(port: way.port) {
            $0.source = .testPattern(.init(bitrate: Self.most))
            change(&$0)
        }
        let authority = try TestAuthority()
        let source = RatedSource(Self.most)
        let camera = try CameraService(
            configuration: settings, source: source, authority: authority, clear: nil, backoff: .init(),
            logger: quiet, eventLoop: RTMPEventLoop.shared)
        return Stage(
            relay: relay, server: server, way: way, authority: authority, source: source, camera: camera,
            running: Task { try await camera.run() })
    }

    /// What a viewer would see: only whole groups of pictures are missing, and no audio at all.
    private func expectOnlyVideoIsMissing(_ stage: Stage) {
        for stream in stage.relay.streams {
            let auditor = audit(stream, stage.authority)
            #expect(auditor.faults == [])
            var next: Int64 = 0
            var nextAudio: Int64?
            for unit in auditor.units {
                if unit.track.isVideo {
                    let number = RatedSource.number(of: unit)
                    #expect(number == next || unit.isKeyFrame, "frame \(number) where \(next) was due")
                    next = number + 1
                } else {
                    let number = unit.decodeTime.nanoseconds / 20_000_000
                    #expect(number == nextAudio ?? number, "audio \(number) where \(nextAudio ?? 0) was due")
                    nextAudio = number + 1
                }
            }
            #expect(auditor.units.contains { $0.track.isVideo })
        }
    }

    @Test func `a narrow way is given less, and the encoder all of it when it is wide again`() async throws {
        let stage = try await stage(bitsPerSecond: 800_000)
        let low = await stage.told { $0 < 800_000 }
        let during = await stage.camera.statistics()
        let uplink = try #require(during.uplink)
        #expect(uplink.changes > 0 && uplink.reason != .start && uplink.lastChange != nil)
        #expect(uplink.most == Self.most && uplink.least == Self.most / 10)
        #expect(uplink.target < Self.most && uplink.measured > 0)
        #expect((1...60).contains(uplink.history.count))
        #expect(uplink.congestionControl?.isEmpty == false)
        #expect(try #require(low) >= uplink.least)
        stage.way.become(bitsPerSecond: 100_000_000)
        #expect(await stage.told { $0 == Self.most } == Self.most)
        #expect(stage.source.told.allSatisfy { (Self.most / 10...Self.most).contains($0) })
        let told = stage.source.told.count
        let before = await stage.camera.statistics()
        #expect(before.audio.dropped == 0)
        // It may be told once more meanwhile.
        #expect((told...stage.source.told.count).contains(Int(before.uplink?.changes ?? 0)))
        try await stage.stop()
        expectOnlyVideoIsMissing(stage)
        let after = await stage.camera.statistics()
        #expect(after.uplink?.measured == 0 && after.uplink?.delayMilliseconds == 0)
        #expect(after.uplink?.congestionControl == nil)
        #expect(after.video.delivered == after.video.sealed + after.video.dropped + after.video.refused)
    }

    @Test func `what is too old goes at once, audio stays, and a key frame comes`() async throws {
        let stage = try await stage(bitsPerSecond: 100_000_000) { $0.queue.seconds = 30 }
        await stage.relay.wait { $0.count == 1 && $0[0].messages.count > 60 }
        let asked = stage.source.asked
        stage.way.become(bitsPerSecond: 0)
        // The queue by itself would drop nothing before it holds thirty seconds.
        var dropped = await stage.camera.statistics()
        for await _ in stage.source.frames {
            dropped = await stage.camera.statistics()
            if dropped.uplink?.drops != 0 { break }
        }
        #expect(stage.source.asked > asked)
        let messages = stage.relay.streams[0].messages.count
        stage.way.become(bitsPerSecond: 100_000_000)
        await stage.relay.wait { $0.count == 1 && $0[0].messages.count > messages + 300 }
        let after = await stage.camera.statistics()
        try await stage.stop()
        #expect(dropped.uplink?.drops ?? 0 > 10)
        #expect(after.uplink?.drops ?? .max <= after.video.dropped)
        #expect(after.audio.dropped == 0)
        expectOnlyVideoIsMissing(stage)
    }

    @Test func `it does not fall below what is configured`() async throws {
        let least = 1_200_000
        let stage = try await stage(bitsPerSecond: 400_000) { $0.uplink = .init(minBitrate: least) }
        #expect(await stage.told { $0 <= least } == least)
        await stage.relay.wait { $0.count == 1 && $0[0].messages.count > 100 }
        #expect(await stage.camera.statistics().uplink?.least == least)
        try await stage.stop()
        #expect(stage.source.told.allSatisfy { $0 >= least })
        expectOnlyVideoIsMissing(stage)
    }

    @Test func `where it is switched off, the queue alone gives frames up`() async throws {
        let stage = try await stage(bitsPerSecond: 400_000) {
            $0.uplink = .init(adapt: false)
            $0.queue.seconds = 1
        }
        for await event in stage.camera.events { if case .framesDropped = event { break } }
        let statistics = await stage.camera.statistics()
        #expect(statistics.uplink == nil)
        #expect(statistics.video.dropped > 0)
        #expect(stage.source.told == [])
        // An operator changes it all the same.
        try stage.camera.change(VideoChange(bitrate: 300_000))
        #expect(stage.source.told == [300_000])
        try await stage.stop()
    }

    @Test func `a source that cannot follow has none of it`() async throws {
        let (_, server) = try await LoopbackRelay.start()
        let camera = try service(configuration(port: server.port), .camera(), try TestAuthority())
        #expect(await camera.statistics().uplink == nil)
        let error = #expect(throws: (any Error).self) { try camera.change(VideoChange(bitrate: 500_000)) }
        #expect("\(error.map { "\($0)" } ?? "")".contains("no encoder"))
        await server.close()
    }

    @Test func `an operator's bitrate is the most from then on`() async throws {
        let stage = try await stage(bitsPerSecond: 800_000)
        let low = try #require(await stage.told { $0 < 800_000 })
        try stage.camera.change(VideoChange(bitrate: 1_500_000))
        #expect(await stage.camera.statistics().uplink?.most == 1_500_000)
        // Not at once: the way does not bear it.
        #expect(try #require(stage.source.told.last) < 1_500_000)
        stage.way.become(bitsPerSecond: 100_000_000)
        #expect(await stage.told { $0 == 1_500_000 } == 1_500_000)
        try await stage.stop()
        let after = try #require(stage.source.told.firstIndex(of: low))
        #expect(stage.source.told[after...].allSatisfy { $0 <= 1_500_000 })
    }

    @Test func `a new connection goes on with what the former one showed`() async throws {
        let stage = try await stage(bitsPerSecond: 800_000, conducts: [.closeAfter(500), .accept])
        let low = try #require(await stage.told { $0 < 800_000 })
        await stage.relay.wait { $0.count == 2 && $0[1].messages.count > 40 }
        let told = stage.source.told
        let statistics = await stage.camera.statistics()
        // Not where it began, as a first connection is. Between the two, on a slow machine, it had all of it.
        #expect(told.last ?? .max < Self.most / 4 * 3, "\(told), after \(low)")
        #expect(statistics.uplink?.target ?? .max < Self.most / 4 * 3)
        #expect(statistics.connections == 2)
        stage.way.become(bitsPerSecond: 100_000_000)
        #expect(await stage.told { $0 == Self.most } == Self.most)
        try await stage.stop()
    }

    @Test func `while no relay is there a recording gets all of the bitrate`() async throws {
        let stage = try await stage(bitsPerSecond: 800_000, conducts: [.closeAfter(500), .silent, .accept])
        let low = try #require(await stage.told { $0 < 800_000 })
        #expect(await stage.told { $0 == Self.most } == Self.most)
        // What an operator says then is the most for whatever comes.
        try stage.camera.change(VideoChange(bitrate: 1_900_000))
        #expect(stage.source.told.last == 1_900_000)
        let back = try #require(await stage.told { $0 < 1_900_000 })
        #expect(back < Self.most / 4 * 3, "\(back), after \(low)")
        await stage.relay.wait { $0.count == 2 && $0[1].messages.count > 40 }
        #expect(await stage.camera.statistics().uplink?.most == 1_900_000)
        try await stage.stop()
    }

    @Test func `a real encoder makes less`() async throws {
        let (relay, server) = try await LoopbackRelay.start()
        let most = 400_000
        let way = try NarrowWay(to: server.port, bitsPerSecond: 100_000)
        let settings = configuration(port: way.port) {
            $0.source = .testPattern(.init(bitrate: most))
            $0.uplink = .init(minBitrate: 50_000)
        }
        var video = VideoEncoderConfiguration(width: 1280, height: 720, frameRate: 30, bitsPerSecond: most)
        video.keyFrameInterval = 1
        let camera = try CameraService(
            configuration: settings, source: TestPatternSource(TestPatternConfiguration(video: video, audio: nil)),
            authority: try TestAuthority(), clear: nil, backoff: .init(), logger: quiet,
            eventLoop: RTMPEventLoop.shared)
        let running = Task { try await camera.run() }
        // Two seconds of video in a row that are less than half of what it began with.
        await relay.wait { streams in
            guard let messages = streams.first?.messages.filter({ $0.type == .video }), messages.count > 120 else {
                return false
            }
            return messages.suffix(60).reduce(0) { $0 + $1.payload.count } * 8 < most
        }
        let statistics = await camera.statistics()
        running.cancel()
        try await running.value
        #expect(statistics.uplink?.changes ?? 0 > 0)
        #expect(statistics.uplink?.target ?? .max < most)
        way.close()
        await server.close()
    }
}
