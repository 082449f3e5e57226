import Foundation
import HTTPClient
import KeyAccess
import Settings
import Testing

@testable import KeyAccessClient

@Suite struct AccessTokenRenewerTests {
    private static func token(_ claims: String) -> String {
        JSONWebToken.compact(
            signingInput: JSONWebToken.signingInput(header: Array("{}".utf8), claims: Array(claims.utf8)),
            signature: [1])
    }

    private static let issued = token(#"{"exp":2000,"iat":1000,"renewable":true,"jti":"x"}"#)

    private func renewer(_ transport: ScriptedTransport) -> AccessTokenRenewer {
        AccessTokenRenewer(
            configuration: KASConfiguration(url: "https://kas.example.net/kas", token: .value("unused")),
            transport: transport)
    }

    private func answering(_ status: Int, _ body: String) -> ScriptedTransport {
        ScriptedTransport { _ in .success(HTTPResponse(status: status, headers: [], body: Array(body.utf8))) }
    }

    @Test func `renewing shows the token itself, at WatchBox's own path`() async throws {
        let transport = answering(200, #"{"token":"\#(Self.issued)","expiresAt":2000}"#)
        let renewed = try await renewer(transport).renew("old.old.old")
        #expect(renewed.token == Self.issued && renewed.expiresAt == 2000)
        let request = try #require(transport.requests.first)
        #expect(request.url == "https://kas.example.net/watchbox/v1/tokens/renew")
        #expect(request.header("Authorization") == "Bearer old.old.old")
        #expect(!"\(renewed)".contains(Self.issued))
    }

    @Test func `narrowing asks for one stream, to publish it`() async throws {
        let transport = answering(200, #"{"token":"\#(Self.issued)","expiresAt":2000}"#)
        _ = try await renewer(transport).narrow("box.box.box", stream: "door")
        let request = try #require(transport.requests.first)
        #expect(request.url == "https://kas.example.net/watchbox/v1/tokens/narrow")
        let body = try JSONDecoder().decode(NarrowRequest.self, from: Data(request.body))
        #expect(body == NarrowRequest(stream: "door", scopes: ["kas.publish"]))
    }

    @Test(arguments: ["{}", "x", #"{"token":"","expiresAt":1}"#, #"{"token":"no token","expiresAt":1}"#])
    func `what is not a token is not taken for one`(body: String) async {
        await #expect(throws: KeyAccessError.garbage(.unreadable)) {
            try await renewer(answering(200, body)).renew("a.b.c")
        }
    }

    @Test func `a refusal keeps the server's message`() async {
        let body = #"{"code":"permission_denied","error":"policy_denied","message":"it has ended"}"#
        await #expect(throws: KeyAccessError.status(403, message: "it has ended")) {
            try await renewer(answering(403, body)).renew("a.b.c")
        }
    }

    @Test func `what a token says of itself`() throws {
        let facts = try #require(AccessTokenFacts(Self.issued))
        #expect(facts.isRenewable && facts.id == "x" && facts.narrowedStream == nil)
        #expect(!facts.isPastHalf(at: 1499))
        #expect(facts.isPastHalf(at: 1500))
        let own = try #require(
            AccessTokenFacts(Self.token(#"{"exp":5,"narrowed":true,"streams":["door"],"parent":"p"}"#)))
        #expect(own.narrowedStream == "door" && own.parentID == "p" && own.isPastHalf(at: 0))
        // Extreme times do not trap.
        _ = AccessTokenFacts(Self.token(#"{"exp":9223372036854775807,"iat":-9223372036854775808}"#))?.isPastHalf(at: 0)
        for text in ["", "a.b", "opaque", Self.token("{}"), Self.token(String(repeating: "[", count: 100))] {
            #expect(AccessTokenFacts(text) == nil)
        }
    }

    @Test func `a held token is the file's until a newer one comes`() throws {
        let path = NSTemporaryDirectory() + "watchbox-token-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: path) }
        try "first\n".write(toFile: path, atomically: true, encoding: .utf8)
        let held = HeldAccessToken(file: path)
        let reader = AccessTokenReader(.held(held))
        #expect(try reader.token() == "first")
        try held.replace(with: " second ")
        #expect(try reader.token() == "second")
        #expect(throws: KeyAccessError.tokenUnreadable(path: nil, .empty)) { try held.replace(with: " ") }
        #expect(try reader.token() == "second")
        #expect(!"\(AccessTokenSource.held(held))".contains("second"))
    }
}
