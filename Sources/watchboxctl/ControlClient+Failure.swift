import Console
import ControlAPI
import ControlClient

/// The client's requests for a command: what the client throws becomes the words and the exit status of the command,
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
        do {
            return try await getTagged(type, path, query: query)
        } catch {
            throw CommandFailure(error, what: what)
        }
    }

    func send<Document: Decodable>(
        _ method: APIRequest.Method, _ path: String, body: (any Encodable)? = nil, query: [(String, String)] = [],
        ifMatch: String? = nil, as type: Document.Type, or what: String
    ) async throws(CommandFailure) -> Document {
        do {
            return try await send(method, path, body: body, query: query, ifMatch: ifMatch, as: type)
        } catch {
            throw CommandFailure(error, what: what)
        }
    }

    func send(
        _ method: APIRequest.Method, _ path: String, body: (any Encodable)? = nil, query: [(String, String)] = [],
        ifMatch: String? = nil, or what: String
    ) async throws(CommandFailure) {
        do {
            try await send(method, path, body: body, query: query, ifMatch: ifMatch)
        } catch {
            throw CommandFailure(error, what: what)
        }
    }

    func bytes(_ path: String, or what: String) async throws(CommandFailure) -> [UInt8] {
        do {
            return try await bytes(path)
        } catch {
            throw CommandFailure(error, what: what)
        }
    }

    func text(_ path: String, or what: String) async throws(CommandFailure) -> String {
        do {
            return try await text(path)
        } catch {
            throw CommandFailure(error, what: what)
        }
    }
}

extension CommandFailure {
    init(_ error: ControlClientError, what: String) {
        self.init(
            what: what, why: "\(error)", next: error.next,
            status: ExitStatus(rawValue: error.exitStatus) ?? .failed)
    }
}
