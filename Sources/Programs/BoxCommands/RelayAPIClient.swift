import ArgumentParser
import Console
import ControlAPI
import FoundationEssentials
import HTTPClient
import Relay
import Wire

/// Which relay is asked, and how its answer is shown.
struct RelayAPIOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Where the relay's API listens (relay_server.api_listen).", valueName: "url"))
    var api = "http://127.0.0.1:1985"

    @Option(
        help: ArgumentHelp(
            "File with the token of the API (relay_server.api_token); status and streams need none where there is none.",
            valueName: "file"))
    var tokenFile: String?

    @Flag(help: "Print a JSON document, on one line.")
    var json = false

    @OptionGroup(visibility: .hidden) var box: HostOption

    func validate() throws {
        if api.contains("@") || api.contains("?") {
            throw ValidationError("Name the API without user, password and query; the token comes from --token-file.")
        }
    }

    func client() throws(CommandFailure) -> RelayAPIClient {
        try box.requireThisMachine()
        var headers: [HTTPHeader] = []
        if let tokenFile {
            headers.append(HTTPHeader("Authorization", "Bearer \(try TextFile.firstLine(of: tokenFile))"))
        }
        let base = api.last == "/" ? String(api.dropLast()) : api
        return RelayAPIClient(base: base, headers: headers)
    }
}

/// Asks a relay's API.
struct RelayAPIClient {
    /// One line of the events.
    private static let maxEventLength = 64 << 10

    let base: String
    let headers: [HTTPHeader]
    private let http = HTTPClient()

    func get<Document: Decodable>(_ type: Document.Type, _ path: String) async throws(CommandFailure) -> Document {
        try await send(.get, path, as: type)
    }

    func send<Document: Decodable>(
        _ method: HTTPRequest.Method, _ path: String, body: [UInt8] = [], as type: Document.Type
    ) async throws(CommandFailure) -> Document {
        var headers = self.headers
        if !body.isEmpty { headers.append(HTTPHeader("Content-Type", "application/json")) }
        let response: HTTPResponse
        do {
            response = try await http.send(
                HTTPRequest(
                    method: method, url: base + path, headers: headers, body: body, maximumResponseBytes: 16 << 20))
        } catch {
            throw Self.failure(error)
        }
        guard (200..<300).contains(response.status) else { throw Self.failure(response) }
        guard let document = try? JSONDecoder().decode(type, from: Data(response.body)) else { throw Self.notARelay }
        return document
    }

    /// Events as they happen, until the relay ends them.
    func events(_ body: (RelayEvent) -> Void) async throws(CommandFailure) {
        // The relay gives a sign of life each 15 s.
        let request = HTTPRequest(
            url: base + "/v1/events", headers: headers + [HTTPHeader("Accept", "text/event-stream")],
            totalTimeout: .seconds(45))
        var line: [UInt8] = []
        do {
            for try await bytes in http.stream(request) {
                for byte in bytes {
                    if byte != UInt8(ascii: "\n") {
                        guard line.count < Self.maxEventLength else { throw Self.notARelay }
                        line.append(byte)
                        continue
                    }
                    defer { line.removeAll(keepingCapacity: true) }
                    guard line.starts(with: "data: ".utf8) else { continue }
                    if let event = try? JSONDecoder().decode(RelayEvent.self, from: Data(line.dropFirst(6))) {
                        body(event)
                    }
                }
            }
        } catch let error as HTTPClientError {
            throw Self.failure(error)
        } catch let error as HTTPStatusError {
            throw Self.failure(error.response)
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw Self.notARelay
        }
    }

    /// "app/name" as it is written in a path: slashes divide, everything else that a URL gives a meaning is encoded, dots
    /// as well.
    static func path(ofStream stream: String) -> String {
        // A client would take a lone dot, or two, for a step.
        PercentEncoding.encode(stream, alsoAllowed: "/").replacing(".", with: "%2E")
    }

    private static let what = "the relay cannot be asked"

    private static var notARelay: CommandFailure {
        CommandFailure(
            what: what, why: "what answers is not the API of a relay",
            hint: "name the address of relay_server.api_listen: --api http://127.0.0.1:1985", status: .failed)
    }

    private static func failure(_ error: HTTPClientError) -> CommandFailure {
        switch error {
        case .unreachable:
            CommandFailure(
                what: what, why: "\(error)",
                hint: "see that the relay runs and has relay_server.api_listen, or name its address with --api URL",
                status: .daemonUnreachable)
        case .plainHTTPRefused:
            CommandFailure(
                what: what, why: "\(error)",
                hint: "go through SSH: ssh -L 1985:127.0.0.1:1985 HOST, then leave --api out", status: .usage)
        default: CommandFailure(what: what, why: "\(error)", hint: error.hint, status: .remoteUnreachable)
        }
    }

    private static func failure(_ response: HTTPResponse) -> CommandFailure {
        guard let problem = try? JSONDecoder().decode(RelayProblem.self, from: Data(response.body)) else {
            return notARelay
        }
        let status: ExitStatus =
            switch response.status {
            case 401, 403: .notPermitted
            case 404: .notFound
            case 409: .conflict
            case 400, 405, 413, 414: .usage
            default: .failed
            }
        return CommandFailure(
            what: problem.what.terminalSafe, why: problem.why.terminalSafe, hint: problem.hint.terminalSafe,
            status: status)
    }
}
