import Cryptography
import FoundationEssentials
import Media
import NanoTDF
import RTMP
import Synchronization
import Testing
import Wire

@testable import CameraPipeline
@testable import NanoTDFCryptography

/// `ntdf1_stream.json`: 32 messages of a 64x48 H.264 and AAC clip with one rotation, computed by other code with known
/// ephemeral keys. The sealer must give the same bytes.
@Suite struct VectorTests {
    private struct Vector: Decodable {
        struct Collection: Decodable {
            var collection: Int
            var locator_hex: String
            var policy_hex: String
            var ephemeral_private_key_hex: String
            var header_hex: String
        }
        struct Message: Decodable {
            var type: UInt8
            var timestamp: UInt32
            var note: String
            var collection: Int?
            var iv: UInt32?
            var clear_prefix_hex: String?
            var plaintext_hex: String?
            var payload_hex: String
        }
        var kas_public_key_compressed: String
        var collections: [Collection]
        var messages: [Message]

        static func read() throws -> Vector {
            let file = URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "Fixtures/ntdf1_stream.json")
            return try JSONDecoder().decode(Vector.self, from: Data(contentsOf: file))
        }
    }

    /// OpenSSL's cryptography with the ephemeral keys of the vector.
    private final class KnownEphemerals: NanoTDFCrypto {
        private let keys: Mutex<[ECPrivateKey]>
        private let openSSL = OpenSSLCrypto()

        init(_ scalars: [String]) throws {
            keys = Mutex(try scalars.map { try ECPrivateKey(scalar: Hexadecimal.decode($0), curve: .p256) })
        }

        func makeSealing(
            recipient: [UInt8], curve: EllipticCurve, salt: [UInt8]
        ) throws(NanoTDFCryptoError) -> EphemeralSealing {
            let key = keys.withLock { $0.removeFirst() }
            do {
                return try openSSL.sealing(
                    ephemeral: key, peer: ECPublicKey(sec1: recipient, curve: .p256), salt: salt)
            } catch {
                throw .libraryFailed(call: "\(error)")
            }
        }

        func sha256(_ bytes: ArraySlice<UInt8>) -> [UInt8] { openSSL.sha256(bytes) }

        func makeOpening(_ key: CollectionKey) throws(NanoTDFCryptoError) -> any ItemOpeningContext {
            try openSSL.makeOpening(key)
        }

        func zeroNonceTag(
            _ key: CollectionKey, associatedData: ArraySlice<UInt8>
        ) throws(NanoTDFCryptoError) -> [UInt8] {
            try openSSL.zeroNonceTag(key, associatedData: associatedData)
        }

        func verifiesECDSA(
            signature: [UInt8], message: ArraySlice<UInt8>, publicKey: ArraySlice<UInt8>, curve: EllipticCurve
        ) -> Bool {
            openSSL.verifiesECDSA(signature: signature, message: message, publicKey: publicKey, curve: curve)
        }

        func constantTimeEqual(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Bool { left == right }
    }

    @Test func `the sealer gives the vector's bytes, message by message`() throws {
        let vector = try Vector.read()
        let crypto = try KnownEphemerals(vector.collections.map(\.ephemeral_private_key_hex))
        var sealer = StreamSealer(options: .init(videoDataRate: 100, audioDataRate: 24))
        var collections: [PreparedCollection] = []
        for collection in vector.collections {
            let recipient = KASRecipient(
                locator: try ResourceLocator(url: "https://kas.example.net:8443/kas"),
                publicKey: try Hexadecimal.decode(vector.kas_public_key_compressed))
            let made = try CollectionSealer(
                recipient: recipient, policy: Hexadecimal.decode(collection.policy_hex), crypto: crypto)
            #expect(Hexadecimal.encode(made.headerBytes) == collection.header_hex)
            collections.append(PreparedCollection(made, madeAt: 0))
        }
        // The next one is not there yet, so that it is not announced: the vectors are older than that.
        sealer.offer(collections[0])
        sealer.begin()
        let record = try Hexadecimal.decode(vector.messages[2].payload_hex.dropFirst(10))
        let config = try Hexadecimal.decode(vector.messages[3].payload_hex.dropFirst(4))
        let formats: [MediaEvent] = [
            .videoFormat(
                VideoFormat(codec: .h264, width: 64, height: 48, frameRate: 5, configurationRecord: record)),
            .audioFormat(
                AudioFormat(codec: .aac, sampleRate: 48000, channels: 2, audioSpecificConfig: config)),
        ]
        for format in formats { #expect(sealer.seal(format, at: 0) == .noted) }

        var written: [SealedMessage] = []
        for message in vector.messages {
            guard let plaintext = message.plaintext_hex, let prefix = message.clear_prefix_hex else { continue }
            if message.collection == 2, message.iv == 1 {
                sealer.offer(collections[1])
                sealer.forceRotation()
            }
            let time = MediaTime(milliseconds: Int64(message.timestamp))
            let unit = AccessUnit(
                track: message.type == 9 ? .video(.h264) : .audio(.aac), isKeyFrame: !prefix.hasPrefix("27"),
                presentationTime: time, decodeTime: time, data: try Hexadecimal.decode(plaintext))
            guard case .send(let sealed) = sealer.seal(.accessUnit(unit), at: 0) else {
                Issue.record("\(message.note) at \(message.timestamp) ms was not sent")
                return
            }
            #expect(sealed.iv == message.iv)
            written += sealer.entry
        }
        #expect(written.count == vector.messages.count)
        for (own, expected) in zip(written, vector.messages) {
            #expect(own.type.rawValue == expected.type, "\(expected.note)")
            #expect(own.timestamp == expected.timestamp, "\(expected.note)")
            #expect(Hexadecimal.encode(own.prefix + own.payload) == expected.payload_hex, "\(expected.note)")
        }
    }
}
