import Testing

@testable import RTMP

struct AdobeAuthenticationTests {
    private let credentials = RTMPURL.Credentials(user: "cam", password: "secret")
    private let challenge = AdobeAuthentication.Challenge(salt: "salt123", challenge: "server456challenge")

    @Test func `the response is that of the published vector`() {
        // HaishinKit and bluenviron/gortmplib agree on the formula.
        let response = AdobeAuthentication.response(
            to: challenge, credentials: credentials, clientChallenge: "0badc0de", digests: Hashes.digests)
        #expect(response == "pIb3q+NnP9vYK+8u+vj8wQ==")
        var opaque = challenge
        opaque.opaque = "op9"
        let other = AdobeAuthentication.response(
            to: opaque, credentials: credentials, clientChallenge: "0badc0de", digests: Hashes.digests)
        #expect(other == "vgyfa3PDF/Mn9UTYAcXFAg==")
    }

    @Test(arguments: [
        ("[ AccessManager.Reject ] : [ code=403 need auth; authmod=adobe ] : ", AdobeAuthentication.Demand.user),
        ("code=403 need auth; authmod=adobe", .user),
        ("[ AccessManager.Reject ] : [ code=403 need auth; authmod=llnw ] : ", .failed),
        (
            "[ AccessManager.Reject ] : [ authmod=adobe ] : ?reason=needauth&user=cam&salt=s1&challenge=c1&opaque=o1",
            .response(AdobeAuthentication.Challenge(salt: "s1", challenge: "c1", opaque: "o1"))
        ),
        (
            "authmod=adobe :?reason=needauth&user=cam&salt=a==&challenge=b+/=",
            .response(AdobeAuthentication.Challenge(salt: "a==", challenge: "b+/="))
        ),
        ("[ AccessManager.Reject ] : [ authmod=adobe ] : ?reason=authfailed&opaque=o1", .failed),
        ("authmod=adobe : ?reason=needauth&user=cam", .failed),
        ("authmod=adobe : ?reason=nosuchuser", nil), ("Connection failed.", nil), ("", nil), ("code=403", nil),
    ])
    func `the demand is found in the text`(text: String, demand: AdobeAuthentication.Demand?) {
        #expect(AdobeAuthentication.demand(in: text) == demand)
    }

    private func next(
        _ hints: ConnectHints, _ demand: AdobeAuthentication.Demand, _ credentials: RTMPURL.Credentials?
    ) -> Result<ConnectHints, RTMPSessionError> {
        hints.after(demand, credentials: credentials, clientChallenge: "0badc0de", digests: Hashes.digests)
    }

    @Test func `the steps append to app and tcUrl`() throws {
        let first = try next(ConnectHints(), .user, credentials).get()
        #expect(first.appended(to: "live") == "live?authmod=adobe&user=cam")
        #expect(first.appended(to: "live?x=1") == "live?x=1&authmod=adobe&user=cam")
        let second = try next(first, .response(challenge), credentials).get()
        #expect(
            second.appended(to: "live")
                == "live?authmod=adobe&user=cam&challenge=0badc0de&response=pIb3q+NnP9vYK+8u+vj8wQ==")
        var opaque = challenge
        opaque.opaque = "op9"
        #expect(try next(first, .response(opaque), credentials).get().appended(to: "").hasSuffix("AcXFAg==&opaque=op9"))
        #expect(!"\(second)\(String(reflecting: second))".contains("cam"))
    }

    @Test func `every step is taken once`() throws {
        let failed = RTMPSessionError.authenticationFailed(code: "authfailed")
        let first = try next(ConnectHints(), .user, credentials).get()
        let second = try next(first, .response(challenge), credentials).get()
        #expect(next(first, .user, credentials) == .failure(.authenticationFailed(code: "needauth")))
        #expect(next(second, .response(challenge), credentials) == .failure(failed))
        #expect(next(second, .user, credentials) == .failure(failed))
        #expect(next(ConnectHints(), .failed, credentials) == .failure(failed))
        #expect(next(ConnectHints(), .user, nil) == .failure(.authenticationFailed(code: "needauth")))
    }

    @Test func `a user with separators is encoded`() throws {
        let hints = try next(ConnectHints(), .user, RTMPURL.Credentials(user: "a&b=c", password: "")).get()
        #expect(hints.appended(to: "live") == "live?authmod=adobe&user=a%26b%3Dc")
    }
}
