import Compression
import Cryptography
import Foundation
import KeyAccess
import NanoTDF
import TDF
import TDFCryptography
import Testing
import Wire

@testable import Archive

/// Archives of profile F: whole payloads of AES-128-CBC, with a MAC of ours.
@Suite(.timeLimit(.minutes(15))) struct CBCArchiveTests {
    private static func make(_ stage: ArchiveStage, _ plaintext: [UInt8], name: String = "film.tdf") throws -> String {
        let writer = try CBCArchiveWriter(
            stage.path(name), recipient: try ArchiveStage.recipient(), policy: PlaintextPolicy(stream: "door"))
        for begin in stride(from: 0, to: plaintext.count, by: 777) {
            try writer.write(plaintext[begin..<min(begin + 777, plaintext.count)])
        }
        try writer.finish(at: 1_800_000_000)
        return stage.path(name)
    }

    private static func key(_ archive: CBCArchiveReader) throws -> ContentKey {
        try ArchiveStage.key.contentKey(from: archive.manifest.encryptionInformation.keyAccess[0])
    }

    /// All that comes out, also before an error.
    private static func plaintext(
        _ path: String, key: ContentKey? = nil, isUnauthenticatedAllowed: Bool = false
    ) -> (bytes: [UInt8], failure: ArchiveError?) {
        var bytes: [UInt8] = []
        do throws(ArchiveError) {
            let archive = try CBCArchiveReader(path)
            guard let key = try? key ?? Self.key(archive) else { return ([], .cancelled) }
            try archive.opened(key, isUnauthenticatedAllowed: isUnauthenticatedAllowed).read {
                (piece) throws(ArchiveError) in bytes += piece
            }
            return (bytes, nil)
        } catch {
            return (bytes, error)
        }
    }

    /// The same payload under a manifest that somebody changed.
    private static func repacked(
        _ stage: ArchiveStage, _ path: String, _ change: (inout [UInt8], inout CBCManifest) -> Void
    ) throws -> String {
        let archive = try CBCArchiveReader(path)
        let bytes = try ArchiveStage.bytes(path)
        let begin = Int(TDFContainer.payloadOffset)
        var payload = Array(bytes[begin..<(begin + Int(archive.payloadSize))])
        var manifest = archive.manifest
        change(&payload, &manifest)
        return try stage.pack(payload, try ManifestJSON.encode(value: manifest))
    }

    @Test(arguments: [0, 1, 15, 16, 17, 1000, 2_100_000])
    func `a film goes in and comes out`(count: Int) throws {
        let stage = try ArchiveStage()
        let film = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 13) }
        let path = try Self.make(stage, film)
        let opened = Self.plaintext(path)
        #expect(opened.bytes == film && opened.failure == nil, "\(String(describing: opened.failure))")
        let archive = try CBCArchiveReader(path)
        try archive.verifyStructure()
        #expect(archive.isAuthenticated && archive.policy?.stream == "door")
        #expect(archive.payloadSize == Int64(count / 16 * 16 + 16))
        #expect(CBCArchiveReader.isMeant(by: path))
        #expect(stage.files == ["film.tdf"])
        try archive.opened(Self.key(archive)).export(to: stage.path("film.mp4"))
        #expect(try ArchiveStage.bytes(stage.path("film.mp4")) == film)
    }

    @Test func `the manifest has what readers of whole archives look for`() throws {
        let stage = try ArchiveStage()
        let manifest = try CBCArchiveReader(try Self.make(stage, [1, 2, 3])).manifest
        let json = try JSONSerialization.jsonObject(with: Data(try ManifestJSON.encode(value: manifest)))
        let object = try #require(json as? [String: Any])
        let encryption = try #require(object["encryptionInformation"] as? [String: Any])
        let method = try #require(encryption["method"] as? [String: Any])
        let access = try #require((encryption["keyAccess"] as? [[String: Any]])?.first)
        let meta = try #require(object["meta"] as? [String: Any])
        #expect(method["algorithm"] as? String == "AES-128-CBC" && encryption["type"] as? String == "split")
        #expect(Data(base64Encoded: method["iv"] as? String ?? "")?.count == 16)
        #expect(Data(base64Encoded: access["wrappedKey"] as? String ?? "")?.count == 256)
        #expect(access["url"] as? String == "https://kas.example.net/kas" && access["type"] as? String == "wrapped")
        #expect(UUID(uuidString: meta["assetId"] as? String ?? "") != nil)
        #expect(meta["protectedAt"] as? String == "2027-01-15T08:00:00Z")
        #expect((object["payload"] as? [String: Any])?["url"] as? String == "0.payload")
    }

    @Test func `openssl opens it by the recipe of the page`() throws {
        let stage = try ArchiveStage()
        let film = (0..<100_003).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let path = try Self.make(stage, film)
        try ArchiveStage.write(Array(try ArchiveStage.key.privateKeyPEM().utf8), stage.path("kas.key.pem"))
        // As docs/ref/archive-format.md has it.
        let recipe = """
            set -e
            manifest() { python3 -c "import json,sys; m=json.load(open('manifest.json'))['encryptionInformation']; print($1)"; }
            python3 -m zipfile -e film.tdf .
            manifest "m['keyAccess'][0]['wrappedKey']" | openssl base64 -d -A > wrapped
            K=$(openssl pkeyutl -decrypt -inkey kas.key.pem -pkeyopt rsa_padding_mode:oaep -in wrapped | od -An -vtx1 | tr -d ' \\n')
            IV=$(manifest "m['method']['iv']" | openssl base64 -d -A | od -An -vtx1 | tr -d ' \\n')
            MK=$(openssl kdf -keylen 32 -kdfopt digest:SHA256 -kdfopt hexkey:$K -kdfopt hexsalt:$IV \
                -kdfopt info:"watchbox profile F MAC" HKDF | tr -d ':\\n')
            openssl dgst -sha256 -mac HMAC -macopt hexkey:$MK -binary 0.payload | openssl base64 -A > mac
            test "$(cat mac)" = "$(manifest "m['integrityInformation']['rootSignature']['sig']")"
            openssl enc -d -aes-128-cbc -K $K -iv $IV -in 0.payload -out film.mp4
            """
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", recipe]
        process.currentDirectoryURL = URL(filePath: stage.directory)
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(try ArchiveStage.bytes(stage.path("film.mp4")) == film)
        #expect(path.hasSuffix("film.tdf"))
    }

    @Test func `damaged at any byte it gives nothing`() throws {
        let stage = try ArchiveStage()
        let film = [UInt8](repeating: 5, count: 1000)
        let path = try Self.make(stage, film)
        let bytes = try ArchiveStage.bytes(path)
        let key = try Self.key(try CBCArchiveReader(path))
        var tolerated = 0
        for place in 0..<bytes.count {
            var damaged = bytes
            damaged[place] ^= 0x04
            try ArchiveStage.write(damaged, stage.path("damaged.tdf"))
            let opened = Self.plaintext(stage.path("damaged.tdf"), key: key)
            if opened.failure == nil {
                // What nobody reads: versions and times of headers.
                #expect(opened.bytes == film, "\(place)")
                tolerated += 1
            } else {
                #expect(opened.bytes == [], "\(place)")
            }
        }
        #expect(tolerated < 100, "\(tolerated)")
        // The same where the ZIP file agrees with it: only the MAC is left to notice.
        for place in stride(from: 0, to: 1008, by: 61) {
            let changed = try Self.repacked(stage, path) { payload, _ in payload[place] ^= 1 }
            let opened = Self.plaintext(changed, key: key)
            #expect(opened.bytes == [] && opened.failure == .format(.payloadMAC), "\(place)")
        }
        let shorter = try Self.repacked(stage, path) { payload, _ in payload.removeLast(16) }
        #expect(Self.plaintext(shorter, key: key).failure == .format(.payloadMAC))
    }

    @Test func `another IV, another policy or no MAC is refused before anything comes out`() throws {
        let stage = try ArchiveStage()
        let path = try Self.make(stage, [UInt8](repeating: 5, count: 1000))
        let key = try Self.key(try CBCArchiveReader(path))
        func refusal(
            _ isAllowed: Bool = false, _ change: (inout CBCManifest) -> Void
        ) throws -> (bytes: [UInt8], failure: ArchiveError?) {
            Self.plaintext(
                try Self.repacked(stage, path) { _, manifest in change(&manifest) }, key: key,
                isUnauthenticatedAllowed: isAllowed)
        }
        let iv = try refusal { $0.encryptionInformation.method.iv = Base64.encode([UInt8](repeating: 9, count: 16)) }
        #expect(iv.failure == .format(.payloadMAC) && iv.bytes == [])
        let other = try TDFEnvelope.text(of: PlaintextPolicy(stream: "yard"))
        for isAllowed in [false, true] {
            let policy = try refusal(isAllowed) { $0.encryptionInformation.policy = other }
            #expect(policy.failure == .format(.policyBinding) && policy.bytes == [])
            let mac = try refusal(isAllowed) {
                $0.encryptionInformation.integrityInformation?.rootSignature?.signature =
                    Base64.encode([UInt8](repeating: 9, count: 32))
            }
            #expect(mac.failure == .format(.payloadMAC) && mac.bytes == [])
        }
        let unbound = try refusal { $0.encryptionInformation.keyAccess[0].policyBinding = nil }
        #expect(unbound.failure == .format(.policyNotBound) && unbound.bytes == [])
        // Nor when what it would bind is removed with it.
        for none in [nil, ""] as [String?] {
            let stripped = try refusal {
                $0.encryptionInformation.policy = none
                $0.encryptionInformation.keyAccess[0].policyBinding = nil
            }
            #expect(stripped.failure == .format(.policyNotBound) && stripped.bytes == [])
        }
        let loose = try CBCArchiveReader(
            try Self.repacked(stage, path) { _, manifest in
                manifest.encryptionInformation.policy = other
                manifest.encryptionInformation.keyAccess[0].policyBinding = nil
            })
        let opened = try loose.opened(key, isUnauthenticatedAllowed: true)
        #expect(opened.isAuthenticated && !opened.isPolicyBound)
        #expect(try CBCArchiveReader(path).opened(key, isUnauthenticatedAllowed: true).isPolicyBound)
        let none = try refusal { $0.encryptionInformation.integrityInformation = nil }
        #expect(none.failure == .format(.payloadNotAuthenticated) && none.bytes == [])
        // As other writers make it.
        let foreign = try refusal(true) {
            $0.encryptionInformation.integrityInformation = nil
            $0.encryptionInformation.policy = nil
            $0.encryptionInformation.keyAccess[0].policyBinding = nil
            $0.payload = nil
        }
        #expect(foreign.failure == nil && foreign.bytes == [UInt8](repeating: 5, count: 1000))
        // Without a MAC what does not decrypt is told in one way.
        let padding = Self.plaintext(
            try Self.repacked(stage, path) { payload, manifest in
                payload[payload.count - 17] ^= 0x40
                manifest.encryptionInformation.integrityInformation = nil
            }, key: key, isUnauthenticatedAllowed: true)
        #expect(padding.failure == .format(.payloadDecryption))
    }

    @Test func `manifests that are none of this form are refused with their place`() throws {
        let stage = try ArchiveStage()
        let path = try Self.make(stage, [1, 2, 3])
        let changes: [((inout CBCManifest) -> Void, String)] = [
            ({ $0.encryptionInformation.method.iv = "AAAA" }, "encryptionInformation.method.iv"),
            ({ $0.encryptionInformation.method.iv = nil }, "encryptionInformation.method.iv"),
            ({ $0.encryptionInformation.method.algorithm = "AES-256-CBC" }, "encryptionInformation.method.algorithm"),
            ({ $0.encryptionInformation.keyAccess = [] }, "encryptionInformation.keyAccess"),
            ({ $0.payload?.url = "1.payload" }, "payload.url"),
            ({ $0.payload?.isEncrypted = false }, "payload.isEncrypted"),
            (
                { $0.encryptionInformation.integrityInformation?.rootSignature?.algorithm = "none" },
                "encryptionInformation.integrityInformation.rootSignature.alg"
            ),
            (
                { $0.encryptionInformation.integrityInformation?.rootSignature?.signature = "" },
                "encryptionInformation.integrityInformation.rootSignature.sig"
            ),
        ]
        for (change, place) in changes {
            let failure = Self.plaintext(try Self.repacked(stage, path) { _, manifest in change(&manifest) }).failure
            #expect("\(failure.map { "\($0)" } ?? "")".contains(place), "\(String(describing: failure))")
        }
        for count in [0, 8, 17] {
            let failure = Self.plaintext(
                try Self.repacked(stage, path) { payload, _ in payload = [UInt8](repeating: 0, count: count) }
            ).failure
            #expect(failure == .format(.payloadLength(Int64(count))))
        }
        // Sums of such sizes are of no use to anybody.
        #expect(throws: TDFError.payloadLength(.max - 15)) { try CBCManifest.checkPayload(size: .max - 15) }
        #expect(throws: TDFError.payloadLength((1 << 44) + 16)) { try CBCManifest.checkPayload(size: (1 << 44) + 16) }
        try CBCManifest.checkPayload(size: 1 << 44)
        // Readers of profile S say what it is.
        let failure = #expect(throws: ArchiveError.self) { try ArchiveReader(path) }
        #expect("\(failure.map { "\($0)" } ?? "")".contains("AES-128-CBC"))
        #expect(!CBCArchiveReader.isMeant(by: try stage.make([1], name: "s.tdf")))
    }

    @Test func `what is changed while it is read gives nothing that was not verified`() throws {
        let stage = try ArchiveStage()
        let path = try Self.make(stage, [UInt8](repeating: 5, count: 3_000_000))
        let archive = try CBCArchiveReader(path)
        let opened = try archive.opened(Self.key(archive))
        let handle = try FileHandle(forUpdating: URL(filePath: path))
        var bytes: [UInt8] = []
        var hasChanged = false
        let failure = #expect(throws: ArchiveError.self) {
            try opened.read { (done) throws(ArchiveError) in
                // Behind the MAC, before the second piece is read for its plaintext.
                guard done >= archive.payloadSize, !hasChanged else { return }
                hasChanged = true
                do {
                    try handle.seek(toOffset: UInt64(TDFContainer.payloadOffset) + (1 << 20) + 5)
                    try handle.write(contentsOf: [1, 2, 3])
                } catch {
                    throw .cancelled
                }
            } output: { (piece) throws(ArchiveError) in
                bytes += piece
            }
        }
        #expect(failure == .format(.payloadMAC) && hasChanged)
        #expect(bytes.count <= 1 << 20 && bytes.allSatisfy { $0 == 5 })
    }

    @Test func `keys of another size wrap nothing`() throws {
        let stage = try ArchiveStage()
        let pem = try RSAPrivateKey.generate(bits: 3072).publicKey.spkiPEM()
        #expect(throws: ArchiveError.format(.crypto(.rsaSize(bits: 3072)))) {
            _ = try CBCArchiveWriter(
                stage.path(), recipient: TDFRecipient(url: "https://kas", publicKeyPEM: pem), policy: PlaintextPolicy())
        }
        #expect(stage.files == [])
    }
}
