import Cryptography
import Foundation
import KeyAccess
import NanoTDFCryptography
import Testing
import Wire

@testable import KeyAccessServer
@testable import NanoTDF

/// Whose a header is (docs/design/0009). The attacker has the ciphertext, tokens for a stream of his own, and time.
@Suite struct RegistrationTests {
    private let client = TestClient()

    private func key(_ rig: Rig, _ header: [UInt8], subject: String, stream: String) throws -> [UInt8]? {
        let answer = try rig.post(
            Route.rewrap, client.request(client.body([header]), now: rig.time.seconds),
            token: rig.accessToken(subject: subject, streams: [stream])
        ).rewrap
        guard let wrapped = answer.responses[0].results[0].kasWrappedKey else { return nil }
        return try client.unwrap(wrapped, session: answer.sessionPublicKey)
    }

    private func send(
        _ rig: Rig, _ registration: CollectionRegistration, subject: String, streams: [String]
    ) throws -> ServiceAnswer {
        try rig.post(
            Route.collections, JSONCoding.encode(registration),
            token: rig.accessToken([Scope.publish], subject: subject, streams: streams))
    }

    /// What the attacker can make: a proof under a key of his own choice.
    private func forged(_ rig: Rig, _ header: [UInt8], stream: String = "evil") throws -> CollectionRegistration {
        Rig.registration(
            CollectionClaim(
                headerBytes: header, headerHash: Digest.sha256(header),
                proof: try PossessionKey(dek: [UInt8](repeating: 7, count: 32))),
            stream: stream, publisher: "attacker", lifetime: 3600, issuedAt: rig.time.seconds * 1000)
    }

    @Test func `a header whose registration has ended belongs to no one else`() throws {
        let rig = try Rig()
        let header = try rig.sealedHeader(stream: "door")
        #expect(try rig.register(header: header, stream: "door", lifetime: 2).status == 200)
        #expect(try key(rig, header, subject: "viewer", stream: "door") == rig.expectedKey(header))
        rig.time.seconds += 4
        #expect(try key(rig, header, subject: "viewer", stream: "door") == nil)
        for stream in ["evil", "door"] {
            let answer = try send(rig, forged(rig, header, stream: stream), subject: "attacker", streams: [stream])
            #expect(answer.status == 403, "\(answer.text)")
        }
        #expect(try key(rig, header, subject: "attacker", stream: "evil") == nil)
        // Its maker can have it again.
        #expect(try rig.register(header: header, stream: "door").status == 200)
        #expect(try key(rig, header, subject: "viewer", stream: "door") == rig.expectedKey(header))
    }

    @Test func `a header that went out before its registration waits for its maker`() throws {
        let rig = try Rig()
        let header = try rig.sealedHeader(stream: "door")
        #expect(try send(rig, forged(rig, header), subject: "attacker", streams: ["evil"]).status == 403)
        #expect(try key(rig, header, subject: "attacker", stream: "evil") == nil)
        #expect(try rig.register(header: header, stream: "door").status == 200)
        #expect(try key(rig, header, subject: "viewer", stream: "door") == rig.expectedKey(header))
    }

    /// A viewer has the key, and so can prove it: the policy, which the header's hash covers, names the stream.
    @Test func `a viewer who also publishes cannot move a header to a stream of his own`() throws {
        let rig = try Rig()
        let header = try rig.sealedHeader(stream: "door")
        let moved = try rig.registration(header: header, stream: "evil", publisher: "viewer")
        let answer = try send(rig, moved, subject: "viewer", streams: ["evil"])
        #expect(answer.status == 403 && answer.text.contains("does not name this stream"))
        let nameless = try rig.sealedHeader(stream: nil)
        #expect(try rig.register(header: nameless, stream: "front").status == 403)
    }

