import ChannelTestSupport
import Foundation
import Logging
import NIOConcurrencyHelpers
import NIOCore
import RTMP
import RTMPTransport

@testable import Relay

/// A relay on loopback, for as long as `body` runs.
func withRelay<Result: Sendable>(
    _ change: (inout RelayConfiguration) -> Void = { _ in }, _ body: (RunningRelay) async throws -> Result
) async throws -> Result {
    var configuration = RelayConfiguration(port: 0)
    change(&configuration)
    let ports = EventLog<Int>()
    var logger = Logger(label: "relay") { _ in SwiftLogNoOpLogHandler() }
    logger.logLevel = .critical
    let apiPorts = EventLog<Int>()
    let service = RelayService(
        configuration: configuration, logger: logger, onRunning: { ports.add($0) },
        onAPIRunning: { apiPorts.add($0) })
    let running = Task { try await service.run() }
    do {
        let port = try await ports.next { _ in true }
        let apiPort = configuration.api == nil ? 0 : try await apiPorts.next { _ in true }
        let result = try await body(RunningRelay(service: service, port: port, apiPort: apiPort))
        running.cancel()
        try await running.value
        return result
    } catch {
        running.cancel()
        _ = try? await running.value
        throw error
    }
}

struct RunningRelay: Sendable {
    struct StillOtherwise: Error {
        let statistics: RelayStatistics
    }

    let service: RelayService
    let port: Int
    /// 0 without an API.
    let apiPort: Int

    func url(_ name: String = "cam") -> RTMPURL {
        RTMPURL(scheme: .rtmp, host: "127.0.0.1", port: UInt16(port), app: "live", streamName: name)
    }

    func address(_ name: String = "cam") -> String { "rtmp://127.0.0.1:\(port)/live/\(name)" }

    func publish(_ name: String = "cam") async throws -> (RTMPPublisherConnection, PublisherLog) {
        let log = PublisherLog()
        let publisher = RTMPPublisherConnection.connect(url: url(name), delegate: log)
        try await log.log.next { $0 == .started }
        return (publisher, log)
    }

    func play(_ name: String = "cam") async throws -> (RTMPPlayerConnection, PlayerLog) {
        let log = PlayerLog()
        let player = RTMPPlayerConnection.connect(url: url(name), delegate: log)
        try await log.log.next { $0 == .started }
        return (player, log)
    }

    /// Asks the relay until it is so.
    func wait(_ condition: (RelayStatistics) -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < end {
            if condition(await service.statistics()) { return }
            try await Timers.loop.scheduleTask(in: .milliseconds(10)) {}.futureResult.get()
        }
        throw StillOtherwise(statistics: await service.statistics())
    }
}

final class PublisherLog: RTMPPublisherDelegate {
    enum Event: Sendable, Equatable {
        case started
        case asked(String?)
        case closed(RTMPTransportError)
    }

    let log = EventLog<Event>()

    func publisher(_ publisher: RTMPPublisherConnection, wasAskedToReconnectTo tcURL: String?) {
        log.add(.asked(tcURL))
    }

    func publisherStarted(_ publisher: RTMPPublisherConnection) { log.add(.started) }
    func publisherBecameWritable(_ publisher: RTMPPublisherConnection) {}
    func publisherClosed(_ publisher: RTMPPublisherConnection, error: RTMPTransportError) { log.add(.closed(error)) }

    func closed() async throws -> RTMPTransportError {
        guard case .closed(let error) = try await log.next({ if case .closed = $0 { true } else { false } }) else {
            preconditionFailure("the filter above")
        }
        return error
    }
}

final class PlayerLog: RTMPPlayerDelegate {
    enum Event: Sendable, Equatable {
        case started, ended
        case message(RTMPMessage)
        case closed(RTMPTransportError)
    }

    let log = EventLog<Event>()

    func playerStarted(_ player: RTMPPlayerConnection) { log.add(.started) }
    func player(_ player: RTMPPlayerConnection, received message: RTMPMessage) {
        // The relay's own |RtmpSampleAccess says nothing of the stream.
        if message.type == .dataAMF0, message.payload.starts(with: Body.string("|RtmpSampleAccess")) { return }
        log.add(.message(message))
    }
    func playerStreamEnded(_ player: RTMPPlayerConnection) { log.add(.ended) }
    func playerClosed(_ player: RTMPPlayerConnection, error: RTMPTransportError) { log.add(.closed(error)) }

    func message() async throws -> Sent {
        let event = try await log.next { if case .message = $0 { true } else { false } }
        guard case .message(let message) = event else { preconditionFailure("the filter above") }
        return Sent(message.type, message.timestamp, message.payload)
    }

    func messages(_ count: Int) async throws -> [Sent] {
        var messages: [Sent] = []
        for _ in 0..<count { messages.append(try await message()) }
        return messages
    }

    func closed() async throws -> RTMPTransportError {
        guard case .closed(let error) = try await log.next({ if case .closed = $0 { true } else { false } }) else {
            preconditionFailure("the filter above")
        }
        return error
    }
}

extension RTMPPublisherConnection {
    /// All in one batch.
    func send(_ messages: [Sent]) async throws {
        try await eventLoop.submit {
            for message in messages {
                _ = self.write(message.type, timestamp: message.time, payload: message.payload[...])
            }
            self.flush()
        }.get()
    }
}
