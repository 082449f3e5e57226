import TestSupport
import Testing

@testable import KeyAccess
@testable import Wire

@Suite struct ProtobufTests {
    /// `otdf-python-0.11.0`: body of PublicKey after inflating.
    static let publicKeyRequest: [UInt8] = try! Hexadecimal.decode("0a0c65633a736563703235367231")

    static let response = RewrapResponse(
        responses: [
            PolicyRewrapResult(
                policyId: "policy",
                results: [
                    .permit(id: "kao-0", wrappedKey: Base64.encode([UInt8](0..<60))),
                    .fail(id: "kao-1", error: "no"),
                ]),
            PolicyRewrapResult(policyId: "", results: []),
        ], sessionPublicKey: "-----BEGIN PUBLIC KEY-----\n", entityWrappedKey: "AAEC")

    @Test func `otdf-python's request is read and written`() throws {
        let request = try PublicKeyRequest(protobuf: Self.publicKeyRequest)
        #expect(request == PublicKeyRequest(algorithm: "ec:secp256r1"))
        #expect(request.protobuf() == Self.publicKeyRequest)
    }

    @Test func `messages come back as they were`() throws {
        #expect(try RewrapResponse(protobuf: Self.response.protobuf()) == Self.response)
        let key = PublicKeyResponse(publicKey: "PEM", kid: "e1")
        #expect(try PublicKeyResponse(protobuf: key.protobuf()) == key)
        let request = RewrapRequest(signedRequestToken: String(repeating: "t", count: 40_000))
        #expect(try RewrapRequest(protobuf: request.protobuf()) == request)
        let query = PublicKeyRequest(algorithm: "rsa", format: "jwk", version: "1")
        #expect(try PublicKeyRequest(protobuf: query.protobuf()) == query)
    }

    @Test func `a failure's bytes are those of kas.proto`() {
        let result = KeyAccessRewrapResult.fail(id: "k", error: "no")
        // metadata = 1 {key = 1 "error", value = 2 {string_value = 3 "no"}}, id = 2, status = 3, error = 5
        #expect(
            Hexadecimal.encode(result.protobuf())
                == "0a0d" + "0a056572726f72" + "12041a026e6f" + "12016b" + "1a046661696c" + "2a026e6f")
    }

    @Test func `a string value is one field`() {
        #expect(StringValue.protobuf("PEM") == [0x0A, 3, 0x50, 0x45, 0x4D])
    }

    @Test func `unknown fields of every wire type are skipped and the last of two counts`() throws {
        let unknown: [UInt8] = [
            0x78, 0xFF, 0x01,  // 15: varint
            0x79, 1, 2, 3, 4, 5, 6, 7, 8,  // 15: 64 bits
            0x7A, 2, 0xFF, 0xFE,  // 15: bytes that aren't UTF-8
            0x7D, 1, 2, 3, 4,  // 15: 32 bits
        ]
        let bytes = unknown + [0x0A, 1, 0x61] + unknown + [0x0A, 1, 0x62] + unknown
        #expect(try RewrapRequest(protobuf: bytes).signedRequestToken == "b")
    }

    @Test func `faults name the field and the place`() {
        #expect(throws: ProtobufError.wrongWireType(field: 1, offset: 0)) { try RewrapRequest(protobuf: [0x08, 1]) }
        #expect(throws: ProtobufError.wrongWireType(field: 1, offset: 2)) {
            try RewrapRequest(protobuf: [0x78, 1, 0x0D, 1, 2, 3, 4])
        }
        #expect(throws: ProtobufError.invalidUTF8(field: 1, offset: 0)) {
            try RewrapRequest(protobuf: [0x0A, 1, 0xFF])
        }
        #expect(throws: ProtobufError.invalidTag(offset: 0)) { try RewrapRequest(protobuf: [0x00, 1]) }
        for type in [3, 4, 6, 7] as [UInt8] {
            #expect(throws: ProtobufError.invalidTag(offset: 0)) { try RewrapRequest(protobuf: [0x08 | type, 1]) }
        }
        #expect(throws: ProtobufError.invalidVarint(offset: 1)) {
            try RewrapRequest(protobuf: [0x78] + [UInt8](repeating: 0xFF, count: 10))
        }
        #expect(throws: ProtobufError.wire(.truncated(offset: 2, needed: 5, available: 1))) {
            try RewrapRequest(protobuf: [0x0A, 5, 0x61])
        }
        let huge: [UInt8] = [0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01]
        #expect(throws: ProtobufError.wire(.truncated(offset: 11, needed: .max, available: 0))) {
            try RewrapRequest(protobuf: huge)
        }
        #expect(throws: ProtobufError.tooManyFields(limit: 1024)) {
            try RewrapRequest(protobuf: [UInt8]((0..<1025).flatMap { _ in [0x78, 1] as [UInt8] }))
        }
    }

    @Test func `a strict prefix of a request is truncated or has lost its field`() throws {
        for length in 1..<Self.publicKeyRequest.count {
            #expect(throws: ProtobufError.self, "\(length) bytes") {
                try PublicKeyRequest(protobuf: Array(Self.publicKeyRequest[..<length]))
            }
        }
        #expect(try PublicKeyRequest(protobuf: []) == PublicKeyRequest())
    }

    @Test(arguments: UInt64(0)..<64)
    func `mutation never traps`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for original in [Self.response.protobuf(), Self.publicKeyRequest] {
            for _ in 0..<32 {
                var bytes = original
                for _ in 0..<8 {
                    bytes[Int.random(in: 0..<bytes.count, using: &generator)] ^=
                        1 << UInt8.random(in: 0..<8, using: &generator)
                }
                _ = try? RewrapResponse(protobuf: bytes)
                _ = try? PublicKeyRequest(protobuf: bytes)
                _ = try? PublicKeyResponse(protobuf: bytes)
            }
        }
    }
}
