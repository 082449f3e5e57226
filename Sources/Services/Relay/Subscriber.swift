/// A subscriber's connection, as far as the hub's driver needs it while it hands out what a stream sends.
protocol SubscriberOutlet<Encoded>: AnyObject {
    associatedtype Encoded
    /// Sends at once. False, and nothing done, when something waits before it or there is no room.
    func offer(_ encoded: Encoded) -> Bool
}

extension StreamHub {
    /// One who plays. A reference, so that handing out a frame to a thousand of them looks nobody up.
    final class Subscriber {
        let id: ConnectionID
        let path: StreamPath
        var queue = SubscriberQueue<Encoded>()
        /// It stands in the ready list, or it waits for room in its connection.
        var isSignalled = false
        /// It waits for its turn to be given the rest of what it is to catch up on.
        var awaitsTurn = false
        /// It was informed that the stream ended.
        var wasSentEnd = false
        /// What its connection holds and how fast that goes; kept up while it is slow.
        var transit = Transit()
        /// Where what needs no queue goes; nil: everything goes through the queue.
        var outlet: (any SubscriberOutlet<Encoded>)?
        /// Another relay, which is no viewer.
        let isForward: Bool

        init(_ id: ConnectionID, path: StreamPath, isForward: Bool = false) {
            self.id = id
            self.path = path
            self.isForward = isForward
        }
    }
}
