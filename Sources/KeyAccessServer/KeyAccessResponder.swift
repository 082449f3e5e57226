internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import KeyAccess
internal import Logging
internal import NIOCore

/// What Hummingbird gives each request, with the peer's address.
struct KeyAccessRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// Without port; all connections of one host share limits.
    let address: String

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        address = source.channel.remoteAddress?.ipAddress ?? "unknown"
    }
}

/// Between Hummingbird's requests and the endpoints'. Collects the body, within its limits of size and time.
struct KeyAccessResponder: HTTPResponder {
    let endpoints: KeyAccessEndpoints
    /// How long a client may take to send its body.
    var bodyDeadline = Duration.seconds(10)

    func respond(to request: Request, context: KeyAccessRequestContext) async throws -> Response {
        do {
            return Self.response(endpoints.answer(try await serviceRequest(request, context)), to: request)
        } catch let fault as ServiceFault {
            return Self.response(ServiceAnswer(fault), to: request)
        }
    }

    private func serviceRequest(
        _ request: Request, _ context: KeyAccessRequestContext
    ) async throws -> ServiceRequest {
        guard let method = ServiceRequest.Method(rawValue: request.method == .head ? "GET" : request.method.rawValue)
        else {
            throw ServiceFault.methodNotAllowed
        }
        var query: [String: String] = [:]
        for (name, value) in request.uri.queryParameters where query[String(name)] == nil {
            query[String(name)] = String(value)
        }
        var result = ServiceRequest(method: method, path: request.uri.path, query: query, address: context.address)
        let headers = request.headers
        result.authorization = headers[.authorization]
        result.dpop = headers[HTTPField.Name("DPoP")!]
        result.contentType = headers[.contentType]
        result.contentEncoding = headers[.contentEncoding]
        result.ifNoneMatch = headers[.ifNoneMatch]
        result.authority = request.head.authority
        if method == .post {
            if let length = headers[.contentLength].flatMap(Int.init), length > MessageContent.limit {
                throw ServiceFault.tooLarge("The body is longer than 1 MiB.")
            }
            result.body = try await collect(request.body)
        }
        return result
    }

    private func collect(_ body: RequestBody) async throws -> [UInt8] {
        try await withThrowingTaskGroup(of: [UInt8]?.self) { group in
            group.addTask {
                var buffer = try await body.collect(upTo: MessageContent.limit)
                return buffer.readBytes(length: buffer.readableBytes) ?? []
            }
            group.addTask { [bodyDeadline] in
                try await Task.sleep(for: bodyDeadline)
                return nil
            }
            defer { group.cancelAll() }
            do {
                guard let bytes = try await group.next() ?? nil else {
                    throw ServiceFault.invalidRequest("The body did not come in time.")
                }
                return bytes
            } catch is NIOTooManyBytesError {
                throw ServiceFault.tooLarge("The body is longer than 1 MiB.")
            } catch let error as any HTTPResponseError where error.status == .contentTooLarge {
                throw ServiceFault.tooLarge("The body is longer than 1 MiB.")
            }
        }
    }

    private static func response(_ answer: ServiceAnswer, to request: Request) -> Response {
        var headers: HTTPFields = [:]
        if answer.status != 304 { headers[.contentType] = answer.contentType.rawValue }
        headers[.cacheControl] = answer.maxAge.map { "max-age=\($0)" } ?? "no-store"
        headers[.xContentTypeOptions] = "nosniff"
        if let tag = answer.entityTag { headers[.eTag] = tag }
        if answer.status == 401 { headers[.wwwAuthenticate] = "Bearer" }
        let body: ResponseBody =
            answer.body.isEmpty || request.method == .head
            ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body))
        return Response(status: .init(code: answer.status), headers: headers, body: body)
    }
}
