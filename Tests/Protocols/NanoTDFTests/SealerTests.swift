import Cryptography
import NanoTDFCryptography
import TestSupport
import Testing
import Wire

@testable import NanoTDF

@Suite struct SealerTests {
    let station: Station

    init() throws {
        station = try Station()
    }

    @Test func `the first item has counter 1, and the layout is IV, length, ciphertext, tag`() throws {
        let sealer = try station.collection()
        var item: [UInt8] = [1, 2, 3]
        #expect(try sealer.seal([0xAA, 0xBB], into: &item) == 1)
        #expect(item.count == 2 + 22)
        #expect(item[..<6] == [0, 0, 1, 0, 0, 18])
        #expect(try sealer.seal([], into: &item) == 2)
        #expect(item.count == 22)
        #expect(sealer.itemCount == 2)
        var reader = try ItemReader(key: try station.key(for: sealer), crypto: OpenSSLCrypto())
        #expect(try reader.open(try ContainerItem.parse(item[...], tagByteCount: 16)) == [])
    }

    @Test func `the header is that of profile ntdf-1 and its binding verifies`() throws {
        let sealer = try station.collection()
        let header = try NanoTDFHeader.parse(sealer.headerBytes)
        #expect(header == sealer.header)
        #expect(sealer.headerBytes.count == 51 + "kas.example.net/kas".utf8.count + 88)
        #expect(sealer.headerHash == Digest.sha256(sealer.headerBytes))
        #expect(try PolicyBinding.verify(header, key: nil, crypto: OpenSSLCrypto()) == .sha256Suffix)
    }

    @Test func `no two collections share a key, a header or a policy`() throws {
        let first = try station.collection()
        let second = try station.collection()
        #expect(first.header.ephemeralPublicKey != second.header.ephemeralPublicKey)
        #expect(first.header.policy != second.header.policy)
        #expect(try first.sealed([1, 2, 3]) != second.sealed([1, 2, 3]))
    }

    @Test(arguments: ECCurve.allCases)
    func `a collection for a KAS key of each curve opens`(curve: ECCurve) throws {
        let station = try Station(curve: curve)
        let sealer = try station.collection()
        let plaintext = [UInt8](0...255)
        let item = try ContainerItem.parse(try sealer.sealed(plaintext)[...], tagByteCount: 16)
        var reader = try ItemReader(key: try station.key(for: sealer), crypto: OpenSSLCrypto())
        #expect(try reader.open(item) == plaintext)
    }

    @Test func `the counter ends at 2^24 - 1 and never wraps`() throws {
        let sealer = try station.collection(lastCounter: 0xFF_FFFD)
        var item: [UInt8] = []
        #expect(try sealer.seal([1], into: &item) == 0xFF_FFFE)
        #expect(try sealer.seal([1], into: &item) == 0xFF_FFFF)
        #expect(item[..<3] == [0xFF, 0xFF, 0xFF])
        for _ in 0..<3 {
            #expect(throws: NanoTDFError.counterExhausted) { try sealer.seal([1], into: &item) }
            #expect(item.isEmpty)
        }
        #expect(sealer.itemCount == 0xFF_FFFF)
    }

    @Test(arguments: [0xFFFF, 0x1_0000, 0x7F_FFFF, 0xAB_CDEE, 0xFF_FFFE] as [UInt32])
    func `all 24 bits of the counter are in the nonce`(last: UInt32) throws {
        let sealer = try station.collection(lastCounter: last)
        let item = try ContainerItem.parse(try sealer.sealed([1, 2, 3])[...], tagByteCount: 16)
        #expect(item.counter == last + 1)
        let digits = [16, 8, 0].map { UInt8(truncatingIfNeeded: (last + 1) >> $0) }
        // Not by the reader's own rule, which could have the same fault.
        let context = try OpenSSLCrypto().makeOpening(try station.key(for: sealer))
        let opened = try context.open(
            ciphertext: item.ciphertext, tag: item.tag, nonce: [UInt8](repeating: 0, count: 9) + digits)
        #expect(opened == [1, 2, 3])
    }

