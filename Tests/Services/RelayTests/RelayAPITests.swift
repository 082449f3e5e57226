import ChannelTestSupport
import Foundation
import RTMP
import RTMPTransport
import TestSupport
import Testing

@testable import Relay

/// The API of a running relay, asked over a socket.
struct RelayAPITests {
    private func withAPI<Result: Sendable>(
        token: String? = APIClient.token, _ change: (inout RelayAPILimits) -> Void = { _ in },
        _ body: (RunningRelay) async throws -> Result
    ) async throws -> Result {
        var api = try RelayAPIConfiguration(host: "127.0.0.1", port: 0, token: token.flatMap { RelayAPIToken($0) })
        change(&api.limits)
        return try await withRelay({ $0.api = api }, body)
    }

    @Test func `streams, connections and metrics say what goes on`() async throws {
        try await withAPI { relay in
            let (publisher, _) = try await relay.publish("cam?key=secret")
            let (player, log) = try await relay.play("cam")
            try await publisher.send([Sent(.video, 0, Body.key(1)), Sent(.audio, 0, [0xAF, 1, 2])])
            _ = try await log.messages(2)
            let response = try await relay.ask("GET", "/v1/streams")
            #expect(response.status == 200)
            #expect(response.headers["content-type"] == "application/json")
            let document = try response.document(RelayStreamsDocument.self)
            #expect(document.schema == "watchbox.relay.streams/1")
            let stream = try #require(document.statistics.streams.first)
            #expect(stream.path == "live/cam" && stream.isPublished && stream.subscribers == 1)
            #expect(stream.videoFrames == 1 && stream.audioFrames == 1)
            let answer = try await relay.ask("GET", "/v1/connections")
            let connections = try answer.document(RelayConnectionsDocument.self).connections
            #expect(connections.map(\.role) == [.publisher, .player])
            #expect(connections.allSatisfy { $0.stream == "live/cam" && $0.peer.hasPrefix("127.0.0.1:") })
            #expect(connections.allSatisfy { $0.bytesReceived > 0 && $0.bytesSent > 0 })
            let metrics = try await relay.ask("GET", "/metrics")
            #expect(metrics.headers["content-type"]?.hasPrefix("text/plain; version=0.0.4") == true)
            #expect(PrometheusLinter.faults(metrics.body) == [])
            #expect(metrics.body.contains("watchbox_relay_stream_subscribers{app=\"live\",name=\"cam\"} 1\n"))
            for text in [response.body, answer.body, metrics.body] { #expect(!text.contains("secret")) }
            await player.stop()
            await publisher.stop()
        }
    }

    @Test func `a player and a publisher are kicked, and notified before they are closed`() async throws {
        try await withAPI { relay in
            let (publisher, publisherLog) = try await relay.publish()
            let (_, playerLog) = try await relay.play()
            let list = try await relay.ask("GET", "/v1/connections").document(RelayConnectionsDocument.self)
            let player = try #require(list.connections.first { $0.role == .player })
            let answer = try await relay.ask("DELETE", "/v1/connections/\(player.id)")
            #expect(try answer.document(RelayKickDocument.self).role == .player)
            let expected = RTMPTransportError(.session(.endedByPeer(code: "NetConnection.Connect.Closed")))
            #expect(try await playerLog.closed() == expected)
            #expect(try await relay.ask("DELETE", "/v1/streams/live/cam/publisher").status == 200)
            #expect(try await publisherLog.closed() == expected)
            #expect(expected.retry == .transient)
            try await relay.wait { $0.connections == 0 }
            for path in ["/v1/streams/live/cam/publisher", "/v1/connections/\(player.id)"] {
                let problem = try await relay.ask("DELETE", path).document(RelayProblem.self)
                #expect(problem.status == 404 && problem.what == "nothing was ended")
            }
            await publisher.stop()
        }
    }

    @Test func `events report who comes, who goes and who is refused`() async throws {
        try await withAPI { relay in
            let listener = try await relay.listen()
            let (publisher, _) = try await relay.publish("cam?key=secret")
            try await listener.await("publisherStarted")
            let (player, _) = try await relay.play("cam")
            try await listener.await("playerJoined")
            let refused = PublisherLog()
            _ = RTMPPublisherConnection.connect(url: relay.url("cam?key=wrong"), delegate: refused)
            _ = try await refused.closed()
            try await listener.await("refused")
            #expect(try await relay.ask("DELETE", "/v1/streams/live/cam/publisher").status == 200)
            try await listener.await("publisherEnded")
            await player.stop()
            try await listener.await("playerLeft")
            await listener.close()
            let text = try await listener.rest()
            let events = try text.split(separator: "\n").filter { $0.hasPrefix("data: ") }.map {
                try JSONDecoder().decode(RelayEvent.self, from: Data($0.dropFirst(6).utf8))
            }
            #expect(
                events.map(\.event) == [
                    .publisherStarted, .playerJoined, .refused, .kicked, .publisherEnded, .playerLeft,
                ])
            #expect(events.allSatisfy { $0.stream == "live/cam" && $0.schema == "watchbox.relay.event/1" })
            #expect(events[4].reason == "ended by the relay's operator")
            #expect(!text.contains("secret") && !text.contains("wrong"))
            await publisher.stop()
        }
    }

