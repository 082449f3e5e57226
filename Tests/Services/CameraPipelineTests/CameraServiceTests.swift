import CameraModel
import Dispatch
import FoundationEssentials
import Media
import NanoTDF
import RTMP
import RTMPTransport
import Synchronization
import Testing

@testable import CameraPipeline

/// A file that goes on until its end is wished: groups of 25 frames, as fast as they are taken.
private final class LongFilm: Sendable {
    private let state = Mutex<(units: [AccessUnit], hasEnded: Bool)>(([], false))

    var units: [AccessUnit] { state.withLock { $0.units } }

    func end() { state.withLock { $0.hasEnded = true } }

    var source: ScriptedSource {
        ScriptedSource { source, deliver in
            formats.forEach(deliver)
            var begin = MediaTime.zero
            while !source.isStopped, !self.state.withLock({ $0.hasEnded }) {
                for var unit in clip(frames: 25, seed: 2) {
                    unit.decodeTime = unit.decodeTime + begin
                    unit.presentationTime = unit.presentationTime + begin
                    self.state.withLock { $0.units.append(unit) }
                    deliver(.accessUnit(unit))
                }
                begin = begin + MediaTime(milliseconds: 1000)
            }
            return nil
        }
    }
}

@Suite(.timeLimit(.minutes(15))) struct CameraServiceTests {
    @Test func `a whole clip arrives bit by bit, and the service ends when it has been sent`() async throws {
        let (relay, server) = try await LoopbackRelay.start()
        let authority = try TestAuthority()
        let units = clip(frames: 300)
        let camera = try service(
            configuration(port: server.port, unthrottled: true), ScriptedSource(file: units), authority)
        try await camera.run()
        await relay.wait { $0.count == 1 && $0[0].isFinished }
        let auditor = audit(relay.streams[0], authority)
        #expect(auditor.faults == [])
        #expect(auditor.units == units)
        #expect(auditor.collections.count == 1)
        #expect(relay.streams[0].request.streamName == "cam1")
        let statistics = await camera.statistics()
        #expect(statistics.state == .stopped)
        #expect(statistics.video.delivered == 300)
        #expect(statistics.video.sealed == 300)
        #expect(statistics.audio.sealed == 600)
        #expect(statistics.video.dropped + statistics.audio.dropped == 0)
        #expect(statistics.connections == 1)
        #expect(statistics.reconnects == 0)
        let wire = relay.streams[0].messages.reduce(0) { $0 + $1.payload.count }
        #expect(statistics.video.bytes + statistics.audio.bytes + statistics.overheadBytes == UInt64(wire))
        await server.close()
    }

    /// A test pattern on a machine that is too slow for it.
    private final class LateSource: SkippingSource {
        let source: ScriptedSource
        let skippedFrames = 7

        init(_ source: ScriptedSource) { self.source = source }

        func run(_ deliver: @escaping @Sendable (MediaEvent) -> Void) throws(MediaSourceError) {
            try source.run(deliver)
        }
        func stop() { source.stop() }
        func requestKeyFrame() { source.requestKeyFrame() }
    }

    @Test func `frames that a source had no time for are reported as dropped`() async throws {
        let (relay, server) = try await LoopbackRelay.start()
        let authority = try TestAuthority()
        let settings = configuration(port: server.port, unthrottled: true)
        let camera = try CameraService(
            configuration: settings, source: LateSource(ScriptedSource(file: clip(frames: 50))), authority: authority,
            clear: nil, supply: .init(settings), backoff: .init(), logger: quiet, eventLoop: RTMPEventLoop.shared)
        try await camera.run()
        await relay.wait { $0.count == 1 && $0[0].isFinished }
        let video = await camera.statistics().video
        #expect(video.late == 7)
        #expect(video.dropped == 7)
        #expect(video.droppedOnTheWay == 0)
        #expect(video.delivered + 7 == video.sealed + video.dropped + video.refused)
        #expect(await camera.statistics().audio.late == nil)
        await server.close()
    }

    @Test func `a new collection at every key frame loses nothing on the wire`() async throws {
        let (relay, server) = try await LoopbackRelay.start()
        let authority = try TestAuthority(registersHeaders: true)
        // As many as there have to be: on a busy machine the next collection is not ready at most key frames.
        let film = LongFilm()
        let camera = try service(
            configuration(port: server.port, unthrottled: true) { $0.rotation.everyKeyFrame = true }, film.source,
            authority)
        let running = Task { try await camera.run() }
        while await camera.statistics().rotations < 3 { try await Task.sleep(for: .milliseconds(5)) }
        film.end()
        try await running.value
        await relay.wait { $0.count == 1 && $0[0].isFinished }
        let auditor = audit(relay.streams[0], authority)
        #expect(auditor.faults == [])
        #expect(auditor.units == film.units)
        let statistics = await camera.statistics()
        #expect(statistics.rotations + 1 == UInt64(auditor.collections.count))
        let keyFrames = film.units.count { $0.track.isVideo && $0.isKeyFrame }
        #expect(statistics.rotations + statistics.rotationsDeferred + 1 == UInt64(keyFrames))
        await server.close()
    }

    @Test func `a relay that goes away is published to again, in a new collection`() async throws {
        let (relay, server) = try await LoopbackRelay.start([.closeAfter(40), .rejectBadName, .closeAfter(40), .accept])
        let authority = try TestAuthority()
        let camera = try service(configuration(port: server.port), .camera(), authority)
        let running = Task { try await camera.run() }
        await relay.wait { $0.count == 3 && $0[2].messages.count > 60 }
        running.cancel()
        try await running.value
        var ephemerals: Set<[UInt8]> = []
        for stream in relay.streams {
            let auditor = audit(stream, authority)
            #expect(auditor.faults == [])
            #expect(auditor.collections.count == 1)
            #expect(auditor.units.first { $0.track.isVideo }?.isKeyFrame == true)
            #expect(stream.messages.prefix(4).allSatisfy { $0.timestamp == 0 })
            ephemerals.formUnion(auditor.collections.map(\.ephemeralPublicKey))
        }
        #expect(ephemerals.count == 3)
        #expect(relay.rejected == 1)
        let statistics = await camera.statistics()
        #expect(statistics.connections == 3)
        #expect(statistics.reconnects == 3)
        #expect(
            statistics.video.delivered
                == statistics.video.sealed + statistics.video.dropped + UInt64(statistics.queue.units))
        await server.close()
    }

    @Test func `an unthrottled file loses only what the dead relay had`() async throws {
        let (relay, server) = try await LoopbackRelay.start([.closeAfter(400), .accept])
        let authority = try TestAuthority()
        let units = clip(frames: 600, seed: 3)
        // The end of the file waits until the camera knows: kernels take megabytes for a relay that is gone, and a file
        // that is all with them needs no second connection.
        let noticed = DispatchSemaphore(value: 0)
        let source = ScriptedSource { _, deliver in
            for event in formats + units.dropLast(300).map({ .accessUnit($0) }) { deliver(event) }
            _ = noticed.wait(timeout: .now() + .seconds(50))
            for unit in units.suffix(300) { deliver(.accessUnit(unit)) }
            return nil
        }
        let camera = try service(configuration(port: server.port, unthrottled: true), source, authority)
        let watching = Task {
            _ = await waitFor(.waitingToReconnect, of: camera)
            noticed.signal()
        }
        try await camera.run()
        await watching.value
        await relay.wait { $0.count == 2 && $0[1].isFinished }
        let second = audit(relay.streams[1], authority)
        #expect(second.faults == [])
        #expect(second.units.first { $0.track.isVideo }?.isKeyFrame == true)
        #expect(second.units.last?.data == units.last?.data)
        let statistics = await camera.statistics()
        #expect(statistics.video.delivered == 600)
        #expect(statistics.video.sealed + statistics.video.dropped == 600)
        #expect(statistics.audio.sealed == 1200)
        await server.close()
    }

    // MARK: - KAS

    @Test func `without a key nothing is published; with one it begins`() async throws {
        let (relay, server) = try await LoopbackRelay.start()
        let authority = try TestAuthority(isAway: true)
        let camera = try service(configuration(port: server.port), .camera(), authority)
        let running = Task { try await camera.run() }
        #expect(await waitFor(.waitingForKey, of: camera) == "the KAS is away")
        #expect(relay.streams.isEmpty)
        authority.setAway(false)
        await relay.wait { $0.first.map { $0.messages.count > 20 } ?? false }
        running.cancel()
        try await running.value
        #expect(audit(relay.streams[0], authority).faults == [])
        await server.close()
    }

    @Test func `a running stream does not need the KAS`() async throws {
        let (relay, server) = try await LoopbackRelay.start()
        let authority = try TestAuthority()
        let camera = try service(
            configuration(port: server.port) { $0.rotation.everyKeyFrame = true }, .camera(), authority)
        let running = Task { try await camera.run() }
        await relay.wait { $0.first.map { !$0.messages.isEmpty } ?? false }
        authority.setAway(true)
        let soFar = relay.streams[0].messages.count
        await relay.wait { $0[0].messages.count > soFar + 600 }
        // A machine that is busy makes collections more slowly than key frames come.
        while await camera.statistics().collections <= 6 { try await Task.sleep(for: .milliseconds(10)) }
        let sent = relay.streams[0].messages.count
        await relay.wait { $0[0].messages.count > sent + 50 }
        let auditor = audit(relay.streams[0], authority)
        #expect(auditor.faults == [])
        #expect(auditor.collections.count > 5)
        #expect(await camera.statistics().state == .publishing)
        running.cancel()
        try await running.value
        await server.close()
    }

    @Test func `a new key of the KAS begins a new collection within the running stream`() async throws {
        let (relay, server) = try await LoopbackRelay.start()
        let authority = try TestAuthority()
        let camera = try service(configuration(port: server.port), .camera(), authority) {
            $0.refresh = .milliseconds(20)
        }
        let running = Task { try await camera.run() }
        await relay.wait { $0.first.map { $0.messages.count > 20 } ?? false }
        let old = try await authority.recipient()
        try authority.rollKey()
        await relay.wait { streams in
            streams[0].messages.filter { $0.type == .dataAMF0 }.count > 1
        }
        let soFar = relay.streams[0].messages.count
        await relay.wait { $0[0].messages.count > soFar + 20 }
        running.cancel()
        try await running.value
        let auditor = audit(relay.streams[0], authority)
        #expect(auditor.faults == [])
        #expect(auditor.collections.count == 2)
        #expect(try await authority.recipient() != old)
        #expect(await camera.statistics().rotations == 1)
        await server.close()
    }

    @Test func `headers are registered before they are used`() async throws {
        let (relay, server) = try await LoopbackRelay.start()
        let authority = try TestAuthority(registersHeaders: true)
        let units = clip(frames: 50)
        let camera = try service(
            configuration(port: server.port, unthrottled: true), ScriptedSource(file: units), authority)
        try await camera.run()
        await relay.wait { $0.count == 1 && $0[0].isFinished }
        let header = try #require(audit(relay.streams[0], authority).collections.first)
        #expect(authority.registered.contains(Hashes.sha256(try header.encoded())))
        #expect(await camera.statistics().headersRegistered > 0)
        await server.close()
    }

    @Test func `a KAS that registers nothing does not stop a stream, and is asked again`() async throws {
        let (relay, server) = try await LoopbackRelay.start()
        let authority = try TestAuthority(registersHeaders: true)
        authority.setRefusesHeaders(true)
        let camera = try service(configuration(port: server.port), .camera(), authority)
        let running = Task { try await camera.run() }
        await relay.wait { $0.first.map { $0.messages.count > 20 } ?? false }
        #expect(await camera.statistics().headersUnregistered > 0)
        authority.setRefusesHeaders(false)
        let soFar = relay.streams[0].messages.count
        await relay.wait { [authority] in !authority.registered.isEmpty && $0[0].messages.count > soFar }
        running.cancel()
        try await running.value
        await server.close()
    }

    // MARK: - The log, and clear

    @Test func `the frame log names every unit as it was sealed`() async throws {
        let (relay, server) = try await LoopbackRelay.start()
        let authority = try TestAuthority()
        let file = FileManager.default.temporaryDirectory.appending(path: "watchbox-log-\(server.port).jsonl")
        defer { try? FileManager.default.removeItem(at: file) }
        var units = clip(frames: 30)
        units[0].captureInstant = 4711
        let events = units.map { MediaEvent.accessUnit($0) }
        let camera = try service(
            configuration(port: server.port, unthrottled: true) { $0.frameLog = file.path },
            ScriptedSource(formats + events), authority)
        try await camera.run()
        await relay.wait { $0.count == 1 && $0[0].isFinished }
        let auditor = audit(relay.streams[0], authority)
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        let records = try lines.map { try JSONDecoder().decode(LogLine.self, from: Data($0.utf8)) }
        #expect(records.count == auditor.units.count)
        for (index, (record, unit)) in zip(records, auditor.units).enumerated() {
            #expect(record.track == (unit.track.isVideo ? "video" : "audio"))
            #expect(record.dts == unit.decodeTime.milliseconds)
            #expect(record.cts == 0)
            #expect(record.key == unit.isKeyFrame)
            #expect(record.bytes == unit.data.count)
            #expect(record.sha256 == Hashes.hexadecimal(unit.data))
            #expect(record.iv == UInt32(index + 1))
            #expect(record.collection == Hashes.name(try auditor.collections[0].encoded()))
            #expect(record.captured == (index == 0 ? 4711 : nil))
        }
        await server.close()
    }

    private struct LogLine: Decodable {
        var track: String
        var dts: Int64
        var cts: Int64
        var key: Bool
        var bytes: Int
        var sha256: String
        var instant: UInt64
        var captured: UInt64?
        var iv: UInt32
        var collection: String
    }

    @Test func `clear publishing needs the exact word and this machine`() async throws {
        let (relay, server) = try await LoopbackRelay.start()
        let units = clip(frames: 30)
        let source = { ScriptedSource(file: units) }
        let allowed = ["WATCHBOX_ALLOW_CLEAR": "tests-only"]
        let here = configuration(port: server.port, unthrottled: true)
        #expect(throws: ClearRefused.notAllowed) {
            _ = try CameraService(clearForTests: here, environment: [:], source: source(), logger: quiet)
        }
        #expect(throws: ClearRefused.relayElsewhere(host: "192.0.2.1")) {
            var elsewhere = here
            elsewhere.relay.url = "rtmp://192.0.2.1/live"
            _ = try CameraService(clearForTests: elsewhere, environment: allowed, source: source(), logger: quiet)
        }
        let camera = try CameraService(clearForTests: here, environment: allowed, source: source(), logger: quiet)
        try await camera.run()
        await relay.wait { $0.count == 1 && $0[0].isFinished }
        let frames = relay.streams[0].messages.filter { $0.type == .video }.dropFirst()
        #expect(frames.map { Array($0.payload.dropFirst(5)) } == units.filter(\.track.isVideo).map(\.data))
        await server.close()
    }
}
