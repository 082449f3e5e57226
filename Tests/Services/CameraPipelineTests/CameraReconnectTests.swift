import CameraModel
import ErrorCatalog
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
        let (left, came) = (Self.frames(of: before), Self.frames(of: after))
        #expect(came.first?.isKeyFrame == true)
        // Not one frame is missing but those that the queue gave up because the loop did not get to run, and none comes
        // twice.
        let numbers = (left + came).map(\.number)
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 })
        let missing = try #require(numbers.last) + 1 - Int64(numbers.count)
        #expect(missing <= Int64(await camera.statistics().video.dropped))
        await first.close()
        await second.close()
    }

    @Test func `a relay cannot make a camera look around in its network, nor leave it`() async throws {
        let listener = try Listener()
        let targets = ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "127.1"].map {
            "rtmp://\($0):\(listener.port)/live"
        }
        let (relay, server) = try await LoopbackRelay.start([.redirectAfter(1, targets + targets)])
        let camera = try service(configuration(port: server.port), .camera(), try TestAuthority())
        let running = Task { try await camera.run() }
        await relay.wait { $0.first.map { $0.messages.count > 20 } == true }
        var warnings: [String] = []
        for await case .warning(let text) in camera.events {
            warnings.append(text)
            if warnings.count == targets.count { break }
        }
        let count = relay.streams[0].messages.count
        await relay.wait { $0[0].messages.count > count + 20 }
        let statistics = await camera.statistics()
        #expect(statistics.state == .publishing && statistics.code == .relayRedirects)
        #expect(statistics.reason?.hasPrefix("The relay sends this camera elsewhere") == true)
        #expect(statistics.connections == 1 && relay.streams.count == 1)
        running.cancel()
        try await running.value
        #expect(!listener.wasConnected)
        for await case .warning(let text) in camera.events { warnings.append(text) }
        #expect(warnings.count == targets.count, "each target once")
        #expect(
            warnings.allSatisfy { $0.hasPrefix("WB-5004 The relay sends this camera elsewhere") }, "\(warnings)")
        await server.close()
    }

    @Test func `a relay that closes because its redirect is refused is reported so`() async throws {
        let (_, server) = try await LoopbackRelay.start([
            .redirectAfter(1, ["rtmp://192.0.2.1/live"], closeAfter: 100), .accept,
        ])
        let camera = try service(configuration(port: server.port), .camera(), try TestAuthority())
        let running = Task { try await camera.run() }
        let reason = await waitFor(.waitingToReconnect, of: camera)
        #expect(reason?.contains("192.0.2.1 is not its own host") == true, "\(reason ?? "nil")")
        running.cancel()
        try await running.value
        await server.close()
    }

    @Test func `two relays that point at each other are not asked in a tight loop`() async throws {
        let (one, first) = try await LoopbackRelay.start()
        let (two, second) = try await LoopbackRelay.start([
            .redirectBeforeStart("rtmp://127.0.0.1:\(first.port)/live")
        ])
        one.setConducts([.redirectBeforeStart("rtmp://127.0.0.1:\(second.port)/live")])
        var backoff = ReconnectBackoff.Configuration()
        backoff.first = 200_000_000
        backoff.longest = 200_000_000
        let camera = try service(
            configuration(port: first.port) { $0.relay.redirectHosts = ["127.0.0.1:\(second.port)"] }, .camera(),
            try TestAuthority(), backoff: backoff)
        let begin = ContinuousClock.now
        let running = Task { try await camera.run() }
        await two.wait { $0.count >= 3 }
        #expect(one.streams.count >= 3)
        // Five pauses, each of at least half of what is set.
        #expect(ContinuousClock.now - begin >= .milliseconds(500))
        running.cancel()
        try await running.value
        await first.close()
        await second.close()
    }

    @Test func `a place that refuses the camera costs one attempt, and is not gone to again`() async throws {
        let (elsewhere, second) = try await LoopbackRelay.start([.rejectUnauthorized])
        let place = "127.0.0.1:\(second.port)"
        let (relay, first) = try await LoopbackRelay.start([.redirect("rtmp://\(place)/live")])
        let camera = try service(
            configuration(port: first.port) { $0.relay.redirectHosts = [place] }, .camera(), try TestAuthority())
        let running = Task { try await camera.run() }
        await relay.wait { $0.count == 2 && $0[1].messages.count > 20 }
        let statistics = await camera.statistics()
        #expect(statistics.code == .relayRedirects && statistics.reason?.contains(place) == true)
        #expect(elsewhere.rejected == 1)
        running.cancel()
        try await running.value
        var reasons: [String] = []
        for await case .stateChanged(.waitingToReconnect, let reason?) in camera.events { reasons.append(reason) }
        let words = "\(place), where the relay had sent this camera, failed:"
        #expect(reasons.last?.hasPrefix(words) == true, "\(reasons)")
        await first.close()
        await second.close()
    }

    /// One key frame at the beginning, and no other as long as `relay` has one stream.
    private static func reluctantCamera(_ relay: LoopbackRelay) -> ScriptedSource {
        ScriptedSource { source, deliver in
            deliver(.videoFormat(videoFormat))
            var number: Int64 = 0
            while source.waits(milliseconds: 4) {
                let isKey = number == 0 || number % 25 == 0 && relay.streams.first?.isFinished == true
                deliver(.accessUnit(ScriptedSource.numbered(number, key: isKey)))
                number += 1
            }
            return nil
        }
    }

    @Test func `a camera without a key frame to move at goes on sending, and moves after two seconds`() async throws {
        let (relay, server) = try await LoopbackRelay.start([.redirectAfter(10, ["/live"]), .accept])
        let authority = try TestAuthority()
        let camera = try service(configuration(port: server.port), Self.reluctantCamera(relay), authority)
        let begin = ContinuousClock.now
        let running = Task { try await camera.run() }
        await relay.wait { $0.count == 2 && $0[1].messages.count > 5 }
        #expect(ContinuousClock.now - begin >= .seconds(2))
        running.cancel()
        try await running.value
        // Two seconds have some five hundred frames on a machine with nothing else to do.
        let before = audit(relay.streams[0], authority)
        #expect(before.faults == [] && Self.frames(of: before).count > 40)
        let after = audit(relay.streams[1], authority)
        #expect(after.faults == [] && Self.frames(of: after).first?.isKeyFrame == true)
        await server.close()
    }

    @Test func `a relay that closes behind its redirect is obeyed all the same`() async throws {
        let (elsewhere, second) = try await LoopbackRelay.start()
        let (relay, first) = try await LoopbackRelay.start([
            .redirectAfter(10, ["rtmp://127.0.0.1:\(second.port)/live"], closeAfter: 20)
        ])
        let camera = try service(
            configuration(port: first.port) { $0.relay.redirectHosts = ["127.0.0.1:\(second.port)"] },
            Self.reluctantCamera(relay), try TestAuthority())
        let running = Task { try await camera.run() }
        await elsewhere.wait { $0.count == 1 && $0[0].messages.count > 5 }
        #expect(relay.streams.count == 1)
        running.cancel()
        try await running.value
        await first.close()
        await second.close()
    }

    @Test func `the last of several redirects counts`() async throws {
        let listener = try Listener()
        let (elsewhere, second) = try await LoopbackRelay.start()
        let ports = [listener.port, second.port]
        let (relay, first) = try await LoopbackRelay.start([
            .redirectAfter(10, ports.map { "rtmp://127.0.0.1:\($0)/live" } + ["rtmp://192.0.2.1/live"])
        ])
        let camera = try service(
            configuration(port: first.port) { $0.relay.redirectHosts = ports.map { "127.0.0.1:\($0)" } },
            Self.reluctantCamera(relay), try TestAuthority())
        let running = Task { try await camera.run() }
        await elsewhere.wait { $0.count == 1 && $0[0].messages.count > 5 }
        #expect(!listener.wasConnected)
        running.cancel()
        try await running.value
        await first.close()
        await second.close()
    }

    @Test func `a camera that is stopped before it has moved goes nowhere, and says goodbye`() async throws {
        let listener = try Listener()
        let target = "127.0.0.1:\(listener.port)"
        let (relay, server) = try await LoopbackRelay.start([.redirectAfter(10, ["rtmp://\(target)/live"])])
        let authority = try TestAuthority()
        let camera = try service(
            configuration(port: server.port) { $0.relay.redirectHosts = [target] }, Self.reluctantCamera(relay),
            authority)
        let running = Task { try await camera.run() }
        await relay.wait { $0.first.map { $0.messages.count > 12 } == true }
        running.cancel()
        try await running.value
        await relay.wait { $0[0].isFinished }
        #expect(audit(relay.streams[0], authority).faults == [])
        #expect(!listener.wasConnected && relay.streams.count == 1)
        await server.close()
    }

    private static func frames(of auditor: StreamAuditor) -> [(number: Int64, isKeyFrame: Bool)] {
        auditor.units.filter(\.track.isVideo).map { unit in
            (unit.data.prefix(8).reversed().reduce(0) { $0 << 8 | Int64($1) }, unit.isKeyFrame)
        }
    }

    @Test func `a relay that cannot be trusted gets nothing, is asked again, and the state says why`() async throws {
        let tests = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
        let files = "\(tests)/Network/RTMPTransportTests/Fixtures/localhost"
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
