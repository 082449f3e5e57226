/// A streamed request was answered, but with another status than 2xx.
public struct HTTPStatusError: Error, Equatable, Sendable {
    /// Complete, its body no longer than the request's `maximumResponseBytes`.
    public var response: HTTPResponse
}

extension HTTPStatusError: CustomStringConvertible {
    /// The status alone: the body may repeat a secret.
    public var description: String { "the server answered with status \(response.status)" }
}
