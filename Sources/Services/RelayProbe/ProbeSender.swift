internal import NIOCore
internal import RTMP
internal import RTMPTransport

/// Sends the stream in real time. Confined to `loop`, which makes `@unchecked Sendable` true.
final class ProbeSender: RTMPPublisherDelegate, @unchecked Sendable {
    private let stream: ProbeStream
    private let loop: any EventLoop
    private let start: EventLoopPromise<Void>
    private let half: EventLoopPromise<Void>
    private let all: EventLoopPromise<Void>
    private var next = 0
    private var ticks: RepeatedTask?
    private var closed: RTMPTransportError?

    init(stream: ProbeStream, loop: any EventLoop) {
        self.stream = stream
        self.loop = loop
        start = loop.makePromise()
        half = loop.makePromise()
        all = loop.makePromise()
    }

    deinit {
        for promise in [start, half, all] { promise.fail(RTMPTransportError(.timedOut(.order))) }
    }

    func published(within limit: TimeAmount) async throws { try await start.wait(within: limit) }
    func halfSent(within limit: TimeAmount) async throws { try await half.wait(within: limit) }
    func allSent(within limit: TimeAmount) async throws { try await all.wait(within: limit) }

    /// Why the relay ended the publication; nil when it did not.
    func endReason() async -> RTMPTransportError? {
        (try? await loop.submit { self.closed }.get()) ?? nil
    }

    /// On the loop.
    func begin(_ publisher: RTMPPublisherConnection) {
        guard closed == nil else { return }
        for message in stream.preamble { write(message, publisher) }
        publisher.flush()
        let period = TimeAmount.milliseconds(Int64(1000 / ProbeStream.frameRate))
        ticks = loop.scheduleRepeatedTask(initialDelay: .zero, delay: period) { _ in self.tick(publisher) }
    }

    private func tick(_ publisher: RTMPPublisherConnection) {
        guard next < stream.frames.count else {
            ticks?.cancel()
            all.succeed()
            return
        }
        guard publisher.isWritable else { return }
        let timestamp = stream.frames[next].timestamp
        while next < stream.frames.count, stream.frames[next].timestamp == timestamp {
            write(stream.frames[next], publisher)
            next += 1
        }
        publisher.flush()
        if next >= stream.frames.count / 2 { half.succeed() }
    }

    private func write(_ message: ProbeStream.Message, _ publisher: RTMPPublisherConnection) {
        publisher.write(message.type, timestamp: message.timestamp, payload: message.body[...])
    }

    func publisherStarted(_ publisher: RTMPPublisherConnection) {
        start.succeed()
    }

    func publisherBecameWritable(_ publisher: RTMPPublisherConnection) {}

    func publisherClosed(_ publisher: RTMPPublisherConnection, error: RTMPTransportError) {
        closed = error
        ticks?.cancel()
        for promise in [start, half, all] { promise.fail(error) }
    }
}

extension EventLoopPromise<Void> {
    /// - Throws: what it failed with, or `RTMPTransportError` when the limit passed first.
    func wait(within limit: TimeAmount) async throws {
        let deadline = futureResult.eventLoop.scheduleTask(in: limit) {
            self.fail(RTMPTransportError(.timedOut(.order)))
        }
        defer { deadline.cancel() }
        try await futureResult.get()
    }
}
