import CameraModel
import Media
import NIOCore
import RTMPTransport
import Synchronization
import Testing

@testable import CameraPipeline

/// Keeps what it sees.
private final class Notebook: FrameObserver {
    private let kept = Mutex<(events: [MediaEvent], hasEnded: Bool)>(([], false))
    private let changes = Mutex<[(isLive: Bool, instant: UInt64)]>([])

    func observed(_ event: MediaEvent) { kept.withLock { $0.events.append(event) } }
    func ended() { kept.withLock { $0.hasEnded = true } }
    func published(_ isLive: Bool, from instant: UInt64) { changes.withLock { $0.append((isLive, instant)) } }

    var events: [MediaEvent] { kept.withLock { $0.events } }
    var live: [(isLive: Bool, instant: UInt64)] { changes.withLock { $0 } }
    var hasEnded: Bool { kept.withLock { $0.hasEnded } }
}

@Suite(.timeLimit(.minutes(5))) struct FrameObserverTests {
    @Test func `an observer sees all that the source delivers, without a relay and without a key`() async throws {
        let notebook = Notebook()
        let configuration = configuration(port: 9)
        let camera = try CameraService(
            configuration: configuration, source: ScriptedSource.camera(), authority: try TestAuthority(), clear: nil,
            logger: quiet, eventLoop: RTMPEventLoop.shared, observer: notebook)
        let running = Task { try await camera.run() }
        while notebook.events.count < 100 { try await Task.sleep(for: .milliseconds(10)) }
        #expect(await camera.statistics().connections == 0)
        running.cancel()
        try await running.value
        #expect(notebook.hasEnded)
        let frames = notebook.events.compactMap { event -> MediaTime? in
            guard case .accessUnit(let unit) = event, unit.track.isVideo else { return nil }
            return unit.decodeTime
        }
        #expect(frames == frames.sorted() && Set(frames).count == frames.count)
        #expect(UInt64(frames.count) == (await camera.statistics().video.delivered))
    }

    @Test func `an observer hears when the stream gets to the relay, and when it does not`() async throws {
        let (relay, server) = try await LoopbackRelay.start([.closeAfter(40), .rejectBadName, .accept])
        let notebook = Notebook()
        let begun = NIODeadline.now().uptimeNanoseconds
        let camera = try CameraService(
            configuration: configuration(port: server.port), source: ScriptedSource.camera(),
            authority: try TestAuthority(), clear: nil, logger: quiet, eventLoop: RTMPEventLoop.shared,
            observer: notebook)
        let running = Task { try await camera.run() }
        await relay.wait { $0.count == 2 && $0[1].messages.count > 60 }
        running.cancel()
        try await running.value
        let live = notebook.live
        // The one that was rejected was no stream.
        #expect(live.map(\.isLive) == [true, false, true, false])
        let instants = live.map(\.instant)
        #expect(instants == instants.sorted() && instants[0] >= begun)
        #expect(instants[3] <= NIODeadline.now().uptimeNanoseconds)
        await server.close()
    }

    @Test func `a camera that moves to another relay without losing a frame is live all the time`() async throws {
        let (second, target) = try await LoopbackRelay.start()
        let (_, server) = try await LoopbackRelay.start([.redirectAfter(30, ["rtmp://127.0.0.1:\(target.port)/live"])])
        let notebook = Notebook()
        let configuration = configuration(port: server.port) {
            $0.relay.redirectHosts = ["127.0.0.1:\(target.port)"]
            // On a busy machine the move takes longer than frames wait otherwise.
            $0.queue.seconds = 30
        }
        let camera = try CameraService(
            configuration: configuration, source: ScriptedSource.camera(), authority: try TestAuthority(), clear: nil,
            logger: quiet, eventLoop: RTMPEventLoop.shared, observer: notebook)
        let running = Task { try await camera.run() }
        await second.wait { $0.count == 1 && $0[0].messages.count > 60 }
        // It goes on with the frame that it left off at.
        #expect(notebook.live.map(\.isLive) == [true, false, true])
        #expect(notebook.live[1].instant == notebook.live[2].instant)
        running.cancel()
        try await running.value
        #expect(notebook.live.map(\.isLive) == [true, false, true, false])
        await server.close()
        await target.close()
    }

    @Test func `without an observer the source waits for the relay`() async throws {
        let camera = try service(configuration(port: 9), .camera(), try TestAuthority())
        let running = Task { try await camera.run() }
        _ = await waitFor(.waitingToReconnect, of: camera)
        #expect(await camera.statistics().video.delivered == 0)
        running.cancel()
        try await running.value
    }
}
