internal import NIOCore
internal import RTMP
internal import RTMPTransport

/// Sends as fast as the relay takes it, for as long as the meter wants. Confined to `loop`, which makes `@unchecked
/// Sendable` true.
final class UploadSender: RTMPPublisherDelegate, @unchecked Sendable {
    private static let period = TimeAmount.milliseconds(50)

    private let preamble: [ProbeStream.Message]
    /// Frames alone; begun again at their end, a stream of any length.
    private let frames: [ProbeStream.Message]
    private let limits: UploadMeter.Limits
    private let loop: any EventLoop
    private let start: EventLoopPromise<Void>
    private let end: EventLoopPromise<Void>
    private var meter: UploadMeter?
    private var next = 0
    private var written: UInt64 = 0
    private var looks: RepeatedTask?
    private var isClosed = false

    init(stream: ProbeStream, limits: UploadMeter.Limits, loop: any EventLoop) {
        preamble = stream.preamble
        frames = stream.frames.filter { $0.type == .video }
        self.limits = limits
        self.loop = loop
        start = loop.makePromise()
        end = loop.makePromise()
    }

    deinit {
        for promise in [start, end] { promise.fail(RTMPTransportError(.timedOut(.order))) }
    }

    func published(within limit: TimeAmount) async throws { try await start.wait(within: limit) }

    /// - Returns: nil when the relay acknowledged nothing.
    /// - Throws: `RTMPTransportError` when the connection ended meanwhile.
    func measure(_ publisher: RTMPPublisherConnection, within limit: TimeAmount) async throws -> RelayLink.Upload? {
        try await loop.submit { self.begin(publisher) }.get()
        do {
            try await end.wait(within: limit)
        } catch let error as RTMPTransportError where error.cause == .timedOut(.order) {
            // What came until now is a result, too: the line is as slow as that.
        }
        return try await loop.submit {
            self.looks?.cancel()
            return self.meter?.upload
        }.get()
    }

    private func begin(_ publisher: RTMPPublisherConnection) {
        // It may have closed since it began; `end` says why, and nobody would end the looks.
        guard !isClosed else { return }
        meter = UploadMeter(
            limits, acknowledged: publisher.metrics.bytesAcknowledged, at: NIODeadline.now().uptimeNanoseconds)
        for message in preamble {
            publisher.write(message.type, timestamp: message.timestamp, payload: message.body[...])
        }
        publisher.flush()
        looks = loop.scheduleRepeatedTask(initialDelay: Self.period, delay: Self.period) { _ in self.look(publisher) }
        fill(publisher)
    }

    private func look(_ publisher: RTMPPublisherConnection) {
        let now = NIODeadline.now().uptimeNanoseconds
        meter?.sampled(acknowledged: publisher.metrics.bytesAcknowledged, at: now)
        guard let meter, meter.isOver(written: written, at: now) else { return fill(publisher) }
        // TLS adds bytes: then the last few are not waited for.
        if publisher.metrics.bytesAcknowledged >= publisher.metrics.bytesWritten { end.succeed() }
    }

    private func fill(_ publisher: RTMPPublisherConnection) {
        guard let meter else { return }
        let now = NIODeadline.now().uptimeNanoseconds
        while publisher.isWritable, !meter.isOver(written: written, at: now) {
            let frame = frames[next % frames.count]
            let timestamp = UInt32(truncatingIfNeeded: next * 1000 / ProbeStream.frameRate)
            publisher.write(frame.type, timestamp: timestamp, payload: frame.body[...])
            written += UInt64(frame.body.count)
            next += 1
        }
        publisher.flush()
    }

    func publisherStarted(_ publisher: RTMPPublisherConnection) {
        start.succeed()
    }

    func publisherBecameWritable(_ publisher: RTMPPublisherConnection) {
        fill(publisher)
    }

    func publisherClosed(_ publisher: RTMPPublisherConnection, error: RTMPTransportError) {
        isClosed = true
        looks?.cancel()
        for promise in [start, end] { promise.fail(error) }
    }
}
