public import ControlAPI
internal import HTTPClient
internal import Synchronization
internal import Wire

/// Asks a daemon of this box over its Unix socket; of another box, when ssh forwards it.
///
/// A path comes from `APIPath`: what a person typed stays one part of it.
public struct ControlClient: Sendable {
    /// Without a user's `--socket`.
    public static let defaultSocketPath = "/run/watchbox/api.sock"

    /// For a camera's socket: its answers are short, and a camera's process that was broken into answers what it likes.
    public static let cameraAnswerBytes = 64 << 10

    /// One for the process: its thread and its connections serve all sockets.
    static let http = HTTPClient(configuration: .init(maximumRequests: 256))

    public var socketPath: String
    /// How long a daemon may take to answer what changes nothing.
    public var readTimeout: Duration
    /// How long it may take for a change; the daemon itself gives up after 30 s and says so.
    public var changeTimeout: Duration
    /// The longest silence on a stream of events; the daemon sends a sign of life every 15 s.
    public var silenceTimeout: Duration
    /// The longest answer that is read, in bytes; of all but streams.
    public var maximumAnswerBytes: Int
    /// The user who has to own the socket's file, which is the one who listens; nil: any. For sockets in a directory
    /// where several users may make one.
    public var socketOwner: UInt32?
    /// Leads to the socket of another machine, instead of `socketPath`; nil: this machine's.
    public var forward: SSHForward?

    public init(
        socketPath: String = ControlClient.defaultSocketPath, readTimeout: Duration = .seconds(5),
        changeTimeout: Duration = .seconds(35), silenceTimeout: Duration = .seconds(45),
        maximumAnswerBytes: Int = 16 << 20, socketOwner: UInt32? = nil
    ) {
        self.socketPath = socketPath
        self.readTimeout = readTimeout
        self.changeTimeout = changeTimeout
        self.silenceTimeout = silenceTimeout
        self.maximumAnswerBytes = maximumAnswerBytes
        self.socketOwner = socketOwner
    }

    public func get<Document: Decodable>(
        _ type: Document.Type, _ path: String, query: [(String, String)] = []
    ) async throws(ControlClientError) -> Document {
        try await getTagged(type, path, query: query).document
    }

    /// With the tag that a change of this very version wants as `ifMatch`.
    public func getTagged<Document: Decodable>(
        _ type: Document.Type, _ path: String, query: [(String, String)] = []
    ) async throws(ControlClientError) -> (document: Document, eTag: String?) {
        let response = try await answer(.get, path, query)
        return (try Self.decode(type, response), response.header("ETag"))
    }

    /// - Parameters:
    ///   - body: nil for a request without one.
    ///   - ifMatch: of `getTagged`; the daemon refuses (412) when the object has changed since.
    public func send<Document: Decodable>(
        _ method: APIRequest.Method, _ path: String, body: (any Encodable)? = nil, query: [(String, String)] = [],
        ifMatch: String? = nil, as type: Document.Type
    ) async throws(ControlClientError) -> Document {
        try Self.decode(type, try await answer(method, path, query, body.map { JSONDocument.bytes($0) }, ifMatch))
    }

    /// For what is answered without a document, or with one that is not needed.
    public func send(
        _ method: APIRequest.Method, _ path: String, body: (any Encodable)? = nil, query: [(String, String)] = [],
        ifMatch: String? = nil
    ) async throws(ControlClientError) {
        _ = try await answer(method, path, query, body.map { JSONDocument.bytes($0) }, ifMatch)
    }

    /// An answer that is a file: a frame.
    public func bytes(_ path: String, query: [(String, String)] = []) async throws(ControlClientError) -> [UInt8] {
        try await answer(.get, path, query).body
    }

    /// An answer that is text: metrics, TOML, the OpenAPI document.
    public func text(_ path: String, query: [(String, String)] = []) async throws(ControlClientError) -> String {
        let response = try await answer(.get, path, query)
        guard let text = String(validating: response.body, as: UTF8.self) else {
            throw .invalidAnswer(path: socketPath, why: "the answer is not UTF-8")
        }
        return text
    }

    /// Server-sent events as they happen, until the daemon ends them (it stops) or the reader does. The request begins
    /// at once. Throws `ControlClientError` from the stream.
    ///
    /// - Parameters:
    ///   - topics: none for all of them.
    ///   - lastEventID: of the last event that was seen, to receive what came after it.
    public func events(
        _ path: String = APIPath.events(), topics: [String] = [], query: [(String, String)] = [],
        lastEventID: String? = nil
    ) -> AsyncThrowingStream<ServerEvent, any Error> {
        let query = topics.isEmpty ? query : [("topics", topics.joined(separator: ","))] + query
        let request: HTTPRequest
        let owned: OwnedSocket?
        if let forward { return events(through: forward, path, query, lastEventID) }
        do throws(ControlClientError) {
            owned = try ownedSocket()
            var headers = [HTTPHeader("Accept", "text/event-stream")]
            if let lastEventID { headers.append(HTTPHeader("Last-Event-ID", lastEventID)) }
            request = try self.request(.get, path, query, nil, headers, owned, timeout: silenceTimeout)
        } catch {
            return AsyncThrowingStream { throw error }
        }
        let reader = EventReader(Self.http.stream(request))
        return AsyncThrowingStream {
            defer { withExtendedLifetime(owned) {} }
            do {
                return try await reader.next()
            } catch {
                throw self.error(of: error, after: silenceTimeout)
            }
        }
    }

