import NIOCore
import RTMP
import RTMPTransport
import Testing

@testable import RelayProbe

@Suite(.timeLimit(.minutes(15))) struct UploadSenderTests {
    /// Of a connection that is only written to: the sender hears what the test passes to it.
    private final class Deaf: RTMPPublisherDelegate {
        func publisherStarted(_ publisher: RTMPPublisherConnection) {}
        func publisherBecameWritable(_ publisher: RTMPPublisherConnection) {}
        func publisherClosed(_ publisher: RTMPPublisherConnection, error: RTMPTransportError) {}
    }

    private struct Observed {
        weak var sender: UploadSender?
        var error: RTMPTransportError?
    }

    /// A relay that takes the publisher and is gone before the measuring begins.
    private func measureAfterEnd(_ loop: any EventLoop) async throws -> Observed {
        let sender = UploadSender(
            stream: try ProbeStream(seconds: 1), limits: .init(bytes: 1_000_000, time: 3_000_000_000), loop: loop)
        let url = RTMPURL(scheme: .rtmp, host: "127.0.0.1", port: 1, app: "live", streamName: "test")
        let publisher = RTMPPublisherConnection.connect(url: url, on: loop, delegate: Deaf())
        try await loop.submit {
            sender.publisherStarted(publisher)
            sender.publisherClosed(publisher, error: RTMPTransportError(.connectionLost("gone")))
        }.get()
        var observed = Observed(sender: sender)
        do {
            _ = try await sender.measure(publisher, within: .seconds(30))
        } catch let error as RTMPTransportError {
            observed.error = error
        }
        await publisher.stop()
        return observed
    }

    @Test func `nothing of a measurement is left when the relay closed before it began`() async throws {
        let loop = RTMPEventLoop.shared
        let observed = try await measureAfterEnd(loop)
        #expect(observed.error?.cause == .connectionLost("gone"))
        // What else holds it lets go with the loop's next turns; a timer never would.
        for _ in 0..<100 where observed.sender != nil {
            try await loop.scheduleTask(in: .milliseconds(10)) {}.futureResult.get()
        }
        let isLeft = observed.sender != nil
        #expect(!isLeft)
    }
}
