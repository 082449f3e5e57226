import Foundation
import KeyAccess
import TestSupport
import Testing
import Wire

@testable import KeyAccessServer

/// PyPI's otdf-python as a client: Connect, protobuf, gzip, RSA client key, RS256 without jti.
@Suite(
    .enabled(
        if: OtdfPython.interpreter != nil,
        "WATCHBOX_OTDF_PYTHON names no Python that has otdf-python 0.11.0 (`make test` installs one)"),
    .timeLimit(.minutes(15)))
struct ForeignClientTests {
    @Test func `otdf-python gets the public key, the keys it may have, and no other`() async throws {
        let now = Int64(Date().timeIntervalSince1970)
        let rig = try Rig(now: now)
        let registered = try rig.sealedHeader()
        let denied = try rig.sealedHeader(dissemination: ["somebody else"])
        for header in [registered, denied] { try rig.register(header: header, stream: "front") }
        let unregistered = try rig.sealedHeader()
        let token = try rig.accessToken(streams: ["front"])
        _ = try await rig.running { port in
            let url = "http://127.0.0.1:\(port)/kas"
            let key: OtdfPython.PublicKey = try await OtdfPython.run(
                OtdfPython.script, "public-key", OtdfPython.Request(url: url))
            #expect(key.kid == "e1")
            #expect(key.publicKey == (try rig.store.publicKeyPEM(.p256)))
            rig.time.followSystem()
            let headers = [registered, denied, unregistered, registered].map { Hexadecimal.encode($0) }
            let reply: OtdfPython.Keys = try await OtdfPython.run(
                OtdfPython.script, "rewrap", OtdfPython.Request(url: url, token: token, headers: headers))
            let expected = Hexadecimal.encode(try rig.expectedKey(registered))
            #expect(reply.keys == [expected, nil, nil, expected], "\(rig.auditLines)")
            let refused: OtdfPython.Keys = try await OtdfPython.run(
                OtdfPython.script, "rewrap", OtdfPython.Request(url: url, token: "none", headers: [headers[0]]))
            #expect(refused.keys == [nil])
        }
    }
}

extension OtdfPython {
    fileprivate static let script = "kas/otdf_kas_client.py"

    fileprivate struct Request: Encodable {
        var url: String
        var token: String?
        var headers: [String]?
    }
    fileprivate struct PublicKey: Decodable {
        let kid: String
        let publicKey: String
    }
    fileprivate struct Keys: Decodable {
        let keys: [String?]
    }
}
