import KeyAccess
import Logging
import NIOCore
import ServiceLifecycle
import Testing

@testable import KeyAccessServer

extension Rig {
    /// Runs the service of this rig while `body` does, then shuts it down as the service group of a program would.
    ///
    /// - Parameter idle: no connection ends for it by default: a busy machine may take its time between two requests.
    func running(
        _ configure: (inout KeyAccessServerConfiguration) -> Void = { _ in }, idle: TimeAmount = .minutes(5),
        _ body: (Int) async throws -> Void
    ) async throws -> Duration {
        var configuration = configuration
        configuration.port = 0
        configure(&configuration)
        let (ports, continuation) = AsyncStream.makeStream(of: Int.self, bufferingPolicy: .bufferingOldest(1))
        let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        var times = HTTPConnection.Times()
        times.idle = idle
        let service = try KeyAccessService(
            configuration: configuration, keyStore: store, logger: logger, clock: clock, connectionTimes: times
        ) { continuation.yield($0) }
        let group = ServiceGroup(
            configuration: .init(services: [.init(service: service)], gracefulShutdownSignals: [], logger: logger))
        return try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                defer { continuation.finish() }
                try await group.run()
            }
            for await port in ports {
                #expect(port > 0)
                try await body(port)
                break
            }
            let start = ContinuousClock.now
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
            return ContinuousClock.now - start
        }
    }
}
