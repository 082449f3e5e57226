internal import ControlAPI
internal import ErrorCatalog
internal import HTTPTypes
internal import HummingbirdCore
internal import Logging
internal import NIOCore

/// Between Hummingbird's requests and the router's. What holds Hummingbird's writer runs where Hummingbird does.
struct Responder: Sendable {
    let configuration: APIServerConfiguration
    let router: APIRouter
    let connections: ConnectionTable
    let logger: Logger

    /// What is said to a request, and whether the connection can be used after that.
    private struct Answer {
        var response: APIResponse
        var closes = false
    }

    /// Ends the connection: Hummingbird goes on only after a return.
    private struct ConnectionEnd: Error {}

    @concurrent
    func respond(_ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel) async throws {
        guard let connection = connections[channel] else { throw ConnectionEnd() }
        connection.requestBegan()
        defer { connection.requestEnded() }
        if Self.expectsContinue(request), bodyIsAnnouncedTooLong(request) == false {
            try await writer.writeInformationalHead(HTTPResponse(status: .continue))
        }
        let body = RequestBodyReader(request.body)
        var answer = try await self.answer(request, body, connection)
        if case .events(let events) = answer.response.body, request.method != .head {
            guard connections.beginStream() else {
                answer.response = Self.problem(
                    .tooMuch, "\(configuration.maximumEventStreams) watchers listen already", status: 429)
                return try await send(answer, request, body, writer, connection)
            }
            defer { connections.endStream() }
            try await stream(events, head(answer.response, length: nil, closes: true), writer, connection)
            throw ConnectionEnd()
        }
        try await send(answer, request, body, writer, connection)
    }

    // MARK: the answer

    private func answer(
        _ request: Request, _ reader: RequestBodyReader, _ connection: Connection
    ) async throws -> Answer {
        guard connection.standing == .admitted else {
            let response = Self.problem(
                .tooMuch, "\(configuration.maximumConnections) connections are open already", status: 503)
            return Answer(response: response, closes: true)
        }
        let start = ContinuousClock.now
        let collected = try await collect(request, reader)
        guard case .bytes(let body) = collected else { return Answer(response: refusal(collected), closes: true) }
        var apiRequest: APIRequest
        switch apply(request, body, connection) {
        case .success(let value): apiRequest = value
        case .failure(let problem): return Answer(response: problem.response)
        }
        apiRequest.ifMatch = request.headers[.ifMatch]
        apiRequest.lastEventID = request.headers[.lastEventID]
        let rest = configuration.requestTimeout - (ContinuousClock.now - start)
        let response = await Self.within(rest) { [router, apiRequest] in await router.answer(apiRequest) }
        guard let response else {
            logger.warning(
                "A request took too long and was cancelled.",
                metadata: ["method": "\(apiRequest.method.rawValue)", "path": "\(apiRequest.path)"])
            let text = "the answer took longer than \(configuration.requestTimeout.components.seconds) s"
            return Answer(response: Self.problem(.unreachable, text, status: 504))
        }
        return Answer(response: response)
    }

    private func apply(
        _ request: Request, _ body: [UInt8], _ connection: Connection
    ) -> Result<APIRequest, Problem> {
        let target: RequestTarget
        do throws(CodedError) {
            target = try RequestTarget(request.head.path ?? "")
        } catch {
            return .failure(Problem(error))
        }
        let name = request.method == .head ? "GET" : request.method.rawValue
        guard let method = APIRequest.Method(rawValue: name) else {
            var problem = Problem(CodedError(.badRequest, "\(target.path) does not take this method"))
            problem.status = 405
            return .failure(problem)
        }
        guard connection.isLocal || (method == .get && target.path == "/metrics") else {
            return .failure(
                Problem(
                    CodedError(
                        .notFound, "there is no \(target.path) here", why: "over a network only /metrics is served")))
        }
        return .success(
            APIRequest(method, target.path, query: target.query, body: body, peer: connection.peer))
    }

    private enum Collected {
        case bytes([UInt8])
        case tooLong
        case late
    }

    private func collect(_ request: Request, _ reader: RequestBodyReader) async throws -> Collected {
        if bodyIsAnnouncedTooLong(request) { return .tooLong }
        guard request.headers[.contentLength] != nil || request.headers[.transferEncoding] != nil else {
            return .bytes([])
        }
        let limit = configuration.maximumBodyBytes
        let collected = try await Self.throwingWithin(configuration.requestTimeout) {
            var bytes: [UInt8] = []
            while let part = try await reader.next() {
                guard bytes.count + part.readableBytes <= limit else { return Collected.tooLong }
                bytes += part.readableBytesView
            }
            return .bytes(bytes)
        }
        return collected ?? .late
    }

