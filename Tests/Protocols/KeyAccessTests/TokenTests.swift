import Foundation
import TestSupport
import Testing

@testable import KeyAccess
@testable import Wire

private func decode<T: Decodable>(_ type: T.Type, _ text: String) throws -> T {
    try JSONDecoder().decode(type, from: Data(text.utf8))
}

@Suite struct TokenTests {
    /// RFC 7515 appendix A.3.
    static let rfc =
        "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
        + ".DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"

    @Test func `the token of RFC 7515 is split`() throws {
        let token = try JSONWebToken(compact: Self.rfc, limit: 1000)
        #expect(String(decoding: token.header, as: UTF8.self) == #"{"alg":"ES256"}"#)
        #expect(token.signature.count == 64)
        #expect(
            String(decoding: token.signingInput, as: UTF8.self) + "." + Self.rfc.split(separator: ".")[2] == Self.rfc)
        let again = JSONWebToken.compact(
            signingInput: JSONWebToken.signingInput(header: token.header, claims: token.claims),
            signature: token.signature)
        #expect(again == Self.rfc)
    }

    @Test func `a token of another form is refused`() {
        #expect(throws: JSONWebToken.Fault.partCount(1)) { try JSONWebToken(compact: "", limit: 10) }
        #expect(throws: JSONWebToken.Fault.partCount(2)) { try JSONWebToken(compact: "e30.e30", limit: 10) }
        #expect(throws: JSONWebToken.Fault.partCount(4)) { try JSONWebToken(compact: "e30.e30.AA.AA", limit: 20) }
        #expect(throws: JSONWebToken.Fault.tooLong(count: 11, limit: 10)) {
            try JSONWebToken(compact: "aaaaaaaaaaa", limit: 10)
        }
        #expect(throws: JSONWebToken.Fault.invalidBase64(.claims, .invalidCharacter(offset: 1))) {
            try JSONWebToken(compact: "e30.e+0.AAAA", limit: 20)
        }
        #expect(throws: JSONWebToken.Fault.invalidBase64(.signature, .invalidCharacter(offset: 2))) {
            try JSONWebToken(compact: "e30.e30.AA==", limit: 20)
        }
        #expect(throws: JSONWebToken.Fault.invalidBase64(.header, .invalidLength(1))) {
            try JSONWebToken(compact: "e.e30.AAAA", limit: 20)
        }
    }

    @Test(arguments: UInt64(0)..<64)
    func `mutation never traps`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<32 {
            var bytes = Array(Self.rfc.utf8)
            for _ in 0..<8 {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] ^=
                    1 << UInt8.random(in: 0..<8, using: &generator)
            }
            _ = try? JSONWebToken(compact: String(decoding: bytes, as: UTF8.self), limit: 4096)
        }
    }

    @Test func `a key's thumbprint input is that of RFC 7638`() throws {
        let key = try decode(
            JSONWebKey.self,
            """
            {"kty":"RSA","n":"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXj\
            BZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZ\
            Hzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJ\
            zKnqDKgw","e":"AQAB","alg":"RS256","kid":"2011-04-29"}
            """)
        let text = String(decoding: try key.thumbprintInput(), as: UTF8.self)
        #expect(text.hasPrefix(#"{"e":"AQAB","kty":"RSA","n":"0vx7agoebGcQ"#))
        #expect(text.hasSuffix(#"zKnqDKgw"}"#))
    }

    @Test func `keys of three kinds are read and others refused`() throws {
        let number = Base64.encode([UInt8](repeating: 7, count: 32), alphabet: .url)
        let ec = try decode(JSONWebKey.self, #"{"kty":"EC","crv":"P-256","x":"\#(number)","y":"\#(number)"}"#)
        #expect(try ec.material() == .p256([4] + [UInt8](repeating: 7, count: 64)))
        #expect(JSONWebKey(p256Point: [4] + [UInt8](repeating: 7, count: 64), keyID: nil).x == number)
        let okp = try decode(JSONWebKey.self, #"{"kty":"OKP","crv":"Ed25519","x":"\#(number)"}"#)
        #expect(try okp.material() == .ed25519([UInt8](repeating: 7, count: 32)))
        let refused: [(String, JSONWebKey.Fault)] = [
            (#"{"kty":"EC","crv":"P-384","x":"\#(number)","y":"\#(number)"}"#, .unsupportedType),
            (#"{"kty":"oct","k":"AAAA"}"#, .unsupportedType),
            (#"{"kty":"EC","crv":"P-256","x":"\#(number)"}"#, .invalidNumber),
            (#"{"kty":"EC","crv":"P-256","x":"\#(number)","y":"AAAA"}"#, .invalidNumber),
            (#"{"kty":"RSA","n":"AAAA","e":"AQAB"}"#, .invalidNumber),
            (#"{"kty":"RSA","n":"\#(String(repeating: "A", count: 400))","e":"AQAB"}"#, .invalidNumber),
        ]
        for (text, fault) in refused {
            let key = try decode(JSONWebKey.self, text)
            #expect(throws: fault, "\(text)") { try key.material() }
        }
    }

    @Test func `claims are read in every form in use`() throws {
        let claims = try decode(
            AccessClaims.self,
            #"{"iss":"i","sub":"s","aud":["a","b"],"exp":10.5,"scope":"x kas.rewrap","scp":["y"],"azp":"c","streams":"one","#
                + #""attributes":["https://A/attr/x/value/y"],"cnf":{"jkt":"t"},"email":{"deep":1}}"#)
        #expect(claims.audience == ["a", "b"])
        #expect(claims.expiresAt == NumericDate(seconds: 10))
        #expect(claims.scopes == ["x", "kas.rewrap", "y"])
        #expect(claims.clientID == "c")
        #expect(claims.streams == ["one"])
        #expect(claims.boundKeyThumbprint == "t")
        let encoded = try JSONEncoder().encode(claims)
        #expect(try JSONDecoder().decode(AccessClaims.self, from: encoded) == claims)
        #expect(try decode(AccessClaims.self, "{}").audience == [])
        #expect(throws: (any Error).self) { try decode(AccessClaims.self, #"{"aud":{"a":1}}"#) }
        #expect(throws: (any Error).self) { try decode(AccessClaims.self, #"{"streams":[1]}"#) }
    }

    @Test(
        arguments: [
            (1000, nil), (1059, nil), (1060, AccessTokenRules.Fault.expired), (840, nil), (839, .notYetValid),
            (.min, .notYetValid), (.max, .expired),
        ] as [(Int64, AccessTokenRules.Fault?)])
    func `an access token holds from nbf to exp with a minute of grace`(
        now: Int64, fault: AccessTokenRules.Fault?
    ) throws {
        var claims = AccessClaims(
            issuer: "i", subject: "s", audience: ["kas"], expiresAt: NumericDate(seconds: 1000),
            issuedAt: NumericDate(seconds: 900), scopes: [])
        claims.notBefore = NumericDate(seconds: 900)
        let rules = AccessTokenRules(audience: "kas")
        if let fault {
            #expect(throws: fault) { try rules.check(claims, now: now) }
        } else {
            try rules.check(claims, now: now)
        }
    }

    @Test func `expiry, audience and subject are required`() {
        let good = AccessClaims(
            issuer: "i", subject: "s", audience: ["kas"], expiresAt: NumericDate(seconds: 1000),
            issuedAt: NumericDate(seconds: 900), scopes: [])
        let rules = AccessTokenRules(audience: "kas")
        var claims = good
        claims.expiresAt = nil
        #expect(throws: AccessTokenRules.Fault.missingExpiry) { try rules.check(claims, now: 950) }
        claims = good
        claims.audience = ["kas2"]
        #expect(throws: AccessTokenRules.Fault.wrongAudience) { try rules.check(claims, now: 950) }
        for subject in [nil, "", String(repeating: "s", count: 257)] {
            claims = good
            claims.subject = subject
            #expect(throws: AccessTokenRules.Fault.missingSubject) { try rules.check(claims, now: 950) }
        }
        claims = good
        claims.expiresAt = NumericDate(seconds: .max)
        #expect(throws: Never.self) { try rules.check(claims, now: 950) }
    }

    @Test(
        arguments: [
            (1000, 1060, 1000, nil),
            (1000, 1060, 1060, nil),
            (1000, 1060, 1061, RequestTokenRules.Fault.expired),
            (1000, 1060, 940, nil),
            (1000, 1060, 939, .fromTheFuture),
            (1000, 8200, 1300, nil),
            (1000, 8200, 1301, .expired),
            (1000, 8201, 5000, .tooLongLived),
            (.min, .max, 0, .tooLongLived),
            (.max, .max, .max, nil),
        ] as [(Int64, Int64, Int64, RequestTokenRules.Fault?)])
    func `a request token's times are checked`(
        issued: Int64, expiry: Int64, now: Int64, fault: RequestTokenRules.Fault?
    ) throws {
        let claims = RewrapRequestClaims(
            requestBody: "{}", issuedAt: NumericDate(seconds: issued), expiresAt: NumericDate(seconds: expiry))
        if let fault {
            #expect(throws: fault) { try RequestTokenRules().check(claims, now: now) }
        } else {
            let end = issued > .max - 300 ? expiry : min(expiry, issued + 300)
            #expect(try RequestTokenRules().check(claims, now: now) == end)
        }
    }

    @Test func `a request token without times is refused`() {
        let claims = RewrapRequestClaims(requestBody: "{}", issuedAt: NumericDate(seconds: 1), expiresAt: nil)
        #expect(throws: RequestTokenRules.Fault.missingTimes) { try RequestTokenRules().check(claims, now: 1) }
    }

    @Test func `nesting and element counts of JSON are bounded before it is decoded`() throws {
        func nested(_ depth: Int) -> [UInt8] {
            Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
        }
        try JSONShape.check(nested(32))
        #expect(throws: JSONShape.Fault.tooDeep(offset: 32, limit: 32)) { try JSONShape.check(nested(33)) }
        try JSONShape.check(Array(#"{"a":"[[[[\"[[[[","b":"\\"}"#.utf8), depth: 1)
        #expect(throws: JSONShape.Fault.tooDeep(offset: 7, limit: 1)) {
            try JSONShape.check(Array(#"["a\\",["#.utf8), depth: 1)
        }
        #expect(throws: JSONShape.Fault.tooManyElements(offset: 4, limit: 2)) {
            try JSONShape.check(Array("[1,2,3]".utf8), elements: 2)
        }
        try JSONShape.check([UInt8](repeating: UInt8(ascii: "]"), count: 100))
    }
}
