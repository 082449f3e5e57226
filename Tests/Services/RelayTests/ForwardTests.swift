import ChannelTestSupport
import Foundation
import NIOCore
import NIOPosix
import RTMP
import RTMPTransport
import TestSupport
import Testing

@testable import Relay

struct ForwardTests {
    // MARK: Targets

    @Test func `lines of a file are targets`() throws {
        let text = """
            # comment
            rtmps://one.example/live
            live/* rtmp://user:pw@two.example:1936/app?key=secret

              live/door   rtmp://[::1]/x/y
            """
        let targets = try ForwardTarget.parse(text)
        #expect(targets.map(\.host) == ["rtmps://one.example", "rtmp://two.example:1936", "rtmp://[::1]"])
        let door = try StreamPath(app: "live", name: "door")
        let other = try StreamPath(app: "x", name: "door")
        #expect(targets.map { $0.takes(door) } == [true, true, true])
        #expect(targets.map { $0.takes(other) } == [true, false, false])
        let url = try #require(targets[1].url(for: door))
        #expect(url.app == "app" && url.streamName == "door?key=secret" && url.credentials?.user == "user")
        #expect(
            !"\(targets) \(String(reflecting: targets)) \(Mirror(reflecting: targets[1]).children)".contains("secret"))
        #expect(targets[0].url(for: try StreamPath(app: "a", name: "b c")) == nil)
    }

    @Test(arguments: [
        "http://x/y", "rtmp://x", "live rtmp://x/y", "*/x rtmp://x/y", "a b rtmp://x/y", "rtmp://x/y#z",
        "/* rtmp://x/y",
    ])
    func `what is not a target is reported by its line alone`(line: String) {
        #expect(throws: ForwardTarget.Fault.malformedLine(2)) { try ForwardTarget.parse("# one\n\(line)") }
    }

    @Test func `there are eight at most`() throws {
        let lines = (0..<9).map { "rtmp://x\($0)/live" }
        #expect(try ForwardTarget.parse(lines.dropLast().joined(separator: "\n")).count == 8)
        #expect(throws: ForwardTarget.Fault.tooMany) { try ForwardTarget.parse(lines.joined(separator: "\n")) }
    }

    // MARK: Relays

    private func target(_ port: Int, _ app: String = "live") -> ForwardTarget {
        ForwardTarget("rtmp://127.0.0.1:\(port)/\(app)?key=secret")!
    }

    /// A key frame with a new header before it, and what refers to it.
    private func group(_ index: UInt8) -> [Sent] {
        let time = UInt32(index) * 200
        return [
            Sent(.dataAMF0, time, Body.metadata("m\(index)")), Sent(.video, time, Body.ntdfHeader(index)),
            Sent(.video, time, Body.key(index, size: 70_000)), Sent(.audio, time + 3, Body.audio(index)),
            Sent(.video, time + 40, Body.inter(index, size: 5000)), Sent(.video, time + 80, Body.inter(index, size: 3)),
        ]
    }

    /// What players get: metadata without the order to the relay.
    private func played(_ messages: [Sent]) -> [[UInt8]] {
        messages.map {
            $0.type == .dataAMF0 ? Array($0.payload.dropFirst(Body.string("@setDataFrame").count)) : $0.payload
        }
    }

    @Test func `another relay of ours gets every byte, and who joins late there as well`() async throws {
        try await withRelay { next in
            try await withRelay({ $0.forwards = [target(next.port)] }) { relay in
                let (player, log) = try await next.play()
                let (publisher, _) = try await relay.publish()
                try await relay.wait { $0.forwards.first?.state == .forwarding }
                let headers = [Sent(.video, 0, Body.videoHeader), Sent(.audio, 0, Body.audioHeader)]
                let sent = headers + group(1) + group(2)
                try await publisher.send(sent)
                let got = try await log.messages(sent.count)
                #expect(got.map(\.payload) == played(sent))
                #expect(got.map(\.time) == sent.map(\.time))
                // Late: headers, then the group of pictures.
                let (late, lateLog) = try await next.play()
                let group = try await lateLog.messages(8).map(\.payload)
                let all = played(sent)
                let expected: [[UInt8]] = Array(all[8...8]) + played(headers) + Array(all[9...])
                #expect(group == expected)
                await late.stop()
                let statistics = await relay.service.statistics()
                let forward = try #require(statistics.forwards.first)
                #expect(forward.state == .forwarding && forward.stream == "live/cam" && forward.connections == 1)
                #expect(forward.bytesSent > 140_000 && forward.dropped == DropCount())
                #expect(statistics.subscribers == 0, "another relay is not a viewer")
                let text = RelayMetrics.text(statistics, streams: 10)
                #expect(PrometheusLinter.faults(text) == [])
                #expect(text.contains("watchbox_relay_forward_up{app=\"live\",name=\"cam\",forward=\"1\""))
                #expect(!text.contains("secret") && !"\(statistics)".contains("secret"))
                await publisher.stop()
                try await relay.wait { $0.streams.isEmpty || !$0.streams[0].isPublished }
                await player.stop()
            }
        }
    }

    @Test func `a next relay that dies gets the stream again when it is back`() async throws {
        let port = try FreePort.take()
        try await withRelay({ $0.forwards = [target(port)] }) { relay in
            let (publisher, _) = try await relay.publish()
            let (player, log) = try await relay.play()
            var sent = group(1)
            try await publisher.send(sent)
            try await relay.wait { $0.forwards.first?.state == .waiting }
            for round in UInt8(2)...3 {
                try await withRelay({ $0.port = port }) { next in
                    let (watcher, watched) = try await next.play()
                    try await relay.wait { $0.forwards.first?.state == .forwarding }
                    try await publisher.send(group(round))
                    sent += group(round)
                    let last = try #require(played(group(round)).last)
                    // Up to the last frame of this round, with the cached group before it.
                    var payload: [UInt8] = []
                    while payload != last { payload = try await watched.message().payload }
                    await watcher.stop()
                }
                try await relay.wait { $0.forwards.first?.state != .forwarding }
            }
            #expect(try await log.messages(sent.count).map(\.payload) == played(sent), "nobody else notices")
            #expect(await relay.service.statistics().forwards.first?.connections == 2)
            await player.stop()
            await publisher.stop()
            try await relay.wait { $0.streams.isEmpty }
        }
    }

    @Test func `a next relay that stalls costs the others nothing`() async throws {
        let stalled = StallingRelay()
        let server = try await RTMPServer.bind(
            RTMPServerConfiguration(port: 0), on: stalled.loop, delegate: stalled)
        try await withRelay {
            $0.forwards = [target(server.port)]
            $0.limits.subscriberBudget = 200_000_000
        } _: { relay in
            let (publisher, _) = try await relay.publish()
            let (player, log) = try await relay.play()
            try await relay.wait { $0.forwards.first?.state == .forwarding }
            let feed = publisher.eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(10)) { _ in
                guard publisher.isWritable else { return }
                publisher.write(.video, timestamp: 0, payload: Body.key(1, size: 100_000)[...])
                publisher.flush()
            }
            try await relay.wait { ($0.forwards.first?.dropped.frames ?? 0) > 10 }
            feed.cancel()
            let statistics = await relay.service.statistics()
            let count = try #require(statistics.streams.first?.videoFrames)
            #expect(try await log.messages(count).count == count)
            #expect(statistics.streams.first?.dropped == DropCount(), "the next relay's loss is reported for it alone")
            stalled.release()
            await player.stop()
            await publisher.stop()
        }
        await server.close()
    }

    @Test func `two relays that forward to each other end the circle`() async throws {
        let port = try FreePort.take()
        try await withRelay({ $0.forwards = [target(port)] }) { one in
            try await withRelay({
                $0.port = port
                $0.forwards = [target(one.port)]
            }) { two in
                let (publisher, _) = try await one.publish()
                try await two.wait { $0.publishers == 1 }
                // What comes back is refused, and the stream goes on.
                try await one.wait { $0.refused >= 1 }
                let (player, log) = try await two.play()
                let sent = group(1) + group(2)
                try await publisher.send(sent)
                var payload: [UInt8] = []
                while payload != sent.last?.payload { payload = try await log.message().payload }
                #expect(await one.service.statistics().publishers == 1)
                #expect(await two.service.statistics().forwards.first?.state != .forwarding)
                await player.stop()
                await publisher.stop()
                try await one.wait { $0.publishers == 0 && $0.forwards.allSatisfy { $0.state != .connecting } }
            }
        }
    }

    @Test func `a stream that came through three relays goes no further`() async throws {
        try await withRelay { next in
            try await withRelay({ $0.forwards = [target(next.port)] }) { relay in
                var session = PublisherSession.Configuration()
                for count in 1...3 {
                    session.chain = session.chain.adding(String(repeating: "\(count)", count: 16))
                    let log = PublisherLog()
                    let publisher = RTMPPublisherConnection.connect(
                        url: relay.url("cam\(count)"), session: session, delegate: log)
                    try await log.log.next { $0 == .started }
                    let streams = await relay.service.statistics().forwards.map(\.stream)
                    #expect(streams == (count < 3 ? ["live/cam\(count)"] : []))
                    await publisher.stop()
                    try await relay.wait { $0.forwards.isEmpty }
                }
            }
        }
    }

    /// A certificate that only the operator vouches for.
    private func certificate(in directory: TemporaryDirectory) async throws -> RTMPServerTLS {
        let openssl = try #require(
            try ForeignProgram(
                "openssl",
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout",
                    directory.path("key.pem"), "-out", directory.path("certificate.pem"),
                ], in: directory))
        let status = try await openssl.end()
        try #require(status == 0, "\(openssl.output)")
        return RTMPServerTLS(
            certificateFile: directory.path("certificate.pem"), privateKeyFile: directory.path("key.pem"))
    }

    @Test func `a next relay whose certificate no CA vouches for gets nothing`() async throws {
        let directory = try TemporaryDirectory()
        let tls = try await certificate(in: directory)
        try await withRelay({ $0.tls = tls }) { next in
            let url = "rtmps://127.0.0.1:\(next.port)/live?key=secret"
            let target = try #require(ForwardTarget(url))
            try await withRelay({ $0.forwards = [target] }) { relay in
                let (publisher, _) = try await relay.publish()
                try await relay.wait { $0.forwards.first?.state == .waiting }
                #expect(await next.service.statistics().connections == 0)
                #expect(await relay.service.statistics().forwards.first?.connections == 0)
                await publisher.stop()
            }
        }
    }

    @Test func `a stream goes on by TLS to a relay whose authority the operator names`() async throws {
        let directory = try TemporaryDirectory()
        let tls = try await certificate(in: directory)
        try await withRelay({ $0.tls = tls }) { next in
            let target = try #require(ForwardTarget("rtmps://127.0.0.1:\(next.port)/live"))
            try await withRelay {
                $0.forwards = [target]
                $0.forwardAuthorityFile = directory.path("certificate.pem")
            } _: { relay in
                let (publisher, _) = try await relay.publish()
                try await relay.wait { $0.forwards.first?.state == .forwarding }
                try await publisher.send([Sent(.video, 0, Body.key(1)), Sent(.video, 40, Body.inter(2))])
                try await next.wait { $0.streams.first?.videoFrames == 2 }
                await publisher.stop()
            }
        }
    }

    /// It would take the stream, with its key, to any machine that the next relay names.
    @Test func `a next relay sends a forward to no host that the operator did not name`() async throws {
        let api = try RelayAPIConfiguration(host: "127.0.0.1", port: 0, token: RelayAPIToken(APIClient.token))
        try await withRelay({ $0.api = api }) { next in
            let target = try #require(ForwardTarget("rtmp://127.0.0.1:\(next.port)/live?key=secret"))
            try await withRelay { elsewhere in
                try await withRelay({ $0.forwards = [target] }) { relay in
                    let (publisher, _) = try await relay.publish()
                    try await relay.wait { $0.forwards.first?.state == .forwarding }
                    // "localhost" is another host than 127.0.0.1, by name.
                    let body = #"{"to": "rtmp://localhost:\#(elsewhere.port)/live", "seconds": 1}"#
                    let answer = try await next.ask("POST", "/v1/drain", body: body)
                    #expect(try answer.document(RelayDrainDocument.self).asked == 1)
                    // It stays until it is thrown out, and is back at once.
                    try await next.wait { $0.refused >= 1 }
                    #expect(await elsewhere.service.statistics().publishers == 0)
                    await publisher.stop()
                }
            }
        }
    }

    @Test func `a place that refuses a forward costs it no pause at home, and is not gone to again`() async throws {
        try await SendingRelay.serving { home in
            try await SendingRelay.serving(refusing: true) { elsewhere in
                // The operator named both.
                let other = try #require(ForwardTarget("rtmp://127.0.0.1:\(elsewhere.port)/live", for: "none/*"))
                try await withRelay({ $0.forwards = [target(home.port), other] }) { relay in
                    let (publisher, _) = try await relay.publish()
                    try await home.sendOn(to: "rtmp://127.0.0.1:\(elsewhere.port)/live")
                    #expect(try await elsewhere.publishers.next { _ in true }.app == "live")
                    try await home.sendOn(to: "rtmp://127.0.0.1:\(elsewhere.port)/live", "/other")
                    #expect(try await home.publishers.next { _ in true }.app == "other")
                    #expect(elsewhere.publishers.all.count == 1)
                    await publisher.stop()
                }
            }
        }
    }

    @Test func `a next relay does not send a forward to a name that is another stream's`() async throws {
        try await SendingRelay.serving { home in
            try await SendingRelay.serving { elsewhere in
                let live = try #require(ForwardTarget("rtmp://127.0.0.1:\(home.port)/live", for: "live/*"))
                let guest = try #require(ForwardTarget("rtmp://127.0.0.1:\(elsewhere.port)/live", for: "guest/*"))
                try await withRelay({ $0.forwards = [live, guest] }) { relay in
                    let log = PublisherLog()
                    var url = relay.url()
                    url.app = "guest"
                    let holder = RTMPPublisherConnection.connect(url: url, delegate: log)
                    try await elsewhere.publishers.next { _ in true }
                    let (publisher, _) = try await relay.publish()
                    try await home.sendOn(to: "rtmp://127.0.0.1:\(elsewhere.port)/live?x", "/other")
                    #expect(try await home.publishers.next { _ in true }.app == "other")
                    #expect(elsewhere.publishers.all.count == 1)
                    await publisher.stop()
                    await holder.stop()
                }
            }
        }
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/sbin/nginx")))
    func `nginx-rtmp gets every byte`() async throws {
        let directory = try TemporaryDirectory()
        let port = try FreePort.take()
        let rig = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .appending(path: "Rigs/nginx/nginx-relay").path
        let nginx = try #require(try ForeignProgram("bash", [rig, "\(port)", directory.path("nginx")], in: directory))
        for _ in 0..<600 {
            if let channel = try? await ClientBootstrap(group: Timers.loop).connect(host: "127.0.0.1", port: port).get()
            {
                try? await channel.close().get()
                break
            }
            try await Timers.loop.scheduleTask(in: .milliseconds(100)) {}.futureResult.get()
        }
        try await withRelay({ $0.forwards = [target(port, "copy")] }) { relay in
            let (publisher, _) = try await relay.publish()
            try await relay.wait { $0.forwards.first?.state == .forwarding }
            let log = PlayerLog()
            let url = RTMPURL(scheme: .rtmp, host: "127.0.0.1", port: UInt16(port), app: "copy", streamName: "cam")
            let player = RTMPPlayerConnection.connect(url: url, delegate: log)
            try await log.log.next { $0 == .started }
            let sent = group(1) + group(2)
            try await publisher.send(sent)
            let media = sent.filter { $0.type != .dataAMF0 }.map(\.payload)
            var got: [[UInt8]] = []
            while got.count < media.count {
                let message = try await log.message()
                if message.type != .dataAMF0 { got.append(message.payload) }
            }
            #expect(got == media)
            await player.stop()
            await publisher.stop()
        }
        try await nginx.kill()
    }
}

