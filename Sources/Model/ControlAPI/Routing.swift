public import ErrorCatalog

/// One request to an API, apart from how it came: the same handlers answer the Unix socket and the tests.
public struct APIRequest: Sendable {
    public enum Method: String, Sendable, CaseIterable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case patch = "PATCH"
        case delete = "DELETE"
    }

    /// Who asks, as the kernel says (`SO_PEERCRED`).
    public struct Peer: Equatable, Sendable {
        public var processIdentifier: Int32
        public var userIdentifier: UInt32
        public var groupIdentifier: UInt32
        /// May change things: uid 0, the daemon's own user, or a member of the group `watchbox`.
        public var isAdministrator: Bool

        public init(
            processIdentifier: Int32, userIdentifier: UInt32, groupIdentifier: UInt32, isAdministrator: Bool
        ) {
            self.processIdentifier = processIdentifier
            self.userIdentifier = userIdentifier
            self.groupIdentifier = groupIdentifier
            self.isAdministrator = isAdministrator
        }
    }

    public var method: Method
    /// Without the query, percent-decoded in its parts: `/api/v1/cameras/front`.
    public var path: String
    /// The values of the route's `{name}` parts.
    public var parameters: [String: String]
    public var query: [String: String]
    /// At most 1 MiB.
    public var body: [UInt8]
    public var ifMatch: String?
    /// Of a server-sent-events client that comes back.
    public var lastEventID: String?
    public var peer: Peer

    public init(
        _ method: Method, _ path: String, parameters: [String: String] = [:], query: [String: String] = [:],
        body: [UInt8] = [], ifMatch: String? = nil, lastEventID: String? = nil, peer: Peer
    ) {
        self.method = method
        self.path = path
        self.parameters = parameters
        self.query = query
        self.body = body
        self.ifMatch = ifMatch
        self.lastEventID = lastEventID
        self.peer = peer
    }

    /// The body as a document. Throws `WB-8006` that names the field.
    public func decode<Document: Decodable>(_ type: Document.Type) throws(CodedError) -> Document {
        do {
            return try JSONDocument.decode(type, from: body)
        } catch {
            throw CodedError(.badRequest, "the request's body is not as expected", why: JSONDocument.reason(error))
        }
    }
}

/// One answer.
public struct APIResponse: Sendable {
    public enum Body: Sendable {
        case none
        case json([UInt8])
        /// With its media type.
        case text(String, type: String)
        case bytes([UInt8], type: String)
        /// `text/event-stream`, until the client goes or the stream ends; bounded by its producer.
        case events(AsyncStream<ServerEvent>)
    }

    public var status: Int
    public var body: Body
    public var eTag: String?
    public var location: String?

    public init(status: Int = 200, body: Body = .none, eTag: String? = nil, location: String? = nil) {
        self.status = status
        self.body = body
        self.eTag = eTag
        self.location = location
    }

    /// A document, with sorted keys.
    public static func document(
        _ document: some Encodable, status: Int = 200, eTag: String? = nil, location: String? = nil
    )
        -> APIResponse
    {
        APIResponse(status: status, body: .json(JSONDocument.bytes(document)), eTag: eTag, location: location)
    }

    public static let noContent = APIResponse(status: 204)
}

/// One server-sent event (HTML standard §9.2).
public struct ServerEvent: Equatable, Sendable {
    /// For `Last-Event-ID`.
    public var id: String?
    /// The topic: `camera`, `health`, `config`, `log` …
    public var event: String
    /// One line of JSON.
    public var data: String

    public init(id: String? = nil, event: String, data: String) {
        self.id = id
        self.event = event
        self.data = data
    }
}

/// One route: what the documentation says of it, and who answers.
public struct APIRoute: Sendable {
    public typealias Handler = @Sendable (APIRequest) async throws -> APIResponse

    public var method: APIRequest.Method
    /// `/api/v1/cameras/{id}`.
    public var path: String
    /// One sentence, for OpenAPI.
    public var summary: String
    /// Names of documents, each with its sample in `Tests/Support/OpenAPI`; nil: no body.
    public var requestDocument: String?
    public var responseDocument: String?
    /// Query parameters and what they mean.
    public var query: [String: String]
    /// Media type of an answer that is not a document: `image/jpeg`.
    public var responseType: String?
    /// Changes something, or shows what the camera sees: not for everyone who may connect.
    public var isForAdministrators: Bool
    public var handler: Handler

    public init(
        _ method: APIRequest.Method, _ path: String, _ summary: String, request: String? = nil,
        response: String? = nil, responseType: String? = nil, query: [String: String] = [:],
        isForAdministrators: Bool = false, handler: @escaping Handler
    ) {
        self.method = method
        self.path = path
        self.summary = summary
        requestDocument = request
        responseDocument = response
        self.responseType = responseType
        self.query = query
        self.isForAdministrators = isForAdministrators || method != .get
        self.handler = handler
    }
}

/// Finds the route of a request, and turns what it throws into a problem document.
public struct APIRouter: Sendable {
    public private(set) var routes: [APIRoute]

    public init(_ routes: [APIRoute]) {
        self.routes = routes
    }

    /// Always answers: 404 for an unknown path, 405 for a method that the path does not take, 403 for a change, or a
    /// look through a camera, by someone who is not an administrator, and `application/problem+json` for every error.
    public func answer(_ request: APIRequest) async -> APIResponse {
        let path = Self.parts(request.path)
        var isKnown = false
        for route in routes {
            guard let parameters = Self.match(Self.parts(route.path), path) else { continue }
            isKnown = true
            guard route.method == request.method else { continue }
            if route.isForAdministrators, !request.peer.isAdministrator {
                return Problem(
                    CodedError(.notPermitted, "\(request.method.rawValue) \(request.path) is not for this user")
                )
                .response
            }
            var request = request
            request.parameters = parameters
            do {
                return try await route.handler(request)
            } catch let error as CodedError {
                return Problem(error).response
            } catch is CancellationError {
                return Problem(CodedError(.busy, "the daemon is stopping")).response
            } catch {
                return Problem(CodedError(.internalFault, "the request failed", why: "\(error)")).response
            }
        }
        let text = isKnown ? "\(request.path) does not take \(request.method.rawValue)" : "there is no \(request.path)"
        var problem = Problem(CodedError(isKnown ? .badRequest : .notFound, text))
        if isKnown { problem.status = 405 }
        return problem.response
    }

    private static func parts(_ path: String) -> [Substring] {
        path.split(separator: "/", omittingEmptySubsequences: true)
    }

    private static func match(_ route: [Substring], _ path: [Substring]) -> [String: String]? {
        guard route.count == path.count else { return nil }
        var parameters: [String: String] = [:]
        for (pattern, part) in zip(route, path) {
            if pattern.first == "{" {
                parameters[String(pattern.dropFirst().dropLast())] = String(part)
            } else if pattern != part {
                return nil
            }
        }
        return parameters
    }
}
