import CameraModel
import RTMP
import RTMPTransport
import Testing

@testable import CameraPipeline

@Suite(.timeLimit(.minutes(15))) struct CameraReconnectTests {
    @Test func `clear media do not follow a relay to another host, and go back to the configured one`() async throws {
        // It listens on this machine, but not under a name that `ClearPermit` knows.
        let (elsewhere, second) = try await LoopbackRelay.start()
        let (relay, first) = try await LoopbackRelay.start([.redirect("rtmp://0.0.0.0:\(second.port)/live"), .accept])
        let camera = try CameraService(
            clearForTests: configuration(port: first.port), environment: ["WATCHBOX_ALLOW_CLEAR": "tests-only"],
            source: ScriptedSource.camera(), logger: quiet)
        let running = Task { try await camera.run() }
        var reasons: [String?] = []
        for await event in camera.events {
            guard case .stateChanged(let state, let reason) = event else { continue }
            if state == .waitingToReconnect { reasons.append(reason) }
            if state == .publishing, !reasons.isEmpty { break }
        }
        await relay.wait { $0.count == 2 && $0[1].messages.count > 20 }
        running.cancel()
        try await running.value
        #expect(
            reasons == [
                "the relay asks for another connection",
                ClearRefused.relayElsewhere(host: "0.0.0.0").description,
            ])
        #expect(elsewhere.streams.isEmpty)
        await first.close()
        await second.close()
    }

    @Test func `sealed media follow a relay`() async throws {
        let (elsewhere, second) = try await LoopbackRelay.start()
        let (_, first) = try await LoopbackRelay.start([.redirect("rtmp://0.0.0.0:\(second.port)/live")])
        let authority = try TestAuthority()
        let camera = try service(configuration(port: first.port), .camera(), authority)
        let running = Task { try await camera.run() }
        await elsewhere.wait { $0.count == 1 && $0[0].messages.count > 20 }
        running.cancel()
        try await running.value
        #expect(audit(elsewhere.streams[0], authority).faults == [])
        await first.close()
        await second.close()
    }

    @Test func `a relay that cannot be trusted gets nothing, is asked again, and the state says why`() async throws {
        let tests = #filePath.split(separator: "/").dropLast(2).map { "/" + $0 }.joined()
        let files = "\(tests)/RTMPTransportTests/Fixtures/localhost"
        let (relay, server) = try await LoopbackRelay.start(
            tls: RTMPServerTLS(certificateFile: files + ".pem", privateKeyFile: files + "-key.pem"))
        var backoff = ReconnectBackoff.Configuration()
        backoff.first = 1_000_000
        backoff.longest = 1_000_000
        let camera = try service(
            configuration(port: server.port) { $0.relay.url = "rtmps://127.0.0.1:\(server.port)/live" }, .camera(),
            try TestAuthority(), backoff: backoff)
        let running = Task { try await camera.run() }
        for _ in 0..<3 {
            let reason = await waitFor(.waitingToReconnect, of: camera)
            #expect(reason?.hasPrefix("the server could not be trusted") == true)
        }
        running.cancel()
        try await running.value
        #expect(relay.streams.isEmpty)
        await server.close()
    }
}
