import Logging
import NIOCore
import RTMPTransport
import Testing

@testable import CameraPipeline

@Suite(.timeLimit(.minutes(15))) struct CameraPumpTests {
    private let crypto = MarkingCrypto()
    private let source = ScriptedSource([])

    private func pump() -> CameraPump {
        let channel = FrameChannel(FrameQueue())
        return CameraPump(
            eventLoop: RTMPEventLoop.shared, channel: channel, runner: SourceRunner(source, into: channel),
            sealer: StreamSealer(), needsCollection: true, clock: StreamClock(), monitor: CameraMonitor(logger: quiet),
            frameLog: nil)
    }

    @Test func `a wait for a collection ends when there is one, and at once when there was`() async {
        let pump = pump()
        async let outcome = pump.awaitCollection()
        await pump.offer(crypto.collection())
        guard case .ready = await outcome else {
            Issue.record("it went on waiting")
            return
        }
        guard case .ready = await pump.awaitCollection() else {
            Issue.record("it waits for what is there")
            return
        }
    }

    @Test func `a collection does not cut a pause between two attempts short`() async {
        let pump = pump()
        let waiting = Task { await pump.pause(nanoseconds: 600_000_000_000) }
        for _ in 0..<100 { await pump.offer(crypto.collection()) }
        waiting.cancel()
        guard case .cancelled = await waiting.value else {
            Issue.record("the pause ended before its time")
            return
        }
    }

    @Test func `a pause ends when its time is over`() async {
        guard case .ready = await pump().pause(nanoseconds: 1_000_000) else {
            Issue.record("ended by something else")
            return
        }
    }

    @Test func `once cancelled, every further wait ends at once`() async {
        let pump = pump()
        let waiting = Task { await pump.pause(nanoseconds: 600_000_000_000) }
        waiting.cancel()
        _ = await waiting.value
        guard case .cancelled = await pump.awaitCollection() else {
            Issue.record("it waits although the camera is stopped")
            return
        }
    }

    @Test func `a new key of the KAS forgets what was prepared and asks for a key frame`() async {
        let pump = pump()
        await pump.offer(crypto.collection())
        #expect(await pump.stock(madeBefore: 0).ready == 1)
        await pump.replaceCollections()
        #expect(await pump.stock(madeBefore: 0).ready == 0)
        #expect(source.keyFrameRequests == 1)
    }
}