/// Takes a stream, and from its first frame on reads nothing until it is released.
private final class StallingRelay: RTMPServerDelegate, @unchecked Sendable {
    let loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
    private let gate = DispatchSemaphore(value: 0)
    private var isReleased = false

    func release() { gate.signal() }

    func connection(_ connection: RTMPServerConnection, publishRequested request: PublishRequest) {
        connection.acceptPublish()
    }
    func connection(_ connection: RTMPServerConnection, playRequested request: PlayRequest) {}
    func connection(_ connection: RTMPServerConnection, received message: RTMPMessage) {
        guard !isReleased, message.type == .video else { return }
        gate.wait()
        isReleased = true
    }
    func connectionReadCompleted(_ connection: RTMPServerConnection) {}
    func connectionBecameWritable(_ connection: RTMPServerConnection) {}
    func connectionFinished(_ connection: RTMPServerConnection) {}
    func connectionClosed(_ connection: RTMPServerConnection, error: RTMPTransportError?) {}
}

/// Takes streams, or refuses them, and sends their publishers on.
private final class SendingRelay: RTMPServerDelegate, @unchecked Sendable {
    /// Those who asked.
    let publishers = EventLog<PublishRequest>()
    private let connections = EventLog<RTMPServerConnection>()
    private let refuses: Bool
    private(set) var port = 0

