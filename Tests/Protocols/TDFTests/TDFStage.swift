import Cryptography
import KeyAccess
import NanoTDF
import TDFCryptography
import Wire

@testable import TDF

/// A KAS's RSA key, and archives for it in memory.
struct TDFStage {
    /// An RSA key takes a while to make.
    static let shared = try! TDFStage()

    let key: RSAPrivateKey
    let recipient: TDFRecipient

    init() throws {
        key = try RSAPrivateKey.generate(bits: 2048)
        recipient = TDFRecipient(
            url: "https://kas.example.net/kas", kid: "r1", publicKeyPEM: try key.publicKey.spkiPEM())
    }

    struct Sealed {
        var manifest: TDFManifest
        var payload: [UInt8]
        var signatures: [[UInt8]]

        func bytes(of index: Int) throws -> ArraySlice<UInt8> {
            let range = try TDFSegmentMap(manifest).encryptedRange(of: index)
            return payload[Int(range.lowerBound)..<Int(range.upperBound)]
        }
    }

    func sealed(_ segments: [[UInt8]], policy: PlaintextPolicy = PlaintextPolicy(stream: "door")) throws -> Sealed {
        var sealer = try TDFSealer(recipient: recipient, policy: policy, crypto: OpenSSLTDFCrypto())
        var payload: [UInt8] = []
        let done = try segments.map { try sealer.seal($0[...], into: &payload) }
        let manifest = TDFManifest(
            envelope: sealer.envelope, segments: done.map(\.entry), rootSignature: done.last?.rootSignature ?? [],
            segmentSize: 1 << 20, mimeType: "video/mp4",
            meta: .init(assetId: "A", protectedAt: "2026-11-28T15:23:56Z"))
        return Sealed(manifest: manifest, payload: payload, signatures: done.map(\.rootSignature))
    }

    func archiveKey(_ manifest: TDFManifest) throws -> CollectionKey {
        try key.archiveKey(from: manifest.encryptionInformation.keyAccess[0])
    }

    func opener(_ sealed: Sealed) throws -> TDFOpener {
        try TDFOpener(
            sealed.manifest, key: try archiveKey(sealed.manifest), payloadSize: Int64(sealed.payload.count),
            crypto: OpenSSLTDFCrypto())
    }
}
