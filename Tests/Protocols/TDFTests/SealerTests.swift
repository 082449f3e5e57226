import Cryptography
import KeyAccess
import NanoTDF
import TDFCryptography
import Testing
import Wire

@testable import TDF

struct TDFSealerTests {
    private let stage = TDFStage.shared

    @Test func `what was sealed opens, in any order`() throws {
        let segments: [[UInt8]] = [[], [1], Array("hello".utf8), [UInt8](repeating: 7, count: 70_000), []]
        let sealed = try stage.sealed(segments)
        let opener = try stage.opener(sealed)
        for index in segments.indices.reversed() {
            #expect(try opener.open(index, try sealed.bytes(of: index)) == segments[index])
        }
    }

    @Test func `the signature after each segment is the root signature of an archive that ends there`() throws {
        let segments = (0..<6).map { [UInt8](repeating: UInt8($0), count: $0 * 100) }
        let whole = try stage.sealed(segments)
        let key = try stage.archiveKey(whole.manifest).withBytes { bytes in bytes.indices.map { bytes[$0] } }
        let gmacs = whole.manifest.encryptionInformation.integrityInformation.segments.map(\.gmac)
        for count in 1...segments.count {
            let signature = Digest.hmacSHA256(key: key, gmacs.prefix(count).flatMap(\.self))
            #expect(whole.signatures[count - 1] == signature)
            // As after a crash: what the journal has, and no key.
            var part = whole
            part.manifest = TDFManifest(
                envelope: TDFEnvelope(
                    policy: whole.manifest.encryptionInformation.policy,
                    keyAccess: whole.manifest.encryptionInformation.keyAccess[0]),
                segments: Array(whole.manifest.encryptionInformation.integrityInformation.segments.prefix(count)),
                rootSignature: signature, segmentSize: 1 << 20, mimeType: "video/mp4",
                meta: .init(assetId: nil, protectedAt: nil))
            part.payload = Array(whole.payload.prefix(Int(try TDFSegmentMap(part.manifest).encryptedSize)))
            let opener = try stage.opener(part)
            #expect(try opener.open(count - 1, try part.bytes(of: count - 1)) == segments[count - 1])
        }
    }

    @Test func `binding and wrapped key are what the SDKs write`() throws {
        let manifest = try stage.sealed([[1]]).manifest
        let object = try #require(manifest.encryptionInformation.keyAccess.first)
        #expect(object.type == "wrapped")
        #expect(object.protocol == "kas")
        #expect(object.url == "https://kas.example.net/kas")
        #expect(object.kid == "r1")
        #expect(try Base64.decode(object.wrappedKey ?? "").count == 256)
        let key = try stage.archiveKey(manifest).withBytes { bytes in bytes.indices.map { bytes[$0] } }
        let mac = Digest.hmacSHA256(key: key, Array(manifest.encryptionInformation.policy.utf8))
        #expect(object.policyBinding?.algorithm == "HS256")
        #expect(object.policyBinding?.hash == Base64.encode(Hexadecimal.encode(mac).utf8))
        let policy = String(
            decoding: try Base64.decode(manifest.encryptionInformation.policy), as: UTF8.self)
        #expect(policy.contains(#""stream":"door","body":{"dataAttributes":[],"dissem":[]}}"#))
    }