    private init(refuses: Bool) { self.refuses = refuses }

    static func serving(refusing: Bool = false, _ body: (SendingRelay) async throws -> Void) async throws {
        let relay = SendingRelay(refuses: refusing)
        let server = try await RTMPServer.bind(RTMPServerConfiguration(port: 0), delegate: relay)
        relay.port = server.port
        do { try await body(relay) } catch {
            await server.close()
            throw error
        }
        await server.close()
    }

    /// Sends the next publisher to one place after the other.
    func sendOn(to places: String...) async throws {
        let connection = try await connections.next { _ in true }
        try await publishers.next { _ in true }
        RTMPEventLoop.shared.execute { for place in places { _ = connection.requestReconnect(to: place) } }
    }

    func connection(_ connection: RTMPServerConnection, publishRequested request: PublishRequest) {
        if refuses {
            connection.rejectPublish(code: "NetStream.Publish.Denied", description: "who are you?")
        } else {
            connection.acceptPublish()
            connections.add(connection)
        }
        publishers.add(request)
    }
    func connection(_ connection: RTMPServerConnection, playRequested request: PlayRequest) {}
    func connection(_ connection: RTMPServerConnection, received message: RTMPMessage) {}
    func connectionReadCompleted(_ connection: RTMPServerConnection) {}
    func connectionBecameWritable(_ connection: RTMPServerConnection) {}
    func connectionFinished(_ connection: RTMPServerConnection) {}
    func connectionClosed(_ connection: RTMPServerConnection, error: RTMPTransportError?) {}
}
