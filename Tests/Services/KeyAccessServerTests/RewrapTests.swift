import Cryptography
import Foundation
import KeyAccess
import NanoTDF
import NanoTDFCryptography
import Testing
import Wire

@testable import KeyAccessServer

@Suite struct RewrapTests {
    let client = TestClient()

    private func rewrap(
        _ rig: Rig, _ headers: [[UInt8]], token: String? = nil, clientKey: String? = nil
    ) throws -> ServiceAnswer {
        rig.post(
            Route.rewrap, try client.request(client.body(headers, clientKey: clientKey), now: rig.time.seconds),
            token: try token ?? rig.accessToken())
    }

    @Test func `a registered header's key goes to a subject with its stream`() throws {
        let rig = try Rig()
        let header = try rig.sealedHeader()
        #expect(try rig.register(header: header, stream: "front").status == 200)
        let response = try rewrap(rig, [header], token: rig.accessToken(streams: ["front"])).rewrap
        let wrapped = try #require(response.responses[0].results[0].kasWrappedKey)
        #expect(try client.unwrap(wrapped, session: response.sessionPublicKey) == rig.expectedKey(header))
        #expect(response.schemaVersion == "1.0.0")
        let audit = try #require(rig.auditLines.last)
        #expect(audit.contains(#""stream":"front""#) && audit.contains(#""subject":"viewer""#))
    }

    @Test func `an unregistered header yields no key`() throws {
        let rig = try Rig()
        let response = try rewrap(rig, [rig.sealedHeader()]).rewrap
        #expect(response.responses[0].results[0] == .fail(id: "kao-0", error: RewrapProcessor.refusal))
        #expect(rig.auditLines.last?.contains("header not registered") == true)
    }

