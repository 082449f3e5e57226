import Console
import ControlAPI
import ControlClient
import ErrorCatalog

/// The client's requests for a command: what the client throws becomes the message and the exit status of the command,
/// which says in `what` that it did not do.
extension ControlClient {
    func get<Document: Decodable>(
        _ type: Document.Type, _ path: String, query: [(String, String)] = [], or what: String
    ) async throws(CommandFailure) -> Document {
        try await getTagged(type, path, query: query, or: what).document
    }

    func getTagged<Document: Decodable>(
        _ type: Document.Type, _ path: String, query: [(String, String)] = [], or what: String
    ) async throws(CommandFailure) -> (document: Document, eTag: String?) {
        try await asking(what) { () throws(ControlClientError) in try await getTagged(type, path, query: query) }
    }

    /// Before a change. Nil for an object that is quarantined: there is nothing to look at, and a change is what it needs.
    func look<Document: Decodable>(
        _ type: Document.Type, _ path: String, or what: String
    ) async throws(CommandFailure) -> (document: Document, eTag: String?)? {
        do throws(ControlClientError) {
            return try await getTagged(type, path)
        } catch {
            if case .problem(let problem) = error, problem.code == .objectQuarantined { return nil }
            throw CommandFailure(error, what: what)
        }
    }

    func send<Document: Decodable>(
        _ method: APIRequest.Method, _ path: String, body: (any Encodable)? = nil, query: [(String, String)] = [],
        ifMatch: String? = nil, as type: Document.Type, or what: String
    ) async throws(CommandFailure) -> Document {
        try await asking(what) { () throws(ControlClientError) in
            try await send(method, path, body: body, query: query, ifMatch: ifMatch, as: type)
        }
    }

    func send(
        _ method: APIRequest.Method, _ path: String, body: (any Encodable)? = nil, query: [(String, String)] = [],
        ifMatch: String? = nil, or what: String
    ) async throws(CommandFailure) {
        try await asking(what) { () throws(ControlClientError) in
            try await send(method, path, body: body, query: query, ifMatch: ifMatch)
        }
    }

    func bytes(_ path: String, or what: String) async throws(CommandFailure) -> [UInt8] {
        try await asking(what) { () throws(ControlClientError) in try await bytes(path) }
    }

    func text(_ path: String, or what: String) async throws(CommandFailure) -> String {
        try await asking(what) { () throws(ControlClientError) in try await text(path) }
    }

    private func asking<Answer>(
        _ what: String, _ body: () async throws(ControlClientError) -> Answer
    ) async throws(CommandFailure) -> Answer {
        do { return try await body() } catch { throw CommandFailure(error, what: what) }
    }
}

extension CommandFailure {
    init(_ error: ControlClientError, what: String) {
        self.init(
            what: what, why: "\(error)", hint: error.hint,
            status: ExitStatus(rawValue: error.exitStatus) ?? .failed)
    }
}
