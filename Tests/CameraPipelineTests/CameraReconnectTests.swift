import CameraModel
import Media
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
            clearForTests: configuration(port: first.port) {
                $0.relay.redirectHosts = ["0.0.0.0:\(second.port)"]
            },
            environment: ["WATCHBOX_ALLOW_CLEAR": "tests-only"],
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

    @Test func `a camera moves to an allowed host at a key frame, with it and without a loss`() async throws {
        let (elsewhere, second) = try await LoopbackRelay.start()
        let (relay, first) = try await LoopbackRelay.start([.redirect("rtmp://127.0.0.1:\(second.port)/live")])
        let authority = try TestAuthority()
        let camera = try service(
            configuration(port: first.port) { $0.relay.redirectHosts = ["127.0.0.1:\(second.port)"] }, .camera(),
            authority)
        let running = Task { try await camera.run() }
        await elsewhere.wait { $0.count == 1 && $0[0].messages.count > 20 }
        running.cancel()
        try await running.value
        await relay.wait { $0[0].isFinished }
        let (before, after) = (audit(relay.streams[0], authority), audit(elsewhere.streams[0], authority))
        #expect(before.faults == [] && after.faults == [])
        #expect(before.collections.first != after.collections.first)
        let (left, came) = (Self.pictures(of: before), Self.pictures(of: after))
        #expect(came.first?.isKeyFrame == true)
        // Not one picture is missing, and none comes twice.
        #expect((left + came).map(\.number) == Array(0..<Int64(left.count + came.count)))
        await first.close()
        await second.close()
    }

    @Test func `a relay cannot make a camera look around in its network`() async throws {
        let listener = try Listener()
        let targets = ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "127.1"].map {
            "rtmp://\($0):\(listener.port)/live"
        }
        let (relay, server) = try await LoopbackRelay.start(targets.map { .redirect($0) } + [.accept])
        var backoff = ReconnectBackoff.Configuration()
        backoff.first = 1_000_000
        backoff.longest = 1_000_000
        let camera = try service(
            configuration(port: server.port), .camera(), try TestAuthority(), backoff: backoff)
        let running = Task { try await camera.run() }
        await relay.wait { $0.count == 5 && $0[4].messages.count > 20 }
        running.cancel()
        try await running.value
        #expect(!listener.wasConnected)
        var warnings: [String] = []
        for await case .warning(let text) in camera.events { warnings.append(text) }
        #expect(warnings.count == 1, "it says so once")
        #expect(warnings.first?.hasPrefix("WB-5004 The relay sends this camera elsewhere") == true, "\(warnings)")
        await server.close()
    }

    @Test func `a camera without a key frame to move at moves after two seconds`() async throws {
        let (relay, server) = try await LoopbackRelay.start([.redirect("/live"), .accept])
        let source = ScriptedSource { source, deliver in
            deliver(.videoFormat(videoFormat))
            var number: Int64 = 0
            while source.waits(milliseconds: 4) {
                let isAsked = source.takeKeyFrameRequest()
                // It makes one when nothing can go on without it, and not for the asking.
                deliver(.accessUnit(ScriptedSource.numbered(number, key: number == 0 || isAsked && number > 300)))
                number += 1
            }
            return nil
        }
        let authority = try TestAuthority()
        let camera = try service(configuration(port: server.port), source, authority)
        let running = Task { try await camera.run() }
        await relay.wait { $0.count == 2 && $0[1].messages.count > 5 }
        running.cancel()
        try await running.value
        #expect(audit(relay.streams[0], authority).faults == [])
        let after = audit(relay.streams[1], authority)
        #expect(after.faults == [] && Self.pictures(of: after).first?.isKeyFrame == true)
        await server.close()
    }

    private static func pictures(of auditor: StreamAuditor) -> [(number: Int64, isKeyFrame: Bool)] {
        auditor.units.filter(\.track.isVideo).map { unit in
            (unit.data.prefix(8).reversed().reduce(0) { $0 << 8 | Int64($1) }, unit.isKeyFrame)
        }
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
