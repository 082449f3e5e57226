/// What the hub wants of its driver, and why.
extension StreamHub {
    enum Action: Equatable, Sendable {
        case acceptPublish(ConnectionID)
        case rejectPublish(ConnectionID, PublishRejection)
        case acceptPlay(ConnectionID)
        case rejectPlay(ConnectionID, PlayRejection)
        /// StreamEOF and UnpublishNotify; the connection stays open.
        case announceEnd(ConnectionID)
        /// StreamBegin and PublishNotify to one that was informed of the end, or that waits.
        case announceStart(ConnectionID)
        case close(ConnectionID, CloseReason)
    }

    enum PublishRejection: Equatable, Sendable {
        /// Another publisher holds the name and is alive.
        case nameTaken
        case notAuthorised
        case invalidName(StreamPath.Fault)
        /// The relay holds the maximum number of streams.
        case tooManyStreams
        /// This connection publishes or plays already.
        case alreadyInUse
    }

    enum PlayRejection: Equatable, Sendable {
        case invalidName(StreamPath.Fault)
        /// Nobody publishes it, and as many names or players are waited for as may be.
        case tooManyAwaited
        case tooManySubscribers
        case notAuthorised
        case alreadyInUse
    }

    enum CloseReason: Equatable, Sendable {
        /// A publisher with a better claim took the name.
        case replaced
        /// A subscriber that is too far behind.
        case tooSlow
        /// A subscriber for whose stream nobody came.
        case waitedInVain
    }
}
