import Foundation
import KeyAccess
import Testing
import Wire

@testable import KeyAccessServer

/// Tokens from their issue to their end: what is refused, renewed and narrowed. The operator's tools are another process;
/// here they are a store of their own on the same directory.
@Suite struct TokenLifeTests {
    private let client = TestClient()

    private func tools(_ rig: Rig) throws -> AccessRegister {
        try AccessRegister(store: try KeyStore(directory: rig.path + "/state", now: rig.time.seconds))
    }

    private func mint(
        _ rig: Rig, subject: String = "box", scopes: [String] = [Scope.publish], streams: [String] = ["*"],
        lifetime: Int64 = 30 * 86_400, isRenewable: Bool = true
    ) throws -> String {
        try TokenIssuer(store: rig.store).mint(
            .init(subject: subject, scopes: scopes, streams: streams, lifetime: lifetime, isRenewable: isRenewable),
            now: rig.time.seconds)
    }

    private func claims(_ token: String) throws -> AccessClaims {
        try JSONDecoder().decode(
            AccessClaims.self, from: Data(try JSONWebToken(compact: token, limit: 8192).claims))
    }

    /// Of a registration for a stream with this token; 200 when it is accepted.
    private func publish(_ rig: Rig, _ token: String, stream: String = "door") throws -> Int {
        let registration = try rig.registration(
            header: rig.sealedHeader(stream: stream), stream: stream, publisher: claims(token).subject ?? "")
        return rig.post(Route.collections, try JSONCoding.encode(registration), token: token).status
    }

    private func renew(_ rig: Rig, _ token: String) throws -> (status: Int, token: String) {
        let answer = rig.post(Route.renewToken, [], token: token)
        return (answer.status, answer.status == 200 ? try answer.json(IssuedToken.self).token : "")
    }

    private func narrow(
        _ rig: Rig, _ token: String, _ stream: String, scopes: [String] = [Scope.publish], lifetime: Int64? = nil
    ) throws -> (status: Int, token: String) {
        let answer = rig.post(
            Route.narrowToken,
            try JSONCoding.encode(NarrowRequest(stream: stream, scopes: scopes, lifetime: lifetime)), token: token)
        return (answer.status, answer.status == 200 ? try answer.json(IssuedToken.self).token : "")
    }

    // MARK: revocation

