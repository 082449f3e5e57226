import ErrorCatalog
import Testing

@testable import ControlAPI

struct RoutingTests {
    private static let administrator = APIRequest.Peer(
        processIdentifier: 1, userIdentifier: 0, groupIdentifier: 0, isAdministrator: true)
    private static let other = APIRequest.Peer(
        processIdentifier: 1, userIdentifier: 1000, groupIdentifier: 1000, isAdministrator: false)

    private struct Fault: Error {}

    private static let router = APIRouter([
        APIRoute(.put, "/cameras/order", "") { _ in APIResponse(body: .text("order", type: "")) },
        APIRoute(.get, "/cameras/{id}", "") { .document($0.parameters) },
        APIRoute(.put, "/cameras/{id}", "") { .document($0.parameters) },
        APIRoute(.post, "/cameras/{id}/{action}", "") { .document($0.parameters) },
        APIRoute(.get, "/coded", "") { _ in throw CodedError(.definedInFile, "no") },
        APIRoute(.get, "/cancelled", "") { _ in throw CancellationError() },
        APIRoute(.get, "/fault", "") { _ in throw Fault() },
    ])

    private func answer(
        _ method: APIRequest.Method, _ path: String, peer: APIRequest.Peer = administrator
    ) async -> (status: Int, body: String) {
        let response = await Self.router.answer(APIRequest(method, path, peer: peer))
        return switch response.body {
        case .json(let bytes): (response.status, String(decoding: bytes, as: UTF8.self))
        case .text(let text, _): (response.status, text)
        case .none, .bytes, .events: (response.status, "")
        }
    }

    @Test func `parts of the path become parameters`() async {
        #expect(await answer(.get, "/cameras/front").body == #"{"id":"front"}"#)
        #expect(await answer(.post, "/cameras/front/stop").body == #"{"action":"stop","id":"front"}"#)
        #expect(await answer(.get, "//cameras//front/").body == #"{"id":"front"}"#)
    }

    @Test func `the first route that fits answers`() async {
        #expect(await answer(.put, "/cameras/order").body == "order")
        #expect(await answer(.put, "/cameras/front").body == #"{"id":"front"}"#)
        #expect(await answer(.get, "/cameras/order").body == #"{"id":"order"}"#)
    }

    @Test(arguments: [
        (APIRequest.Method.get, "/", 404), (.get, "", 404), (.get, "/cameras", 404), (.get, "/cameras/a/b/c", 404),
        (.delete, "/cameras/front", 405), (.get, "/Cameras/front", 404), (.get, "/coded", 409),
        (.get, "/cancelled", 409), (.get, "/fault", 500),
    ])
    func `what has no answer has a problem`(method: APIRequest.Method, path: String, status: Int) async throws {
        let answer = await answer(method, path)
        #expect(answer.status == status)
        let problem = try JSONDocument.decode(Problem.self, from: Array(answer.body.utf8))
        #expect(problem.status == status && !problem.title.isEmpty && !problem.detail.isEmpty && !problem.hint.isEmpty)
    }

    @Test func `who is not an administrator reads, and changes nothing`() async {
        #expect(await answer(.get, "/cameras/front", peer: Self.other).status == 200)
        for method in [APIRequest.Method.post, .put, .patch, .delete] {
            let route = APIRoute(method, "/x", "") { _ in
                Issue.record("the handler ran")
                return .noContent
            }
            let response = await APIRouter([route]).answer(APIRequest(method, "/x", peer: Self.other))
            #expect(response.status == 403)
        }
    }

    @Test(arguments: [
        ("", "it is not JSON"), ("{", "it is not JSON"), ("[]", ""), (#"{"camerasOrder":[]}"#, "ids is missing"),
        (#"{"ids":"front"}"#, "ids"), (#"{"ids":["a",7]}"#, "ids"), (#"{"ids":null}"#, "ids"),
    ])
    func `a body that is not the document is refused with the place`(body: String, why: String) {
        let request = APIRequest(.put, "/", body: Array(body.utf8), peer: Self.administrator)
        do throws(CodedError) {
            _ = try request.decode(CameraOrderRequest.self)
            Issue.record("it was taken")
        } catch {
            #expect(error.code == .badRequest)
            #expect(error.why?.isEmpty == false)
            if body.contains("ids") || body.contains("camerasOrder") { #expect(error.why?.contains(why) == true) }
        }
    }

    @Test func `a body that is the document is read`() throws {
        let request = APIRequest(.put, "/", body: Array(#"{"ids":["a","b"],"later":1}"#.utf8), peer: Self.other)
        #expect(try request.decode(CameraOrderRequest.self) == CameraOrderRequest(ids: ["a", "b"]))
    }

    @Test func `depth is the decoder's business, not a crash`() {
        let body = Array(String(repeating: "[", count: 100_000).utf8)
        let request = APIRequest(.put, "/", body: body, peer: Self.administrator)
        #expect(throws: CodedError.self) { try request.decode(CameraOrderRequest.self) }
    }
}
