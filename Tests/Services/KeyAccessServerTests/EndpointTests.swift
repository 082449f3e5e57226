import CZlib
import Compression
import Cryptography
import Foundation
import KeyAccess
import TestSupport
import Testing
import Wire

@testable import KeyAccessServer

/// One gzip member.
func gzip(_ bytes: [UInt8]) -> [UInt8] {
    var stream = z_stream()
    precondition(watchbox_deflateInit2(&stream, 9, 15 + 16) == Z_OK)
    defer { deflateEnd(&stream) }
    var source = bytes
    var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(bytes.count))) + 64)
    let count = source.withUnsafeMutableBufferPointer { source in
        output.withUnsafeMutableBufferPointer { output in
            stream.next_in = source.baseAddress
            stream.avail_in = UInt32(source.count)
            stream.next_out = output.baseAddress
            stream.avail_out = UInt32(output.count)
            precondition(deflate(&stream, Z_FINISH) == Z_STREAM_END)
            return output.count - Int(stream.avail_out)
        }
    }
    return Array(output[..<count])
}

@Suite struct EndpointTests {
    @Test(
        arguments: [
            (Route.publicKey, nil, "e1"), (Route.publicKey, "ec", "e1"), (Route.publicKey, "ec:secp256r1", "e1"),
            (Route.publicKey, "rsa", "r1"), (Route.publicKey, "rsa:2048", "r1"),
        ] as [(String, String?, String)])
    func `the public key of an algorithm`(path: String, algorithm: String?, kid: String) throws {
        let rig = try Rig()
        let answer = rig.get(path, query: algorithm.map { ["algorithm": $0] } ?? [:])
        #expect(answer.status == 200)
        #expect(answer.maxAge == 300)
        let response = try answer.json(PublicKeyResponse.self)
        #expect(response.kid == kid)
        #expect(response.publicKey == (try rig.store.publicKeyPEM(kid == "e1" ? .p256 : .rsa2048)))
        #expect(answer.text.contains(#""public_key":"-----BEGIN PUBLIC KEY"#))
    }

    @Test func `versions, forms and unknown algorithms of the public key`() throws {
        let rig = try Rig()
        #expect(try rig.get(Route.publicKey, query: ["v": "1"]).json(PublicKeyResponse.self).kid == nil)
        #expect(rig.get(Route.publicKey, query: ["algorithm": "ec:secp521r1"]).status == 404)
        #expect(rig.get(Route.publicKey, query: ["fmt": "der"]).status == 400)
        let jwk = try rig.get(Route.publicKey, query: ["fmt": "jwk", "algorithm": "rsa"]).json(PublicKeyResponse.self)
        let key = try JSONDecoder().decode(JSONWebKey.self, from: Data(jwk.publicKey.utf8))
        #expect(key.type == "RSA" && key.use == "enc" && key.keyID == "r1")
        let text = try rig.get(Route.legacyPublicKey).json(String.self)
        #expect(text == (try rig.store.publicKeyPEM(.rsa2048)))
    }

    @Test func `an unchanged public key is not sent again`() throws {
        let rig = try Rig()
        let first = rig.get(Route.publicKey)
        let tag = try #require(first.entityTag)
        let second = rig.get(Route.publicKey, ifNoneMatch: tag)
        #expect(second.status == 304 && second.body.isEmpty)
        try rig.store.rollOver(.p256, now: rig.time.seconds)
        let third = rig.get(Route.publicKey, ifNoneMatch: tag)
        #expect(third.status == 200 && third.entityTag != tag)
    }

