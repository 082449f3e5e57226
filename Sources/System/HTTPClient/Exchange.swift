internal import Platform

/// One request between its caller and the worker thread.
final class Exchange: Sendable {
    typealias Outcome = Result<HTTPResponse, HTTPClientError>

    let request: HTTPRequest
    /// Where the body goes piece by piece; nil when the caller waits for all of it.
    let stream: BodyStream?
    /// Once it is given, the result is not needed any more.
    let answer = OneAnswer<Outcome>()

    init(_ request: HTTPRequest, stream: BodyStream? = nil) {
        self.request = request
        self.stream = stream
    }

    func finish(_ outcome: Outcome) {
        answer.give(outcome)
        // The first outcome counts there as well.
        stream?.end(outcome)
    }
}