    private func refusal(_ collected: Collected) -> APIResponse {
        if case .late = collected {
            return Self.problem(.badRequest, "the request's body did not come in time", status: 408)
        }
        let text = "the request's body is longer than \(configuration.maximumBodyBytes) bytes"
        return Self.problem(.tooMuch, text, status: 413)
    }

    private func bodyIsAnnouncedTooLong(_ request: Request) -> Bool {
        guard let length = request.headers[.contentLength] else { return false }
        return (Int(length) ?? .max) > configuration.maximumBodyBytes
    }

    private static func expectsContinue(_ request: Request) -> Bool {
        request.headers[.expect]?.lowercased() == "100-continue"
    }

    // MARK: sending

    @concurrent
    private func send(
        _ answer: Answer, _ request: Request, _ reader: RequestBodyReader, _ writer: consuming ResponseWriter,
        _ connection: Connection
    ) async throws {
        let body: [UInt8] =
            switch answer.response.body {
            case .none, .events: []
            case .json(let bytes), .bytes(let bytes, _): bytes
            case .text(let text, _): Array(text.utf8)
            }
        let head = head(answer.response, length: body.count, closes: answer.closes)
        let deadline = connection.closes(in: configuration.writeTimeout)
        defer { deadline.cancel() }
        if body.isEmpty || request.method == .head {
            try await writer.writeResponse(head)
        } else {
            try await writer.write(response: head, body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
        }
        guard answer.closes else { return }
        // What still comes is thrown away for a moment: a client that is cut off while it sends may never read why.
        try? await connection.channel.close(mode: .output).get()
        _ = try? await Self.throwingWithin(min(.seconds(1), configuration.writeTimeout)) {
            while try await reader.next() != nil {}
        }
        throw ConnectionEnd()
    }

    @concurrent
    private func stream(
        _ events: AsyncStream<ServerEvent>, _ head: HTTPResponse, _ writer: consuming ResponseWriter,
        _ connection: Connection
    ) async throws {
        connection.streamBegan()
        let body = EventWriter(
            body: try await writer.writeHead(head), connection: connection, timeout: configuration.writeTimeout)
        // So that a client knows at once that it is heard.
        try await body.ping()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for await event in events { try await body.write(event) } }
            group.addTask { [pingInterval = configuration.pingInterval] in
                while true {
                    try await Task.sleep(for: pingInterval)
                    try await body.ping()
                }
            }
            group.addTask { [connections] in await connections.stopping() }
            group.addTask { await connection.gone() }
            defer { group.cancelAll() }
            try await group.next()
        }
        try await body.finish()
    }

    private func head(_ response: APIResponse, length: Int?, closes: Bool) -> HTTPResponse {
        var head = HTTPResponse(status: .init(code: response.status))
        switch response.body {
        case .none: break
        case .json: head.headerFields[.contentType] = response.status >= 400 ? Self.problemType : "application/json"
        case .text(_, let type), .bytes(_, let type): head.headerFields[.contentType] = type
        case .events: head.headerFields[.contentType] = "text/event-stream"
        }
        if let length, response.status != 204, response.status != 304 {
            head.headerFields[.contentLength] = "\(length)"
        }
        head.headerFields[.cacheControl] = "no-store"
        head.headerFields[.xContentTypeOptions] = "nosniff"
        // From a handler's value to a header: what is not a header value is left out by HTTPTypes.
        if let tag = response.eTag { head.headerFields[.eTag] = tag }
        if let location = response.location { head.headerFields[.location] = location }
        if closes { head.headerFields[.connection] = "close" }
        return head
    }

    private static let problemType = "application/problem+json"

    private static func problem(_ code: ErrorCode, _ text: String, status: Int) -> APIResponse {
        var problem = Problem(CodedError(code, text))
        problem.status = status
        return problem.response
    }

    // MARK: time

    /// Nil when the time is over; the work is cancelled then, and waited for.
    private static func within<Value: Sendable>(
        _ time: Duration, _ work: @escaping @Sendable () async -> Value
    ) async -> Value? {
        try? await throwingWithin(time, work)
    }

    private static func throwingWithin<Value: Sendable>(
        _ time: Duration, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value? {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await work() }
            group.addTask {
                try await Task.sleep(for: time)
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }
}

/// A request's body, which Hummingbird lets be iterated once: what collects it and what throws the rest away share
/// this.
///
/// - Note: `@unchecked Sendable`: one task at a time calls `next`, and the one before has ended by then.
private final class RequestBodyReader: @unchecked Sendable {
    private var iterator: RequestBody.AsyncIterator

    init(_ body: RequestBody) {
        iterator = body.makeAsyncIterator()
    }

    @concurrent
    func next() async throws -> ByteBuffer? {
        var iterator = iterator
        defer { self.iterator = iterator }
        return try await iterator.next()
    }
}

extension HTTPField.Name {
    fileprivate static let lastEventID = Self("Last-Event-ID")!
}