    /// By its queue, or by the signs of life that it does not take. The queue has room for what comes while a busy
    /// machine keeps from reading who reads.
    @Test(arguments: [(64, Duration.seconds(15)), (1_000_000, .milliseconds(100))])
    func `one listener too many is refused, and one that does not read is closed`(
        events: Int, ping: Duration
    ) async throws {
        try await withAPI {
            $0.listeners = 2
            $0.waitingEvents = events
            $0.ping = ping
            $0.writeHighWater = 4096
            $0.answer = .milliseconds(500)
        } _: { relay in
            let slow = try await relay.listen(reads: false)
            let good = try await relay.listen()
            #expect(try await relay.ask("GET", "/v1/events").status == 503)
            // Until the slow one's place is free: events fill what the kernel keeps for it, then its queue.
            var isFree = false
            while !isFree {
                for _ in 0..<50 {
                    let log = PublisherLog()
                    _ = RTMPPublisherConnection.connect(
                        url: relay.url(String(repeating: "x", count: 900)), delegate: log)
                    _ = try await log.closed()
                }
                let third = try await APIClient.connect(
                    relay.apiPort, sending: APIClient.request("GET", "/v1/events"))
                try await third.await("HTTP/1.1 ")
                isFree = third.log.all.compactMap { $0 }.joined().contains("200 OK")
                await third.close()
            }
            #expect(!good.log.all.contains(nil), "who reads stays")
            slow.readOn()
            _ = try await slow.rest()
            await good.close()
        }
    }

    @Test func `a web page, an unauthenticated client and a wrong token are refused`() async throws {
        try await withAPI { relay in
            let authorized = APIClient.authorized
            #expect(try await relay.ask("GET", "/metrics", headers: authorized).status == 200)
            let none = try await relay.ask("GET", "/metrics", headers: [])
            #expect(none.status == 401 && none.headers["www-authenticate"] == "Bearer")
            #expect(!none.body.contains("0123456789abcdef"))
            let guess = try await relay.ask("GET", "/metrics", headers: ["Authorization: Bearer 0123456789abcdeg"])
            #expect(guess.status == 401)
            for (host, headers) in [
                ("evil.example", []), ("localhost", authorized + ["Origin: http://localhost"]),
                ("localhost", authorized + ["Host: evil.example"]),
            ] {
                let refusal = try await relay.ask("DELETE", "/v1/connections/1", host: host, headers: headers)
                #expect([400, 403].contains(refusal.status), "\(host) \(headers.count)")
            }
        }
    }

