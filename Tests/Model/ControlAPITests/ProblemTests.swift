import ErrorCatalog
import Testing

@testable import ControlAPI

struct ProblemTests {
    @Test func `the error's text comes first, the catalog fills the gaps`() {
        let error = CodedError(.notFound, "there is no camera x", why: "it was removed", hint: "look", object: "x")
        #expect(
            Problem(error)
                == Problem(
                    status: 404, title: "There is no such object", detail: "there is no camera x: it was removed",
                    code: .notFound, hint: "look", object: "x"))
        let bare = Problem(CodedError(.notFound, "there is no camera x"))
        #expect(bare.detail == "there is no camera x")
        #expect(bare.hint == ErrorCode.notFound.entry?.hint)
    }

    @Test func `a code that the catalog does not know still has a text`() throws {
        let problem = Problem(CodedError(try #require(ErrorCode("WB-8999")), "something"))
        #expect(problem.status == 500 && !problem.title.isEmpty && !problem.hint.isEmpty)
    }

    @Test(arguments: [
        (ErrorCode.notPermitted, 403), (.notFound, 404), (.noSuchGeneration, 404), (.exists, 409), (.busy, 409),
        (.definedInFile, 409), (.conflict, 412), (.invalidValue, 422), (.unsupportedSource, 422), (.badRequest, 400),
        (.tooMuch, 429), (.relayUnreachable, 504), (.certificateRefused, 502), (.internalFault, 500),
    ])
    func `codes have an HTTP status`(code: ErrorCode, status: Int) {
        #expect(Problem(CodedError(code, "x")).status == status)
        #expect(Problem(CodedError(code, "x")).response.status == status)
    }

    @Test func `a problem is JSON with sorted keys, without escaped slashes`() {
        let problem = Problem(
            status: 404, title: "t", detail: "/a/b", code: .notFound, hint: "n", object: nil)
        #expect(
            JSONDocument.text(problem)
                == #"{"code":"WB-8003","detail":"/a/b","hint":"n","status":404,"title":"t"}"#)
    }

    @Test func `an invalid number does not stop a document`() {
        #expect(JSONDocument.text([Double.nan]) == "{}")
    }

    @Test func `a secret is not in its description`() {
        let secret = SecretRequest(secret: "hunter2")
        var dumped = ""
        dump(secret, to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), dumped, "\([secret])"] {
            #expect(!text.contains("hunter2"))
        }
    }
}
