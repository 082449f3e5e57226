internal import NIOCore
internal import RTMP

/// Answers and other control output of one connection that its peer has not taken.
///
/// Media wait for `isWritable`, but an answer follows from what the peer sends: one that sends and never reads would
/// fill the memory behind the socket without an end.
///
/// Confined to the connection's event loop, which makes `@unchecked Sendable` true.
final class PendingAnswers: @unchecked Sendable {
    /// Far more than the answers of any honest peer.
    static let maxCount = 1 << 20

    private(set) var bytes = 0
    private let limit: Int

    init(writeHighWater: Int) {
        limit = writeHighWater + Self.maxCount
    }

    /// What becomes of it is to be reported to the promise: written, or lost with the connection.
    func wrote(_ count: Int, on eventLoop: any EventLoop) -> EventLoopPromise<Void> {
        bytes += count
        let promise = eventLoop.makePromise(of: Void.self)
        promise.futureResult.whenComplete { _ in self.bytes -= count }
        return promise
    }

    /// Nil while the peer keeps up.
    var fault: RTMPTransportError? {
        bytes > limit ? RTMPTransportError(.session(.answersUnread(bytes: bytes))) : nil
    }
}