    @Test func `each part of a registration is covered by its proof`() throws {
        let rig = try Rig()
        let header = try rig.sealedHeader(stream: "door")
        let good = try rig.registration(header: header, stream: "door")
        func status(
            subject: String = "box", streams: [String] = ["*"], _ change: (inout CollectionRegistration) throws -> Void
        ) throws -> Int {
            var registration = good
            try change(&registration)
            return try send(rig, registration, subject: subject, streams: streams).status
        }
        #expect(try status { $0.lifetime += 1 } == 403)
        #expect(try status { $0.issuedAt += 1 } == 403)
        #expect(try status { $0.stream = "doors" } == 403)
        #expect(try status(subject: "bo") { _ in } == 403)
        let other = try rig.sealedHeader(stream: "door")
        #expect(try status { $0.header = Base64.encode(other) } == 403)
        #expect(
            try status { registration in
                var proof = try Base64.decode(registration.proof)
                proof[31] ^= 1
                registration.proof = Base64.encode(proof)
            } == 403)
        #expect(try status { $0.proof = "" } == 403)
        #expect(try status { _ in } == 200)
    }

    @Test func `an overheard registration is worth nothing five minutes later`() throws {
        let rig = try Rig()
        let body = try rig.registration(header: try rig.sealedHeader(), stream: "front")
        for offset: Int64 in [301, -602] {
            rig.time.seconds += offset
            let answer = try send(rig, body, subject: "box", streams: ["*"])
            #expect(answer.status == 400)
            #expect(answer.headers[CollectionRegistration.timeHeader] == String(rig.time.seconds * 1000))
        }
        rig.time.seconds += 301
        #expect(try send(rig, body, subject: "box", streams: ["*"]).status == 200)
    }

    @Test func `what is not a registration is refused with a reason`() throws {
        let rig = try Rig()
        let good = try rig.registration(header: try rig.sealedHeader(), stream: "front")
        func answer(_ change: (inout CollectionRegistration) -> Void) throws -> ServiceAnswer {
            var registration = good
            change(&registration)
            return try send(rig, registration, subject: "box", streams: ["*"])
        }
        #expect(try answer { $0.header = "" }.status == 400)
        #expect(try answer { $0.header = "???" }.status == 400)
        #expect(try answer { $0.header = Base64.encode([0x4C, 0x31, 0x4C]) }.status == 400)
        #expect(try answer { $0.header = String(repeating: "A", count: 100_000) }.status == 400)
        #expect(try answer { $0.proof = "???" }.status == 400)
        #expect(try answer { $0.lifetime = 0 }.status == 400)
        #expect(try answer { $0.lifetime = .min }.status == 400)
        #expect(try answer { $0.issuedAt = .min }.status == 400)
        #expect(try answer { $0.issuedAt = .max }.status == 400)
        #expect(try answer { $0.stream = "a*" }.status == 400)
        #expect(try answer { $0.stream = "" }.status == 400)
        for body in ["", "{", "[]", #"{"stream":"front","headerSha256":"00","notAfter":9}"#] {
            #expect(
                try rig.post(Route.collections, Array(body.utf8), token: rig.accessToken([Scope.publish])).status == 400
            )
        }
    }

    @Test func `a lifetime without end is cut, and does not trap`() throws {
        let rig = try Rig()
        let header = try rig.sealedHeader()
        let answer = try rig.register(header: header, stream: "front", lifetime: .max)
        #expect(try answer.json(CollectionReceipt.self).notAfter == rig.time.seconds + 7 * 86_400)
    }

    @Test func `the same name at two issuers is two publishers`() throws {
        let rig = try Rig { configuration, _ in
            configuration.isDevelopment = true
            configuration.developmentSecret = .init("0123456789abcdef0123456789abcdef")
        }
        let header = try rig.sealedHeader()
        #expect(try rig.register(header: header, stream: "front").status == 200)
        let issuer = rig.configuration.developmentIssuer
        let claims = AccessClaims(
            issuer: issuer, subject: "box", audience: [rig.configuration.audience],
            expiresAt: NumericDate(seconds: rig.time.seconds + 60), issuedAt: NumericDate(seconds: rig.time.seconds),
            scopes: [Scope.publish, Scope.rewrap], streams: ["front"])
        let input = JSONWebToken.signingInput(
            header: try JSONCoding.encode(TokenHeader(algorithm: "HS256")), claims: try JSONCoding.encode(claims))
        let token = JSONWebToken.compact(
            signingInput: input,
            signature: Digest.hmacSHA256(key: Array("0123456789abcdef0123456789abcdef".utf8), input))
        let again = try rig.registration(header: header, stream: "front", issuer: issuer)
        let answer = try rig.post(Route.collections, JSONCoding.encode(again), token: token)
        #expect(answer.status == 403 && answer.text.contains("somebody else"))
        #expect(rig.auditLines.contains { $0.contains("urn:watchbox:development box") && $0.contains("deny") })
        // Nor is it meant where a policy names the other.
        let forBox = try rig.sealedHeader(dissemination: ["box"])
        try rig.register(header: forBox, stream: "front")
        let rewrap = try rig.post(
            Route.rewrap, client.request(client.body([forBox]), now: rig.time.seconds), token: token
        ).rewrap
        #expect(rewrap.responses[0].results[0].status == "fail")
        #expect(try key(rig, forBox, subject: "box", stream: "front") == rig.expectedKey(forBox))
    }

    // MARK: Rollover

    @Test func `a rollover changes no key of what was registered before it`() throws {
        let rig = try Rig()
        let headers = [try rig.sealedHeader(withKid: false), try rig.sealedHeader()]
        let keys = try headers.map { try rig.expectedKey($0) }
        for header in headers { #expect(try rig.register(header: header, stream: "front").status == 200) }
        try rig.store.rollOver(.p256, now: rig.time.seconds)
        for (header, expected) in zip(headers, keys) {
            #expect(try key(rig, header, subject: "viewer", stream: "front") == expected)
        }
        // A camera that has not looked yet seals for the old key, and registers after the rollover.
        #expect(try rig.register(header: headers[0], stream: "front", kid: "e1").status == 200)
        #expect(try key(rig, headers[0], subject: "viewer", stream: "front") == keys[0])
    }

    @Test func `where nothing proves which key a header is for, none is given`() throws {
        let rig = try Rig { configuration, _ in configuration.requiresRegisteredHeaders = false }
        let bare = try rig.sealedHeader(withKid: false)
        let expected = try rig.expectedKey(bare)
        // There was never another key.
        #expect(try key(rig, bare, subject: "viewer", stream: "*") == expected)
        try rig.store.rollOver(.p256, now: rig.time.seconds)
        #expect(try key(rig, bare, subject: "viewer", stream: "*") == nil)
        #expect(rig.auditLines.last?.contains("nothing proves") == true)
        // Also when the old one is gone, and only one is left.
        try rig.store.retire(kid: "e1", now: rig.time.seconds)
        #expect(try key(rig, bare, subject: "viewer", stream: "*") == nil)
    }

    @Test func `a key serves for one epoch, and is destroyed after its overlap`() throws {
        let rig = try Rig(ownKeys: true)
        let store = try KeyStore(
            directory: rig.path + "/state", overlapSeconds: 7 * 86_400, epochSeconds: 86_400, destructionDelay: .zero,
            now: rig.time.seconds)
        #expect(try store.refresh(now: rig.time.seconds + 86_399, uptime: 0).isEmpty)
        var now = rig.time.seconds
        for _ in 0..<10 {
            now += 86_400
            #expect(try store.refresh(now: now, uptime: 0).contains { $0.contains("epoch is over") })
        }
        let states = store.descriptions.filter { $0.purpose == .p256 }
        #expect(states.first?.kid == "e0000011" && states.map(\.state).filter { $0 == .current }.count == 1)
        #expect(states.filter { $0.state == .destroyed }.map(\.kid).sorted() == ["e1", "e2"])
        #expect(store.ring.p256.count == 9)
        let files = try FileManager.default.contentsOfDirectory(atPath: rig.path + "/state")
        #expect(!files.contains("e1.pem") && !files.contains("e2.pem") && files.contains("e3.pem"))
        // The other keys are not on the schedule.
        #expect(store.descriptions.filter { $0.purpose != .p256 }.allSatisfy { $0.state == .current })
    }

    @Test func `the schedule of stream keys destroys no key of tokens or archives`() throws {
        let rig = try Rig(ownKeys: true)
        let store = try KeyStore(
            directory: rig.path + "/state", overlapSeconds: 7 * 86_400, destructionDelay: .zero, now: rig.time.seconds)
        for purpose in [KeyDescription.Purpose.issuer, .rsa2048] { try store.rollOver(purpose, now: rig.time.seconds) }
        try store.refresh(now: rig.time.seconds + 365 * 86_400, uptime: 0)
        #expect(store.ring.issuer.map(\.kid) == ["i2", "i1"] && store.ring.rsa.map(\.kid) == ["r2", "r1"])
        // A token may have a year to run, and a year more to be renewed in.
        try store.refresh(now: rig.time.seconds + 800 * 86_400, uptime: 0)
        #expect(store.ring.issuer.map(\.kid) == ["i2"] && store.ring.rsa.map(\.kid) == ["r2", "r1"])
    }

    @Test func `a crash between index and file leaves no destroyed key on the disk`() throws {
        let rig = try Rig(ownKeys: true)
        let now = rig.time.seconds
        try rig.store.rollOver(.p256, now: now)
        let pem = try Data(contentsOf: URL(filePath: rig.path + "/state/e1.pem"))
        try rig.store.retire(kid: "e1", now: now)
        try writeFile(rig.path + "/state/e1.pem", Array(pem))
        let store = try KeyStore(directory: rig.path + "/state", now: now)
        _ = try store.refresh(now: now, uptime: 0)
        #expect(!FileManager.default.fileExists(atPath: rig.path + "/state/e1.pem"))
        #expect(throws: KeyAccessServerError.self) { try store.retire(kid: "e2", now: now) }
        #expect(throws: KeyAccessServerError.self) { try store.retire(kid: "e1", now: now) }
    }

    // MARK: What a viewer learns

    @Test func `a viewer that asks learns the stream, its age, and how many came after`() throws {
        let rig = try Rig()
        let old = try rig.sealedHeader(stream: "door")
        try rig.register(header: old, stream: "door")
        rig.time.seconds += 60
        for _ in 0..<3 { try rig.register(header: try rig.sealedHeader(stream: "door"), stream: "door") }
        try rig.register(header: try rig.sealedHeader(), stream: "front")
        func facts(_ headers: [[UInt8]], asks: Bool, stream: String = "*") throws -> CollectionFacts? {
            try rig.post(
                Route.rewrap, client.request(client.body(headers), now: rig.time.seconds),
                token: rig.accessToken(streams: [stream]), wantsFacts: asks
            ).rewrap.watchbox
        }
        #expect(
            try facts([old], asks: true)
                == CollectionFacts(
                    stream: "door", registeredAt: rig.time.seconds - 60, newerRegistrations: 3,
                    time: rig.time.seconds * 1000))
        // Others get the answer that they know; a refusal reveals nothing.
        #expect(try facts([old], asks: false) == nil)
        #expect(try facts([old, old], asks: true) == nil)
        #expect(try facts([old], asks: true, stream: "front") == nil)
    }
}
