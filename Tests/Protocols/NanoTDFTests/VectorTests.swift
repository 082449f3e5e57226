import NanoTDF
import NanoTDFCryptography
import Testing
import Wire

@testable import Cryptography

@Suite struct VectorTests {
    @Test(arguments: Vectors.collectionFiles)
    func `every item opens, and the nonce rule is found`(file: String) throws {
        let collection = try Vectors.collection(file)
        let rule: NonceRule = collection.gcm_nonce_rule.hasPrefix("iv ||") ? .ivFirst : .zerosFirst
        let entries = try collection.entries()
        #expect(!entries.isEmpty)
        for entry in entries {
            var reader = try ItemReader(key: entry.key, crypto: OpenSSLCrypto())
            #expect(try reader.open(entry.item) == entry.plaintext)
            #expect(reader.nonceRule == rule)
            #expect(entry.header.tagByteCount == collection.tag_bytes)
            guard let dek = collection.dek_hex else { continue }
            entry.key.withBytes { key in #expect(Array(copying: key) == bytes(dek)) }
        }
    }

    @Test(arguments: Vectors.collectionFiles)
    func `any flipped bit of an item is refused`(file: String) throws {
        for entry in try Vectors.collection(file).entries() {
            let wire = entry.wire
            // All bits of the prefix and of the tag, every 7th bit between: a 4 KiB item has 33 000.
            let ends = Set(0..<48).union(((wire.count - entry.header.tagByteCount) * 8)..<(wire.count * 8))
            for bit in 0..<(wire.count * 8) where ends.contains(bit) || bit % 7 == 0 {
                var damaged = wire
                damaged[bit / 8] ^= 1 << UInt8(bit % 8)
                var reader = try ItemReader(key: entry.key, crypto: OpenSSLCrypto())
                #expect(throws: NanoTDFError.self, "bit \(bit)") {
                    _ = try reader.open(
                        try ContainerItem.parse(damaged[...], tagByteCount: entry.header.tagByteCount))
                }
            }
        }
    }

    @Test func `the spec's examples open, and their ECDSA bindings verify`() throws {
        let vectors = try Vectors.specification().vectors
        #expect(vectors.map(\.section) == ["6.1", "6.2"])
        for vector in vectors {
            let whole = try Base64.decode(vector.nanotdf_b64)
            let single = try SingleNanoTDF.parse(whole[...])
            let key = try vector.privateKey().collectionKey(for: single.header)
            key.withBytes { key in #expect(Array(copying: key) == bytes(vector.dek_hex)) }
            var reader = try ItemReader(key: key, crypto: OpenSSLCrypto())
            #expect(try reader.open(single.item) == bytes(vector.plaintext_hex))
            #expect(reader.nonceRule == .bare)
            #expect(try PolicyBinding.verify(single.header, key: nil, crypto: OpenSSLCrypto()) == .ecdsa)
        }
    }

    @Test func `the bindings are what their writers use`() throws {
        let expected: [(String, PolicyBinding?)] = [
            (Vectors.opentdfkitD8, nil), (Vectors.opentdfkitHead, .gmac), (Vectors.webSDK, .sha256Suffix),
            (Vectors.otdfPython, .sha256Suffix),
        ]
        for (file, binding) in expected {
            let entry = try #require(try Vectors.collection(file).entries().first)
            let found = try PolicyBinding.verify(entry.header, key: entry.key, crypto: OpenSSLCrypto())
            #expect(found == binding, "\(file)")
        }
    }

    @Test func `web-sdk's encrypted policy opens under nonce zero`() throws {
        let collection = try Vectors.collection(Vectors.webSDK)
        let entry = try #require(try collection.entries().first)
        let reader = try ItemReader(key: entry.key, crypto: OpenSSLCrypto())
        #expect(entry.header.policy.typeCode == 2)
        #expect(try reader.policy(of: entry.header) == bytes(try #require(collection.policy_plaintext_hex)))
        #expect(entry.header.locator.keyIdentifier == Array("e1".utf8))
    }

    @Test func `the ntdf-1 stream is written byte for byte`() throws {
        let stream = try Vectors.stream()
        var sealers: [Int: CollectionSealer] = [:]
        for collection in stream.collections + stream.headers {
            let sealer = try makeSealer(collection, stream)
            #expect(sealer.headerBytes == bytes(collection.header_hex))
            if let number = collection.collection { sealers[number] = sealer }
        }
        var item: [UInt8] = []
        var compared = 0
        for message in stream.messages {
            guard let number = message.collection, let counter = message.iv, let prefix = message.clear_prefix_hex,
                let plaintext = message.plaintext_hex, let sealer = sealers[number]
            else { continue }
            #expect(try sealer.seal(bytes(plaintext), into: &item) == counter)
            #expect(bytes(prefix) + item == bytes(message.payload_hex))
            compared += 1
        }
        #expect(compared == 26)
    }

    @Test func `a viewer follows the ntdf-1 stream through its rotation`() throws {
        let stream = try Vectors.stream()
        let kas = try ECPrivateKey(scalar: bytes(stream.kas_private_key_hex), curve: .p256)
        var opener = StreamOpener<Int>(crypto: OpenSSLCrypto())
        let mark = bytes("1702000000") + Array("NTDF".utf8)
        for (index, message) in stream.messages.enumerated() {
            let payload = bytes(message.payload_hex)
            let now = UInt64(message.timestamp) * 1_000_000
            if payload.starts(with: mark) {
                let header = Array(payload[11...])
                guard case .requestKey(header, let hash) = opener.headerArrived(header, at: now) else {
                    Issue.record("message \(index): no key is requested")
                    continue
                }
                let key = try kas.collectionKey(for: try NanoTDFHeader.parse(header))
                #expect(opener.keyArrived(key, forHeader: hash, at: now).isEmpty)
            } else if let prefix = message.clear_prefix_hex, let plaintext = message.plaintext_hex {
                let outcome = opener.open(
                    payload[(prefix.utf8.count / 2)...], medium: prefix.lowercased().hasPrefix("af") ? .audio : .video,
                    context: index, at: now)
                guard case .opened(let item) = outcome else {
                    Issue.record("message \(index): \(outcome)")
                    continue
                }
                #expect(item.plaintext == bytes(plaintext))
                #expect(item.counter == message.iv)
            }
        }
        #expect(opener.counters.opened == 26)
        #expect(opener.counters.gaps == 0)
        #expect(opener.counters.opens <= 26 + 2)
    }

    private func makeSealer(
        _ collection: Vectors.Stream.Collection, _ stream: Vectors.Stream
    ) throws -> CollectionSealer {
        let locator = bytes(collection.locator_hex)
        let sizes = [0, 2, 8, 32]
        let recipient = KASRecipient(
            locator: try ResourceLocator(
                scheme: try #require(ResourceLocator.Scheme(rawValue: locator[0] & 0xF)),
                body: Array(locator[2..<(2 + Int(locator[1]))]),
                keyIdentifier: Array(locator.suffix(sizes[Int(locator[0] >> 4)]))),
            publicKey: bytes(stream.kas_public_key_compressed))
        let ephemeral = try ECPrivateKey(scalar: bytes(collection.ephemeral_private_key_hex), curve: .p256)
        return try CollectionSealer(
            recipient: recipient, policy: bytes(collection.policy_hex),
            crypto: FixedEphemeralCrypto(ephemeral: ephemeral))
    }
}

extension [UInt8] {
    init(copying span: Span<UInt8>) {
        self = span.withUnsafeBufferPointer { Array($0) }
    }
}
