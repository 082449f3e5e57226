import ControlAPI
import ErrorCatalog
import Foundation
import Testing

/// `GET /api/v1/openapi.json`: the file that was installed.
struct InstalledDocumentTests {
    private func answer(in directory: String) async -> APIResponse {
        let peer = APIRequest.Peer(
            processIdentifier: 1, userIdentifier: 1000, groupIdentifier: 1000, isAdministrator: false)
        return await APIRouter([.openAPI("openapi.json", in: directory)]).answer(
            APIRequest(.get, "/api/v1/openapi.json", peer: peer))
    }

    @Test func `it is handed out as it is`() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("openapi-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try Data(#"{"openapi": "3.1.0"}"#.utf8).write(to: directory.appendingPathComponent("openapi.json"))
        let answer = await answer(in: directory.path)
        #expect(answer.status == 200)
        guard case .json(let bytes) = answer.body else { throw CocoaError(.coderInvalidValue) }
        #expect(String(decoding: bytes, as: UTF8.self) == #"{"openapi": "3.1.0"}"#)
    }

    @Test func `one that is not installed is 404, with what to do`() async throws {
        let answer = await answer(in: "/nowhere")
        #expect(answer.status == 404)
        guard case .json(let bytes) = answer.body else { throw CocoaError(.coderInvalidValue) }
        let problem = try JSONDocument.decode(Problem.self, from: bytes)
        #expect(problem.code == .notFound && problem.hint.contains("make install"))
        #expect(problem.detail.contains("/nowhere/openapi.json"))
    }
}
