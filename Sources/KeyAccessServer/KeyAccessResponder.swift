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
            var complete = try Self.head(of: request, address: context.address)
            let admission = try endpoints.admit(complete).get()
            if complete.method == .post {
                complete.body = try await collect(request, limit: admission.bodyLimit)
            }
            return Self.response(endpoints.answer(complete, admission), to: request)
        } catch let fault as ServiceFault {
            return Self.response(ServiceAnswer(fault), to: request)
        }
    }

    private static func head(of request: Request, address: String) throws(ServiceFault) -> ServiceRequest {
        guard let method = ServiceRequest.Method(rawValue: request.method == .head ? "GET" : request.method.rawValue)
        else {
            throw .methodNotAllowed
        }
        var query: [String: String] = [:]
        for (name, value) in request.uri.queryParameters where query[String(name)] == nil {
            query[String(name)] = String(value)
        }
        var head = ServiceRequest(method: method, path: request.uri.path, query: query, address: address)
        head.authorization = request.headers[.authorization]
        head.dpop = request.headers[HTTPField.Name("DPoP")!]
        head.contentType = request.headers[.contentType]
        head.contentEncoding = request.headers[.contentEncoding]
        head.ifNoneMatch = request.headers[.ifNoneMatch]
        head.authority = request.head.authority
        return head
    }

    private func collect(_ request: Request, limit: Int) async throws -> [UInt8] {
        let tooLong = ServiceFault.tooLarge("The body is longer than \(limit) bytes.")
        if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > limit { throw tooLong }
        return try await withThrowingTaskGroup(of: [UInt8]?.self) { group in
            group.addTask {
                var buffer = try await request.body.collect(upTo: limit)
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
                throw tooLong
            } catch let error as any HTTPResponseError where error.status == .contentTooLarge {
                throw tooLong
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