    @Test func `an item that is too large uses no counter`() throws {
        let sealer = try station.collection()
        var item: [UInt8] = []
        let limit = CollectionSealer.plaintextLimit
        let large = [UInt8](repeating: 0, count: limit + 1)
        #expect(throws: NanoTDFError.itemTooLarge(count: limit + 1, limit: limit)) {
            try sealer.seal(large, into: &item)
        }
        #expect(item.isEmpty)
        #expect(try sealer.seal(large.dropLast(), into: &item) == 1)
        #expect(item.count + 8 == 0xFF_FFFF)
    }

    @Test func `a recipient that is not a point is refused`() throws {
        var recipient = station.recipient
        for key in [[0], [4], [UInt8](repeating: 0xFF, count: 33), [2] + [UInt8](repeating: 0xFF, count: 32)] {
            recipient.publicKey = key
            #expect(throws: NanoTDFError.crypto(.invalidPublicKey)) {
                try CollectionSealer(recipient: recipient, policy: [0x7B, 0x7D], crypto: OpenSSLCrypto())
            }
        }
    }

    @Test func `a policy of 0 or 65 536 bytes is refused`() throws {
        for count in [0, 65_536] {
            #expect(throws: NanoTDFError.self) {
                try CollectionSealer(
                    recipient: station.recipient, policy: [UInt8](repeating: 0x20, count: count),
                    crypto: OpenSSLCrypto())
            }
        }
    }

    @Test func `two tasks that seal at once never get the same counter`() async throws {
        let sealer = try station.collection()
        let counters = try await withThrowingTaskGroup(of: [UInt32].self) { group in
            for _ in 0..<4 {
                group.addTask {
                    var item: [UInt8] = []
                    return try (0..<500).map { _ in try sealer.seal([1, 2, 3], into: &item) }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(Set(counters) == Set(1...2000))
        #expect(sealer.itemCount == 2000)
    }

    @Test func `the item's memory is reused`() throws {
        let sealer = try station.collection()
        var item: [UInt8] = []
        try sealer.seal([UInt8](repeating: 1, count: 10_000), into: &item)
        let address = item.withUnsafeBytes { Int(bitPattern: $0.baseAddress) }
        for count in [0, 1, 400, 9_999, 10_000] {
            try sealer.seal([UInt8](repeating: 1, count: count), into: &item)
            #expect(item.withUnsafeBytes { Int(bitPattern: $0.baseAddress) } == address)
        }
    }

    @Test func `plaintext does not stand in the item`() throws {
        let sealer = try station.collection()
        let plaintext = Array("the same sixteen".utf8) + Array("the same sixteen".utf8)
        let item = try sealer.sealed(plaintext)
        for start in 0...(item.count - 8) {
            #expect(!plaintext.starts(with: item[start..<(start + 8)]))
        }
        #expect(item[6..<22] != item[22..<38])
    }
}

@Suite struct PolicyTests {
    @Test func `the JSON is that of the stored headers`() throws {
        let stream = try Vectors.stream()
        let open = String(decoding: bytes(stream.collections[0].policy_hex), as: UTF8.self)
        let policy = PlaintextPolicy()
        let text = String(decoding: policy.encoded(), as: UTF8.self)
        #expect(text == open.replacing(open.split(separator: "\"")[3], with: policy.identifier.description))
        let restricted = String(decoding: bytes(stream.headers[5].policy_hex), as: UTF8.self)
        let attribute = "https://attr.example.net/attr/site/value/0000"
        let own = String(decoding: PlaintextPolicy(dataAttributes: [attribute]).encoded(), as: UTF8.self)
        #expect(restricted.contains("\"dataAttributes\":[{\"attribute\":\"\(attribute)\"}"))
        #expect(own.contains("\"dataAttributes\":[{\"attribute\":\"\(attribute)\"}],\"dissem\":[]"))
    }

    @Test func `text is quoted as JSON demands`() {
        let policy = PlaintextPolicy(dissemination: ["a\"b\\c\u{1}\n\u{1F}ü", "x"])
        let text = String(decoding: policy.encoded(), as: UTF8.self)
        #expect(text.hasSuffix(#""dissem":["a\"b\\c\u0001\u000a\u001fü","x"]}}"#))
    }
}

@Suite struct RotationTests {
    private static let second: UInt64 = 1_000_000_000

    @Test func `age counts at key frames only`() {
        var state = RotationState(at: 0)
        #expect(state.frameArrives(isKeyFrame: true, itemCount: 0, at: 0) == .proceed)
        #expect(state.frameArrives(isKeyFrame: true, itemCount: 9, at: 60 * Self.second - 1) == .proceed)
        #expect(state.frameArrives(isKeyFrame: false, itemCount: 9, at: 90 * Self.second) == .proceed)
        #expect(state.frameArrives(isKeyFrame: true, itemCount: 9, at: 90 * Self.second) == .rotate)
        state.rotated(at: 90 * Self.second)
        #expect(state.frameArrives(isKeyFrame: true, itemCount: 9, at: 91 * Self.second) == .proceed)
    }

    @Test func `items rotate at 2^20 and stop at 2^23`() {
        let state = RotationState(at: 0)
        #expect(state.frameArrives(isKeyFrame: true, itemCount: (1 << 20) - 1, at: 0) == .proceed)
        #expect(state.frameArrives(isKeyFrame: true, itemCount: 1 << 20, at: 0) == .rotate)
        #expect(state.frameArrives(isKeyFrame: false, itemCount: (1 << 23) - 1, at: 0) == .proceed)
        #expect(state.frameArrives(isKeyFrame: false, itemCount: 1 << 23, at: 0) == .dropUntilKeyFrame)
        #expect(state.frameArrives(isKeyFrame: true, itemCount: 1 << 23, at: 0) == .rotate)
    }

    @Test func `a demand rotates at the next key frame, once`() {
        var state = RotationState(at: 0)
        state.rotationDemanded()
        #expect(state.frameArrives(isKeyFrame: false, itemCount: 3, at: 1) == .proceed)
        #expect(state.frameArrives(isKeyFrame: true, itemCount: 3, at: 1) == .rotate)
        state.rotated(at: 1)
        #expect(state.frameArrives(isKeyFrame: true, itemCount: 3, at: 2) == .proceed)
    }

    @Test func `no policy lets a collection go on past its last counter`() {
        let state = RotationState(policy: RotationPolicy(forcedItems: .max), at: 0)
        let last = ContainerItem.lastCounter
        #expect(state.frameArrives(isKeyFrame: false, itemCount: last - 1, at: 1) == .proceed)
        #expect(state.frameArrives(isKeyFrame: false, itemCount: last, at: 1) == .dropUntilKeyFrame)
    }

    @Test func `every key frame rotates if asked, but not the one a collection was made for`() {
        let state = RotationState(policy: RotationPolicy(everyKeyFrame: true), at: 0)
        #expect(state.frameArrives(isKeyFrame: true, itemCount: 0, at: 0) == .proceed)
        #expect(state.frameArrives(isKeyFrame: true, itemCount: 1, at: 1) == .rotate)
    }

    @Test func `a clock that runs backwards does not rotate`() {
        let state = RotationState(at: 100 * Self.second)
        #expect(state.frameArrives(isKeyFrame: true, itemCount: 5, at: 0) == .proceed)
    }
}
