import Foundation
import KeyAccess
import NanoTDF
import Testing
import Wire

@testable import TDF

struct TDFManifestTests {
    private func manifest() throws -> TDFManifest { try TDFStage.shared.sealed([[1, 2, 3], [4]]).manifest }

    @Test func `what is written is what the reference's table says, and reads back`() throws {
        let manifest = try manifest()
        let data = try JSONEncoder().encode(manifest)
        #expect(try JSONDecoder().decode(TDFManifest.self, from: data) == manifest)
        let json = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(json["schemaVersion"] as? String == "4.3.0")
        #expect(json["tdf_spec_version"] as? String == "4.3.0")
        let payload = try #require(json["payload"] as? [String: Any])
        #expect(payload["url"] as? String == "0.payload")
        #expect(payload["isEncrypted"] as? Bool == true)
        let encryption = try #require(json["encryptionInformation"] as? [String: Any])
        #expect(encryption["type"] as? String == "split")
        let integrity = try #require(encryption["integrityInformation"] as? [String: Any])
        #expect(integrity["segmentHashAlg"] as? String == "GMAC")
        #expect(integrity["segmentSizeDefault"] as? Int == 1 << 20)
        #expect(integrity["encryptedSegmentSizeDefault"] as? Int == (1 << 20) + 28)
        let segments = try #require(integrity["segments"] as? [[String: Any]])
        #expect(segments.map { $0["segmentSize"] as? Int } == [3, 1])
        #expect(segments.map { $0["encryptedSegmentSize"] as? Int } == [31, 29])
    }

    @Test func `sizes that a segment does not name are the defaults`() throws {
        var text = String(decoding: try JSONEncoder().encode(try manifest()), as: UTF8.self)
        text = text.replacing(#/"(segmentSize|encryptedSegmentSize)":\d+,?/#, with: "").replacing(",}", with: "}")
        let read = try JSONDecoder().decode(TDFManifest.self, from: Data(text.utf8))
        let segments = read.encryptionInformation.integrityInformation.segments
        #expect(segments.map(\.clearSize) == [1 << 20, 1 << 20])
        #expect(segments.map(\.encryptedSize) == [(1 << 20) + 28, (1 << 20) + 28])
    }

    static let changes: [(String, @Sendable (inout TDFManifest) -> Void)] = [
        ("schemaVersion", { $0.schemaVersion = nil }),
        ("schemaVersion", { $0.schemaVersion = "4.2.2" }),
        ("schemaVersion", { $0.schemaVersion = "5.0.0" }),
        ("schemaVersion", { $0.schemaVersion = "4.3" }),
        ("payload.type", { $0.payload.type = "file" }),
        ("payload.url", { $0.payload.url = "../../etc/passwd" }),
        ("payload.protocol", { $0.payload.protocol = "zipstream" }),
        ("payload.isEncrypted", { $0.payload.isEncrypted = false }),
        ("encryptionInformation.type", { $0.encryptionInformation.type = "remote" }),
        ("encryptionInformation.method.algorithm", { $0.encryptionInformation.method.algorithm = "AES-128-CBC" }),
        ("encryptionInformation.keyAccess", { $0.encryptionInformation.keyAccess = [] }),
        (
            "encryptionInformation.keyAccess",
            {
                var other = $0.encryptionInformation.keyAccess[0]
                other.sid = "2"
                $0.encryptionInformation.keyAccess.append(other)
            }
        ),
        (
            "encryptionInformation.keyAccess",
            {
                $0.encryptionInformation.keyAccess = .init(
                    repeating: $0.encryptionInformation.keyAccess[0], count: 17)
            }
        ),
        ("encryptionInformation.policy", { $0.encryptionInformation.policy = String(repeating: "A", count: 65_537) }),
        (
            "encryptionInformation.integrityInformation.rootSignature.alg",
            { $0.encryptionInformation.integrityInformation.rootSignature.algorithm = "none" }
        ),
        (
            "encryptionInformation.integrityInformation.rootSignature.sig",
            { $0.encryptionInformation.integrityInformation.rootSignature.signature = "AAAA" }
        ),
        (
            "encryptionInformation.integrityInformation.segmentHashAlg",
            { $0.encryptionInformation.integrityInformation.segmentHashAlgorithm = "HS256" }
        ),
        (
            "encryptionInformation.integrityInformation.segments.[1].segmentSize",
            { $0.encryptionInformation.integrityInformation.segments[1].clearSize = -1 }
        ),
        (
            "encryptionInformation.integrityInformation.segments.[0].segmentSize",
            { $0.encryptionInformation.integrityInformation.segments[0].clearSize = .max }
        ),
        (
            "encryptionInformation.integrityInformation.segments.[1].encryptedSegmentSize",
            { $0.encryptionInformation.integrityInformation.segments[1].encryptedSize = .min }
        ),
    ]

    @Test(arguments: 0..<changes.count)
    func `what is not profile S is refused by the path of the value`(index: Int) throws {
        let (path, change) = Self.changes[index]
        var manifest = try manifest()
        change(&manifest)
        do {
            _ = try TDFSegmentMap(manifest)
            Issue.record("\(path) was taken")
        } catch {
            guard case .manifest(let found, _) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(found == path)
            #expect(!"\(error)".isEmpty)
        }
    }

    @Test func `later versions of its kind are read`() throws {
        var manifest = try manifest()
        manifest.schemaVersion = "4.10.1"
        #expect(try TDFSegmentMap(manifest).count == 2)
    }

    @Test func `as many segments as are written fit into a manifest that is read`() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        var manifest = try manifest()
        let largest = TDFSegmentEntry(
            clearSize: TDFSegmentEntry.maxClearSize, encryptedSize: TDFSegmentEntry.maxClearSize + 28,
            gmac: [UInt8](repeating: 0xFF, count: 16))
        manifest.encryptionInformation.integrityInformation.segments = .init(repeating: largest, count: 1000)
        let thousand = try encoder.encode(manifest).count
        manifest.encryptionInformation.integrityInformation.segments = []
        let none = try encoder.encode(manifest).count
        #expect(none + (thousand - none) / 1000 * TDFManifest.maxWrittenSegments < TDFManifest.maxBytes)
    }
}
