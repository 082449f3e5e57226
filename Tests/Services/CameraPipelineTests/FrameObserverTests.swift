import CameraModel
import Media
import RTMPTransport
import Synchronization
import Testing

@testable import CameraPipeline

/// Keeps what it sees.
private final class Notebook: FrameObserver {
    private let kept = Mutex<(events: [MediaEvent], hasEnded: Bool)>(([], false))

    func observed(_ event: MediaEvent) { kept.withLock { $0.events.append(event) } }
    func ended() { kept.withLock { $0.hasEnded = true } }

    var events: [MediaEvent] { kept.withLock { $0.events } }
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

    @Test func `without an observer the source waits for the relay`() async throws {
        let camera = try service(configuration(port: 9), .camera(), try TestAuthority())
        let running = Task { try await camera.run() }
        _ = await waitFor(.waitingToReconnect, of: camera)
        #expect(await camera.statistics().video.delivered == 0)
        running.cancel()
        try await running.value
    }
}