    @Test func `a revoked token is refused by the running service, and another one of its subject is not`() throws {
        let rig = try Rig()
        let (stolen, other) = (try mint(rig), try mint(rig))
        #expect(try publish(rig, stolen) == 200)
        try tools(rig).revoke(token: try #require(try claims(stolen).tokenID), now: rig.time.seconds)
        rig.endpoints.maintain()
        #expect(try publish(rig, stolen) == 401)
        #expect(try publish(rig, other) == 200)
        #expect(rig.auditLines.contains { $0.contains("The access token is revoked.") })
        // As well after a restart.
        let again = try Rig(ownKeys: false)
        #expect(try publish(again, stolen) == 200)
        let files = ["keys.json", "revocations.json"]
        for name in files {
            let bytes = try #require(FileManager.default.contents(atPath: rig.path + "/state/" + name))
            try again.store.directory.write(name, Array(bytes))
        }
        again.endpoints.maintain()
        #expect(try publish(again, stolen) == 401)
    }

    @Test func `revoking a subject ends all that it has, and nothing that it is given afterwards`() throws {
        let rig = try Rig()
        let old = [try mint(rig), try mint(rig, isRenewable: false)]
        let bystander = try mint(rig, subject: "box2")
        try tools(rig).revoke(
            subject: "box", issuer: KeyAccessServerConfiguration.localIssuer, now: rig.time.seconds)
        rig.endpoints.maintain()
        for token in old {
            #expect(try publish(rig, token) == 401)
            #expect(try renew(rig, token).status == 401)
        }
        #expect(try publish(rig, bystander) == 200)
        // In the same second.
        #expect(try publish(rig, try mint(rig)) == 200)
    }

    @Test func `who renewed a stolen token any number of times loses all of them`() throws {
        let rig = try Rig()
        let stolen = try mint(rig)
        var held = stolen
        for _ in 0..<3 { held = try renew(rig, held).token }
        let camera = try narrow(rig, held, "door").token
        #expect(try publish(rig, held) == 200)
        #expect(try publish(rig, camera) == 200)
        // By whichever of the line the owner knows: here the one in the middle.
        let line = try tools(rig).tokens(now: rig.time.seconds).filter { $0.subject == "box" && !$0.isNarrowed }
        try #require(line.count == 4)
        try tools(rig).revoke(token: line[2].id, now: rig.time.seconds)
        rig.endpoints.maintain()
        for token in [stolen, held, camera] {
            #expect(try publish(rig, token) == 401)
            #expect(try renew(rig, token).status == 401)
        }
        #expect(try tools(rig).states(now: rig.time.seconds).allSatisfy { $0.isRevoked })
    }

    @Test func `revoking a camera's token leaves the box its own`() throws {
        let rig = try Rig()
        let box = try mint(rig)
        let camera = try narrow(rig, box, "door").token
        try tools(rig).revoke(token: try #require(try claims(camera).tokenID), now: rig.time.seconds)
        rig.endpoints.maintain()
        #expect(try publish(rig, camera) == 401)
        #expect(try publish(rig, box) == 200)
        #expect(try publish(rig, try narrow(rig, box, "door").token) == 200)
    }

    @Test func `a replaced issuer key goes on for the overlap, or ends at once`() throws {
        let rig = try Rig()
        let old = try mint(rig)
        try KeyStore(directory: rig.path + "/state", now: rig.time.seconds).rollOver(.issuer, now: rig.time.seconds)
        rig.endpoints.maintain()
        #expect(try publish(rig, old) == 200)
        // Renewed under the new key.
        let renewed = try renew(rig, old).token
        try tools(rig).revoke(issuerKeys: ["i1"], now: rig.time.seconds)
        rig.endpoints.maintain()
        #expect(try publish(rig, old) == 401)
        #expect(try renew(rig, old).status == 401)
        #expect(try publish(rig, renewed) == 200)
    }

    @Test func `revocations are pruned when they can concern nothing any more, and bounded`() throws {
        var list = TokenRevocations()
        for number in 0..<TokenRevocations.limit { try list.add(.token(id: "\(number)"), now: 1000) }
        #expect(throws: TokenRevocations.Fault.full(limit: TokenRevocations.limit)) {
            try list.add(.token(id: "one more"), now: 1000)
        }
        #expect(throws: TokenRevocations.Fault.invalidName) { try list.add(.token(id: ""), now: 1000) }
        try list.add(.token(id: "one more"), now: 1001 + TokenRevocations.keptSeconds)
        #expect(list.entries.count == 1)
        var claims = AccessClaims(
            issuer: "i", subject: "s", audience: [], expiresAt: .init(seconds: 0), issuedAt: .init(seconds: 0),
            scopes: [])
        claims.tokenID = "7"
        #expect(!list.refuses(claims, kid: nil))
        claims.familyID = "one more"
        #expect(list.refuses(claims, kid: nil))
    }

    @Test func `identity is compared as bytes, with its issuer`() throws {
        var list = TokenRevocations()
        try list.add(.subject(issuer: "A", name: "caf\u{E9}", issuedUntil: 10), now: 10)
        var claims = AccessClaims(
            issuer: "A", subject: "cafe\u{301}", audience: [], expiresAt: .init(seconds: 99),
            issuedAt: .init(seconds: 5), scopes: [])
        #expect(!list.refuses(claims, kid: nil))
        claims.subject = "caf\u{E9}"
        #expect(list.refuses(claims, kid: nil))
        claims.issuer = "B"
        #expect(!list.refuses(claims, kid: nil))
        claims.issuer = "A"
        claims.issuedAt = .init(seconds: 11)
        #expect(!list.refuses(claims, kid: nil))
        claims.issuedAt = nil
        #expect(list.refuses(claims, kid: nil))
    }

    @Test(arguments: ["revocations.json", "grants.json"])
    func `a damaged file stops the start, and a running service keeps what it knew`(name: String) throws {
        let rig = try Rig()
        let token = try mint(rig)
        try tools(rig).revoke(token: try #require(try claims(token).tokenID), now: rig.time.seconds)
        try tools(rig).grant(
            .init(holder: .init(issuer: "i", subject: "s"), stream: "x"), now: rig.time.seconds)
        rig.endpoints.maintain()
        try rig.store.directory.write(name, Array("{".utf8))
        rig.endpoints.maintain()
        #expect(try publish(rig, token) == 401)
        #expect(throws: StateDirectoryError.self) { try AccessRegister(store: rig.store) }
    }

    @Test func `the log of issued tokens holds no token, and is bounded`() throws {
        let rig = try Rig()
        let token = try mint(rig)
        let text = try String(contentsOfFile: rig.path + "/state/tokens.jsonl", encoding: .utf8)
        for part in token.split(separator: ".") { #expect(!text.contains(part)) }
        let entry = try #require(try tools(rig).tokens(now: rig.time.seconds).first)
        #expect(entry.id == (try claims(token).tokenID))
        #expect(entry.streams == ["*"] && entry.isRenewable && !entry.isNarrowed)
        // A holder who asks again and again pushes out its own, never another's.
        let log = IssuedTokenLog(directory: rig.store.directory)
        var flood = try claims(token)
        flood.subject = "flood"
        var lines: [UInt8] = []
        for _ in 0..<2 * IssuedTokenLog.limit {
            lines += try JSONCoding.encode(IssuedTokenLog.Entry(flood, kid: "i1")) + [0x0A]
        }
        try rig.store.directory.append(IssuedTokenLog.name, lines + Array("{cut off".utf8))
        try log.compact(now: rig.time.seconds)
        let kept = try log.entries(now: rig.time.seconds)
        #expect(kept.count == IssuedTokenLog.limitOfSubject + 1)
        #expect(kept.contains { $0.subject == "box" })
    }

    // MARK: renewal

    @Test func `a renewed token says the same for as long again`() throws {
        let rig = try Rig()
        let token = try mint(rig, scopes: [Scope.publish, Scope.rewrap], streams: ["front", "yard"], lifetime: 1000)
        rig.time.seconds += 600
        let renewed = try renew(rig, token)
        #expect(renewed.status == 200)
        let (before, after) = (try claims(token), try claims(renewed.token))
        #expect(after.subject == before.subject && after.scopes == before.scopes && after.streams == before.streams)
        #expect(after.expiresAt?.seconds == rig.time.seconds + 1000)
        #expect(after.isRenewable && after.tokenID != before.tokenID && after.parentID == before.tokenID)
        #expect(try publish(rig, renewed.token, stream: "yard") == 200)
        #expect(rig.auditLines.contains { $0.contains(#""event":"renew""#) })
    }

    @Test func `only renewable tokens of this service are renewed`() throws {
        let rig = try Rig()
        #expect(try renew(rig, try mint(rig, isRenewable: false)).status == 403)
        #expect(rig.post(Route.renewToken, [], token: nil).status == 401)
        #expect(try renew(rig, try Rig(ownKeys: true).accessToken()).status == 401)
        #expect(rig.get(Route.renewToken).status == 405)
        let narrowed = try narrow(rig, try mint(rig), "door").token
        #expect(try renew(rig, narrowed).status == 403)
    }

    @Test func `an ended token comes back once its owner readmits its subject, and once only`() throws {
        let rig = try Rig()
        let token = try mint(rig, lifetime: 1000)
        rig.time.seconds += 200 * 86_400
        #expect(try publish(rig, token) == 401)
        #expect(try renew(rig, token).status == 403)
        try tools(rig).readmit(
            .init(issuer: KeyAccessServerConfiguration.localIssuer, subject: "box"), until: rig.time.seconds + 100,
            now: rig.time.seconds)
        rig.endpoints.maintain()
        let back = try renew(rig, token)
        #expect(back.status == 200)
        #expect(try publish(rig, back.token) == 200)
        #expect(try renew(rig, token).status == 403)
        // Used up on disk as well.
        #expect(try tools(rig).grants.readmissions.isEmpty)
    }

    @Test func `a readmission ends, and does not get around a revocation or a year`() throws {
        let rig = try Rig()
        let token = try mint(rig, lifetime: 1000)
        let holder = AccessGrants.Holder(issuer: KeyAccessServerConfiguration.localIssuer, subject: "box")
        rig.time.seconds += 2000
        try tools(rig).readmit(holder, until: rig.time.seconds + 100, now: rig.time.seconds)
        rig.time.seconds += 100
        rig.endpoints.maintain()
        #expect(try renew(rig, token).status == 403)
        try tools(rig).readmit(holder, until: rig.time.seconds + 1000 * 86_400, now: rig.time.seconds)
        rig.endpoints.maintain()
        rig.time.seconds += 366 * 86_400
        #expect(try renew(rig, token).status == 401)
        rig.time.seconds -= 366 * 86_400
        try tools(rig).revoke(token: try #require(try claims(token).tokenID), now: rig.time.seconds)
        rig.endpoints.maintain()
        #expect(try renew(rig, token).status == 401)
    }

    // MARK: grants

    @Test func `a grant opens a stream that no token names, until it ends or is taken away`() throws {
        let rig = try Rig()
        let token = try mint(rig, subject: "cam", streams: ["yard"])
        let holder = AccessGrants.Holder(issuer: KeyAccessServerConfiguration.localIssuer, subject: "cam")
        #expect(try publish(rig, token) == 403)
        try tools(rig).grant(
            .init(holder: holder, stream: "door", until: rig.time.seconds + 100), now: rig.time.seconds)
        rig.endpoints.maintain()
        #expect(try publish(rig, token) == 200)
        rig.time.seconds += 100
        #expect(try publish(rig, token) == 403)
        try tools(rig).grant(.init(holder: holder, stream: "do*"), now: rig.time.seconds)
        rig.endpoints.maintain()
        #expect(try publish(rig, token) == 200)
        try tools(rig).revoke(holder, stream: "door", now: rig.time.seconds)
        rig.endpoints.maintain()
        #expect(try publish(rig, token) == 403)
        #expect(try publish(rig, token, stream: "yard") == 200)
    }

    @Test func `a scope can be granted, and another issuer's subject of that name gets nothing`() throws {
        let rig = try Rig()
        let token = try mint(rig, subject: "cam", scopes: [Scope.rewrap], streams: ["door"])
        #expect(try publish(rig, token) == 403)
        for issuer in ["https://elsewhere.example", KeyAccessServerConfiguration.localIssuer] {
            try tools(rig).grant(
                .init(holder: .init(issuer: issuer, subject: "cam"), stream: "door", scopes: [Scope.publish]),
                now: rig.time.seconds)
            rig.endpoints.maintain()
            let expected = issuer == KeyAccessServerConfiguration.localIssuer ? 200 : 403
            #expect(try publish(rig, token) == expected)
        }
    }

    /// The service reads the files every two seconds; whoever renews every second would be ahead of it.
    @Test func `a renewal does not outrun a revocation that the service has not read yet`() throws {
        let rig = try Rig()
        let token = try mint(rig, streams: ["door"], lifetime: 1000)
        #expect(try renew(rig, token).status == 200)
        try tools(rig).revoke(
            subject: "box", issuer: KeyAccessServerConfiguration.localIssuer, now: rig.time.seconds)
        rig.time.seconds += 1
        #expect(try renew(rig, token).status == 401)
        #expect(try narrow(rig, token, "door").status == 401)
    }

    @Test func `a stream that was taken away is denied though the token names it`() throws {
        let rig = try Rig()
        let holder = AccessGrants.Holder(issuer: KeyAccessServerConfiguration.localIssuer, subject: "viewer")
        let header = try rig.sealedHeader(stream: "door")
        try rig.register(header: header, stream: "door")
        func opens() throws -> Bool {
            let answer = rig.post(
                Route.rewrap, try client.request(client.body([header]), now: rig.time.seconds),
                token: try rig.accessToken(streams: ["door"]))
            return try answer.json(RewrapResponse.self).responses.first?.results.first?.error == nil
        }
        #expect(try opens())
        try tools(rig).revoke(holder, stream: "d*", now: rig.time.seconds)
        rig.endpoints.maintain()
        #expect(try !opens())
        try tools(rig).grant(.init(holder: holder, stream: "door"), now: rig.time.seconds)
        rig.endpoints.maintain()
        // The wider denial stays: what is given back is what was taken.
        #expect(try !opens())
        try tools(rig).grant(.init(holder: holder, stream: "d*"), now: rig.time.seconds)
        rig.endpoints.maintain()
        #expect(try opens())
        // Without a stream: grants and tokens.
        let token = try rig.accessToken(streams: ["door"])
        try tools(rig).revoke(holder, stream: nil, now: rig.time.seconds)
        rig.endpoints.maintain()
        #expect(rig.post(Route.rewrap, [], token: token).status == 401)
        #expect(try tools(rig).grants.grants.isEmpty)
    }

    // MARK: narrowing

    @Test func `a narrowed token is for its stream alone, whatever its subject is granted`() throws {
        let rig = try Rig { configuration, _ in
            configuration.access = AccessRules(rules: [.init(subject: "box", streams: ["*"])])
        }
        let box = try mint(rig, streams: ["*"], lifetime: 1000)
        try tools(rig).grant(
            .init(
                holder: .init(issuer: KeyAccessServerConfiguration.localIssuer, subject: "box"), stream: "yard",
                scopes: [Scope.rewrap]), now: rig.time.seconds)
        rig.endpoints.maintain()
        let camera = try narrow(rig, box, "door", lifetime: 5000).token
        #expect(try publish(rig, camera) == 200)
        #expect(try publish(rig, camera, stream: "yard") == 403)
        #expect(rig.post(Route.rewrap, [], token: camera).status == 403)
        let claims = try claims(camera)
        #expect(claims.subject == "box" && claims.streams == ["door"] && claims.isNarrowed && !claims.isRenewable)
        // Never longer than what it was made from.
        #expect(claims.expiresAt?.seconds == rig.time.seconds + 1000)
        #expect(
            try self.claims(try narrow(rig, box, "door", lifetime: 10).token).expiresAt?.seconds
                == rig.time.seconds + 10)
        // Nor is it a way to another stream, or to a token that a revocation of this one would not find.
        #expect(try narrow(rig, camera, "yard").status == 403)
        #expect(try narrow(rig, camera, "door").status == 403)
    }

    @Test func `nothing is narrowed to more than the token has`() throws {
        let rig = try Rig()
        let box = try mint(rig, streams: ["front-*"])
        #expect(try narrow(rig, box, "yard").status == 403)
        #expect(try narrow(rig, box, "front-1", scopes: [Scope.publish, Scope.rewrap]).status == 403)
        #expect(try narrow(rig, box, "front-*").status == 400)
        #expect(try narrow(rig, box, "front-1", scopes: []).status == 400)
        #expect(try narrow(rig, box, "front-1", lifetime: 0).status == 400)
        #expect(try narrow(rig, box, "front-1", lifetime: .max).status == 200)
        #expect(rig.post(Route.narrowToken, Array("{".utf8), token: box).status == 400)
        #expect(rig.post(Route.narrowToken, [], token: nil).status == 401)
        rig.time.seconds += 31 * 86_400
        #expect(try narrow(rig, box, "front-1").status == 401)
    }

    @Test func `what only a grant allows ends with the grant`() throws {
        let rig = try Rig()
        let box = try mint(rig, streams: ["yard"])
        try tools(rig).grant(
            .init(
                holder: .init(issuer: KeyAccessServerConfiguration.localIssuer, subject: "box"), stream: "door",
                until: rig.time.seconds + 60), now: rig.time.seconds)
        rig.endpoints.maintain()
        let camera = try narrow(rig, box, "door").token
        #expect(try claims(camera).expiresAt?.seconds == rig.time.seconds + 60)
        // Another grant of that stream, for longer, says nothing of a scope that only the short one gives.
        let holder = AccessGrants.Holder(issuer: KeyAccessServerConfiguration.localIssuer, subject: "box")
        try tools(rig).grant(
            .init(holder: holder, stream: "door", scopes: [Scope.rewrap], until: rig.time.seconds + 60),
            now: rig.time.seconds)
        try tools(rig).grant(
            .init(holder: holder, stream: "doo*", until: rig.time.seconds + 5000), now: rig.time.seconds)
        rig.endpoints.maintain()
        let viewer = try narrow(rig, box, "door", scopes: [Scope.rewrap]).token
        #expect(try claims(viewer).expiresAt?.seconds == rig.time.seconds + 60)
        let longer = try narrow(rig, box, "door").token
        #expect(try claims(longer).expiresAt?.seconds == rig.time.seconds + 5000)
    }

    @Test func `narrowed tokens, however many, do not push what they were made from out of the log`() throws {
        let rig = try Rig()
        let log = IssuedTokenLog(directory: rig.store.directory)
        func claims(_ id: String, subject: String, narrowed: Bool) -> AccessClaims {
            var claims = AccessClaims(
                issuer: "i", subject: subject, audience: [],
                expiresAt: NumericDate(seconds: rig.time.seconds + 3600),
                issuedAt: NumericDate(seconds: rig.time.seconds), scopes: [Scope.publish], tokenID: id)
            claims.isNarrowed = narrowed
            return claims
        }
        try log.append(.init(claims("first", subject: "box", narrowed: false), kid: nil))
        try log.append(.init(claims("other", subject: "hall", narrowed: false), kid: nil))
        for number in 0..<3000 {
            try log.append(.init(claims("n\(number)", subject: "box", narrowed: true), kid: nil))
        }
        // Many subjects, each with its share.
        for number in 0..<5000 {
            try log.append(.init(claims("m\(number)", subject: "s\(number % 100)", narrowed: true), kid: nil))
        }
        try log.compact(now: rig.time.seconds)
        let kept = try log.entries(now: rig.time.seconds)
        #expect(kept.prefix(2).map(\.id) == ["first", "other"])
        #expect(kept.count { $0.isNarrowed } <= IssuedTokenLog.limitOfNarrowed)
        #expect(kept.count { $0.isNarrowed && $0.subject == "box" } <= IssuedTokenLog.limitOfNarrowedOfSubject)
    }
}
