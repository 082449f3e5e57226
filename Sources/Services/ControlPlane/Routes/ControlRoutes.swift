internal import ControlAPI
internal import ErrorCatalog
internal import PrometheusText

/// Control's routes. A handler reads the request, asks the core, and writes the document; it decides nothing.
struct ControlRoutes: Sendable {
    /// What a change of an object takes besides its body.
    static let dryRun = ["dryRun": "1: answer what would change, and change nothing"]

    let core: ControlCore
    let journal: JournalAccess
    let paths: ControlPaths

    var all: [APIRoute] {
        box + cameras + cameraActions + network + networkCameras + streams + relays + hooks + keyAccess + device
            + keys + health + events + configuration + [.openAPI("openapi.json")]
    }

    private var box: [APIRoute] {
        [
            APIRoute(.get, APIPath.status(), "The whole box on one screen", response: "BoxStatus") { _ in
                .document(await core.status())
            },
            APIRoute(.get, APIPath.version(), "Which WatchBox answers", response: "VersionDocument") { _ in
                .document(VersionDocument(version: core.version))
            },
            APIRoute(.get, "/metrics", "Metrics of control in Prometheus text") { _ in
                APIResponse(body: .text(await core.metrics(), type: MetricFamily.mediaType))
            },
        ]
    }
}

extension ControlRoutes {
    /// What a change answers: the difference of a dry run, else how it is now.
    func changed(
        then answer: @autoclosure () async throws -> APIResponse = .noContent,
        _ change: () async throws -> ConfigurationDiff?
    ) async throws -> APIResponse {
        if let difference = try await coded(change) { return .document(difference) }
        return try await answer()
    }

    /// Stores what is never given back.
    func stored(
        _ request: APIRequest, _ store: (_ secret: [UInt8]) async throws -> Void
    ) async throws -> APIResponse {
        let secret = try request.decode(SecretRequest.self)
        try await coded { try await store(Array(secret.secret.utf8)) }
        return .noContent
    }
}

extension APIRequest {
    var isDryRun: Bool { ["1", "true"].contains(query["dryRun"]) }

    /// A name in the path.
    func parameter(_ name: String) -> String { parameters[name] ?? "" }

    /// The revision that `If-Match` names. Nil when there is none, or when any will do.
    func revision() throws(CodedError) -> Int? {
        guard let ifMatch, ifMatch != "*" else { return nil }
        let digits = ifMatch.filter { $0 != "\"" }
        guard let revision = Int(digits), revision >= 0, digits.utf8.allSatisfy({ (48...57).contains($0) }) else {
            throw CodedError(
                .conflict, "If-Match is not a tag of this box", hint: "Read the object again and use its ETag")
        }
        return revision
    }

    /// A number of the query.
    func number(_ name: String, in range: ClosedRange<Int>, default defaultValue: Int) throws(CodedError) -> Int {
        guard let text = query[name] else { return defaultValue }
        guard let number = Int(text), range.contains(number) else {
            throw CodedError(
                .badRequest, "\(name) is not a number that is possible",
                hint: "Use \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}

extension APIResponse {
    static func tag(_ revision: Int?) -> String? { revision.map { "\"\($0)\"" } }
}

/// Calls the core, and gives every driver's error its code.
func coded<Value>(_ body: () async throws -> Value) async throws -> Value {
    do {
        return try await body()
    } catch let error as CancellationError {
        throw error
    } catch {
        throw CodedError(of: error)
    }
}