    /// The suffix binding is unkeyed, so the swapped header is consistent in itself.
    @Test func `a header with a swapped policy and a recomputed binding yields no key`() throws {
        let rig = try Rig()
        let header = try rig.sealedHeader(dissemination: ["somebody else"])
        try rig.register(header: header, stream: "front")
        let original = try NanoTDFHeader.parse(header)
        guard case .plaintext(let policy) = original.policy else { fatalError("a plaintext policy was sealed") }
        let swapped = PlaintextPolicy(dissemination: ["viewer"]).encoded()
        let start = try #require(header.firstRange(of: policy)?.lowerBound)
        var forged = Array(header[..<(start - 2)])
        forged.appendUInt16(UInt16(swapped.count))
        forged += swapped + Digest.sha256(swapped).suffix(8) + original.ephemeralPublicKey
        #expect(
            try PolicyBinding.verify(NanoTDFHeader.parse(forged), key: nil, crypto: OpenSSLCrypto()) == .sha256Suffix)
        let token = try rig.accessToken(streams: ["front"])
        let refused = try rewrap(rig, [header, forged], token: token).rewrap
        #expect(refused.responses.map { $0.results[0].status } == ["fail", "fail"])
        #expect(refused.responses[0].results[0].error == refused.responses[1].results[0].error)
        let reasons = rig.auditLines.suffix(2)
        #expect(reasons.first?.contains("not in dissem") == true)
        #expect(reasons.last?.contains("header not registered") == true)
        #expect(!refused.responses.contains { $0.results[0].kasWrappedKey != nil })
    }

    @Test func `the stream, the attributes and dissem of a policy all count`() throws {
        let rig = try Rig { configuration, _ in
            configuration.access = AccessRules(rules: [.init(subject: "guard-*", streams: ["front"], attributes: ["A"])]
            )
        }
        let header = try rig.sealedHeader(dataAttributes: ["a", "b"], dissemination: ["guard-1", "guard-2"])
        try rig.register(header: header, stream: "front")
        func status(_ subject: String, _ streams: [String], _ attributes: [String]) throws -> String {
            let token = try rig.accessToken(subject: subject, streams: streams, attributes: attributes)
            return try rewrap(rig, [header], token: token).rewrap.responses[0].results[0].status
        }
        #expect(try status("guard-1", [], ["b"]) == "permit")
        #expect(try status("guard-1", [], []) == "fail")
        #expect(try status("guard-3", [], ["b"]) == "fail")
        #expect(try status("viewer", ["front"], ["a", "b"]) == "fail")
    }

    @Test func `every form of a client key is answered`() throws {
        let rig = try Rig()
        let header = try rig.sealedHeader()
        try rig.register(header: header, stream: "front")
        let point = client.key.publicKey.uncompressed()
        let (begin, end) = ("-----BEGIN PUBLIC KEY-----", "-----END PUBLIC KEY-----")
        let spki = try client.key.publicKey.spkiPEM()
        let forms = [
            spki, spki.replacing("\n", with: "\r\n"), "\(begin)\n\(Base64.encode(point))\(end)",
            "\(begin)\n\(Base64.encode(client.key.publicKey.compressed()))\n\(end)\n",
        ]
        for form in forms {
            let response = try rewrap(rig, [header], clientKey: form).rewrap
            let wrapped = try #require(response.responses[0].results[0].kasWrappedKey)
            #expect(try client.unwrap(wrapped, session: response.sessionPublicKey) == rig.expectedKey(header))
        }
        let rsa = try RSAPrivateKey.generate(bits: 2048)
        let response = try rewrap(rig, [header], clientKey: try rsa.publicKey.spkiPEM()).rewrap
        #expect(response.sessionPublicKey == "")
        let wrapped = try Base64.decode(try #require(response.responses[0].results[0].kasWrappedKey))
        #expect(try rsa.decryptOAEP(wrapped) == rig.expectedKey(header))
    }

    @Test func `a client key of another kind is an invalid argument`() throws {
        let rig = try Rig()
        let header = try rig.sealedHeader()
        var off = client.key.publicKey.uncompressed()
        off[64] ^= 1
        let refused = [
            "", "PEM", try ECPrivateKey.generate(.p384).publicKey.spkiPEM(),
            "-----BEGIN PUBLIC KEY-----\n\(Base64.encode(off))\n-----END PUBLIC KEY-----",
            "-----BEGIN PUBLIC KEY-----\nAA==\n-----END PUBLIC KEY-----",
            // RSA-1024, made with `openssl genrsa 1024`.
            """
            -----BEGIN PUBLIC KEY-----
            MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQCi/j76SFUU2TLdyPf6ArRXOOUC
            C7bCq/KegEPocsoD0B1FAWr7crcKDjl/lO4cvrbueBNJKc44UQbumva4yqCkRG0J
            D5e488UIvbg1ilK/A2JBZFhO3+m5jLLHLjprQUJX89exXc5JoCElCNVHXuTs4gq2
            hOMWy3jM2ajBjBbbeQIDAQAB
            -----END PUBLIC KEY-----
            """,
        ]
        for form in refused {
            let answer = try rewrap(rig, [header], clientKey: form)
            #expect(answer.status == 400)
            #expect(try answer.json(ErrorEnvelope.self).code == "invalid_argument")
        }
    }

    @Test func `a header is answered with the key that its kid names, and an unknown kid with none`() throws {
        let rig = try Rig()
        let old = try rig.sealedHeader()
        let expected = try rig.expectedKey(old)
        let bare = try rig.sealedHeader(withKid: false)
        let bareKey = try rig.expectedKey(bare)
        try rig.store.rollOver(.p256, now: rig.time.seconds)
        let new = try rig.sealedHeader()
        for header in [old, bare] {
            #expect(try rig.register(header: header, stream: "front", kid: "e1").status == 200)
        }
        try rig.register(header: new, stream: "front")
        let response = try rewrap(rig, [old, new, bare]).rewrap
        let keys = try response.responses.map {
            try client.unwrap(try #require($0.results[0].kasWrappedKey), session: response.sessionPublicKey)
        }
        #expect(keys == [expected, try rig.expectedKey(new), bareKey])
        #expect(rig.auditLines.suffix(3).map { $0.contains(#""kid":"e1""#) } == [true, false, true])
        // Past the overlap the old key is gone.
        rig.time.seconds += 31 * 86_400
        rig.endpoints.maintain()
        #expect(rig.store.ring.p256.map(\.kid) == ["e2"])
        #expect(try rewrap(rig, [old]).rewrap.responses[0].results[0].status == "fail")
        #expect(rig.auditLines.last?.contains("unknown kid") == true)
    }

    @Test func `every refusal of a key looks the same`() throws {
        let rig = try Rig()
        let good = try rig.sealedHeader()
        var otherPoint = good
        otherPoint[good.count - 1] ^= 1
        var p384 = good
        let mode = try #require(good.firstRange(of: [0x00, 0x05, 0x01])?.lowerBound)
        p384[mode] = 1
        let headers: [[UInt8]] = [good, otherPoint, Array(good.dropLast()), good + [0], [], [1, 2, 3], p384]
        let response = try rewrap(rig, headers).rewrap
        let results = response.responses.map { $0.results[0] }
        #expect(Set(results.map(\.status)) == ["fail"])
        #expect(Set(results.map(\.error)) == [RewrapProcessor.refusal])
        #expect(results.allSatisfy { $0.kasWrappedKey == nil })
    }

    @Test func `several NanoTDF objects under one policy all fail`() throws {
        let rig = try Rig()
        let header = try rig.sealedHeader()
        try rig.register(header: header, stream: "front")
        var body = try client.body([header, header])
        body.requests[0].keyAccessObjects += body.requests[1].keyAccessObjects
        body.requests.removeLast()
        let response = try rig.post(
            Route.rewrap, client.request(body, now: rig.time.seconds), token: rig.accessToken()
        ).rewrap
        #expect(response.responses[0].results.map(\.status) == ["fail", "fail"])
    }

    @Test func `sixteen objects are answered and seventeen are not`() throws {
        let rig = try Rig()
        let header = try rig.sealedHeader()
        try rig.register(header: header, stream: "front")
        let sixteen = try rewrap(rig, [[UInt8]](repeating: header, count: 16))
        #expect(try sixteen.rewrap.responses.filter { $0.results[0].isPermitted }.count == 16)
        #expect(try rewrap(rig, [[UInt8]](repeating: header, count: 17)).status == 400)
        #expect(try rewrap(rig, []).status == 400)
        var body = try client.body([header])
        body.requests[0].keyAccessObjects = .init(repeating: body.requests[0].keyAccessObjects[0], count: 17)
        #expect(
            try rig.post(Route.rewrap, client.request(body, now: rig.time.seconds), token: rig.accessToken()).status
                == 400)
    }

    @Test func `an algorithm without a key is an invalid argument`() throws {
        let rig = try Rig()
        var body = try client.body([rig.sealedHeader()])
        body.requests[0].algorithm = "ec:secp384r1"
        let answer = try rig.post(
            Route.rewrap, client.request(body, now: rig.time.seconds), token: rig.accessToken())
        #expect(answer.status == 400)
    }

    @Test func `a publisher's token gets no key and a viewer's registers nothing`() throws {
        let rig = try Rig()
        let header = try rig.sealedHeader()
        let answer = try rewrap(rig, [header], token: rig.accessToken([Scope.publish]))
        #expect(answer.status == 403)
        #expect(try answer.json(ErrorEnvelope.self).error == "policy_denied")
        let body = try JSONCoding.encode(
            try rig.registration(header: header, stream: "front", publisher: "viewer"))
        #expect(try rig.post(Route.collections, body, token: rig.accessToken()).status == 403)
        let other = try rig.accessToken([Scope.publish], streams: ["back"])
        #expect(rig.post(Route.collections, body, token: other).status == 403)
        #expect(rig.post(Route.collections, body, token: nil).status == 401)
        #expect(try rig.post(Route.collections, body, token: rig.accessToken([Scope.publish])).status == 200)
    }

    @Test func `a viewer can ask whose a header is`() throws {
        let rig = try Rig()
        let header = try rig.sealedHeader()
        try rig.register(header: header, stream: "front")
        let path = Route.collections + "/" + Hexadecimal.encode(Digest.sha256(header))
        let answer = rig.get(path, token: try rig.accessToken(streams: ["front"]))
        #expect(try answer.json(CollectionReceipt.self).stream == "front")
        #expect(rig.get(path, token: try rig.accessToken(streams: ["back"])).status == 404)
        #expect(rig.get(Route.collections + "/x", token: try rig.accessToken()).status == 404)
        #expect(rig.get(path).status == 401)
    }

    @Test func `registrations outlive a restart`() throws {
        let rig = try Rig()
        let headers = try (0..<3).map { _ in try rig.sealedHeader() }
        for header in headers { try rig.register(header: header, stream: "front") }
        try rig.register(header: headers[0], stream: "front", lifetime: 9000)
        let journal = rig.path + "/state/" + CollectionStore.journalName
        // A crash in the middle of an append.
        let handle = try #require(FileHandle(forWritingAtPath: journal))
        handle.seekToEndOfFile()
        handle.write(Data(#"{"headerSha256":"00"#.utf8))
        handle.closeFile()
        let store = try CollectionStore(directory: rig.store.directory, now: rig.time.seconds + 1000)
        let hashes = headers.map { Hexadecimal.encode(Digest.sha256($0)) }
        #expect(store.entry(forHeader: hashes[0], now: rig.time.seconds + 1000)?.publisher == "box")
        #expect(store.entry(forHeader: hashes[1], now: rig.time.seconds + 1000) == nil)
        #expect(store.count == 1)
    }

    @Test func `the journal is rewritten before it grows without bound`() throws {
        let rig = try Rig()
        let store = try CollectionStore(directory: rig.store.directory, now: 0)
        for number in 0..<3000 {
            let digits = String(number % 10)
            _ = try store.register(
                CollectionRegistry.Entry(
                    headerSha256: String(repeating: "0", count: 63) + digits, stream: "s", notAfter: 100,
                    publisher: "p", kid: "e1", registeredAt: 0), now: Int64(number) / 1000)
        }
        try store.compactIfNeeded(now: 3)
        let journal = try String(contentsOfFile: rig.path + "/state/" + CollectionStore.journalName, encoding: .utf8)
        #expect(journal.split(separator: "\n").count == 10)
        #expect(try CollectionStore(directory: rig.store.directory, now: 3).count == 10)
    }

    @Test func `no answer, log line or description holds a key or a token`() throws {
        let rig = try Rig()
        let header = try rig.sealedHeader()
        try rig.register(header: header, stream: "front")
        let token = try rig.accessToken()
        _ = try rewrap(rig, [header], token: token)
        _ = rig.post(Route.rewrap, Array("{".utf8), token: token + "x")
        let key = try rig.expectedKey(header)
        let audit = rig.auditLines.joined()
        #expect(!audit.isEmpty)
        for secret in [Hexadecimal.encode(key), Base64.encode(key), token, String(token.suffix(20))] {
            #expect(!audit.contains(secret))
        }
        var configuration = KeyAccessServerConfiguration(stateDirectory: "/x")
        configuration.developmentSecret = .init("0123456789abcdef0123456789abcdef")
        var dumped = ""
        dump(configuration, to: &dumped)
        #expect(!"\(configuration)".contains("0123456789") && !dumped.contains("0123456789"))
    }
}