    @Test func `no IV comes twice, and no two archives have one key`() throws {
        let sealed = try stage.sealed([[UInt8]](repeating: [5], count: 300))
        let ivs = Set(try (0..<300).map { Array(try sealed.bytes(of: $0).prefix(12)) })
        #expect(ivs.count == 300)
        let other = try stage.sealed([[5]])
        #expect(throws: TDFError.policyBinding) {
            try TDFOpener(
                sealed.manifest, key: try stage.archiveKey(other.manifest),
                payloadSize: Int64(sealed.payload.count), crypto: OpenSSLTDFCrypto())
        }
    }

    @Test func `a policy that no reader takes makes no archive`() throws {
        let long = PlaintextPolicy(
            stream: nil, dataAttributes: [String(repeating: "a", count: 60_000)], dissemination: [])
        #expect {
            try TDFSealer(recipient: TDFRecipient(url: "", publicKeyPEM: ""), policy: long, crypto: OpenSSLTDFCrypto())
        } throws: { error in
            guard case TDFError.policyTooLong(let count, let limit) = error else { return false }
            return count > limit
        }
    }

    @Test func `a segment that nobody could open is not sealed`() throws {
        var sealer = try TDFSealer(
            recipient: stage.recipient, policy: PlaintextPolicy(), crypto: OpenSSLTDFCrypto())
        var output: [UInt8] = [9]
        let limit = TDFSegmentEntry.maxClearSize
        #expect(throws: TDFError.segmentTooLarge(count: limit + 1, limit: limit)) {
            try sealer.seal([UInt8](repeating: 0, count: limit + 1)[...], into: &output)
        }
        #expect(output == [9])
        #expect(sealer.count == 0)
    }

    @Test func `a segment takes the place of another behind what is to stay`() throws {
        var sealer = try TDFSealer(
            recipient: stage.recipient, policy: PlaintextPolicy(stream: "door"), crypto: OpenSSLTDFCrypto())
        let segments = [40_000, 2, 20_000, 0].map { [UInt8](repeating: UInt8(truncatingIfNeeded: $0), count: $0) }
        var output: [UInt8] = [9, 8]
        var payload: [UInt8] = []
        let done = try segments.map { segment in
            let sealed = try sealer.seal(segment[...], into: &output, at: 1)
            #expect(output.count == 1 + segment.count + TDFSegmentEntry.overhead)
            #expect(output[0] == 9)
            payload += output.dropFirst()
            return sealed
        }
        let manifest = TDFManifest(
            envelope: sealer.envelope, segments: done.map(\.entry),
            rootSignature: try #require(done.last).rootSignature, segmentSize: 3, mimeType: "video/mp4",
            meta: .init(assetId: nil, protectedAt: nil))
        let sealed = TDFStage.Sealed(manifest: manifest, payload: payload, signatures: [])
        let opener = try stage.opener(sealed)
        for (index, segment) in segments.enumerated() {
            #expect(try opener.open(index, try sealed.bytes(of: index)) == segment)
        }
    }

    @Test func `a segment that was withdrawn is in no signature, and its IV does not come again`() throws {
        var sealer = try TDFSealer(
            recipient: stage.recipient, policy: PlaintextPolicy(stream: "door"), crypto: OpenSSLTDFCrypto())
        var payload: [UInt8] = []
        var lost: [UInt8] = []
        let first = try sealer.seal([1, 2], into: &payload)
        for _ in 0..<2 {
            _ = try sealer.seal([3], into: &lost)
            sealer.withdraw()
        }
        let last = try sealer.seal([4, 5, 6], into: &payload)
        #expect(sealer.count == 2)
        let manifest = TDFManifest(
            envelope: sealer.envelope, segments: [first.entry, last.entry], rootSignature: last.rootSignature,
            segmentSize: 3, mimeType: "video/mp4", meta: .init(assetId: nil, protectedAt: nil))
        let sealed = TDFStage.Sealed(manifest: manifest, payload: payload, signatures: [])
        let opener = try stage.opener(sealed)
        #expect(try opener.open(0, try sealed.bytes(of: 0)) == [1, 2])
        #expect(try opener.open(1, try sealed.bytes(of: 1)) == [4, 5, 6])
        let ivs = [payload[11], payload[30 + 11], lost[11], lost[29 + 11]]
        #expect(ivs == [1, 4, 2, 3])
    }

    @Test(arguments: ["", "no PEM", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----"])
    func `a key that is none is refused`(pem: String) throws {
        #expect(throws: TDFError.crypto(.invalidPublicKey)) {
            try TDFSealer(
                recipient: TDFRecipient(url: "https://kas", publicKeyPEM: pem), policy: PlaintextPolicy(),
                crypto: OpenSSLTDFCrypto())
        }
    }

    @Test func `a P-256 key is no key for archives`() throws {
        let pem = try ECPrivateKey.generate(.p256).publicKey.spkiPEM()
        #expect(throws: TDFError.crypto(.invalidPublicKey)) {
            try TDFSealer(
                recipient: TDFRecipient(url: "https://kas", publicKeyPEM: pem), policy: PlaintextPolicy(),
                crypto: OpenSSLTDFCrypto())
        }
    }
}
