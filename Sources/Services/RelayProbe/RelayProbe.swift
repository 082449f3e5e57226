internal import NIOCore
public import RTMP
public import RTMPTransport

/// Publishes a short sealed stream to a relay, plays it back twice, and says what the relay did to it.
public struct RelayProbe: Sendable {
    public enum Step: String, Codable, Sendable, CaseIterable {
        case publishing = "publishing a sealed stream"
        case playing = "playing it back"
        case joiningLate = "joining late"
        case comparing = "comparing every byte"
    }

    private static let seconds = 3.0
    private static let timeout = TimeAmount.seconds(8)
    /// Before a name is used again.
    private static let pause = Duration.seconds(1)
    /// Of a name that is still taken.
    private static let retries = 2

    private let url: RTMPURL
    private let tls: RTMPClientTLS
    private let ownsName: Bool

    /// - Parameters:
    ///   - url: where to publish; nobody else should be using its name.
    ///   - ownsName: the stream's name was made up for this test, and another one does as well.
    public init(url: RTMPURL, tls: RTMPClientTLS = RTMPClientTLS(), ownsName: Bool = false) {
        self.url = url
        self.tls = tls
        self.ownsName = ownsName
    }

    /// - Throws: `RTMPTransportError` when the relay cannot be reached or refuses the publication.
    public func run(progress: @Sendable (Step) -> Void) async throws -> RelayFindings {
        var findings = try await run(try ProbeStream(seconds: Self.seconds), to: url, progress)
        guard findings.verdict == .cannotCarry else { return findings }
        do {
            var wrapped = try await runWrapped(progress)
            guard wrapped.verdict != .cannotCarry else { return findings }
            wrapped.concludeWrapped()
            return wrapped
        } catch let error as RTMPTransportError {
            findings.reason +=
                ". Whether it passes frames in the shape of NAL units could not be tested: \(error.what) (\(error.why))"
            return findings
        }
    }

    /// A relay that disconnects a publisher may hold its name for a moment longer, and its frames for the next player.
    private func runWrapped(_ progress: @Sendable (Step) -> Void) async throws -> RelayFindings {
        let stream = try ProbeStream(seconds: Self.seconds, isWrapped: true)
        guard !ownsName else {
            var other = url
            let query = url.streamName.dropFirst(url.streamPath.count)
            other.streamName = "\(url.streamPath)-2\(query)"
            return try await run(stream, to: other, progress)
        }
        for _ in 0..<Self.retries {
            try await Task.sleep(for: Self.pause)
            do {
                return try await run(stream, to: url, progress)
            } catch let error as RTMPTransportError where error.cause == .session(.badName) {
                continue
            }
        }
        try await Task.sleep(for: Self.pause)
        return try await run(stream, to: url, progress)
    }

    private func run(
        _ stream: ProbeStream, to url: RTMPURL, _ progress: @Sendable (Step) -> Void
    ) async throws -> RelayFindings {
        let loop = RTMPEventLoop.shared
        var findings = RelayFindings()
        progress(.publishing)
        let begin = NIODeadline.now()
        let sender = ProbeSender(stream: stream, loop: loop)
        let publisher = RTMPPublisherConnection.connect(url: url, tls: tls, on: loop, delegate: sender)
        do {
            try await sender.published(within: Self.timeout)
        } catch {
            await publisher.stop()
            throw error
        }
        findings.publishMilliseconds = Self.milliseconds(since: begin)
        progress(.playing)
        let early = ProbeReceiver(loop: loop)
        let player = RTMPPlayerConnection.connect(url: url, tls: tls, on: loop, delegate: early)
        // A relay that accepts no player at all is a finding, not a failure: the publisher goes on.
        try? await early.started(within: Self.timeout)
        try? await loop.submit { sender.begin(publisher) }.get()
        try? await sender.halfSent(within: Self.timeout)
        progress(.joiningLate)
        let late = ProbeReceiver(loop: loop)
        let latePlayer = RTMPPlayerConnection.connect(url: url, tls: tls, on: loop, delegate: late)
        try? await sender.allSent(within: Self.timeout)
        // What a relay has not passed on when it disconnects the publisher, it will not.
        let rest = await sender.endReason() == nil ? Self.timeout : .seconds(1)
        try? await early.received(frames: stream.frames.count, within: rest)
        progress(.comparing)
        let round = try? await loop.submit { publisher.metrics.pingRoundTrip }.get()
        findings.roundTripMilliseconds = (round ?? nil).map { Double($0) / 1_000_000 }
        await player.stop()
        await latePlayer.stop()
        await publisher.stop()
        findings.lateJoinerMilliseconds = await late.millisecondsToKeyFrame()
        findings.evaluate(sent: stream, early: await early.messages(), late: await late.messages())
        if let ended = await sender.endReason() {
            findings.verdict = .cannotCarry
            findings.reason =
                "the relay disconnected the publisher (\(ended.why)): it parses frames, and sealed ones "
                + "are not for parsing. Use another relay"
        }
        return findings
    }

    private static func milliseconds(since begin: NIODeadline) -> Double {
        Double((NIODeadline.now() - begin).nanoseconds) / 1_000_000
    }
}
