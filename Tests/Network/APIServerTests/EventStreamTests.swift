import ControlAPI
import ControlClient
import ErrorCatalog
import Synchronization
import Testing

@testable import APIServer

@Suite(.timeLimit(.minutes(15)))
struct EventStreamTests {
    /// Streams what the test yields; signals when the server let go of it.
    private final class Source: Sendable {
        let events: AsyncStream<ServerEvent>
        let continuation: AsyncStream<ServerEvent>.Continuation
        let ended: AsyncStream<Void>

        init() {
            (events, continuation) = AsyncStream<ServerEvent>.makeStream(bufferingPolicy: .bufferingNewest(16))
            let (ended, end) = AsyncStream<Void>.makeStream()
            self.ended = ended
            continuation.onTermination = { _ in end.finish() }
        }

        var route: APIRoute {
            APIRoute(.get, "/api/v1/events", "Events.") { [events] _ in APIResponse(body: .events(events)) }
        }

        func waitForEnd() async { for await _ in ended {} }
    }

    private static let get = "GET /api/v1/events HTTP/1.1\r\nHost: x\r\n\r\n"

    @Test func `events arrive as they were sent, in their order`() async throws {
        let source = Source()
        let sent = [
            ServerEvent(id: "1", event: "camera", data: #"{"a":"ü"}"#), ServerEvent(id: "2", event: "log", data: ""),
            ServerEvent(id: "3", event: "log", data: "two\nlines"),
        ]
        try await RunningServer.with([source.route]) { server in
            let stream = server.client.events(topics: ["camera", "log"])
            for event in sent { source.continuation.yield(event) }
            source.continuation.finish()
            var received: [ServerEvent] = []
            for try await event in stream { received.append(event) }
            #expect(received == sent)
        }
    }

    @Test func `topics and the last id reach the handler`() async throws {
        let route = APIRoute(.get, "/api/v1/events", "Events.") { request in
            let (events, continuation) = AsyncStream<ServerEvent>.makeStream()
            continuation.yield(
                ServerEvent(event: "x", data: (request.query["topics"] ?? "") + " " + (request.lastEventID ?? "")))
            continuation.finish()
            return APIResponse(body: .events(events))
        }
        try await RunningServer.with([route]) { server in
            for try await event in server.client.events(topics: ["camera", "health"], lastEventID: "41") {
                #expect(event.data == "camera,health 41")
            }
        }
    }

    @Test func `an event cannot break out of its lines`() {
        let event = ServerEvent(id: "1\ndata: x", event: "a\r\nid: 9", data: "b\n\nevent: c\rd")
        #expect(EventWriter.text(event) == "id: 1data: x\nevent: aid: 9\ndata: b\ndata: \ndata: event: c\ndata: d\n\n")
    }

    @Test func `a silent stream shows signs of life`() async throws {
        let source = Source()
        try await RunningServer.with([source.route]) {
            $0.pingInterval = .milliseconds(10)
        } _: { server in
            let client = try server.connect()
            await client.write(Self.get)
            let head = try #require(await client.read(until: "\r\n\r\n"))
            #expect(head.contains("text/event-stream") && head.lowercased().contains("connection: close"))
            for _ in 0..<3 { #expect(await client.read(until: ":\n\n") != nil) }
        }
    }

    @Test func `a client that goes away is noticed, though nothing is sent to it`() async throws {
        let source = Source()
        try await RunningServer.with([source.route]) {
            $0.pingInterval = .seconds(3600)
        } _: { server in
            do {
                let client = try server.connect()
                await client.write(Self.get)
                #expect(await client.read(until: ":\n\n") != nil)
            }
            await source.waitForEnd()
        }
    }

    @Test func `a reader that stops reading ends the request`() async throws {
        let source = Source()
        try await RunningServer.with([source.route]) {
            $0.pingInterval = .seconds(3600)
        } _: { server in
            source.continuation.yield(ServerEvent(event: "a", data: "1"))
            for try await _ in server.client.events() { break }
            await source.waitForEnd()
        }
    }

    @Test func `a shutdown ends a stream properly`() async throws {
        let source = Source()
        try await RunningServer.with([source.route]) { server in
            let client = try server.connect()
            await client.write(Self.get)
            #expect(await client.read(until: ":\n\n") != nil)
            await server.stop()
            #expect(await client.readToEnd().hasSuffix("0\r\n\r\n"))
        }
        await source.waitForEnd()
    }

    @Test func `watchers leave room for commands`() async throws {
        let route = APIRoute(.get, "/api/v1/events", "Events.") { _ in
            let (events, continuation) = AsyncStream<ServerEvent>.makeStream()
            continuation.onTermination = { _ in continuation.finish() }
            return APIResponse(body: .events(events))
        }
        try await RunningServer.with([route, .simple(.get, "/a")]) {
            $0.maximumEventStreams = 2
        } _: { server in
            var watchers: [RawClient] = []
            for _ in 0..<2 {
                let client = try server.connect()
                await client.write(Self.get)
                #expect(await client.read(until: ":\n\n") != nil)
                watchers.append(client)
            }
            await #expect(throws: ControlClientError.self) {
                for try await _ in server.client.events() {}
            }
            #expect(try await server.client.text("/a") == "GET /a")
            watchers.removeFirst()
            // Its place is free when the server has noticed.
            var isFree = false
            while !isFree {
                let client = try server.connect()
                await client.write(Self.get)
                isFree = try #require(await client.read(until: "\r\n\r\n")).contains("200 OK")
            }
        }
    }

    @Test func `a client that never reads is dropped, and costs a bounded amount`() async throws {
        let taken = Mutex(0)
        let data = String(repeating: "x", count: 1024)
        let route = APIRoute(.get, "/api/v1/events", "Events.") { _ in
            let events = AsyncStream<ServerEvent> {
                taken.withLock { $0 += 1 }
                return ServerEvent(event: "e", data: data)
            }
            return APIResponse(body: .events(events))
        }
        try await RunningServer.with([route]) {
            $0.writeTimeout = .milliseconds(300)
        } _: { server in
            let client = try server.connect()
            await client.write(Self.get)
            // Dropped without having read: the socket stays writable until then.
            while await client.write("x") { await Task.yield() }
            // Kernel buffers and 64 KiB; far less than what an endless source would give.
            #expect(taken.withLock { $0 } < 4096)
        }
    }
}
