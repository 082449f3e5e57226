import RTMP
import TestSupport
import Testing

@testable import Relay

/// The API's decision, without a socket.
struct RelayOrderTests {
    @Test(arguments: [
        ("GET", "/metrics", RelayOrder.metrics), ("GET", "/metrics?x=1", .metrics), ("GET", "/v1/streams", .streams),
        ("GET", "/v1/connections", .connections), ("POST", "/v1/drain", .drain),
        ("GET", "/v1/events", .events),
        ("DELETE", "/v1/connections/17", .kick(17)),
        ("DELETE", "/v1/streams/live/door/publisher", .kickPublisher("live/door")),
        ("DELETE", "/v1/streams/a/b/c/publisher", .kickPublisher("a/b/c")),
        ("DELETE", "/v1/streams/live/d%C3%B6r%2Fx/publisher", .kickPublisher("live/dör/x")),
    ])
    func `a path is an order`(method: String, target: String, order: RelayOrder) throws {
        #expect(try RelayOrder.parse(method: method, target: target) == order)
    }

    @Test(arguments: [
        ("POST", "/metrics", 405), ("GET", "/v1/drain", 405), ("GET", "/v1/connections/17", 405),
        ("HEAD", "/v1/streams", 405),
        ("GET", "/", 404), ("GET", "", 404), ("GET", "*", 404), ("GET", "/v1", 404), ("GET", "/v2/streams", 404),
        ("GET", "/metrics/", 404), ("DELETE", "/v1/connections/x", 404), ("DELETE", "/v1/connections/-1", 404),
        ("DELETE", "/v1/connections/99999999999999999999", 404), ("DELETE", "/v1/streams/live/publisher", 404),
        ("DELETE", "/v1/streams/live//publisher", 404), ("DELETE", "/v1/streams/live/%/publisher", 404),
        ("DELETE", "/v1/streams/live/%zz/publisher", 404), ("DELETE", "/v1/streams/live/%ff/publisher", 404),
        ("GET", "http://x/v1/streams", 404),
    ])
    func `everything else is refused with what to do`(method: String, target: String, status: Int) {
        do throws(RelayProblem) {
            _ = try RelayOrder.parse(method: method, target: target)
            Issue.record("\(method) \(target) was taken for an order")
        } catch {
            #expect(error.status == status)
            #expect(!error.what.isEmpty && !error.why.isEmpty && !error.hint.isEmpty)
        }
    }

    private func status(
        _ host: String?, origin: Bool = false, authorization: String? = nil, token: String? = nil,
        listen: String = "0.0.0.0", local: String = "192.0.2.7"
    ) -> Int? {
        let gate = RelayAPIGate(host: listen, token: token.flatMap { RelayAPIToken($0) })
        return gate.refusal(
            hosts: host.map { [$0] } ?? [], hasOrigin: origin, authorization: authorization, local: local)?.status
    }

