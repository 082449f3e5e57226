/// RTMP's status codes for what the hub decides, and a message for whom it concerns.
extension StreamHub.PublishRejection {
    /// RTMP's status code, after which publishers choose when to come back.
    var code: String {
        switch self {
        case .nameTaken, .alreadyInUse: "NetStream.Publish.BadName"
        case .notAuthorised, .invalidName: "NetStream.Publish.Denied"
        // Means "later": publishers come back by themselves, as they would not after a denial.
        case .tooManyStreams: "NetStream.Publish.Failed"
        }
    }

    var message: String {
        switch self {
        case .nameTaken: "another publisher holds this name; stop it, or publish with the same key"
        case .notAuthorised: "authentication failed: publish as name?key=KEY with the key of this stream"
        case .invalidName: "the stream's name is empty, too long, or holds control characters"
        case .tooManyStreams: "this relay holds the maximum number of streams; try again later"
        case .alreadyInUse: "this connection publishes or plays already"
        }
    }
}

extension StreamHub.PlayRejection {
    /// Only a missing key is reported as such: a player comes back by itself after everything else.
    var code: String { self == .notAuthorised ? "NetStream.Play.Unauthorized" : "NetStream.Play.Failed" }

    var message: String {
        switch self {
        case .invalidName: "the stream's name is empty, too long, or holds control characters"
        case .tooManyAwaited: "no one publishes this stream, and enough clients wait for such streams; try again later"
        case .tooManySubscribers: "this stream has the maximum number of viewers; try again later"
        case .notAuthorised:
            "authentication failed: play with the key of this stream, or with a link that is still good"
        case .alreadyInUse: "this connection publishes or plays already"
        }
    }
}

extension StreamHub.CloseReason {
    var code: String {
        switch self {
        case .replaced: "NetStream.Publish.BadName"
        case .tooSlow: "NetStream.Play.Failed"
        case .waitedInVain: "NetStream.Play.StreamNotFound"
        }
    }

    var message: String {
        switch self {
        case .replaced: "another publisher took this name"
        case .tooSlow: "too far behind the live image"
        case .waitedInVain: "no one has published this stream; try again later"
        }
    }
}