    /// As above, once ssh is ready.
    private func events(
        through forward: SSHForward, _ path: String, _ query: [(String, String)], _ lastEventID: String?
    ) -> AsyncThrowingStream<ServerEvent, any Error> {
        let begun = Begun()
        return AsyncThrowingStream {
            let local = try await forward.localPath()
            do {
                return try await begun.next {
                    var client = self
                    (client.forward, client.socketPath) = (nil, local)
                    return client.events(path, query: query, lastEventID: lastEventID)
                }
            } catch {
                throw (error as? ControlClientError).map { self.error(through: forward, $0) } ?? error
            }
        }
    }

    /// A stream that begins when it is read.
    private final class Begun: Sendable {
        private let stream = Mutex<AsyncThrowingStream<ServerEvent, any Error>?>(nil)

        func next(
            of begin: () -> AsyncThrowingStream<ServerEvent, any Error>
        ) async throws -> ServerEvent? {
            let stream = stream.withLock { known in
                let stream = known ?? begin()
                known = stream
                return stream
            }
            var iterator = stream.makeAsyncIterator()
            return try await iterator.next(isolation: nil)
        }
    }

    private func answer(
        _ method: APIRequest.Method, _ path: String, _ query: [(String, String)], _ body: [UInt8]? = nil,
        _ ifMatch: String? = nil
    ) async throws(ControlClientError) -> HTTPResponse {
        if let forward {
            var client = self
            (client.forward, client.socketPath) = (nil, try await forward.localPath())
            do throws(ControlClientError) {
                return try await client.answer(method, path, query, body, ifMatch)
            } catch {
                throw self.error(through: forward, error)
            }
        }
        var headers: [HTTPHeader] = []
        if let ifMatch { headers.append(HTTPHeader("If-Match", ifMatch)) }
        let timeout = method == .get ? readTimeout : changeTimeout
        let owned = try ownedSocket()
        defer { withExtendedLifetime(owned) {} }
        let request = try self.request(method, path, query, body, headers, owned, timeout: timeout)
        let response: HTTPResponse
        do throws(HTTPClientError) {
            response = try await Self.http.send(request)
        } catch {
            throw self.error(of: error, after: timeout)
        }
        guard (200...299).contains(response.status) else { throw refusal(response) }
        return response
    }

    private func ownedSocket() throws(ControlClientError) -> OwnedSocket? {
        guard let socketOwner else { return nil }
        return try OwnedSocket(path: socketPath, owner: socketOwner)
    }

    private func request(
        _ method: APIRequest.Method, _ path: String, _ query: [(String, String)], _ body: [UInt8]?,
        _ headers: [HTTPHeader], _ owned: OwnedSocket?, timeout: Duration
    ) throws(ControlClientError) -> HTTPRequest {
        guard let url = URLText.url(path, query) else { throw .invalidPath(path) }
        let method: HTTPRequest.Method =
            switch method {
            case .get: .get
            case .post: .post
            case .put: .put
            case .patch: .patch
            case .delete: .delete
            }
        let type = body == nil ? [] : [HTTPHeader("Content-Type", "application/json")]
        var request = HTTPRequest(
            method: method, url: url, headers: headers + type, body: body ?? [], connectTimeout: readTimeout,
            totalTimeout: timeout, maximumResponseBytes: maximumAnswerBytes,
            unixSocketPath: owned?.path ?? socketPath)
        request.sharesConnection = owned == nil
        return request
    }

    private static func decode<Document: Decodable>(
        _ type: Document.Type, _ response: HTTPResponse
    ) throws(ControlClientError) -> Document {
        do {
            return try JSONDocument.decode(type, from: response.body)
        } catch {
            throw .invalidAnswer(path: nil, why: "it is not a valid \(type): \(error)")
        }
    }

    private func refusal(_ response: HTTPResponse) -> ControlClientError {
        if let problem = try? JSONDocument.decode(Problem.self, from: response.body) { return .problem(problem) }
        return .invalidAnswer(path: socketPath, why: "status \(response.status) without a reason")
    }

    private func error(of error: any Error, after timeout: Duration) -> ControlClientError {
        switch error {
        case let error as ControlClientError: error
        case let error as HTTPStatusError: refusal(error.response)
        case HTTPClientError.unreachable(_, let reason): SocketProbe.error(socketPath, reason)
        case HTTPClientError.connectTimedOut, HTTPClientError.timedOut: .timedOut(path: socketPath, after: timeout)
        case HTTPClientError.connectionLost(_, let reason): .unreachable(path: socketPath, why: reason)
        case HTTPClientError.cancelled: .cancelled
        case let error as HTTPClientError: .invalidAnswer(path: socketPath, why: "\(error)")
        default: .invalidAnswer(path: socketPath, why: "\(error)")
        }
    }

    /// This end of the connection is nothing that a person knows.
    private func error(through forward: SSHForward, _ error: ControlClientError) -> ControlClientError {
        let place = "\(forward.socket) of \(forward.host)"
        return switch error {
        case .unreachable(_, let why):
            if let status = forward.endStatus {
                .forward(.ended(forward.host, status: status))
            } else {
                .unreachable(path: place, why: why)
            }
        case .denied: .denied(path: place)
        case .timedOut(_, let after): .timedOut(path: place, after: after)
        case .invalidAnswer(_, let why): .invalidAnswer(path: place, why: why)
        default: error
        }
    }
}
