internal import KeyAccess

/// One HTTP request as the endpoints see it: complete, bounded, and free of the HTTP library.
struct ServiceRequest: Sendable {
    enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
    }

    var method: Method
    /// Without query, not decoded.
    var path: String
    /// Decoded; of a name that is given twice the first.
    var query: [String: String] = [:]
    var authorization: String?
    var dpop: String?
    var contentType: String?
    var contentEncoding: String?
    var ifNoneMatch: String?
    /// The client asks for `CollectionFacts`.
    var wantsFacts = false
    /// `Host` of the request.
    var authority: String?
    /// The client's IP address, as text.
    var address: String
    var body: [UInt8] = []
}

/// One answer.
struct ServiceAnswer: Sendable, Equatable {
    enum ContentType: String, Sendable {
        case json = "application/json"
        case protobuf = "application/proto"
    }

    var status: Int
    var contentType: ContentType
    var body: [UInt8]
    var entityTag: String?
    /// Seconds that a cache may keep it; nil: not at all.
    var maxAge: Int?
    /// Further headers, of our own names.
    var headers: [String: String] = [:]

    init(
        status: Int = 200, contentType: ContentType = .json, body: [UInt8], entityTag: String? = nil,
        maxAge: Int? = nil
    ) {
        self.status = status
        self.contentType = contentType
        self.body = body
        self.entityTag = entityTag
        self.maxAge = maxAge
    }

    static func json(_ value: some Encodable, status: Int = 200) throws(ServiceFault) -> ServiceAnswer {
        do {
            return ServiceAnswer(status: status, body: try JSONCoding.encode(value))
        } catch {
            throw .internalError
        }
    }

    /// Errors are JSON for every client: Connect says so, and REST clients read nothing else.
    init(_ fault: ServiceFault) {
        let body = try? JSONCoding.encode(fault.envelope)
        self.init(status: fault.status, body: body ?? [])
    }
}
