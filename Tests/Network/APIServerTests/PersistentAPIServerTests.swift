import ControlAPI
import Glibc
import ServiceLifecycle
import Synchronization
import Testing

@testable import APIServer

@Suite(.timeLimit(.minutes(15)))
struct PersistentAPIServerTests {
    @Test func `a name that somebody else has taken is tried for until it is free, and shutdown ends it`() async throws
    {
        let directory = ScratchDirectory()
        let path = directory.path + "/b.sock"
        // Somebody else's, which cannot be listened on.
        #expect(mkdir(path, 0o700) == 0)
        let pauses = Mutex(0)
        let (addresses, running) = AsyncStream<String>.makeStream()
        let server = PersistentAPIServer(
            logger: RunningServer.logger,
            sleep: { pause in
                #expect(pause == .seconds(5))
                if pauses.withLock({
                    $0 += 1; return $0
                }) == 3 {
                    #expect(rmdir(path) == 0)
                }
            },
            makeServer: {
                APIServer(
                    configuration: APIServerConfiguration(listener: .unixSocket(path: path, mode: 0o600, group: nil)),
                    router: APIRouter([.simple(.get, "/a")]), logger: RunningServer.logger,
                    onRunning: { running.yield($0) })
            })
        let services = ServiceGroup(services: [server], logger: RunningServer.logger)
        let ended = Task { try await services.run() }
        for await address in addresses {
            #expect(address == path)
            break
        }
        #expect(pauses.withLock { $0 } == 3)
        let client = try RawClient(path: path)
        #expect(await client.exchange("GET /a HTTP/1.1\r\nHost: x\r\n\r\n")?.body == "GET /a")
        await services.triggerGracefulShutdown()
        try await ended.value
    }

    @Test func `shutdown ends the pause`() async throws {
        let (pauses, paused) = AsyncStream<Void>.makeStream()
        let server = PersistentAPIServer(
            logger: RunningServer.logger,
            sleep: { _ in
                paused.yield()
                try await Task.sleep(for: .seconds(86_400))
            },
            makeServer: {
                APIServer(
                    configuration: APIServerConfiguration(
                        listener: .unixSocket(path: "/nonexistent/a.sock", mode: 0o600, group: nil)),
                    router: APIRouter([]), logger: RunningServer.logger)
            })
        let services = ServiceGroup(services: [server], logger: RunningServer.logger)
        let ended = Task { try await services.run() }
        for await _ in pauses { break }
        await services.triggerGracefulShutdown()
        try await ended.value
    }
}