    @Test func `a page in a browser is kept out`() {
        for host in ["localhost", "LOCALHOST:1985", "192.0.2.7:1985", "192.0.2.7"] { #expect(status(host) == nil) }
        #expect(status("relay.example.net:1985", listen: "relay.example.net") == nil)
        #expect(status("[::1]:1985", listen: "::1") == nil)
        for host in [nil, "", "evil.example", "localhost.evil.example", "192.0.2.70", ":1985", "[::1]"] {
            #expect(status(host) == 403, "\(host ?? "none")")
        }
        #expect(status("localhost", origin: true) == 403)
    }

    @Test func `addresses are compared, not their spelling`() {
        for host in ["192.0.2.7:1985", "[::ffff:192.0.2.7]:1985"] {
            #expect(status(host, listen: "::", local: "::ffff:192.0.2.7") == nil, "\(host)")
        }
        #expect(status("[2001:DB8:0::1]:1985", listen: "::", local: "2001:db8::1") == nil)
        #expect(status("[fe80::1]", listen: "::", local: "fe80::1%eth0") == nil)
        #expect(status("192.0.2.8", listen: "::", local: "::ffff:192.0.2.7") == 403)
    }

    @Test func `who shows the token may call the relay what they like, but is not a web page`() {
        let token = APIClient.token
        #expect(status("box.example", authorization: "Bearer \(token)", token: token) == nil)
        #expect(status(nil, authorization: "Bearer \(token)", token: token) == nil)
        #expect(status("box.example", authorization: "Bearer x", token: token) == 403)
        #expect(status("box.example", origin: true, authorization: "Bearer \(token)", token: token) == 403)
    }

    @Test func `without a token there are figures alone`() {
        let open = RelayAPIGate(host: "127.0.0.1", token: nil)
        let closed = RelayAPIGate(host: "127.0.0.1", token: RelayAPIToken(APIClient.token))
        for order in [RelayOrder.metrics, .streams] { #expect(open.refusal(of: order) == nil) }
        for order in [RelayOrder.connections, .events, .kick(1), .kickPublisher("a/b"), .drain] {
            #expect(open.refusal(of: order)?.status == 403)
            #expect(closed.refusal(of: order) == nil)
        }
    }

    @Test func `a token is asked for where there is one`() {
        let token = "0123456789abcdef"
        #expect(status("localhost", authorization: "Bearer \(token)", token: token) == nil)
        #expect(status("localhost", authorization: "bearer \(token)", token: token) == nil)
        for wrong in [
            nil, "", "Bearer", "Bearer ", "Basic \(token)", token, "Bearer \(token)x", "Bearer 0123456789abcdeg",
        ] {
            #expect(status("localhost", authorization: wrong, token: token) == 401, "\(wrong ?? "none")")
        }
    }

    @Test func `a token is long enough, and never shown`() throws {
        for wrong in ["", "0123456789abcde", String(repeating: "x", count: 513), "0123456789abcdé f"] {
            #expect(RelayAPIToken(wrong) == nil)
        }
        let token = try #require(RelayAPIToken("0123456789abcdef"))
        #expect(!"\(token) \(String(reflecting: token)) \(Mirror(reflecting: token).children)".contains("0123"))
    }

    @Test func `beyond this machine there must be a token`() throws {
        let token = RelayAPIToken("0123456789abcdef")
        for host in ["0.0.0.0", "::", "192.0.2.1", "relay.example.net"] {
            #expect(throws: RelayAPIConfiguration.Fault.tokenRequired) {
                try RelayAPIConfiguration(host: host, port: 1)
            }
            _ = try RelayAPIConfiguration(host: host, port: 1, token: token)
        }
        for host in ["127.0.0.1", "localhost", "::1"] { _ = try RelayAPIConfiguration(host: host, port: 1) }
    }

    @Test func `a listener that does not keep up is notified, once`() {
        var queue = EventQueue(limit: 2)
        for text in ["a", "b", "c", "d"] { queue.add(text, farewell: "end") }
        #expect(queue.isClosed)
        #expect(queue.take() == "end")
        #expect(queue.isEmpty)
        var other = EventQueue(limit: 2)
        for _ in 0..<100 {
            other.add("a", farewell: "end")
            #expect(other.take() == "a")
        }
        #expect(!other.isClosed)
    }

    @Test func `who left is reported once, with the first reason`() {
        var roster = ConnectionRoster()
        roster.joined(1, as: .publisher, stream: "live/cam", at: 5)
        roster.joined(2, as: .player, stream: "live/cam", at: 6)
        #expect(roster.publishers(of: "live/cam") == [1])
        #expect(roster.publishers(of: "live/other") == [])
        roster.willEnd(2, because: "one")
        roster.willEnd(2, because: "two")
        roster.willEnd(3, because: "nobody")
        #expect(roster.left(2)?.reason == "one")
        #expect(roster.left(2) == nil)
        #expect(roster.left(1)?.reason == nil)
        #expect(roster.isEmpty)
    }

    @Test func `metrics are bounded, escaped, and of published names alone`() throws {
        var hub = StreamHub<[UInt8]> { _, _, body in Array(body) }
        _ = hub.publishRequested(1, app: "live", name: "a\"b\\c", key: nil, at: 0)
        _ = hub.publishRequested(2, app: "live", name: "x", key: nil, at: 0)
        for (index, name) in ["one", "two"].enumerated() {
            _ = hub.playRequested(ConnectionID(10 + index), app: "live", name: name, at: 0)
        }
        hub.received(RTMPMessage(type: .video, timestamp: 0, streamID: 1, payload: Body.key(1)), from: 1, at: 1)
        let text = RelayMetrics.text(hub.statistics(at: 2), streams: 100)
        #expect(PrometheusLinter.faults(text) == [])
        #expect(text.contains(#"watchbox_relay_stream_published{app="live",name="a\"b\\c"} 1"# + "\n"))
        let frames = #"watchbox_relay_stream_frames_total{app="live",name="a\"b\\c",media="video"} 1"#
        #expect(text.contains(frames + "\n"))
        #expect(!text.contains("\"one\"") && !text.contains("\"two\""), "anybody can wait for a name")
        let bounded = RelayMetrics.text(hub.statistics(at: 2), streams: 1)
        #expect(bounded.contains("name=\"a") && !bounded.contains("name=\"x\""))
        #expect(bounded.contains("watchbox_relay_publishers 2\n"))
    }
}
