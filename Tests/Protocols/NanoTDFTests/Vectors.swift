import Cryptography
import Foundation
import NanoTDF
import NanoTDFCryptography
import Testing
import Wire

/// The stored vectors; see Fixtures/README.md.
enum Vectors {
    struct Collection: Decodable, CustomTestStringConvertible {
        struct Frame: Decodable {
            let iv_counter: UInt32
            let plaintext_hex: String
            let wire_hex: String
        }
        struct Item: Decodable {
            let plaintext_hex: String
            let nanotdf_hex: String
        }
        let kas_private_key_hex: String
        let tag_bytes: Int
        let header_hex: String?
        let dek_hex: String?
        let gcm_nonce_rule: String
        let policy_plaintext_hex: String?
        let frames: [Frame]?
        let items: [Item]?

        var testDescription: String { "\(tag_bytes)-byte tags, nonce \(gcm_nonce_rule)" }

        /// Every entry as header, item and expected plaintext, whatever the framing.
        func entries() throws -> [Entry] {
            let key = try ECPrivateKey(scalar: bytes(kas_private_key_hex), curve: .p256)
            var entries: [Entry] = []
            for frame in frames ?? [] {
                let header = try NanoTDFHeader.parse(bytes(header_hex!))
                entries.append(
                    Entry(
                        headerBytes: bytes(header_hex!), header: header, key: try key.collectionKey(for: header),
                        item: try ContainerItem.parse(bytes(frame.wire_hex)[...], tagByteCount: header.tagByteCount),
                        plaintext: bytes(frame.plaintext_hex)))
            }
            for item in items ?? [] {
                let whole = bytes(item.nanotdf_hex)
                let single = try SingleNanoTDF.parse(whole[...])
                entries.append(
                    Entry(
                        headerBytes: Array(whole.prefix(single.headerByteCount)), header: single.header,
                        key: try key.collectionKey(for: single.header), item: single.item,
                        plaintext: bytes(item.plaintext_hex)))
            }
            return entries
        }
    }

    struct Entry {
        let headerBytes: [UInt8]
        let header: NanoTDFHeader
        let key: CollectionKey
        let item: ContainerItem
        let plaintext: [UInt8]

        /// The item as it would stand in an RTMP message.
        var wire: [UInt8] {
            var output: [UInt8] = []
            output.appendUInt24(item.counter)
            output.appendUInt24(UInt32(item.ciphertext.count + item.tag.count))
            return output + item.ciphertext + item.tag
        }
    }

    struct Stream: Decodable {
        struct Collection: Decodable {
            let collection: Int?
            let locator_hex: String
            let policy_hex: String
            let ephemeral_private_key_hex: String
            let header_hex: String
            let dek_hex: String
        }
        struct Message: Decodable {
            let type: Int
            let timestamp: UInt32
            let collection: Int?
            let iv: UInt32?
            let clear_prefix_hex: String?
            let plaintext_hex: String?
            let payload_hex: String
        }
        let kas_private_key_hex: String
        let kas_public_key_compressed: String
        let collections: [Collection]
        let headers: [Collection]
        let messages: [Message]
    }

    struct Specification: Decodable {
        struct Vector: Decodable {
            let section: String
            let recipient_private_key_pkcs8_der_b64: String
            let nanotdf_b64: String
            let plaintext_hex: String
            let dek_hex: String

            func privateKey() throws -> ECPrivateKey {
                let digits = recipient_private_key_pkcs8_der_b64
                return try ECPrivateKey(pem: "-----BEGIN PRIVATE KEY-----\n\(digits)\n-----END PRIVATE KEY-----\n")
            }
        }
        let vectors: [Vector]
    }

    static let opentdfkitD8 = "collection_opentdfkit_d8ffeff_gcm128"
    static let opentdfkitHead = "collection_opentdfkit_head_gcm128"
    static let webSDK = "collection_opentdf_web_sdk_0.8.0_gcm96"
    static let otdfPython = "single_otdf_python_0.11.0_gcm128"
    static let collectionFiles = [opentdfkitD8, opentdfkitHead, webSDK, otdfPython]

    static func collection(_ name: String) throws -> Collection { try load(name) }
    static func stream() throws -> Stream { try load("ntdf1_stream") }
    static func specification() throws -> Specification { try load("spec_examples_6.1_6.2") }

    /// All whole headers of all files.
    static func headers() throws -> [[UInt8]] {
        var headers = try collectionFiles.flatMap { try collection($0).entries().map(\.headerBytes) }
        let stream = try stream()
        headers += (stream.collections + stream.headers).map { bytes($0.header_hex) }
        for vector in try specification().vectors {
            let whole = try Base64.decode(vector.nanotdf_b64)
            headers.append(Array(whole.prefix(try SingleNanoTDF.parse(whole[...]).headerByteCount)))
        }
        return headers
    }

    private static func load<T: Decodable>(_ name: String) throws -> T {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")
        return try JSONDecoder().decode(T.self, from: Data(contentsOf: folder.appending(path: "\(name).json")))
    }
}

func bytes(_ hexadecimal: String) -> [UInt8] {
    do { return try Hexadecimal.decode(hexadecimal) } catch { fatalError("a fixture holds no hexadecimal: \(error)") }
}