    @Test func `Connect's public key in JSON and protobuf, by POST and by GET`() throws {
        let rig = try Rig()
        func kid(_ answer: ServiceAnswer) throws -> String? {
            #expect(answer.status == 200)
            return answer.contentType == .protobuf
                ? try PublicKeyResponse(protobuf: answer.body).kid : try answer.json(PublicKeyResponse.self).kid
        }
        let message = PublicKeyRequest(algorithm: "ec").protobuf()
        #expect(try kid(rig.post(Route.connectPublicKey, Array("{}".utf8), token: nil)) == "r1")
        #expect(try kid(rig.post(Route.connectPublicKey, [], token: nil, contentType: "application/proto")) == "r1")
        #expect(
            try kid(rig.post(Route.connectPublicKey, message, token: nil, contentType: "application/proto")) == "e1")
        let zipped = rig.post(
            Route.connectPublicKey, gzip(message), token: nil, contentType: "application/proto", encoding: "gzip")
        #expect(try kid(zipped) == "e1")
        let query = ["connect": "v1", "encoding": "json", "message": #"{"algorithm":"ec"}"#]
        #expect(try kid(rig.get(Route.connectPublicKey, query: query)) == "e1")
        let packed = [
            "encoding": "proto", "base64": "1", "compression": "gzip",
            "message": Base64.encode(gzip(message), alphabet: .url),
        ]
        #expect(try kid(rig.get(Route.connectPublicKey, query: packed)) == "e1")
        #expect(rig.get(Route.connectPublicKey).status == 415)
        let legacy = rig.post(Route.connectLegacyPublicKey, Array("{}".utf8), token: nil)
        #expect(try legacy.json(String.self) == rig.store.publicKeyPEM(.rsa2048))
        let string = rig.post(Route.connectLegacyPublicKey, [], token: nil, contentType: "application/proto")
        #expect(string.body.first == 0x0A)
        #expect(
            rig.post(Route.connectPublicKey, [0x08, 1], token: nil, contentType: "application/proto").status == 400)
    }

    @Test func `discovery names this service`() throws {
        let rig = try Rig()
        let document = try rig.get(Route.configuration).json(ServiceConfigurationDocument.self)
        #expect(document.kas.uri == "http://127.0.0.1:8443/kas")
        #expect(document.idp?.issuer == KeyAccessServerConfiguration.localIssuer)
        let public_ = try Rig { configuration, _ in configuration.publicURL = "https://kas.example.net/" }
        let other = try public_.get(Route.configuration).json(ServiceConfigurationDocument.self)
        #expect(other.kas.rewrapURL == "https://kas.example.net/kas/v2/rewrap")
    }

    @Test func `an unknown path, a wrong method and a wrong content type`() throws {
        let rig = try Rig()
        let token = try rig.accessToken()
        #expect(rig.get("/").status == 404)
        #expect(rig.get("/kas/v2/rewrap/..").status == 404)
        #expect(try rig.get("/nothing").json(ErrorEnvelope.self).code == "not_found")
        #expect(rig.get(Route.rewrap).status == 405)
        #expect(rig.post(Route.publicKey, [], token: nil).status == 405)
        #expect(rig.get(Route.health).text == #"{"status":"ok"}"#)
        for type in ["", "text/plain", "application/xml", "application/jsonx"] {
            #expect(rig.post(Route.rewrap, Array("{}".utf8), token: token, contentType: type).status == 415)
        }
        #expect(rig.post(Route.rewrap, Array("{}".utf8), token: token, encoding: "br").status == 415)
        let charset = rig.post(
            Route.rewrap, Array("{}".utf8), token: token, contentType: "Application/JSON ; charset=utf-8")
        #expect(charset.status == 400)
    }

    @Test func `malformed bodies are invalid arguments`() throws {
        let rig = try Rig()
        let token = try rig.accessToken()
        let deep = String(repeating: "[", count: 100_000)
        let bodies = [
            "", "{", "[]", "null", "\u{0}", #"{"signed_request_token":5}"#, #"{"signed_request_token":"a.b.c"}"#,
            #"{"signed_request_token":\#(deep)"#, #"{"x":\#(deep)"#,
            #"{"signed_request_token":"\#(String(repeating: "A.", count: 5000))"}"#,
        ]
        for body in bodies {
            let answer = rig.post(Route.rewrap, Array(body.utf8), token: token)
            #expect(answer.status == 400)
            #expect(try answer.json(ErrorEnvelope.self).error == "invalid_request")
        }
        let client = TestClient()
        for requestBody in ["", "{", deep, #"{"clientPublicKey":"\#(deep)","requests":[]}"#, "[]"] {
            let claims = RewrapRequestClaims(
                requestBody: requestBody, issuedAt: NumericDate(seconds: rig.time.seconds),
                expiresAt: NumericDate(seconds: rig.time.seconds + 60))
            let input = JSONWebToken.signingInput(
                header: try JSONCoding.encode(TokenHeader(algorithm: "ES256")), claims: try JSONCoding.encode(claims))
            let text = JSONWebToken.compact(signingInput: input, signature: try client.signer.signES256(input))
            let body = try JSONCoding.encode(RewrapRequest(signedRequestToken: text))
            #expect(rig.post(Route.rewrap, body, token: token).status == 400)
        }
    }

    @Test(arguments: UInt64(0)..<16)
    func `mutation of a good request never traps and never opens a door`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let rig = try Rig { configuration, _ in
            configuration.addressRateLimit = .init(perSecond: 1e6, burst: 1e6)
            configuration.subjectRateLimit = .init(perSecond: 1e6, burst: 1e6)
        }
        let client = TestClient()
        let header = try rig.sealedHeader(dissemination: ["somebody else"])
        try rig.register(header: header, stream: "front")
        let token = try rig.accessToken()
        for round in 0..<24 {
            var bytes = header
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] ^=
                    1 << UInt8.random(in: 0..<8, using: &generator)
            }
            let answer = rig.post(
                Route.rewrap, try client.request(client.body([bytes]), now: rig.time.seconds), token: token)
            #expect(answer.status == 200, "round \(round)")
            #expect(try answer.rewrap.responses[0].results[0].kasWrappedKey == nil)
            var body = try client.request(client.body([header]), now: rig.time.seconds)
            for _ in 0..<4 {
                body[Int.random(in: 0..<body.count, using: &generator)] ^=
                    1 << UInt8.random(in: 0..<8, using: &generator)
            }
            #expect([200, 400, 401].contains(rig.post(Route.rewrap, body, token: token).status))
        }
    }

    // MARK: gzip

    @Test func `a gzip body is inflated whole`() throws {
        for count in [0, 1, 14, 16_384, 70_000] {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ $0 >> 3) }
            #expect(try GzipInflater.inflate(gzip(bytes), limit: 1 << 20) == bytes)
        }
    }

    @Test func `a bomb is refused by its ratio or its size`() throws {
        let bomb = gzip([UInt8](repeating: 0, count: 4 << 20))
        #expect(bomb.count < 10_000)
        #expect(throws: GzipInflater.Fault.ratio(limit: 100)) { try GzipInflater.inflate(bomb, limit: 1 << 20) }
        #expect(throws: GzipInflater.Fault.tooLarge(limit: 1 << 20)) {
            try GzipInflater.inflate(bomb, limit: 1 << 20, ratio: 1_000_000)
        }
        let rig = try Rig()
        let answer = rig.post(
            Route.connectPublicKey, bomb, token: nil, contentType: "application/proto", encoding: "gzip")
        #expect(answer.status == 413)
        let random = (0..<(2 << 20)).map { _ in UInt8.random(in: 0...255) }
        #expect(rig.post(Route.connectPublicKey, random, token: nil).status == 413)
    }

    @Test func `every strict prefix of a gzip body is malformed, and so is anything behind it`() throws {
        let zipped = gzip(Array("a message of some length, a message".utf8))
        for length in 0..<zipped.count {
            #expect(throws: GzipInflater.Fault.malformed) {
                try GzipInflater.inflate(Array(zipped[..<length]), limit: 1000)
            }
        }
        #expect(throws: GzipInflater.Fault.trailingBytes) { try GzipInflater.inflate(zipped + [0], limit: 1000) }
        #expect(throws: GzipInflater.Fault.malformed) { try GzipInflater.inflate(Array("plain".utf8), limit: 1000) }
    }

    @Test(arguments: UInt64(0)..<64)
    func `mutation of a gzip body never traps`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let zipped = gzip((0..<2000).map { UInt8(truncatingIfNeeded: $0 / 7) })
        var bytes = zipped
        for _ in 0..<8 {
            bytes[Int.random(in: 0..<bytes.count, using: &generator)] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        }
        _ = try? GzipInflater.inflate(bytes, limit: 1 << 16)
    }

    // MARK: configuration

    @Test(arguments: ["0.0.0.0", "::", "192.168.1.5", "kas.example.net", "127.0.0.1.evil.net", "127.1", "0", ""])
    func `plain HTTP beyond loopback is refused with a message`(host: String) throws {
        let error = try #require(throws: KeyAccessServerError.self) {
            try Rig { configuration, _ in configuration.host = host }
        }
        #expect(error == .plaintextBeyondLoopback(host: host))
        #expect("\(error)".contains("tls"))
    }

    @Test(arguments: ["127.0.0.1", "127.8.9.1", "::1", "localhost"])
    func `loopback needs no TLS`(host: String) throws {
        _ = try Rig { configuration, _ in configuration.host = host }
    }

    @Test func `development mode stays on loopback, even with TLS`() {
        #expect(throws: KeyAccessServerError.developmentBeyondLoopback) {
            try Rig { configuration, _ in
                configuration.host = "0.0.0.0"
                configuration.tls = .init(certificateChainFile: "c", privateKeyFile: "k")
                configuration.isDevelopment = true
            }
        }
    }

    @Test func `a configuration file needs only its state directory`() throws {
        func read(_ text: String) throws -> KeyAccessServerConfiguration {
            try JSONDecoder().decode(KeyAccessServerConfiguration.self, from: Data(text.utf8))
        }
        #expect(try read(#"{"stateDirectory":"/s"}"#) == KeyAccessServerConfiguration(stateDirectory: "/s"))
        let full = try read(
            #"{"stateDirectory":"/s","port":1,"sessionSalts":{"app":"empty"},"access":{"rules":[{"subject":"a"}]},"#
                + #""requiresRegisteredHeaders":false}"#)
        #expect(full.sessionSalt(client: "app") == .empty)
        #expect(full.sessionSalt(client: "other") == .l1l)
        #expect(full.sessionSaltTDF3(client: "app") == .empty)
        #expect(full.sessionSaltTDF3(client: nil) == .tdf)
        #expect(full.access.rules == [.init(subject: "a")])
        #expect(throws: (any Error).self) { try read(#"{"stateDirectory":"/s","sessionSalts":{"app":"L2L"}}"#) }
        #expect(throws: (any Error).self) { try read("{}") }
        let encoded = try JSONEncoder().encode(full)
        #expect(try JSONDecoder().decode(KeyAccessServerConfiguration.self, from: encoded) == full)
    }

    @Test func `settings out of range are named`() {
        for change in [
            { $0.port = -1 }, { $0.port = 65_536 }, { $0.subjectRateLimit.perSecond = 0 },
            { $0.addressRateLimit.burst = .infinity }, { $0.maximumConnections = 0 }, { $0.keyOverlapSeconds = -1 },
        ] as [(inout KeyAccessServerConfiguration) -> Void] {
            #expect(throws: KeyAccessServerError.self) { try Rig { configuration, _ in change(&configuration) } }
        }
    }
}