    @Test func `what is not a request ends soon, and others are answered meanwhile`() async throws {
        try await withAPI {
            // For who asks after them as well, on a machine that is busy.
            $0.head = .seconds(2)
            $0.connections = 4
        } _: { relay in
            var silent: [APIClient] = []
            for _ in 0..<6 { silent.append(try await APIClient.connect(relay.apiPort)) }
            for client in silent { _ = try await client.rest() }
            #expect(try await relay.ask("GET", "/metrics").status == 200)
        }
        try await withAPI {
            $0.head = .seconds(600)
            $0.ask = .milliseconds(500)
            $0.connections = 4
        } _: { relay in
            #expect(try await relay.ask(text: "hello\r\n\r\n").status == 400)
            let long = "X-Long: " + String(repeating: "x", count: 9000)
            #expect(try await relay.ask("GET", "/metrics", headers: [long]).status == 400)
            #expect(try await relay.ask("GET", "/" + String(repeating: "x", count: 3000)).status == 414)
            let body = String(repeating: "x", count: 17_000)
            #expect(try await relay.ask("GET", "/metrics", body: body).status == 413)
            let flood = try await APIClient.connect(
                relay.apiPort, sending: "GET /" + String(repeating: "x", count: 200_000))
            #expect(try await !flood.rest().contains("200 OK"))
            // A body that never ends.
            let drip = try await APIClient.connect(
                relay.apiPort,
                sending: APIClient.request("GET", "/metrics", headers: APIClient.authorized + ["Content-Length: 5"])
                    + "abc")
            #expect(try await drip.rest().isEmpty)
            #expect(try await relay.ask("GET", "/metrics").status == 200)
        }
    }

    @Test func `without a token figures are served, and nothing else`() async throws {
        try await withAPI(token: nil) { relay in
            for path in ["/metrics", "/v1/streams"] {
                #expect(try await relay.ask("GET", path, headers: []).status == 200)
            }
            for (method, path) in [
                ("GET", "/v1/connections"), ("GET", "/v1/events"), ("DELETE", "/v1/connections/1"),
                ("DELETE", "/v1/streams/live/cam/publisher"), ("POST", "/v1/drain"),
            ] {
                let problem = try await relay.ask(method, path, headers: []).document(RelayProblem.self)
                #expect(problem.status == 403 && problem.hint.contains("api_token"), "\(path)")
            }
            let (publisher, _) = try await relay.publish()
            #expect(await relay.service.statistics().publishers == 1)
            await publisher.stop()
        }
    }

    @Test func `one address takes its share of places alone, and listeners take none of it`() async throws {
        try await withAPI {
            $0.head = .seconds(60)
            $0.connectionsPerAddress = 2
        } _: { relay in
            let listeners = [try await relay.listen(), try await relay.listen()]
            let silent = [
                try await APIClient.connect(relay.apiPort), try await APIClient.connect(relay.apiPort),
            ]
            let third = try await APIClient.connect(relay.apiPort)
            #expect(try await third.rest().isEmpty)
            let other = try await APIClient.connect(
                relay.apiPort, sending: APIClient.request("GET", "/metrics"), from: "127.0.0.2")
            #expect(try await other.rest().contains("200 OK"))
            // What is given back can be had again: as soon as the relay has noticed its own closing, a moment after we
            // have.
            try await silent[0].send(APIClient.request("GET", "/metrics"))
            #expect(try await silent[0].rest().contains("200 OK"))
            var status: Int?
            for _ in 0..<100 where status == nil {
                do { status = try await relay.ask("GET", "/metrics").status } catch is APIClient.Ended {
                    try await Task.sleep(for: .milliseconds(20))
                }
            }
            #expect(status == 200)
            for client in listeners + [silent[1]] { await client.close() }
        }
    }

    @Test func `two streams that are written alike have series of their own, and none is ended by mistake`()
        async throws
    {
        try await withAPI { relay in
            let names = [("live", "x/y"), ("live/x", "y")]
            var publishers: [RTMPPublisherConnection] = []
            for (app, name) in names {
                let log = PublisherLog()
                let url = RTMPURL(
                    scheme: .rtmp, host: "127.0.0.1", port: UInt16(relay.port), app: app, streamName: name)
                publishers.append(RTMPPublisherConnection.connect(url: url, delegate: log))
                try await log.log.next { $0 == .started }
            }
            let metrics = try await relay.ask("GET", "/metrics").body
            #expect(PrometheusLinter.faults(metrics) == [])
            for (app, name) in names {
                #expect(metrics.contains("watchbox_relay_stream_published{app=\"\(app)\",name=\"\(name)\"} 1\n"))
            }
            let answer = try await relay.ask("DELETE", "/v1/streams/live/x/y/publisher").document(RelayProblem.self)
            #expect(answer.status == 409 && answer.hint.contains("ID"))
            #expect(await relay.service.statistics().publishers == 2)
            for publisher in publishers { await publisher.stop() }
        }
    }
}
