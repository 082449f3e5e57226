import CameraModel
import ErrorCatalog
import Glibc
import Media
import NIOCore
import NIOPosix
import RTMP
import RTMPTransport
import Settings
import TestSupport
import Testing

@testable import CameraPipeline

/// Whatever the service waits for would take an hour here, or what a deadline allows: that it ends at all is because it
/// was asked to. The second that it may need is that of `RTMPTransport`'s stop deadline; what it took is printed.
@Suite(.timeLimit(.minutes(15))) struct CameraServiceEndTests {
    private static let hour: UInt64 = 3_600_000_000_000

    private static var patient: ReconnectBackoff.Configuration {
        var backoff = ReconnectBackoff.Configuration()
        backoff.first = 2 * hour  // the jitter takes away up to half
        backoff.longest = 2 * hour
        backoff.youngLongest = 2 * hour
        return backoff
    }

    private func expectEnd(_ running: Task<Void, any Error>) async throws {
        let time = try await stopping(running)
        print("stop of a camera: \(time)")
        #expect(time < .seconds(5), "promised is one second")
    }

    @Test func `each end has a code, a cause and a next step`() throws {
        let unreadable = try #require(
            CameraService.reason(
                of: MediaSourceError(
                    what: "cannot open film.mp4", why: "Permission denied", hint: "Allow this user to read it.")))
        #expect(unreadable.code == .sourceUnreadable)
        #expect(unreadable.why == "Permission denied")
        #expect(unreadable.hint == "Allow this user to read it.")
        var statistics = CameraStatistics(camera: "front", stream: "front")
        statistics.code = .deviceMissing
        let missing = MediaSourceError(what: "no device", why: "unplugged", hint: "Plug it in.")
        #expect(CameraService.reason(of: missing, statistics: statistics)?.code == .deviceMissing)
        let refused = try #require(
            CameraService.reason(
                of: ConfigurationError(problems: [
                    .init(field: "relay.url", reason: "is missing", hint: "Give one"),
                    .init(field: "id", reason: "is empty", hint: "Give one"),
                ])))
        #expect(refused.code == .invalidValue)
        #expect(refused.endLine == "cannot run: WB-1004 relay.url: is missing (and 1 more). Next: Give one")
        #expect(CameraService.reason(of: RTMPTransportError(.publicKeyMismatch))?.code == .certificateRefused)
        #expect(CameraService.reason(of: CancellationError()) == nil)
    }

    @Test func `it stops while it waits for a key`() async throws {
        let camera = try service(configuration(port: 1), .camera(), try TestAuthority(isAway: true)) {
            $0.retry = .seconds(3600)...(.seconds(3600))
        }
        let running = Task { try await camera.run() }
        _ = await waitFor(.waitingForKey, of: camera)
        try await expectEnd(running)
        #expect(await camera.statistics().state == .stopped)
    }

    @Test func `it stops while the KAS says nothing`() async throws {
        let listener = try await ServerBootstrap(group: RTMPEventLoop.shared)
            .bind(host: "127.0.0.1", port: 0).get()
        let camera = try CameraService(
            configuration: configuration(port: 1) {
                $0.kas = KASConfiguration(
                    url: "http://127.0.0.1:\(listener.localAddress!.port!)/kas", timeout: .seconds(50))
            },
            source: ScriptedSource.camera(), logger: quiet)
        let running = Task { try await camera.run() }
        #expect(await waitFor(.starting, of: camera) == "asking the KAS for its public key")
        try await expectEnd(running)
        try await listener.close()
    }

    @Test func `it stops while there is no listener`() async throws {
        // Bound, but not listening: connections are refused.
        let (descriptor, port) = deafPort()
        defer { close(descriptor) }
        let camera = try service(
            configuration(port: Int(port)), .camera(), try TestAuthority(), backoff: Self.patient)
        let running = Task { try await camera.run() }
        let reason = await waitFor(.waitingToReconnect, of: camera)
        #expect(reason?.contains("cannot reach the server") == true)
        try await expectEnd(running)
    }

    @Test func `it stops while a relay says nothing`() async throws {
        let listener = try await ServerBootstrap(group: RTMPEventLoop.shared)
            .bind(host: "127.0.0.1", port: 0).get()
        let camera = try service(
            configuration(port: listener.localAddress!.port!), .camera(), try TestAuthority())
        let running = Task { try await camera.run() }
        _ = await waitFor(.connecting, of: camera)
        try await expectEnd(running)
        try await listener.close()
    }

    @Test func `it stops while it publishes, and says goodbye`() async throws {
        let (relay, server) = try await LoopbackRelay.start()
        let camera = try service(configuration(port: server.port), .camera(), try TestAuthority())
        let running = Task { try await camera.run() }
        await relay.wait { $0.first.map { $0.messages.count > 20 } ?? false }
        try await expectEnd(running)
        await relay.wait { $0[0].isFinished }
        await server.close()
    }

    @Test func `it stops while back-pressure holds its source`() async throws {
        let (relay, server) = try await LoopbackRelay.start([.closeAfter(10)])
        let source = ScriptedSource(file: clip(frames: 5000))
        let camera = try service(
            configuration(port: server.port, unthrottled: true), source, try TestAuthority(), backoff: Self.patient)
        let running = Task { try await camera.run() }
        await relay.wait { $0.first?.isFinished ?? false }
        await server.close()
        _ = await waitFor(.waitingToReconnect, of: camera)
        try await expectEnd(running)
        #expect(await camera.statistics().video.delivered < 5000)
    }

    @Test func `a source that fails ends the service, after what it delivered was sent`() async throws {
        let (relay, server) = try await LoopbackRelay.start()
        let authority = try TestAuthority()
        let failure = MediaSourceError(what: "cannot read clip.mp4", why: "disk error", hint: "Check the disk")
        let units = clip(frames: 10)
        let source = ScriptedSource { _, deliver in
            for event in formats + units.map({ .accessUnit($0) }) { deliver(event) }
            return failure
        }
        let camera = try service(configuration(port: server.port, unthrottled: true), source, authority)
        await #expect(throws: failure) { try await camera.run() }
        let statistics = await camera.statistics()
        #expect(statistics.state == .failed)
        #expect(statistics.reason == failure.description)
        await relay.wait { $0[0].isFinished }
        #expect(audit(relay.streams[0], authority).units == units)
        await server.close()
    }
}
