internal import NIOCore
internal import RTMP
internal import RTMPTransport

/// Keeps what a player gets. Confined to `loop`, which makes `@unchecked Sendable` true.
final class ProbeReceiver: RTMPPlayerDelegate, @unchecked Sendable {
    /// A probe is short; a relay that sends more than this plays something else.
    private static let maxMessages = 4096

    private let loop: any EventLoop
    private let start: EventLoopPromise<Void>
    private let enough: EventLoopPromise<Void>
    private var kept: [ProbeStream.Message] = []
    private var frames = 0
    private var requested = Int.max
    private var startedAt: NIODeadline?
    private var keyFrameAt: NIODeadline?

    init(loop: any EventLoop) {
        self.loop = loop
        start = loop.makePromise()
        enough = loop.makePromise()
    }

    deinit {
        // Whoever still waited is gone with us; a promise must not be left open.
        start.fail(RTMPTransportError(.timedOut(.order)))
        enough.fail(RTMPTransportError(.timedOut(.order)))
    }

    func started(within limit: TimeAmount) async throws { try await start.wait(within: limit) }

    func received(frames count: Int, within limit: TimeAmount) async throws {
        loop.execute {
            self.requested = count
            if self.frames >= count { self.enough.succeed() }
        }
        try await enough.wait(within: limit)
    }

    func messages() async -> [ProbeStream.Message] {
        (try? await loop.submit { self.kept }.get()) ?? []
    }

    func millisecondsToKeyFrame() async -> Double? {
        (try? await loop.submit {
            guard let startedAt = self.startedAt, let keyFrameAt = self.keyFrameAt else { return nil }
            return Double((keyFrameAt - startedAt).nanoseconds) / 1_000_000
        }.get()) ?? nil
    }

    func playerStarted(_ player: RTMPPlayerConnection) {
        startedAt = startedAt ?? .now()
        start.succeed()
    }

    func player(_ player: RTMPPlayerConnection, received message: RTMPMessage) {
        guard kept.count < Self.maxMessages else { return }
        let copy = ProbeStream.Message(type: message.type, timestamp: message.timestamp, body: message.payload)
        kept.append(copy)
        guard RelayFindings.isFrame(copy) else { return }
        frames += 1
        if keyFrameAt == nil, copy.type == .video, copy.body.first == 0x17 { keyFrameAt = .now() }
        if frames >= requested { enough.succeed() }
    }

    func playerClosed(_ player: RTMPPlayerConnection, error: RTMPTransportError) {
        start.fail(error)
        enough.fail(error)
    }
}
